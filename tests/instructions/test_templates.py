"""Prompt templates: what is found, and what an argument does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.instructed import Place
from trimtab.coding.instructions.arguments import fill, words_of


@pytest.mark.parametrize(
    ("text", "typed", "filled"),
    [
        ("Review $1 for $2.", "a.py speed", "Review a.py for speed."),
        ("[$1] [$3]", "one", "[one] []"),
        ("$10|$1", "a b c d e f g h i j", "j|a"),
        ("All: $@ / $ARGUMENTS", 'x  "y z"', 'All: x  "y z" / x  "y z"'),
        ("$1", '"two words" x', "two words"),
        ("${1:-all files} ${2:-fast}", "a.py", "a.py fast"),
        ("${@:-nothing} ${ARGUMENTS:-at all}", "", "nothing at all"),
        ("${@:2:3}", "a b c d e", "b c d"),
        ("${@:2}|${@:9}|${@:0:1}", "a b c", "b c||a"),
        ("${1} and ${@}", "a b", "a and a b"),
        (r"It costs \$5, $ARGUMENTS_X, $x and $", "", "It costs $5, $ARGUMENTS_X, $x and $"),
        ("No place.", "typed", "No place.\n\ntyped"),
        ("No place.", "", "No place."),
        ("$1", "$2 ${@} x", "$2"),
        ("$1", "it's", "it's"),
        ("$99999999999", "a", ""),
    ],
)
def test_arguments_are_put_in_their_places(text: str, typed: str, filled: str) -> None:
    assert fill(text, typed) == filled


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_and_any_line_make_a_prompt(text: str, typed: str) -> None:
    assert isinstance(fill(text, typed), str)
    assert fill("$@", typed) == typed.strip()
    assert isinstance(words_of(typed), tuple)


def test_templates_are_found_and_a_projects_own_holds_over_the_persons(place: Place) -> None:
    place.write("home/prompts/review.md", "mine")
    place.write("home/prompts/fix.md", "---\ndescription: Fix it\nargument-hint: [issue] [how]\n---\nFix $1\n")
    place.write("work/.trimtab/prompts/review.md", "\ufeff# Look closely\r\n\r\nReview.")
    place.write("work/.trimtab/prompts/notes.txt", "no template")
    found = place.look()[0].found
    assert [(t.name, t.description, t.hint, t.whose) for t in found.templates.values()] == [
        ("fix", "Fix it", "[issue] [how]", "user"),
        ("review", "Look closely", "", "project"),
    ]
    assert place.look(trust=None)[0].found.templates["review"].text == "mine"


def test_a_broken_template_is_said_with_its_file_and_left_out(place: Place) -> None:
    place.write("home/prompts/good.md", "text")
    place.write("home/prompts/two words.md", "x")
    place.write("home/prompts/empty.md", "---\ndescription: d\n---\n\n")
    place.write("home/prompts/open.md", "---\ndescription: d\n")
    place.write("home/prompts/huge.md", "x" * 300_000)
    instructions, told = place.look()
    assert list(instructions.found.templates) == ["good"]
    assert [text.removeprefix(f"{place.home}/prompts/").split(" is left out: ") for text in told] == [
        ["empty.md", "it is empty"],
        ["huge.md", "it is larger than a prompt can be (300,000 bytes)"],
        ["open.md", "its front matter has no end (a line of three dashes)"],
        ["two words.md", "its name is no word of letters, digits, - and _, so no command"],
    ]
