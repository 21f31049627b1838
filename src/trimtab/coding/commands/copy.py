"""`/copy [N]`: the last answer, or the block of code number N in it, to the clipboard."""

import re
from collections.abc import Sequence

from trimtab.coding.commands.abilities import Copying
from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import counted, shortened
from trimtab.types.errors import UsageError
from trimtab.types.messages import Assistant

_BLOCK = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n(.*?)(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.M | re.S)
_SHOWN = 60


async def _run(desk: Desk, rest: str) -> None:
    text = copied(last_answer(desk.session), rest)
    if not isinstance(desk, Copying):
        raise UsageError("this frontend reaches no clipboard", hint="Copy the text where it is shown.")
    how = await desk.copy(text)
    desk.tell(one_line(f"copied {counted(len(text), 'character')} {how}"))


def copied(answer: str, which: str) -> str:
    """What of an answer is meant: all of it, or its block of code number `which`. Raises `UsageError`."""
    if not answer:
        raise UsageError("there is no answer yet", hint="Ask something first.")
    if not which:
        return answer
    blocks = blocks_of(answer)
    if not which.isdecimal() or not 0 < int(which) <= len(blocks):
        there = f"It has {counted(len(blocks), 'block')}." if blocks else "It has none; /copy takes all of it."
        raise UsageError(f"the last answer has no block of code {which!r}", hint=there)
    return blocks[int(which) - 1]


def last_answer(session: Session) -> str:
    """The text of the last answer that has one; empty where there is none."""
    answers = (m.text for m in reversed(session.messages) if isinstance(m, Assistant) and not m.superseded)
    return next((text for text in answers if text.strip()), "")


def blocks_of(text: str) -> list[str]:
    """The blocks of code in a text, in order, without what fences them."""
    return [found[2].removesuffix("\n") for found in _BLOCK.finditer(text)]


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    blocks = blocks_of(last_answer(session))
    return [
        Completion(str(number), shortened(" ".join(block.split()), _SHOWN))
        for number, block in enumerate(blocks, 1)
        if str(number).startswith(typed)
    ]


COMMAND = Command("copy", "[N]", "copy the last answer, or its block of code N", _run, _complete)
