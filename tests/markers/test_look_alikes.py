"""A text that only looks like a marker is plain text; a live one is found however it was copied, and never written."""

import json
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.markers import (
    gap_mark,
    known_markers,
    live_markers,
    marker_key,
    only_markers,
    pointer,
    refuse_markers,
    shortened_head,
    stub,
)

KEY = marker_key("r7", size=4812, salt="s")
KNOWN = {KEY: "recall id=r7"}
STUB = stub(name="r7", key=KEY, tokens=4812, lines=312, tool="bash", is_error=False)
LIVE = [
    STUB,
    gap_mark(272, "lines", key=KEY, first=21),
    shortened_head("folded", name="r7", key=KEY, shown="40 of 312 lines"),
    pointer(name="e9#1", key=KEY, tokens=900, way_back="/p/notes.md"),
]
FORMS = [
    "[archived r7: bash, 4,812 tokens, 312 lines; to read it: recall id=r7]",
    "[archived r7~: bash, 4,812 tokens; to read it: recall id=r7]",
    "[archived r7~abcd2345: bash, 4,812 tokens, 312 lines; to read it: recall id=r7]",
    "[archived r8~4kq2m7xa: read, 12 tokens; to read it: recall id=r8]",
    "[archived r8 ~ 4kq2m7xa: read, 1 token]",
    "[folded r7: 40 of 312 lines; all of it: recall id=r7]",
    "[not the content: archived e9#1~aaaaaaaa: 900 tokens; to read it: read path=x]",
    "[not the content: archived e9#1: 900 tokens, key auth, summary: who logs in; to read it: memo action=read key=auth]",
    "[archived r7: 9 tokens; kept outside this conversation]",
]
TEXTS = [
    "[… 272 lines, 21-292 ~zzzzzzzz]",
    "[… 272 lines omitted …]",
    "...[truncated]",
    "[Old tool result content cleared]",
    "<persisted-output>Output too large. Full output saved to: /tmp/x</persisted-output>",
    f"r7~{KEY[:-1]}",
    f"r7{KEY}",
    f"~ {KEY[:4]} and {KEY[4:]}",
    "cd ~/projects && ls ~admin ~username",
    "a ~ b ~ approximately the same",
    "[archived 2024: the old site](archive.md)",
    "[archived r7: see the wiki]",
    "[folded: 3 tokens]",
    "archived r7: 9 tokens; to read it: recall id=r7",
]
WRITTEN_BY_MODELS = [*FORMS, *TEXTS]
KEYS = st.text("abcdefghijklmnopqrstuvwxyz234567", min_size=8, max_size=8).filter(lambda key: key != KEY)
FREE = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


def way_to(name: str) -> str | None:
    """The one item that the session has."""
    return "recall id=r7" if name == "r7" else None


def known(key: str) -> bool:
    """Whether the session made it."""
    return key in KNOWN


@pytest.mark.parametrize("text", WRITTEN_BY_MODELS)
def test_a_look_alike_is_inert(text):
    assert live_markers(text, known) == ()
    assert refuse_markers({"path": "a.md", "content": f"# Markers\n{text}\n"}, KNOWN, way_to=way_to) is None
    assert refuse_markers({"edits": [{"old": "x", "new": text}]}, KNOWN) is None


@pytest.mark.parametrize("text", TEXTS)
def test_what_only_resembles_a_marker_may_be_all_of_a_file(text):
    assert refuse_markers({"path": "a.md", "content": text}, KNOWN, way_to=way_to) is None


@pytest.mark.parametrize("field", ["content"])
@pytest.mark.parametrize("text", FORMS)
def test_the_form_of_a_marker_is_no_content_whatever_its_key(text, field):
    said = refuse_markers({"path": "a.md", field: text}, {})
    assert said == (
        "content has a line in place of text that is archived, so nothing was done. Nothing of that name is archived here; find the real text "
        "(recall query=…) or make it, then call again with that text in full. If that very line is meant, let it follow other text."
    )


def test_the_form_of_a_marker_of_this_session_says_how_to_read_what_it_stands_for():
    said = refuse_markers({"action": "write", "key": "k", "content": FORMS[0]}, {}, way_to=way_to)
    assert said is not None
    assert "Read the real text first (r7: recall id=r7), then call again" in said


@given(
    form=st.sampled_from(FORMS),
    before=st.sampled_from(["", "\n\n", "```\n", "  ", '"']),
    after=st.sampled_from(["", "\n", "\n```\n", '"\n']),
    times=st.integers(1, 4),
)
def test_wrapping_makes_no_content_of_markers(form, before, after, times):
    assert refuse_markers({"content": before + form + after}, {}) is not None
    several = {"content": before + "\n".join([form] * times) + after}
    assert refuse_markers(several, {}, way_to=lambda name: f"recall id={name}") is not None


