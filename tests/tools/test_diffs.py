"""Diffs: always right, and in bounded time."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.coding.tools.diffs import changes, unified

lines = st.lists(st.sampled_from(["a", "b", "c", "", "}", "x = 1"]), max_size=30)
texts = st.tuples(lines, st.booleans()).map(lambda pair: "\n".join(pair[0]) + "\n" * pair[1])
HUNK = re.compile(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@\n")


def patched(old: str, diff: str) -> str:
    """Apply a diff the way the format is defined, checking context, counts and places."""
    source = re.findall(r"[^\n]*\n|[^\n]+", old)
    result: list[str] = []
    at = 0
    rows = re.findall(r"[^\n]*\n", diff.replace("\n\\ No newline at end of file\n", "\x00\n"))
    while rows:
        found = HUNK.fullmatch(rows.pop(0))
        assert found
        start, count, new_start, new_count = map(int, found.groups())
        begin = start - (count > 0)
        result += source[at:begin]
        assert len(result) == new_start - (new_count > 0)
        at = begin
        made = 0
        while rows and not rows[0].startswith("@@"):
            mark, line = rows[0][0], rows.pop(0)[1:]
            line = line[:-2] if line.endswith("\x00\n") else line
            if mark in " -":
                assert source[at] == line
                at += 1
            if mark in " +":
                result.append(line)
                made += 1
        assert (at - begin, made) == (count, new_count)
    return "".join(result + source[at:])


def test_equal_texts_have_no_diff() -> None:
    assert unified("a\n", "a\n", size=100) == ""


def test_a_missing_last_newline_is_marked() -> None:
    assert unified("a", "a\n", size=100) == "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"


def test_near_changes_share_a_hunk_and_far_ones_do_not() -> None:
    old = [f"{n}\n" for n in range(40)]
    near, far = [*old], [*old]
    near[3], near[9] = "x\n", "y\n"
    far[3], far[30] = "x\n", "y\n"
    assert (unified("".join(old), "".join(near), size=9_999) or "").count("@@ -") == 1
    assert (unified("".join(old), "".join(far), size=9_999) or "").count("@@ -") == 2


def test_a_diff_over_the_size_is_left_out() -> None:
    assert unified("a\n" * 50, "b\n" * 50, size=100) is None
    assert unified("x" * 5_000_000, "y" * 5_000_000, size=10_000) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            [f"    value_{n} = compute({n})" for n in range(800)],
            [f"    value_{n} = compute({n + 1})" for n in range(800)],
        ),
        (["x = 1", "}", ""] * 267, ["x = 1", "", "}"] * 267),
        (["}"] * 800, ["}", ""] * 400),
        ([str(n % 7) for n in range(800)], [str(n % 5) for n in range(800)]),
    ],
)
def test_800_similar_lines_take_well_under_a_tenth_of_a_second(old: list[str], new: list[str]) -> None:
    start = time.process_time()
    changes(old, new)
    assert time.process_time() - start < 0.1


@settings(max_examples=200)
@given(texts, texts)
def test_a_diff_turns_the_old_text_into_the_new(old: str, new: str) -> None:
    diff = unified(old, new, size=1_000_000)
    assert diff is not None
    assert patched(old, diff) == new


@given(lines, lines)
def test_changes_are_in_order_apart_and_never_empty(old: list[str], new: list[str]) -> None:
    at, rebuilt = 0, []
    for change in changes(old, new):
        assert change.old_start >= at
        assert (change.old_start, change.new_start) != (change.old_end, change.new_end)
        rebuilt += old[at : change.old_start] + new[change.new_start : change.new_end]
        at = change.old_end
    assert rebuilt + old[at:] == new
