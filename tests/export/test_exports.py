"""A session written down for others: all of it, nothing that acts, and no secret."""

import json
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.cli import Cli
from support.sessions import ask, now, reopened, result, say, texts
from trimtab.context.stores.log import SessionLog
from trimtab.context.stores.summary import summarise
from trimtab.sessions.detect import read_recording
from trimtab.sessions.export.branches import branches_of
from trimtab.sessions.export.facts import facts_of
from trimtab.sessions.export.lines import session_lines, vendor_lines
from trimtab.sessions.export.markdown import markdown
from trimtab.sessions.export.page import PART, page
from trimtab.sessions.export.redacted import value_without_secrets, without_secrets
from trimtab.sessions.export.story import story_of
from trimtab.sessions.export.told import Told, ToldSection, ToldTool
from trimtab.types.edits import Compact, Elide
from trimtab.types.entries import EditEntry
from trimtab.types.messages import Assistant, Image, Message, Text, Thinking, ToolCall, ToolResult, User
from trimtab.types.models import Price
from trimtab.types.usage import Usage

KEY = "sk-" + "a1b2" * 8
HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&</code></pre></details>"
    "[x](javascript:alert(1)) ![p](http://evil.test/p.png) \x1b]0;title\x07\x1b[31m\u202e \0 \u2028</style><!-- -->"
)
TAGS = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "header",
        "h1",
        "dl",
        "dt",
        "dd",
        "main",
        "article",
        "h2",
        "time",
    ),
    *("span", "p", "strong", "code", "pre", "details", "summary", "b", "em", "aside", "img", "footer"),
    *("section", "figure", "figcaption", "svg", "path", "table", "tr", "th", "td", "div", "a", "ul", "li"),
}
VOID = {"meta", "img"}


