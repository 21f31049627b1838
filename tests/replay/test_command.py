"""`trimtab replay` as a person or a script meets it."""

import gzip
import io
import json
import re
import signal
from contextlib import redirect_stderr

import pytest

from support.cli import Cli
from support.pages import ROOT
from support.transcripts import CLAUDE_CODE
from trimtab.context.policies.peer_table import PEERS
from trimtab.frontends.cli.dump_file import dump_file
from trimtab.frontends.cli.progress import watched
from trimtab.frontends.cli.replay import HEAD, LEGEND
from trimtab.sessions.replay.report import Figures

PINNED = [
    "steps",
    "prompt_tokens",
    "cached_tokens",
    "uncached_tokens",
    "output_tokens",
    "cost_usd",
    "cost_usd_pessimistic",
    "peak_tokens",
    "edits",
    "edit_batches",
    "ladder_edits",
    "summary_calls",
    "reloads",
    "needed",
    "needed_visible",
    "needed_stub",
    "needed_lost",
    "overflows",
    "invalid_requests",
]
COLUMNS = HEAD[1:]
SIZES = {"n", "median_abs_pct", "p90_abs_pct", "p95_abs_pct"}
CACHED = {"n", "median_abs_pct", "p95_abs_pct", "breaks_found", "breaks_missed"}


@pytest.fixture
def cli(tmp_path):
    return Cli.at(tmp_path)


@pytest.fixture
def session(cli):
    path = cli.project / "session.jsonl"
    path.write_bytes(CLAUDE_CODE)
    return path


def report(outcome):
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


def test_a_session_of_ours_is_replayed_in_the_window_that_it_ran_in(cli):
    sized = ("--set", "providers.scripted.context_window=5400")
    assert cli.inside("-p", "hi", "--model", cli.script({"text": "hello"}), *sized).code == 0
    outcome = cli.inside("replay", str(cli.sessions[0]), "--policy", "none")
    assert outcome.code == 0, outcome.err
    assert outcome.out.splitlines()[0] == "1 session, 1 request, window 5,400 (as recorded)"


@pytest.mark.parametrize(
    ("said", "tokens"), [("60k", 60_000), ("0.2M", 200_000), ("60,000", 60_000), ("60_000", 60_000)]
)
def test_a_window_may_be_written_short(cli, session, said, tokens):
    outcome = cli.inside("replay", str(session), "--policy", "none", "--window", said, "--json")
    assert report(outcome)["window"] == tokens


@pytest.mark.parametrize("said", ["60q", "0k", "-5", "1e9", "99999999999M", "٦k"])
def test_what_is_no_window_says_how_one_is_written(cli, session, said):
    outcome = cli.inside("replay", str(session), "--window", said)
    assert outcome.code == 2
    assert "write it as 60000 or 60k" in " ".join(outcome.err.split())
    assert "trimtab replay --help lists what there is." in " ".join(outcome.err.split())


def test_the_report_has_every_pinned_field_per_file_and_in_total(cli, session):
    found = report(cli.inside("replay", str(session), "--policy", "rules", "--json"))
    (entry,) = found["files"]
    assert found["policy"] == "rules"
    assert (entry["file"], entry["format"], entry["model"]) == (str(session), "claude-code", "claude-x")
    assert set(Figures.__struct_fields__) == set(PINNED)
    for part in (entry, found["total"]):
        assert set(PINNED) <= part.keys()
        assert all(
            part["predicted_vs_reported"][name].keys() >= SIZES for name in ("anchored", "increment", "unanchored")
        )
        assert part["predicted_vs_reported_cached"].keys() >= CACHED


def test_a_packed_file_a_folder_and_standard_input_give_the_same_figures(cli, session):
    folder = cli.project / "more" / "deep"
    folder.mkdir(parents=True)
    (folder / "packed.jsonl.gz").write_bytes(gzip.compress(CLAUDE_CODE))
    plain = report(cli.inside("replay", str(session), "--json"))["total"]
    assert report(cli.inside("replay", str(cli.project / "more"), "--json"))["total"] == plain
    piped = cli.run("replay", "-", "--json", stdin=CLAUDE_CODE)
    assert json.loads(piped.out)["total"] == plain


