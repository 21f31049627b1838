"""What a talk shows when it goes on, and what its commands are."""

import pytest

from trimtab.frontends.cli.chat import recalled
from trimtab.frontends.cli.chat_commands import COMMANDS, help_text, parse
from trimtab.types.messages import Assistant, Text, User, user


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("/help", ("help", "")),
        ("/model local/tiny", ("model", "local/tiny")),
        ("/answer c1 two words", ("answer", "c1 two words")),
        ("/", ("", "")),
        ("/etc/passwd is a file", None),
        ("/usr/bin", None),
        ("/tmp2 is full", None),
        (" /help", None),
        ("what is /help", None),
    ],
)
def test_a_command_is_a_slash_and_a_word_of_letters(line: str, meant: tuple[str, str] | None) -> None:
    assert parse(line) == meant


def test_help_lists_every_command() -> None:
    lines = help_text().splitlines()
    assert [line.split()[0] for line in lines[:-1]] == [f"/{name}" for name in COMMANDS]
    assert all(command.help in line for command, line in zip(COMMANDS.values(), lines, strict=False))


def test_the_end_of_a_talk_is_its_last_prompt_and_answer_on_a_line_each() -> None:
    talk = [
        user("first"),
        Assistant((Text("one"),), "stop"),
        user("and\nthen?"),
        Assistant((Text("looking"),), "tool_use"),
        user("be quick", origin="steering"),
        Assistant((Text("x" * 1000),), "stop"),
        Assistant((), "tool_use"),
    ]
    assert recalled(talk).splitlines() == [
        "This session goes on. It ended with:",
        "  you: and then?",
        f"  model: {'x' * 399}…",
    ]


def test_a_prompt_without_an_answer_is_shown_alone_and_nothing_is_nothing() -> None:
    assert recalled(
        [user("one"), Assistant((Text("x"),), "stop"), User((Text("two"), Text("<file>")))]
    ).splitlines() == [
        "This session goes on. It ended with:",
        "  you: two",
    ]
    assert recalled([]) == ""