class Reader(HTMLParser):
    """Reads a page: its tags, attributes and text; what isn't closed is an error."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


def log_of(path: Path, *messages: Message) -> SessionLog:
    log = SessionLog.create(path, "/proj", now=now)
    log.append_messages(messages)
    return log


def written(log: SessionLog, write=page) -> str:
    steps = story_of(log.archive, log._bodies)
    assert log.path is not None
    return "".join(write(facts_of(summarise(log.path), steps, cost_usd=0.5), steps))


def paged(path: Path, *messages: Message) -> str:
    log = log_of(path, *messages)
    log.close()
    return written(log)


def of_kind(reader: Reader, kind: str) -> list[str]:
    return [tag for tag, attributes in reader.tags if attributes.get("class") == kind]


def test_a_page_needs_nothing_else_and_runs_nothing(tmp_path: Path):
    name = User((Text(HOSTILE),))
    call = ToolCall("c1", HOSTILE, {HOSTILE: HOSTILE}, json.dumps({HOSTILE: HOSTILE}))
    answer = Assistant((Thinking(HOSTILE), Text(f"```{HOSTILE}\n{HOSTILE}\n```"), call), "tool_use", model=HOSTILE)
    picture = Image("text/html", "PHNjcmlwdD4=", name=HOSTILE)
    odd = Image("image/png", '" onerror="x')
    shown = ToolResult("c1", HOSTILE, (Text(HOSTILE), picture, odd), is_error=True, details={"diff": f"+{HOSTILE}\n"})
    log = log_of(tmp_path / "s.jsonl", name, answer, shown)
    log.label(log.archive.path()[0].id, HOSTILE)
    log.set_title(HOSTILE)
    log.append(
        [
            EditEntry(
                id="",
                parent=None,
                time="",
                edit=Compact(targets=("x",), summary=HOSTILE),
                reason=HOSTILE,
                author=HOSTILE,
            )
        ]
    )
    log.close()
    text = written(log)
    reader = read(text)
    assert {tag for tag, _ in reader.tags} <= TAGS
    attributes = [pair for _, found in reader.tags for pair in found.items()]
    assert {name for name, _ in attributes if name.startswith("on") or name in ("src", "href", "action")} == set()
    assert [c for c in text if not c.isprintable() and c != "\n"] == []
    assert "default-src 'none'" in text
    assert reader.text.count("<script>alert(1)</script>") >= 8


@given(st.lists(st.text(alphabet=st.sampled_from("ab<>&\"'`*~-+ \n\x1b[\u202e"), max_size=60), min_size=1, max_size=3))
def test_whatever_is_said_the_page_holds_only_its_own_tags(said: list[str]):
    from trimtab.sessions.export.prose import code, diff, prose

    for text in said:
        for shown in (prose(text), code(text), diff(text)):
            assert {tag for tag, _ in read(shown).tags} <= {"p", "pre", "code", "strong", "span"}


def test_calls_are_folded_with_their_results_and_diffs_are_shown(tmp_path: Path):
    edit = ToolResult("b", "edit", (Text("edited"),), is_error=False, details={"diff": "@@ -1 +1 @@\n-old\n+new\n"})
    reader = read(paged(tmp_path / "s.jsonl", ask("go"), say("looking", "a", "b", "c"), result("a", "the text"), edit))
    assert len(of_kind(reader, "call")) == 3
    assert (of_kind(reader, "add"), of_kind(reader, "del"), reader.text.count("no result")) == (["span"], ["span"], 1)
    assert len(of_kind(reader, "assistant")) == 1
    assert "the text" in reader.text


def test_edits_of_the_context_stand_where_they_happened(tmp_path: Path):
    log = log_of(tmp_path / "s.jsonl", ask("go"), say("", "a"), result("a"))
    target = log.archive.path()[2].id
    edit = EditEntry(id="", parent=None, time="", edit=Elide(targets=(target,), texts={target: "…"}), reason="old", author="policy:rules", before_tokens=900, after_tokens=20)  # fmt: skip
    log.append([edit])
    log.append_messages([say("done")])
    log.close()
    text = read(written(log)).text
    assert (
        text.index("content")
        < text.index("policy rules: 1 message put aside, 900 → 20 tokens (old)")
        < text.index("done")
    )
    assert "> **Context:** policy rules: 1 message put aside" in written(log, markdown)


def test_a_long_session_is_folded_in_parts_of_which_the_first_and_the_last_are_open(tmp_path: Path):
    reader = read(paged(tmp_path / "s.jsonl", *(ask(f"number {n}") for n in range(2 * PART + 5))))
    parts = [attributes for tag, attributes in reader.tags if attributes.get("class") == "part"]
    assert ["open" in attributes for attributes in parts] == [True, False, True]
    assert all(f"number {n}\n" in f"{reader.text}\n" or f"number {n}" in reader.text for n in (0, PART, 2 * PART + 4))


def test_what_each_answer_took_is_drawn_with_the_edits_of_the_context_and_listed(tmp_path: Path):
    used = [Usage(input=9_000, output=50), Usage(input=100, output=20, cache_read=9_100), Usage(input=2_000, output=5)]
    log = log_of(tmp_path / "s.jsonl", ask("one"))
    for number, usage in enumerate(used):
        answer = Assistant((Text(HOSTILE),), "stop", model=HOSTILE, provider="p", usage=usage)
        ids = log.append_messages([answer, ask(f"next {number}")])
        if number == 1:
            edit = Compact(targets=(ids[0],), summary="short")
            log.append(
                [EditEntry(id="", parent=None, time="", edit=edit, reason="soft", before_tokens=9, after_tokens=1)]
            )
    steps = story_of(log.archive, log._bodies)
    facts = facts_of(summarise(tmp_path / "s.jsonl"), steps, cost_usd=None)
    text = "".join(page(facts, steps, prices=lambda _: (Price(input=1.0, output=2.0),)))
    reader = read(text)
    assert {tag for tag, _ in reader.tags} <= TAGS
    assert [a.get("class") for tag, a in reader.tags if tag == "path"] == ["fresh", "cached", "cut", "axis"]
    for words in ("9,200 at most, edited once", "9,100", "$0.0091", "9 → 1 tokens"):
        assert words in reader.text
    ids = [a["id"] for tag, a in reader.tags if tag == "article"]
    assert [a["href"] for tag, a in reader.tags if tag == "a"] == [f"#{ids[at]}" for at in (1, 3, 5)]
    unknown = "".join(page(facts, steps))
    assert "<td>?</td>" in unknown


def test_a_long_session_has_a_picture_of_bounded_size(tmp_path: Path):
    answers = [Assistant((), "stop", model="m", usage=Usage(input=n + 1)) for n in range(1_000)]
    text = paged(tmp_path / "s.jsonl", *answers)
    assert re.search(r'class="fresh" d="([^"]*)"', text)[1].count("H") == 334
    assert "Answers 801 – 1,000" in text


def page_with_branches(log: SessionLog, told: Told | None = None) -> str:
    steps, others = story_of(log.archive, log._bodies), branches_of(log.archive, log._bodies)
    assert log.path is not None
    return "".join(page(facts_of(summarise(log.path), steps, cost_usd=None), steps, others, told=told))


def test_other_branches_stand_whole_behind_the_one_that_is_told(tmp_path: Path):
    log = log_of(tmp_path / "s.jsonl", ask("one"))
    first = log.archive.leaf
    assert first is not None
    log.append_messages([say("two"), ask(f"other {KEY} {HOSTILE}"), say("three")])
    log.label(first, "begin")
    log.move_leaf(first)
    log.append_messages([say("here")])
    text = page_with_branches(log)
    reader = read(text)
    assert {tag for tag, _ in reader.tags} <= TAGS
    assert "Another branch" in reader.text
    assert ", 3 messages)" in reader.text
    assert "other [secret" in reader.text
    assert KEY not in text
    assert reader.text.index("here") < reader.text.index("Another branch") < reader.text.index("three")
    assert [attributes["href"] for tag, attributes in reader.tags if tag == "a"] == [f"#{first}"]
    assert sum(attributes.get("id") == first for _, attributes in reader.tags) == 1
    empty = SessionLog.in_memory("/proj", now=now)
    assert branches_of(empty.archive, empty._bodies) == ()


@given(st.lists(st.integers(0, 30), max_size=30))
def test_each_message_is_told_once_on_the_path_or_on_one_branch(moves: list[int]):
    log = SessionLog.in_memory("/proj", now=now)
    ids: list[str] = []
    for number, move in enumerate(moves):
        if move % 3 == 0 and ids:
            log.move_leaf(ids[move % len(ids)])
        ids += log.append_messages([ask(str(number)) if move % 2 else say(str(number))])
    told = [step.entry_id for step in story_of(log.archive, log._bodies)]
    for branch in branches_of(log.archive, log._bodies):
        assert branch.after is None or branch.after in told  # it leaves what is above it
        told += [step.entry_id for step in branch.steps]
    assert sorted(told) == sorted(ids)


def test_a_page_of_an_open_session_has_what_the_model_was_told_and_no_secret_of_it(tmp_path: Path):
    log = log_of(tmp_path / "s.jsonl", ask("one"), say("two"))
    told = Told(
        (
            ToldSection("base", "Trimtab", 1_200, "You are Trimtab."),
            ToldSection("AGENTS.md", "/p", 3, f"{HOSTILE} {KEY}"),
        ),
        (ToldTool("read", "Reads.\nAll of it.", {"type": "object", "default": KEY}),),
    )
    text = page_with_branches(log, told)
    reader = read(text)
    assert {tag for tag, _ in reader.tags} <= TAGS
    for words in (
        "System prompt: 2 sections, 1,203 tokens",
        "You are Trimtab.",
        "1 tool",
        "All of it.",
        '"type": "object"',
    ):
        assert words in reader.text
    assert KEY not in text
    assert "System prompt" not in written(log)


def test_a_huge_line_is_cut_and_it_says_by_how_much(tmp_path: Path):
    text = paged(tmp_path / "s.jsonl", ask("x" * 5_000_000))
    assert len(text) < 60_000
    assert "4,970,000 characters are left out" in text


def secrets() -> Sequence[Message]:
    call = ToolCall(
        "c", "http", {"password": "hunter2hunter2", "q": KEY}, json.dumps({"password": "hunter2hunter2", "q": KEY})
    )
    return (
        ask(f"my key is {KEY}"),
        Assistant((Thinking(KEY), call), "tool_use"),
        ToolResult("c", "http", (Text(f"token: {KEY}"),), is_error=False, details={"diff": f"+{KEY}"}),
    )


def test_no_secret_is_in_any_export(tmp_path: Path):
    log = log_of(tmp_path / "s.jsonl", *secrets())
    log.set_title(f"about {KEY}")
    log.append([EditEntry(id="", parent=None, time="", edit=Compact(targets=("x",), summary=KEY), reason=KEY)])
    log.close()
    exports = [
        written(log),
        written(log, markdown),
        *(b"".join(vendor_lines(log.archive, log._bodies, name)).decode() for name in ("openai", "anthropic")),
        b"".join(session_lines(log.header, log.archive, log._bodies)).decode(),
    ]
    for text in exports:
        assert (KEY in text, "hunter2" in text, "[secret:" in text) == (False, False, True)


def test_what_is_taken_out_of_a_call_leaves_json():
    (_, answer, _) = map(without_secrets, secrets())
    assert isinstance(answer, Assistant)
    (call,) = answer.tool_calls
    assert json.loads(call.raw) == call.arguments == {"password": "[secret: value]", "q": "[secret: key]"}
    picture = Image("image/png", KEY)
    assert without_secrets(User((picture,))) == User((picture,))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))  # fmt: skip
def test_taking_secrets_out_keeps_the_shape_of_a_value_and_doing_it_again_changes_nothing(value: object):
    clean = value_without_secrets(value)
    assert value_without_secrets(clean) == clean
    assert type(clean) is type(value)


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_messages_of_a_vendor_read_back_as_the_same_conversation(tmp_path: Path, name: str):
    log = log_of(
        tmp_path / "s.jsonl", ask("go"), say("looking", "a", "b"), result("a", "one"), result("b", "two"), say("done")
    )
    data = b"".join(vendor_lines(log.archive, log._bodies, name))
    log.close()
    recording = read_recording(data, name)
    said = [event.message for event in recording.events]
    assert texts(said) == ["go", "looking", "one", "two", "done"]
    assert [call.id for m in said if isinstance(m, Assistant) for call in m.tool_calls] == ["a", "b"]


def test_a_session_file_of_ours_is_whole_with_all_branches_and_unknown_fields(tmp_path: Path):
    log = log_of(tmp_path / "s.jsonl", ask("one"), ask("y" * 90_000))
    log.move_leaf(log.archive.path()[0].id)
    log.append_messages([ask("other")])
    log.close()
    with (tmp_path / "s.jsonl").open("ab") as file:
        file.write(b'{"type":"hologram","id":"h","parent":null,"time":"","beam":1}\n')
    log = reopened(tmp_path / "s.jsonl")
    copy = tmp_path / "copy" / "s.jsonl"
    copy.parent.mkdir()
    copy.write_bytes(b"".join(session_lines(log.header, log.archive, log._bodies)))
    again = reopened(copy)
    assert ([e.id for e in again.archive], again.damage, texts(again.view())) == (
        [e.id for e in log.archive],
        (),
        texts(log.view()),
    )
    assert b'"beam":1' in copy.read_bytes()
    assert "y" * 90_000 in copy.read_text()


def test_markdown_shows_what_was_said_and_nothing_in_it_acts(tmp_path: Path):
    answer = Assistant((Text(f"Look: `<b>` and <b>\n\n```html\n<i>x</i>\n```\n{HOSTILE}\n```\nnever closed"),), "stop")
    log = log_of(tmp_path / "s.jsonl", ask("go"), answer, ToolResult("z", "bash", (Text("```\nfence"),), is_error=True))
    log.close()
    text = written(log, markdown)
    assert "`<b>` and &lt;b>" in text
    assert "```html\n<i>x</i>\n```" in text
    assert ("<script" in text, "![p]" in text, "](javascript" in text, "\x1b" in text) == (False, False, False, False)
    assert "````\n```\nfence\n````" in text
    assert "#### bash (failed)" in text
    assert text.count("\n```\n") >= 2


@pytest.mark.parametrize(
    ("file", "flags", "begins"),
    [
        ("a.html", (), "<!doctype html>"),
        ("a.md", (), "# "),
        ("a.jsonl", (), '{"type":"session"'),
        ("a.openai.jsonl", (), '{"role":"user"'),
        ("a.txt", ("--format", "anthropic"), '{"role":"user"'),
    ],
)
def test_the_ending_of_the_file_says_the_format(cli: Cli, file: str, flags: tuple[str, ...], begins: str):
    assert cli.inside("-p", "hi", "--model", cli.script({"text": "hello"})).code == 0
    outcome = cli.inside("sessions", "export", "last", file, *flags)
    assert (outcome.code, outcome.out) == (0, ""), outcome.err
    again = cli.inside("sessions", "export", "last", file, *flags)
    assert (again.code, "is there already" in again.err) == (2, True)
    told = json.loads(cli.inside("sessions", "export", "last", file, *flags, "--json", "--force").out)
    assert told["file"] == str(cli.project / file)
    assert (cli.project / file).read_text().startswith(begins)
    assert (cli.project / file).stat().st_mode & 0o777 == 0o600


def test_without_a_file_it_is_named_after_the_session_and_a_dash_is_standard_output(cli: Cli):
    assert cli.inside("-p", "hi", "--model", cli.script({"text": "hello"})).code == 0
    outcome = cli.inside("sessions", "export", "last")
    (made,) = cli.project.glob("trimtab-*.html")
    assert str(made.name) in outcome.err
    assert cli.inside("sessions", "export", "last", "-").stdout == made.read_bytes()


def test_an_export_never_replaces_a_session(cli: Cli):
    assert cli.inside("-p", "hi", "--model", cli.script({"text": "hello"})).code == 0
    (session,) = cli.sessions
    before = session.read_bytes()
    outcome = cli.inside("sessions", "export", "last", str(session))
    assert (outcome.code, session.read_bytes()) == (2, before)
    assert cli.inside("sessions", "export", "nope", "x.html").code == 2
    assert not (cli.project / "x.html").exists()


@pytest.mark.parametrize("name", ["talk.pdf", "talk.txt", "talk.json", "talk.docx"])
def test_a_file_for_another_program_is_refused_with_the_endings_there_are(cli: Cli, name: str):
    cli.inside("-p", "hi", "--model", cli.script({"text": "hello"}))
    for outcome in (
        cli.inside("sessions", "export", "last", name),
        cli.inside("-p", f"/export {name}", "--continue", "--model", cli.script({"text": "no"})),
    ):
        assert outcome.code == 2
        assert f"isn't written down as .{name.rpartition('.')[2]}" in outcome.err
        assert ".html, .md, .openai.jsonl, .anthropic.jsonl, .jsonl" in outcome.err
    assert not (cli.project / name).exists()


@pytest.mark.parametrize("name", ["talk", "talk.htm", "v1.2", "a talk of 3.11"])
def test_a_name_without_an_ending_means_a_page(cli: Cli, name: str):
    cli.inside("-p", "hi", "--model", cli.script({"text": "hello"}))
    assert cli.inside("sessions", "export", "last", name).code == 0
    assert (cli.project / name).read_text().startswith("<!doctype html>")


def test_a_named_format_holds_whatever_the_file_is_called(cli: Cli):
    cli.inside("-p", "hi", "--model", cli.script({"text": "hello"}))
    assert cli.inside("sessions", "export", "last", "talk.txt", "--format", "md").code == 0
    assert (cli.project / "talk.txt").read_text().startswith("# ")
