"""Where nothing can be made to fit, our agent says what to type; the engine, which is embedded in other programs, only what to do."""

import ast
from pathlib import Path

import pytest

from support.small_window import SmallRoom, reads, says
from trimtab.coding.context.floor_words import OPTIONS, with_options
from trimtab.context.cycle import faults, floor
from trimtab.types.errors import ContextFloor


def hints() -> list[str]:
    """The hints of the engine's typed stop, with what may stand in them."""
    found = [*floor._ADVICE.values()]
    for module in (floor, faults):
        for node in ast.walk(ast.parse(Path(module.__file__).read_text("utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "hint" and isinstance(node.value, ast.Constant):
                found.append(node.value.value)
    return [*found, "Use a model with a larger window, unpin something, or go on in a new session."]


def test_each_hint_of_the_engine_says_what_to_type_and_no_option_is_without_a_hint() -> None:
    alone = "Nothing was lost. Put right what failed, then go on."
    told = {hint: with_options(ContextFloor("full", hint=hint)).hint for hint in hints()}
    assert [hint for hint in told if told[hint] == hint] == [alone]
    assert [options for options in OPTIONS.values() if not any(options in hint for hint in told.values())] == []


def test_what_is_said_stays_and_the_options_stand_behind_their_advice() -> None:
    told = with_options(ContextFloor("full", hint="Unpin something, or use a model with a larger window."))
    assert (told.message, told.hint) == (
        "full",
        "Unpin something (trimtab context unpin; trimtab context show marks what is pinned), or use a model with a larger window (--model, or /model in a talk).",
    )


@pytest.mark.anyio
async def test_a_turn_that_ends_at_the_floor_says_what_to_type(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, policy="none")
    async with room.open(*(reads(f"{letter}.txt") for letter in "abcdef"), says("done")) as session:
        turn = await session.prompt("read all")
    assert turn.reason == "floor"
    assert turn.error is not None
    assert turn.error.hint == (
        "Choose another policy, such as rules (--policy rules), or a model with a larger window (--model, or /model in a talk)."
    )
