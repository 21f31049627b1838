"""How a turn's end looks from outside: exit codes."""

from typing import assert_never

from trimtab.agent.events import TurnReason


def exit_code(reason: TurnReason) -> int:
    """The process's exit code for a turn that ended for `reason` (signals: the caller knows better)."""
    match reason:
        case "stop":
            return 0
        case "error" | "refused" | "length" | "empty":
            return 1
        case "max_steps":
            return 4
        case "floor":
            return 5
        case "budget":
            return 6
        case "parked":
            return 8
        case "cancelled":
            return 130
        case _:
            assert_never(reason)