@given(
    name=st.from_regex(r"r[1-9][0-9]{0,3}|e[0-9]{1,3}#[0-9]|call_[a-zA-Z0-9]{4,12}", fullmatch=True),
    key=st.sampled_from(["", "~", "~abc", "~aaaaaaaa", " (~aaaaaaaa)"]),
    tokens=st.integers(0, 10**6),
    kind=st.sampled_from(["archived", "summarized", "folded", "truncated", "compressed", "not the content: archived"]),
    tail=st.sampled_from(
        ["", "; to read it: recall id=x", ", 3 lines; to read it: read path=/x y]z", "; kept outside this conversation"]
    ),
)
def test_a_form_that_a_model_makes_up_is_refused_as_content_and_found_by_its_name(name, key, tokens, kind, tail):
    text = f"[{kind} {name}{key}: bash, {tokens:,} tokens{tail}]"
    assert only_markers(text) == (name,)
    assert refuse_markers({"content": text}, {}) is not None
    edit = {"edits": [{"old": "a", "new": text}]}
    assert refuse_markers(edit, {}) is None
    assert refuse_markers(edit, {}, way_to=lambda n: f"recall id={n}" if n == name else None) is not None


@given(text=FREE.filter(str.strip), form=st.sampled_from(FORMS))
def test_a_form_that_follows_other_text_is_text(text, form):
    if only_markers(text):
        return
    assert refuse_markers({"content": f"x {text}\n{form}\n"}, {}, way_to=way_to) is None


@pytest.mark.parametrize("rest", ["what it was about", "line 1\n[… 272 lines, 21-292]\nline 293"])
def test_content_that_begins_with_a_marker_of_this_session_is_a_shortened_body(rest):
    assert refuse_markers({"content": f"{FORMS[5]}\n{rest}\n"}, {}, way_to=way_to) is not None
    assert refuse_markers({"content": f"{FORMS[5]}\n{rest}\n"}, {}) is None, "another session's is text"


@given(FREE)
def test_no_free_text_is_the_form_of_a_marker(text):
    assert only_markers(text) == ()


@pytest.mark.parametrize(
    "path",
    [
        "src/trimtab/context/markers.py",
        "tests/markers/test_look_alikes.py",
        "tests/markers/test_markers.py",
        "docs/context.md",
    ],
)
def test_a_file_that_tells_about_markers_may_be_written_and_changed_line_by_line(path):
    text = (Path(__file__).parents[2] / path).read_text("utf-8")
    assert refuse_markers({"path": path, "content": text}, KNOWN, way_to=way_to) is None
    lines = text.splitlines()
    for at in range(len(lines) - 1):
        new = "\n".join(lines[at : at + 2])
        assert refuse_markers({"path": path, "edits": [{"old": "x", "new": new}]}, KNOWN, way_to=way_to) is None, new


@given(
    key=KEYS,
    name=st.sampled_from(["r7", "r8", "e9#1", "call_1"]),
    tokens=st.integers(0, 10**6),
    way=st.sampled_from(["recall", "/p/x"]),
)
def test_the_perfect_form_with_an_invented_key_is_inert(key, name, tokens, way):
    text = stub(name=name, key=key, tokens=tokens, lines=3, tool="bash", is_error=False, way_back=way)
    assert live_markers(text, known) == ()


@given(FREE)
def test_no_text_is_live_without_a_key_of_the_session(text):
    assert live_markers(text, known) == ()


@given(before=FREE, after=FREE, marker=st.sampled_from(LIVE))
def test_a_live_marker_is_found_inside_any_text(before, after, marker):
    assert live_markers(f"{before}{marker}{after}", known) == (KEY,)


@given(marker=st.sampled_from(LIVE), width=st.integers(3, 40), indent=st.sampled_from(["", "    ", "\t"]))
def test_a_live_marker_that_was_wrapped_is_found(marker, width, indent):
    lines = [marker[at : at + width] for at in range(0, len(marker), width)]
    assert live_markers(f"\r\n{indent}".join(lines), known) == (KEY,)
    assert live_markers("\n".join(textwrap.wrap(marker, width, initial_indent=indent)), known) == (KEY,)


@given(marker=st.sampled_from(LIVE), depth=st.integers(1, 4), ascii_only=st.booleans())
def test_a_live_marker_inside_json_inside_json_is_found(marker, depth, ascii_only):
    text = marker
    for _ in range(depth):
        text = json.dumps({"content": text}, ensure_ascii=ascii_only)
    assert live_markers(text, known) == (KEY,)


