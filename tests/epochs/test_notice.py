"""A notice of changed instructions tells each change with its place, or the instructions whole."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.cycle.front import Front
from trimtab.context.cycle.notice import HEAD, notice

PAD = "".join(f"Line {n}: some long rule that makes the prompt long enough.\n" for n in range(20))
WHOLE = "The instructions, as a whole, now read:\n"
CHANGE = re.compile(
    r"(?:At the beginning |(?:Under\n> (?P<heading>.*)\nafter|After)\n(?P<context>(?:> .*\n)+))"
    r"the instructions (?:no longer say\n(?P<old>(?:> .*\n)+)(?:but\n(?P<but>(?:> .*\n)+))?|now also say\n(?P<new>(?:> .*\n)+))"
)


def told(before: str, after: str) -> str:
    return notice(Front(before, ()), Front(after, ())).removeprefix(HEAD).strip("\n")


def test_a_line_that_comes_in_is_told_with_its_heading_and_the_line_in_front_of_it() -> None:
    before = PAD + "Always:\n- run tests\nNever:\n- delete data\n"
    assert told(before, before + "- push to main\n") == (
        "Under\n> Never:\nafter\n> - delete data\nthe instructions now also say\n> - push to main"
    )


def test_a_line_that_moved_goes_in_one_place_and_comes_in_another() -> None:
    before = PAD + "Always:\n- run tests\n- push to main\nNever:\n- delete data\n"
    after = PAD + "Always:\n- run tests\nNever:\n- delete data\n- push to main\n"
    assert told(before, after) == (
        "Under\n> Always:\nafter\n> - run tests\nthe instructions no longer say\n> - push to main\n"
        "Under\n> Never:\nafter\n> - delete data\nthe instructions now also say\n> - push to main"
    )


def test_of_two_equal_lines_the_one_that_changed_is_told() -> None:
    before = PAD + "In src:\n- line length 80\nIn tests:\n- line length 80\n"
    after = PAD + "In src:\n- line length 80\nIn tests:\n- line length 120\n"
    assert told(before, after) == (
        "After\n> In tests:\nthe instructions no longer say\n> - line length 80\nbut\n> - line length 120"
    )


def test_more_lines_tell_the_place_where_one_is_not_enough() -> None:
    before = PAD + "# Source\n- no prints\n# Tests\n- no prints\n"
    assert told(before, before + "- no sleeps\n") == (
        "After\n> # Tests\n> - no prints\nthe instructions now also say\n> - no sleeps"
    )


def test_a_change_of_the_first_line_is_at_the_beginning() -> None:
    assert told("Be brief.\n" + PAD, "Be kind.\n" + PAD) == (
        "At the beginning the instructions no longer say\n> Be brief.\nbut\n> Be kind."
    )


def test_where_only_counting_finds_the_place_the_instructions_are_told_whole() -> None:
    before = "Be brief.\n" + "Again.\n" * 40 + PAD
    after = "Be brief.\n" + "Again.\n" * 20 + "Stop.\n" + "Again.\n" * 20 + PAD
    assert told(before, after) == WHOLE + after.strip()


def test_changes_that_are_longer_than_the_instructions_are_told_as_the_instructions() -> None:
    after = PAD.replace("some", "no")
    assert told(PAD, after) == WHOLE + after.strip()


def test_a_long_line_that_only_tells_the_place_is_cut() -> None:
    before = PAD + "word " * 500 + "\n"
    text = told(before, before + "Be kind.\n")
    assert "…\nthe instructions now also say\n> Be kind." in text
    assert len(text) < 400


@pytest.mark.parametrize(
    ("above", "line", "heading"),
    [
        ("# Style\nBe brief.\n", "Be kind.", "# Style"),
        ("<rules>\nBe brief.\n", "Be kind.", "<rules>"),
        ("**Style**\nBe brief.\n", "Be kind.", "**Style**"),
        ("# Style\nNever:\n- lie\nBe brief.\n", "Be kind.", "# Style"),
        ("# Style\nNever:\n- in tests:\n  - sleep\n", "  - print", "- in tests:"),
        ("# Style\nNever:\n- in tests:\n  - sleep\n- lie\n", "- shout", "Never:"),
    ],
)
def test_a_heading_is_one_that_reaches_down_to_the_change(above: str, line: str, heading: str) -> None:
    text = told(PAD + above, PAD + above + line)
    assert text.startswith(f"Under\n> {heading}\nafter\n")


def test_blank_lines_and_blanks_at_the_end_of_one_are_nothing_to_tell() -> None:
    assert told("Be brief.\nBe kind.", "Be brief.  \n\n\nBe kind.\n") == ""


few = st.lists(st.sampled_from(["# A", "Never:", "- a", "- b", "  - c", "d"]), max_size=10)


@given(few, few, st.booleans())
def test_whoever_follows_a_notice_reads_the_instructions_that_hold(
    first: list[str], second: list[str], pad: bool
) -> None:
    before, after = [*(PAD.splitlines() if pad else ()), *first], [*(PAD.splitlines() if pad else ()), *second]
    text = told("\n".join(before), "\n".join(after))
    if text.startswith(WHOLE):
        assert text == WHOLE + "\n".join(after).strip()
    elif text != "The instructions at the head no longer hold.":
        assert followed(before, text) == after


def followed(before: list[str], text: str) -> list[str]:
    """The lines that hold when those of `before` are read with the notice, each place looked for by its words."""
    made, rest = list(before), f"{text}\n" if text else ""
    changes = []
    while rest:
        found = CHANGE.match(rest)
        assert found
        changes.append(found)
        rest = rest[found.end() :]
    for found in reversed(changes):
        context, old, new = unquoted(found["context"]), unquoted(found["old"]), unquoted(found["but"] or found["new"])
        run = [*context, *old]
        places = [at for at in range(len(before)) if before[at : at + len(run)] == run] if context else [0]
        assert len(places) == 1
        assert found["heading"] is None or found["heading"] in before[: places[0]]
        start = places[0] + len(context)
        assert made[start : start + len(old)] == old
        made[start : start + len(old)] = new
    return made


def unquoted(text: str | None) -> list[str]:
    return [line[2:] for line in (text or "").splitlines()]
