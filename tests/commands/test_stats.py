"""How fast answers came, from the times in a session's file."""

import pytest

from trimtab.coding.commands.stats import speed_lines
from trimtab.types.entries import KnownEntry, MessageEntry
from trimtab.types.messages import Assistant, Message, StopReason, Text, user
from trimtab.types.usage import Usage


def at(second: str, message: Message) -> KnownEntry:
    return MessageEntry(id=second, parent=None, time=f"2026-01-01T00:00:{second}Z", message=message)


def answer(output: int | None = None, reason: StopReason = "stop") -> Assistant:
    usage = None if output is None else Usage(output=output)
    return Assistant((Text("x"),), reason, usage=usage)


@pytest.mark.parametrize(
    ("entries", "line"),
    [
        (
            [at("01", user("a")), at("03", answer(100)), at("10", user("b")), at("14", answer(40)), at("15.5", answer(150))],
            "an answer took 2.0 s, 50 tokens of it a second (half took longer); the longest 4.0 s",
        ),
        ([at("01", user("a")), at("02", answer())], "an answer took 1.0 s (half took longer); the longest 1.0 s"),
        ([at("01", user("a")), at("03", answer(9, "error"))], ""),
        ([at("05", user("a")), at("03", answer(9))], ""),
        ([at("xx", user("a")), at("03", answer(9))], ""),
        ([at("03", answer(9))], ""),
        ([], ""),
    ],
    ids=["several", "nobody counted", "a failed one", "a clock that went back", "no time", "the first entry", "nothing"],
)  # fmt: skip
def test_answers_are_timed_from_what_stands_before_them(entries: list[KnownEntry], line: str) -> None:
    assert speed_lines(entries) == ([line] if line else [])