@pytest.mark.parametrize(
    "spelt",
    [
        "\\u007e" + KEY,
        "\\\\u007E" + KEY,
        "\\x7e" + KEY,
        "".join(f"\\u{ord(c):04x}" for c in "~" + KEY),
        "~" + KEY.upper(),
        "".join(chr(ord(c) + 0xFEE0) for c in "~" + KEY),
        "\u223c" + KEY,
        "\u200b".join("~" + KEY),
        "\u00ad\ufeff".join("~" + KEY),
        "~" + KEY[:3] + "\\n" + KEY[3:],
    ],
    ids=[
        "json",
        "json twice",
        "hex",
        "all escaped",
        "upper",
        "full width",
        "other tilde",
        "zero width",
        "soft hyphen",
        "escaped break",
    ],
)
def test_another_spelling_of_a_live_key_is_found(spelt):
    assert live_markers(f"text r7{spelt} text", known) == (KEY,)


def test_a_key_with_a_letter_of_another_script_is_another_key():
    swaps = {"a": "а", "c": "с", "e": "е", "o": "о", "p": "р", "x": "х", "y": "у", "i": "і", "s": "ѕ", "j": "ј"}
    key = "aceopxyi"
    for at, letter in enumerate(key):
        fake = key[:at] + swaps[letter] + key[at + 1 :]
        assert live_markers(f"[archived r7~{fake}: 9 tokens]", {key}.__contains__) == ()


def test_keys_are_told_once_each_in_order():
    text = "~bbbbbbbb ~aaaaaaaa ~bbbbbbbb ~cccccccc"
    assert live_markers(text, {"aaaaaaaa", "bbbbbbbb"}.__contains__) == ("bbbbbbbb", "aaaaaaaa")


@pytest.mark.parametrize("marker", LIVE)
@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        (lambda m: {"path": "a.md", "content": f"# Notes\n{m}\nmore"}, "content"),
        (lambda m: {"path": "a.py", "edits": [{"old": "x", "new": "y"}, {"old": "z", "new": m}]}, "edits[1].new"),
        (lambda m: {"command": f"cat > a.md <<'EOF'\n# Notes\n{m}\nEOF\n"}, "command"),
        (lambda m: {"command": f"printf '%s' \"{m}\" | tee a.md"}, "command"),
        (lambda m: {"action": "write", "key": "k", "summary": "s", "content": m}, "content"),
        (lambda m: {"files": {m: 1}}, "a name in files"),
        (lambda m: m, "the argument"),
    ],
    ids=["write", "edit", "heredoc", "pipe", "memo", "name", "bare"],
)
def test_a_tool_that_writes_refuses_a_live_marker_and_says_how_to_read_the_text(marker, arguments, where):
    said = refuse_markers(arguments(marker), KNOWN)
    assert said == (
        f"{where} holds a marker in place of text that is archived, so nothing was done. "
        f"Read the real text first (~{KEY}: recall id=r7), then call again with that text in full."
    )


def test_a_marker_that_got_into_a_file_can_be_edited_out():
    arguments = {"path": "a.md", "edits": [{"old": STUB, "new": "the real text"}]}
    assert refuse_markers(arguments, KNOWN) is not None
    assert refuse_markers(arguments, KNOWN, searched={"old"}) is None


def test_a_file_that_holds_markers_of_another_session_may_be_written_back():
    other = stub(
        name="r7", key=marker_key("r7", size=4812, salt="another"), tokens=4812, lines=312, tool="bash", is_error=False
    )
    assert refuse_markers({"path": "log.md", "content": f"{other}\n" * 20}, KNOWN) is None


def test_what_is_known_comes_from_the_texts_that_edits_rendered():
    rendered = [
        STUB + "\nits summary",
        LIVE[3].replace(KEY, "bbbbbbbb"),
        "a page of a body",
        f"quoted: {STUB.replace(KEY, 'cccccccc')}",
    ]
    assert known_markers(rendered) == {KEY: "recall id=r7", "bbbbbbbb": "read path=/p/notes.md"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | FREE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FREE, inner, max_size=3),
)


@given(JSON, st.sampled_from(LIVE))
def test_arguments_are_refused_exactly_when_a_marker_is_somewhere_in_them(value, marker):
    assert refuse_markers(value, KNOWN) is None
    assert refuse_markers([{"a": value}, {"b": [marker]}], KNOWN) is not None


def test_nesting_beyond_the_stack_is_walked():
    value: object = STUB
    for _ in range(2_000):
        value = [value]
    assert refuse_markers({"content": value}, KNOWN) is not None
