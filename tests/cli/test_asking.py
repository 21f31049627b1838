"""Questions at the keyboard of the line loop."""

from contextlib import nullcontext

import anyio
import anyio.lowlevel
import pytest

from trimtab.coding.person import NOBODY, Kind, Option, Question
from trimtab.frontends.cli.asking import LinePerson, chosen_key, shown

pytestmark = pytest.mark.anyio

QUESTION = Question(
    "permission",
    "run this?",
    ("make \x1b[2Jinstall\nand more",),
    (Option("once", "this time"), Option("session", "until it ends", "not kept"), Option("no", "don't")),
)


async def answers(*lines: str, question: Question = QUESTION) -> tuple[str | None, list[str]]:
    """What comes of a question when these lines are typed; and what was said."""
    said: list[str] = []
    person = LinePerson(said.append, interactive=True)
    got: list[str | None] = []

    async def ask() -> None:
        got.append(await person.ask(question))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        for line in lines:
            while not person.waiting:
                await anyio.lowlevel.checkpoint()
            person.hear(line)
            await anyio.lowlevel.checkpoint()
        if person.waiting:
            person.give_up()
    return got[0], said


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("once", "once"),
        ("2", "session"),
        ("N", "no"),
        (" ses ", "session"),
        ("0", None),
        ("4", None),
        ("y", "once"),
        ("YES", "once"),
        ("n", "no"),
        ("yesterday", None),
        ("x", None),
        ("", None),
    ],
)
async def test_an_option_is_meant_by_its_key_its_first_letters_or_its_number(line: str, key: str | None) -> None:
    assert chosen_key(line, QUESTION) == key


async def test_y_and_n_mean_an_option_that_begins_so_before_any_other() -> None:
    later = Question("choice", "?", (), (Option("once", "x"), Option("yes", "x"), Option("never", "x")))
    assert [chosen_key(line, later) for line in ("y", "n")] == ["yes", "never"]
    assert chosen_key("y", Question("choice", "?", (), (Option("a", "x"), Option("no", "x")))) is None


async def test_enter_means_the_default_where_there_is_one() -> None:
    question = Question("trust", "?", (), QUESTION.options, default="no")
    assert (await answers("", question=question))[0] == "no"


async def test_a_line_that_is_no_answer_is_said_and_asked_again() -> None:
    answer, said = await answers("what", "once")
    assert answer == "once"
    ways = "answer with a word, its first letters or a number; an empty line: no answer"
    assert said[1] == f"what is no answer; {ways}"


@pytest.mark.parametrize(
    ("line", "question", "answer"),
    [
        ("", QUESTION, None),
        (" q ", QUESTION, None),
        ("Q", QUESTION, None),
        ("", Question("choice", "?", (), (Option("a", "x"),), default="a"), "a"),
        ("q", Question("choice", "?", (), (Option("a", "x"),), default="a"), None),
        ("q", Question("choice", "?", (), (Option("quiet", "x"), Option("a", "x"))), "quiet"),
        ("", Question("text", "your name?"), None),
        ("q", Question("text", "your name?"), "q"),
    ],
)
async def test_a_question_can_be_left_unanswered_by_a_line(line: str, question: Question, answer: str | None) -> None:
    got, said = await answers(line, question=question)
    assert got == answer
    assert said[1:] == (["not answered"] if answer is None else [])


def test_a_question_says_how_it_is_left_unanswered() -> None:
    one = Option("a", "x")
    assert shown(Question("choice", "?", (), (one,), default="a")).endswith("; Enter means a")
    assert shown(Question("choice", "?", (), (one,))).endswith("; an empty line: no answer")
    assert shown(Question("text", "your name?")).endswith("; an empty line: no answer")


async def test_a_question_without_options_is_answered_in_words() -> None:
    assert (await answers("two words", question=Question("text", "your name?")))[0] == "two words"


