"""How a turn's end looks from outside: exit codes, and words where nothing else says why."""

from typing import Literal, TypeAlias, assert_never

from trimtab.agent.events import TurnReason

Where: TypeAlias = Literal["shell", "talk", "unkept", "program"]
"""Where it is read how a turn ended: behind a run, in a talk, behind a run whose session isn't kept, in a program that embeds us."""
_GOES_ON: dict[Where, str] = {
    "shell": "what was done is kept, and --continue goes on",
    "talk": "what was done is kept, and your next words go on",
    "unkept": "without --no-session it could go on",
    "program": "what was done is kept, and another prompt goes on",
}


def exit_code(reason: TurnReason) -> int:
    """The process's exit code for a turn that ended for `reason` (signals: the caller knows better)."""
    match reason:
        case "stop":
            return 0
        case "error" | "refused" | "length" | "empty":
            return 1
        case "verify_failed":
            return 3
        case "max_steps":
            return 4
        case "floor":
            return 5
        case "budget":
            return 6
        case "schema_failed":
            return 7
        case "parked":
            return 8
        case "cancelled":
            return 130
        case _:
            assert_never(reason)


def ending(reason: TurnReason, where: Where = "shell") -> str:
    """Why the turn ended and what to do next, for who reads it `where`; empty when the answer, an error event or a question has said it already."""
    on = _GOES_ON[where]
    match reason:
        case "length":
            return f"the answer reached the output limit and is cut: {on}, or raise max_output"
        case "empty":
            return "the model answered nothing, twice: ask again, or try another model"
        case "max_steps":
            more = {"talk": "/settings max_steps", "program": "max_steps"}.get(where, "--max-steps")
            return f"the turn used up its steps: {on}; {more} sets how many there are"
        case "cancelled":
            return f"stopped: {on}"
        case "stop" | "parked" | "error" | "refused" | "floor" | "budget" | "verify_failed" | "schema_failed":
            return ""
        case _:
            assert_never(reason)
