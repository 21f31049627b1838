"""How a turn's end looks from outside: exit codes, and words where nothing else says why."""

from typing import assert_never

from trimtab.agent.events import TurnReason


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


def ending(reason: TurnReason) -> str:
    """Why the turn ended and what to do next; empty when the answer, an error event or a question has said it already."""
    match reason:
        case "length":
            return (
                "the answer reached the output limit and is cut: ask for the rest with --continue, or raise max_output"
            )
        case "empty":
            return "the model answered nothing, twice: ask again with --continue, or try another model"
        case "max_steps":
            return "the turn used up its steps: --continue goes on, --max-steps sets how many there are"
        case "cancelled":
            return "stopped; what was done is kept: --continue goes on"
        case "stop" | "parked" | "error" | "refused" | "floor" | "budget" | "verify_failed" | "schema_failed":
            return ""
        case _:
            assert_never(reason)