async def test_what_a_question_shows_from_outside_stays_behind_the_margin_and_is_obeyed_by_no_terminal() -> None:
    assert shown(QUESTION).splitlines() == [
        "run this?",
        "  make install",
        "  and more",
        "  1  once: this time",
        "  2  session: until it ends (not kept)",
        "  3  no: don't",
        "answer with a word, its first letters or a number; an empty line: no answer",
    ]


async def test_questions_that_come_together_are_asked_one_after_the_other() -> None:
    said: list[str] = []
    person = LinePerson(said.append, interactive=True)
    got: list[str | None] = []

    async def ask(text: str) -> None:
        got.append(await person.ask(Question("text", text)))

    async with anyio.create_task_group() as group:
        group.start_soon(ask, "first?")
        group.start_soon(ask, "second?")
        for line in ("one", "two"):
            while not person.waiting:
                await anyio.lowlevel.checkpoint()
            assert len(said) == 1 + len(got)
            person.hear(line)
            await anyio.lowlevel.checkpoint()
    assert got == ["one", "two"]


async def test_a_cancelled_question_takes_no_line() -> None:
    person = LinePerson(lambda text: None, interactive=True)
    with anyio.move_on_after(0.01):
        await person.ask(Question("text", "?"))
    assert not person.waiting


async def test_where_nobody_types_nothing_is_asked() -> None:
    said: list[str] = []
    assert await LinePerson(said.append, interactive=False).ask(QUESTION) is None
    assert await NOBODY.ask(QUESTION) is None
    assert said == []


async def over(question: Question, *typed: str) -> LinePerson:
    """A person whose question is over: answered by a line, or, without one, because whoever asked has gone."""
    person = LinePerson(lambda _: None, interactive=True, hide=nullcontext)
    async with anyio.create_task_group() as group:
        group.start_soon(person.ask, question)
        while not person.waiting:
            await anyio.lowlevel.checkpoint()
        for line in typed:
            person.hear(line)
        if not typed:
            group.cancel_scope.cancel()
    assert not person.waiting
    return person


@pytest.mark.parametrize(
    ("line", "late"),
    [
        ("y", True),
        ("NO", True),
        ("2", True),
        ("ses", True),
        ("q", True),
        ("yes, go on", False),
        ("7", False),
        ("", False),
    ],
)
@pytest.mark.parametrize("working", [True, False])
async def test_what_would_have_answered_a_question_that_is_over_is_late(line: str, late: bool, working: bool) -> None:
    assert (await over(QUESTION)).late(line, working=working) is late


@pytest.mark.parametrize("kind", ["text", "secret"])
@pytest.mark.parametrize("line", ["sk-abc", "!sk-abc", "two words"])
async def test_words_for_a_question_that_is_over_are_late_whatever_they_are(kind: Kind, line: str) -> None:
    person = await over(Question(kind, "your key?"))
    assert (person.late(line, working=False), person.late(line, working=False)) == (True, False)


async def test_an_answer_that_is_typed_twice_is_late_only_while_the_work_goes_on() -> None:
    assert (await over(QUESTION, "y")).late("y", working=True)
    assert not (await over(QUESTION, "y")).late("y", working=False)
    assert not (await over(QUESTION, "y")).late("and be quick", working=True)
    assert not (await over(Question("text", "?"), "words")).late("more words", working=True)


async def test_only_the_first_line_behind_a_question_is_late_and_a_new_question_ends_that() -> None:
    person = await over(QUESTION)
    assert [person.late(line, working=True) for line in ("go on", "y")] == [False, False]
    assert not LinePerson(print, interactive=True).late("y", working=True)


async def test_a_question_whose_asker_has_gone_is_said_to_be_over() -> None:
    said: list[str] = []
    person = LinePerson(said.append, interactive=True)
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(person.ask, QUESTION)
            while not person.waiting:
                await anyio.lowlevel.checkpoint()
            scope.cancel()
    assert said[1:] == ["that is asked no more"]