def test_an_unreadable_file_is_an_entry_and_exit_1_after_the_rest(cli, session):
    bad = cli.project / "bad.jsonl"
    bad.write_text("nothing that anybody wrote")
    outcome = cli.inside("replay", str(bad), str(session), "--json")
    first, second = json.loads(outcome.out)["files"]
    assert outcome.code == 1
    assert set(first) == {"file", "error"}
    assert second["steps"] > 0


def test_the_same_input_gives_the_same_bytes(cli, session):
    first, second = (cli.inside("replay", str(session), "--json").stdout for _ in range(2))
    assert first == second


def test_a_price_of_one_s_own_is_taken(cli, session):
    free = report(cli.inside("replay", str(session), "--json", "--price", "0,0,0,0"))["total"]
    assert free["cost_usd"] == 0
    assert cli.inside("replay", str(session), "--price", "5,1").code == 2


@pytest.mark.parametrize("way", ["itself", "a link to it", "by its folder"])
def test_a_dump_never_takes_the_place_of_what_is_read(cli, session, way):
    before = session.read_bytes()
    link = cli.project / "link.jsonl"
    link.symlink_to(session)
    given, dump = {
        "itself": (session, session),
        "a link to it": (session, link),
        "by its folder": (session.parent, session),
    }[way]
    outcome = cli.inside("replay", str(given), "--dump", str(dump))
    assert (outcome.code, session.read_bytes()) == (2, before)
    assert "is one of the files that are read" in outcome.err


def test_a_dump_that_can_not_be_written_says_which(cli, session):
    outcome = cli.inside("replay", str(session), "--dump", str(cli.project / "no" / "dump.jsonl"))
    assert (outcome.code, "dump.jsonl" in outcome.err) == (2, True)


def test_the_dump_has_a_line_for_each_step_and_adds_up(cli, session):
    dump = cli.project / "dump.jsonl"
    total = report(cli.inside("replay", str(session), "--json", "--dump", str(dump)))["total"]
    lines = [json.loads(line) for line in dump.read_text().splitlines()]
    assert [line["step"] for line in lines] == list(range(1, total["steps"] + 1))
    assert sum(line["prompt_tokens"] for line in lines) == total["prompt_tokens"]
    assert lines[0]["calls"] == ["t1", "t2"]
    assert lines[0]["items"] == []
    assert [item["call_id"] for item in lines[1]["items"]] == ["t1", "t2"]


def test_without_json_several_policies_stand_below_each_other(cli, session):
    out = cli.inside("replay", str(session), "--policy", "none,mask(keep=3, batch=1),rules").out
    assert [line.split("  ")[0].strip() for line in out.splitlines()[1:5]] == [
        "POLICY",
        "none",
        "mask(keep=3, batch=1)",
        "rules",
    ]


def test_an_unknown_policy_is_a_usage_error(cli, session):
    outcome = cli.inside("replay", str(session), "--policy", "magic")
    assert outcome.code == 2
    assert "rules" in outcome.err


def test_all_asks_before_it_reads_and_takes_yes_for_an_answer(cli):
    folder = cli.root / ".claude" / "projects" / "p"
    folder.mkdir(parents=True)
    (folder / "s.jsonl").write_bytes(CLAUDE_CODE)
    refused = cli.inside("replay", "--all")
    assert refused.code == 2
    assert "--yes" in refused.err
    card = json.loads(cli.inside("replay", "--all", "--yes", "--json").out)
    assert card["sessions"] == 1
    assert card["policies"][0]["policy"] == "none"


def test_the_report_card_has_the_bill_under_each_policy_of_ours_and_of_other_agents(cli):
    folder = cli.root / ".codex" / "sessions"
    folder.mkdir(parents=True)
    (folder / "s.json").write_text(OPENAI)
    card = json.loads(cli.inside("replay", "--all", "--yes", "--json").out)
    names = [row["policy"] for row in card["policies"]]
    assert len(set(names)) == len(names)
    assert set(names) == {"none", "rules", "mask", "summary", "truncate"} | {row.name for row in PEERS}
    assert {row["steps"] for row in card["policies"]} == {2}
    assert f"\n{PEERS[-1].name} " in cli.inside("replay", "--all", "--yes").out


