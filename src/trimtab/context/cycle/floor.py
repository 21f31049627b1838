"""The floor: what no edit can take out of a request. Asked first, so that nothing is shortened in vain.

floor = system prompt + tools + pinned items + what the user asked for last
"""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.context.cycle.look import Look
from trimtab.context.editing.checks import newest_request
from trimtab.types.errors import ContextFloor

_LISTED = 3


@dataclass(frozen=True, slots=True)
class Floor:
    """Sizes in tokens of what must stay."""

    system: int
    tools: int
    pinned: int
    newest: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.system + self.tools + self.pinned + self.newest


def floor_of(look: Look) -> Floor:
    """What of this request must stay."""
    system = look.tally.fixed(look.request.system, ())
    newest = newest_request(look.view)
    pinned = asked = 0
    for index, slot in enumerate(look.view.slots):
        if index == newest:
            asked = sum(look.tally.message(message) for message in slot.shown)
        elif slot.pinned:
            pinned += sum(look.tally.message(message) for message in slot.shown)
    return Floor(system, max(0, look.fixed - system), pinned, asked)


def require_floor(look: Look) -> None:
    """Raise `ContextFloor` when what must stay is already over the limit."""
    floor = floor_of(look)
    limit = look.budget.hard
    if floor.total <= limit:
        return
    parts = {
        "system prompt": floor.system,
        "tools": floor.tools,
        "pinned items": floor.pinned,
        "your last message": floor.newest,
    }
    largest = max(parts, key=parts.__getitem__)
    raise ContextFloor(
        f"{_listed(parts)} have {floor.total:,} tokens together, and a request may have {limit:,} (window {look.budget.window:,})",
        hint=_ADVICE[largest],
    )


def stuck(look: Look, tried: Sequence[str], *, failures: Sequence[str] = ()) -> ContextFloor:
    """The error for a request that stays over the limit after everything was tried; `failures` are what went wrong while trying."""
    largest = sorted(look.sizes(), key=lambda pair: -pair[1])[:_LISTED]
    left = ", ".join(f"{look.view.slots[shown.place].id} ({size:,})" for shown, size in largest)
    if failures:
        return ContextFloor(
            f"the context has {look.used:,} tokens, {look.budget.hard:,} may be sent, and it can't be made smaller: {'; '.join(failures)}",
            hint="Nothing was lost. Put right what failed, then go on.",
        )
    return ContextFloor(
        f"the context has {look.used:,} tokens, {look.budget.hard:,} may be sent, and nothing more can be taken out"
        f" (tried: {', '.join(tried) or 'nothing'}; largest left: {left or 'none'})",
        hint="Use a model with a larger window, unpin something, or go on in a new session.",
    )


def over_with_policy_off(look: Look) -> ContextFloor:
    """The error for a full window that nobody may touch."""
    return ContextFloor(
        f"the context has {look.used:,} tokens, {look.budget.hard:,} may be sent, and the policy 'none' changes nothing",
        hint="Choose another policy (--policy rules), or a model with a larger window.",
    )


_ADVICE = {
    "system prompt": "Shorten the system prompt, or use a model with a larger window.",
    "tools": "Turn tools off (--tools), or use a model with a larger window.",
    "pinned items": "Unpin something, or use a model with a larger window.",
    "your last message": "Put the long text into a file and name it, or use a model with a larger window.",
}


def _listed(parts: dict[str, int]) -> str:
    named = [f"{name} ({size:,})" for name, size in parts.items() if size]
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
