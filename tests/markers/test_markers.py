"""Markers say what they stand for, have the same bytes each time, and come back as data."""

import json

from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.markers import (
    KEPT_OUTSIDE,
    Hidden,
    gap_mark,
    hides,
    live_markers,
    marker_key,
    only_markers,
    pointer,
    pointers_in_words,
    rendered_in_words,
    shortened_head,
    stub,
)

KEY = marker_key("r7", size=4812, salt="session-1")
NAMES = st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1, max_size=30)
PATHS = st.text(st.characters(categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=60).map("/bodies/{}".format)
TEXTS = st.text(max_size=80)


def test_a_stub_names_id_size_tool_error_and_way_back_on_one_line():
    text = stub(name="r7", key="4kq2m7xa", tokens=4812, lines=312, tool="bash", is_error=True)
    assert text == "[archived r7~4kq2m7xa: bash, error, 4,812 tokens, 312 lines; to read it: recall id=r7]"


def test_a_summary_stands_below_the_line_of_its_stub():
    text = stub(name="r7", key="4kq2m7xa", tokens=1, lines=1, tool="read", is_error=False, summary=" two\nlines\n")
    assert text == "[archived r7~4kq2m7xa: read, 1 token, 1 line; to read it: recall id=r7]\ntwo\nlines"


def test_with_the_tools_off_a_stub_gives_the_path_that_read_may_open():
    text = stub(name="r7", key="4kq2m7xa", tokens=9, lines=0, tool="", is_error=False, way_back="/home/u/bodies/a b]c")
    assert text == "[archived r7~4kq2m7xa: 9 tokens; to read it: read path=/home/u/bodies/a b]c]"
    assert hides(text) == Hidden("archived", "r7", "4kq2m7xa", "read path=/home/u/bodies/a b]c")


def test_a_pointer_says_that_it_is_not_the_content_and_how_to_read_it():
    text = pointer(
        name="e9#1", key="m2c5tq7d", tokens=900, lines=40, memo="auth", summary='how "it"\nworks', way_back="memo"
    )
    assert text == (
        "[not the content: archived e9#1~m2c5tq7d: 900 tokens, 40 lines, key auth, summary: how 'it' works; "
        "to read it: memo action=read key=auth]"
    )


def test_a_gap_counts_and_numbers_what_it_left_out():
    assert gap_mark(272, "lines", key="4kq2m7xa", first=21) == "[… 272 lines, 21-292 ~4kq2m7xa]"
    assert gap_mark(1, "lines", first=3, fenced=True) == "[… 1 line of a code block, 3]"
    assert gap_mark(48000, "chars", key="4kq2m7xa") == "[… 48,000 chars ~4kq2m7xa]"


def test_a_key_is_the_same_each_time_and_another_for_each_name_size_and_session():
    assert marker_key("r7", size=4812, salt="session-1") == KEY
    others = {
        marker_key("r8", size=4812, salt="session-1"),
        marker_key("r7", size=4813, salt="session-1"),
        marker_key("r7", size=4812, salt="session-2"),
    }
    assert len(others - {KEY}) == 3


@given(
    name=NAMES,
    tool=TEXTS,
    tokens=st.integers(0, 10**9),
    lines=st.integers(0, 10**7),
    failed=st.booleans(),
    summary=TEXTS,
    path=st.one_of(st.just("recall"), PATHS),
)
def test_what_a_stub_hides_can_be_read_back_from_it(name, tool, tokens, lines, failed, summary, path):
    text = stub(
        name=name, key=KEY, tokens=tokens, lines=lines, tool=tool, is_error=failed, summary=summary, way_back=path
    )
    way = f"recall id={name}" if path == "recall" else f"read path={' '.join(path.split())}"
    assert hides(text) == Hidden("archived", name, KEY, way)
    assert live_markers(text, {KEY}.__contains__) == (KEY,)
    assert text == stub(
        name=name, key=KEY, tokens=tokens, lines=lines, tool=tool, is_error=failed, summary=summary, way_back=path
    )


def test_where_only_the_program_has_the_text_a_marker_names_no_call():
    texts = [
        stub(name="r7", key=KEY, tokens=9, lines=0, tool="bash", is_error=False, way_back=KEPT_OUTSIDE),
        shortened_head("folded", name="r7", key=KEY, shown="4 of 9 lines", way_back=KEPT_OUTSIDE),
        pointer(name="r7", key=KEY, tokens=9, way_back=KEPT_OUTSIDE),
    ]
    assert texts == [
        f"[archived r7~{KEY}: bash, 9 tokens; kept outside this conversation]",
        f"[folded r7~{KEY}: 4 of 9 lines; all of it kept outside this conversation]",
        f"[not the content: archived r7~{KEY}: 9 tokens; kept outside this conversation]",
    ]
    for text in texts:
        found = hides(text)
        assert found is not None
        assert (found.name, found.key, found.way_back) == ("r7", KEY, None)


@given(kind=st.sampled_from(["folded", "truncated", "compressed", "summarized"]), name=NAMES, shown=TEXTS)
def test_the_head_of_a_shortened_body_says_what_was_done_and_how_to_read_all(kind, name, shown):
    text = shortened_head(kind, name=name, key=KEY, shown=shown) + "\nand the body"
    assert hides(text) == Hidden(kind, name, KEY, f"recall id={name}")


@given(
    name=NAMES,
    memo=TEXTS.map("auth{}".format),
    summary=TEXTS,
    digest=TEXTS,
    path=st.one_of(st.sampled_from(["recall", "memo"]), PATHS),
)
def test_a_pointer_needs_no_escape_in_json(name, memo, summary, digest, path):
    text = pointer(name=name, key=KEY, tokens=5, memo=memo, summary=summary, digest=digest, way_back=path)
    assert json.dumps(text, ensure_ascii=False) == f'"{text}"'
    found = hides(text)
    assert found is not None
    assert (found.kind, found.key) == ("archived", KEY)
    assert found.way_back is not None


@given(text=TEXTS)
def test_other_texts_hide_nothing(text):
    assert hides(text) is None
    assert hides(f"see {stub(name='r1', key=KEY, tokens=1, lines=1, tool='', is_error=False)}") is None


def test_a_marker_without_a_way_back_is_seen_as_one():
    assert hides("[archived r7~4kq2m7xa: bash, 9 tokens]") == Hidden("archived", "r7", "4kq2m7xa", None)


def test_a_body_made_of_half_markers_is_judged_without_trying_them_all():
    assert hides("[archived " + "a~aaaaaaaa:" * 100_000) is None


@given(st.sampled_from(["", "what it said", "names: src/a.py b.py"]), st.text(max_size=20), st.sampled_from(["recall", "/a/b.txt", KEPT_OUTSIDE]))  # fmt: skip
def test_a_stub_in_words_has_its_summary_and_no_form_of_a_marker(summary, tool, way_back):
    text = stub(name="r7", key="4kq2m7xa", tokens=9, lines=2, tool=tool, is_error=False, summary=summary, way_back=way_back)  # fmt: skip
    told = rendered_in_words(text, what="result of read r7")
    assert told == "\n".join(part for part in ("(result of read r7, hidden)", summary) if part)
    assert (hides(told), only_markers(told), live_markers(told, lambda _key: True)) == (None, (), ())


def test_a_shortened_body_in_words_keeps_its_lines_and_loses_the_keys_of_its_gaps():
    head = shortened_head("folded", name="r7", key="4kq2m7xa", shown="2 of 9 lines")
    gap = gap_mark(7, "lines", key="4kq2m7xa", first=2)
    told = rendered_in_words(f"{head}\nfirst\n{gap}\nlast", what="result of read r7")
    assert told == "(result of read r7, shortened)\nfirst\n[… 7 lines, 2-8]\nlast"
    assert rendered_in_words("no marker\nat all", what="x") == "no marker\nat all"


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=30), st.sampled_from(["recall", "memo", "/a b.txt", KEPT_OUTSIDE]))  # fmt: skip
def test_pointers_in_words_stay_json_and_leave_the_rest_alone(memo, summary, other, way_back):
    put = pointer(name="e9#1", key="4kq2m7xa", tokens=5, memo=memo, summary=summary, way_back=way_back)
    told = json.loads(pointers_in_words(json.dumps({"content": put, "other": other, "more": [put]})))
    assert told["other"] == other
    assert told["content"].startswith("(hidden, e9#1: 5 tokens")
    assert told["more"] == [told["content"]]
    assert "4kq2m7xa" not in told["content"]