def test_naming_policies_narrows_the_report_card_to_those_and_none(cli):
    folder = cli.root / ".codex" / "sessions"
    folder.mkdir(parents=True)
    (folder / "s.json").write_text(OPENAI)
    card = json.loads(cli.inside("replay", "--all", "--yes", "--json", "--policy", "mask,codex").out)
    assert [row["policy"] for row in card["policies"]] == ["none", "mask", "codex"]


@pytest.mark.parametrize("none", ["", ",", " , "])
def test_naming_no_policy_is_a_usage_error_with_the_names(cli, session, none):
    outcome = cli.inside("replay", str(session), "--policy", none)
    assert outcome.code == 2
    assert "--policy names none" in outcome.err
    assert "rules" in outcome.err


OPENAI = json.dumps(
    [
        {"role": "user", "content": "look"},
        {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "ls", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
        {"role": "assistant", "content": "There is a.py."},
    ]
)
PLAIN = json.dumps([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}])


def test_a_format_that_the_content_contradicts_is_told(cli):
    path = cli.file("oa.json", OPENAI)
    outcome = cli.inside("replay", str(path), "--format", "anthropic")
    assert (
        "oa.json: note: read as Anthropic messages, as --format says, but its content is that of OpenAI messages"
        in outcome.err
    )
    (entry,) = report(cli.inside("replay", str(path), "--format", "anthropic", "--json"))["files"]
    assert "OpenAI" in entry["notes"][0]


@pytest.mark.parametrize(("text", "format_"), [(OPENAI, "openai"), (PLAIN, "anthropic"), (PLAIN, "openai")])
def test_a_format_that_may_be_right_is_taken_without_a_word(cli, text, format_):
    path = cli.file("messages.json", text)
    assert cli.inside("replay", str(path), "--format", format_).err == ""


def test_a_damaged_line_is_counted_and_told(cli, session):
    session.write_bytes(CLAUDE_CODE + b'{"type": "user", "uu\n')
    outcome = cli.inside("replay", str(session), "--json")
    assert report(outcome)["files"][0]["bad_lines"] == 1
    assert f"{session}: note: 1 line was damaged" in outcome.err


def test_a_remote_policy_says_that_nobody_was_asked(cli):
    talk = [json.loads(PLAIN)[0]]
    for n in range(8):
        call = {"id": f"c{n}", "function": {"name": "ls", "arguments": "{}"}}
        talk += [
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": "a word of it " * 400},
        ]
    path = cli.file("long.json", json.dumps([*talk, {"role": "assistant", "content": "done"}]))
    told = cli.inside("replay", str(path), "--window", "6000", "--policy", "rules,remote").err
    assert told.count("the remote policy was not asked") == 1
    assert "not asked" not in cli.inside("replay", str(path), "--window", "6000", "--policy", "rules").err


def large_requests(cli):
    """A session whose user says very much at once, again and again."""
    talk = [json.loads(PLAIN)[0]]
    for n in range(4):
        call = {"id": f"c{n}", "function": {"name": "ls", "arguments": "{}"}}
        talk += [
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": "a word of it " * 40},
            {"role": "user", "content": "and now? " * 2_000},
        ]
    return cli.file("large.json", json.dumps([*talk, {"role": "assistant", "content": "done"}]))


def test_requests_that_fit_whatever_is_taken_out_are_not_told_and_those_that_do_not_are(cli):
    path = large_requests(cli)
    small = cli.inside("replay", str(path), "--window", "2000", "--policy", "rules")
    assert "requests don't fit a window of 2,000 tokens whatever is taken out" in small.err
    assert "window 2,000" in small.out.splitlines()[0]
    assert "don't fit" not in cli.inside("replay", str(path), "--window", "90000", "--policy", "rules").err
    assert "don't fit" not in cli.inside("replay", str(path), "--window", "2000", "--policy", "none").err


