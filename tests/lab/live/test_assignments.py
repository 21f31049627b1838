"""Repositories with failing tests, and plans that don't give away what has to be known."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.lab.live.assignment import BLANK, blanks, filled
from trimtab.lab.live.noise import Size
from trimtab.lab.live.registry import FAMILIES, make_assignment
from trimtab.lab.live.workshop import judged
from trimtab.types.errors import UsageError

SMALL = Size(steps=(4, 8), tokens=(200, 500))


def everything(test):
    """For any assignment, a small one."""
    return settings(max_examples=40)(given(st.sampled_from(sorted(FAMILIES)), st.integers(0, 10_000))(test))


@everything
def test_an_assignment_is_the_same_for_the_same_number(family, number):
    assert make_assignment(family, number, SMALL) == make_assignment(family, number, SMALL)


@everything
def test_a_plan_holds_no_value_that_has_to_be_known_and_every_guess_is_wrong(family, number):
    made = make_assignment(family, number, SMALL)
    for fact in made.facts:
        value, pattern = made.truth[fact.name], filled(fact.pattern, made.truth.__getitem__)
        assert fact.guess != value
        assert not any(re.search(pattern, str(move.arguments)) for move in made.moves)
        assert not re.search(pattern, made.prompt)
    assert {fact.name for fact in made.facts} == set(made.truth)
    assert {name for move in made.moves for name in move.needs} <= set(made.truth)


@everything
def test_the_source_of_a_value_is_the_only_file_that_shows_it(family, number):
    made = make_assignment(family, number, SMALL)
    for fact in made.facts:
        pattern, source = (filled(text, made.truth.__getitem__) for text in (fact.pattern, fact.source))
        showing = {path: re.findall(pattern, text) for path, text in made.files.items() if re.search(pattern, text)}
        assert showing.pop(source) == [made.truth[fact.name]]
        assert set(showing) <= {"decisions/0007.md"}, "what was decided before looks like what was decided last"


@everything
def test_what_a_plan_needs_is_read_before_and_long_before(family, number):
    made = make_assignment(family, number, Size(steps=(20, 20), tokens=(200, 300)))
    facts = {fact.name: fact for fact in made.facts}
    for place, move in enumerate(made.moves):
        for name in move.needs:
            source = facts[name].source
            reads = [
                n
                for n, other in enumerate(made.moves)
                if source in other.arguments.values() or f"cat {source}" in str(other.arguments)
            ]
            assert reads
            assert min(reads) < place - 1


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_the_tests_of_a_repository_fail_at_first_and_say_no_value(family, tmp_path):
    made = make_assignment(family, 1, SMALL)
    for path, text in made.files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    passed, told = judged(tmp_path, made)
    assert not passed
    assert not any(value in told for value in made.truth.values() if len(value) > 2), told


def test_another_size_has_another_number_of_steps():
    short, long = (make_assignment("totals", 3, Size(steps=(n, n), tokens=(200, 300))) for n in (2, 30))
    assert len(long.moves) - len(short.moves) == 28


def test_an_unknown_family_is_refused_with_those_that_there_are():
    with pytest.raises(UsageError, match=r"no family 'x'.*settings-value"):
        make_assignment("x", 0)


@given(
    st.recursive(
        st.text() | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_filling_in_changes_blanks_and_nothing_else(value):
    assert filled(value, lambda name: f"⟨{name}⟩") == value
    assert not blanks(filled(value, lambda _: ""))
    assert all(BLANK.fullmatch(f"⟨{name}⟩") for name in blanks(value))