def test_the_window_that_a_note_names_is_the_smallest_that_holds_the_requests(cli):
    path = large_requests(cli)

    def over(window):
        done = cli.inside("replay", str(path), "--window", str(window))
        return int(done.out.splitlines()[2].split()[-1]), done.err

    count, told = over(2_000)
    needed = int(re.search(r"Take --window (\d+) or more", told)[1])
    assert count == 4
    assert over(needed) == (0, "")
    assert over(needed - 1)[0] > 0


def test_a_hidden_prefix_is_a_part_of_the_window_that_a_note_names(cli, session):
    usage = re.search(rb'"input_tokens": ?(\d+)', CLAUDE_CODE)
    session.write_bytes(CLAUDE_CODE.replace(usage[0], b'"input_tokens":30000', 1))
    told = cli.inside("replay", str(session), "--window", "20000").err
    hidden = int(re.search(r"; ([\d,]+) of them are system prompt and tools", told)[1].replace(",", ""))
    assert 30_000 < hidden < 32_000
    assert int(re.search(r"Take --window (\d+) or more", told)[1]) > hidden


def test_what_counts_as_over_is_said_where_something_is(cli):
    path = large_requests(cli)
    out = cli.inside("replay", str(path), "--window", "9000", "--policy", "none").out
    assert "OVER counts requests above 6,494 tokens: the window less the room for an answer and a margin." in out
    assert "OVER counts" not in cli.inside("replay", str(path), "--window", "90000", "--policy", "none").out


def test_an_unknown_price_is_said_to_be_one_with_the_way_to_give_it(cli, session):
    said = cli.inside("replay", str(session)).out
    assert "$?" in said.splitlines()[2]
    assert "--price IN,READ,WRITE,OUT" in said
    assert "--price" not in cli.inside("replay", str(session), "--price", "5,0.5,6.25,25").out


@pytest.mark.parametrize("column", COLUMNS)
def test_what_a_column_holds_stands_in_the_help_on_the_page_and_on_a_terminal(cli, column):
    page = (ROOT / "docs" / "replay.md").read_text("utf-8")
    assert re.search(rf"^\| (.*, )?`{re.escape(column)}`", page, re.M)
    assert column in cli.inside("replay", "--help").out
    assert column in "\n".join(LEGEND)


def test_a_terminal_is_told_what_the_columns_hold(cli, session, monkeypatch):
    assert LEGEND[0] not in cli.inside("replay", str(session)).out
    monkeypatch.setattr("trimtab.frontends.cli.replay.width_of", lambda _stream: 300)
    out = cli.inside("replay", str(session)).out
    assert out.index("rules") < out.index(LEGEND[0]) < out.index(LEGEND[-1])


def test_a_folder_without_sessions_says_so_and_what_to_try(cli):
    outcome = cli.inside("replay", str(cli.project))
    assert (outcome.code, outcome.out) == (1, "")
    assert "no session of a known agent lies in" in outcome.err
    assert "--all" in outcome.err


@pytest.mark.parametrize(
    ("content", "said", "hint"),
    [
        (None, "No such file or directory", "Give the path of a session file or folder."),
        (b"", "is empty", "Give a file that holds a session."),
        (b" \n\n", "is empty", "Give a file that holds a session."),
        (b"nothing that anybody wrote", "is no session of a known agent", "Name the format"),
        (b'{"a": 1}\n{"b": 2}\n', "is no session of a known agent", "Name the format"),
        (b"\x00\xff\x80" * 99, "is no session of a known agent", "Name the format"),
    ],
    ids=["missing", "empty", "blank", "words", "other JSON", "binary"],
)
def test_where_nothing_can_be_replayed_there_is_no_table_but_what_is_wrong_and_what_to_do(cli, content, said, hint):
    path = cli.project / "some.jsonl"
    if content is not None:
        path.write_bytes(content)
    outcome = cli.inside("replay", str(path))
    assert (outcome.code, outcome.out) == (1, "")
    first, second = outcome.err.splitlines()
    assert first.startswith("trimtab: ")
    assert str(path) in first
    assert said in first
    assert second.startswith(f"  {hint}")


def test_what_can_be_read_is_replayed_beside_what_can_not_and_advice_is_given_once(cli, session):
    bad = [cli.file(f"{name}.jsonl", name) for name in ("one", "two")]
    outcome = cli.inside("replay", str(session), *map(str, bad))
    assert outcome.code == 1
    assert outcome.out.startswith("1 session, ")
    assert [line[:8] for line in outcome.err.splitlines() if "damaged" not in line] == [
        "trimtab:",
        "trimtab:",
        "  Name t",
    ]


def test_empty_standard_input_is_called_that(cli):
    outcome = cli.run("replay", "-", stdin=b"")
    assert outcome.code == 1
    assert outcome.err.startswith("trimtab: standard input is empty")


def test_the_first_line_says_whose_word_the_window_is(cli, session):
    def first(*options):
        return cli.inside("replay", str(session), "--policy", "none", *options).out.splitlines()[0]

    assert first().endswith("window 200,000 (nothing says which)")
    assert first("--window", "50000").endswith("window 50,000")
    session.write_bytes(CLAUDE_CODE.replace(b"claude-x", b"claude-opus-4-6"))
    assert first().endswith("window 200,000 (where the client compacted, at 170,000 tokens)")
    session.write_bytes(CLAUDE_CODE.replace(b"claude-x", b"claude-opus-4-6").replace(b'"auto"', b'"manual"'))
    assert first().endswith("window 1,000,000 (its model's)")


def test_a_report_card_that_is_interrupted_ends_with_130_and_says_nothing_half(cli):
    folder = cli.root / ".claude" / "projects" / "p"
    folder.mkdir(parents=True)
    for number in range(200):
        (folder / f"s{number}.jsonl").write_bytes(CLAUDE_CODE)
    process = cli.start("replay", "--all", "--yes")
    assert process.stderr is not None
    assert b"200 files" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err.strip()) == (130, b"", b"")


def test_a_dump_that_is_interrupted_leaves_what_stood_there(tmp_path):
    path = tmp_path / "dump.jsonl"
    path.write_bytes(b"from before\n")

    def interrupted():
        with dump_file(str(path), []) as write:
            write(b"half\n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("dump.jsonl", b"from before\n")]


class Terminal(io.StringIO):
    """Standard error as a terminal of no known width."""

    def isatty(self):
        return True


def test_a_terminal_is_told_how_far_it_is_and_keeps_nothing_of_it():
    with redirect_stderr(Terminal()) as err:
        assert list(watched(["a", "b\x1b[2J"], str)) == ["a", "b\x1b[2J"]
    assert err.getvalue() == "\r\x1b[K1 of 2: a\r\x1b[K2 of 2: b\r\x1b[K"


def test_where_nobody_looks_no_progress_is_written(cli, session):
    assert "1 of 1" not in cli.inside("replay", str(session)).err


def test_the_report_card_counts_all_requests_and_says_of_how_many_usage_is_recorded(cli):
    folder = cli.root / ".codex" / "sessions"
    folder.mkdir(parents=True)
    (folder / "s.json").write_text(OPENAI)
    first = cli.inside("replay", "--all", "--yes").out.splitlines()[0]
    assert first == "1 session, 2 requests, usage is recorded of 0"


def test_a_dump_of_nothing_leaves_what_was_there(cli):
    dump = cli.project / "dump.jsonl"
    dump.write_text("an earlier one\n")
    outcome = cli.inside("replay", str(cli.project / "nothing.jsonl"), "--dump", str(dump))
    assert (outcome.code, dump.read_text()) == (1, "an earlier one\n")
    assert [path.name for path in cli.project.iterdir() if "dump" in path.name] == ["dump.jsonl"]


def test_a_policy_that_cannot_decide_is_refused_before_any_is_replayed(cli, session):
    refused = cli.inside("replay", str(session), "--policy", "none,learned(weights='none.json')")
    assert (refused.code, refused.out) == (2, "")
    assert "the weights 'none.json' can't be read" in refused.err
