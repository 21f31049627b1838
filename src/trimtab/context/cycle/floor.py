"""The floor: what no edit can take out of a request. Asked first, so that nothing is shortened in vain.

floor = system prompt + tools + pinned items + what the user asked for last

Its errors name what is there, part by part, and the parts add up to the tokens that they name. Decisions go by the upper end of an estimate, so where that is larger
it stands beside as "at most".
"""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.context.cycle.look import Look
from trimtab.context.editing.checks import newest_request
from trimtab.context.naming import name_of
from trimtab.context.window.view import Shown
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
    parts = _parts(floor)
    raise ContextFloor(
        f"{_together(parts, floor.total)}, and a request may have {limit:,} (window {look.budget.window:,})",
        hint=_ADVICE[max(parts, key=parts.__getitem__)],
    )


def stuck(look: Look, tried: Sequence[str], *, failures: Sequence[str] = ()) -> ContextFloor:
    """The error for a request that stays over the limit after everything was tried; `failures` are what went wrong while trying."""
    if failures:
        return ContextFloor(
            f"{_over(look)}, and it can't be made smaller: {'; '.join(failures)}",
            hint="Nothing was lost. Put right what failed, then go on.",
        )
    largest = sorted(look.sizes(), key=lambda pair: -pair[1])[:_LISTED]
    left = ", ".join(f"{_named(look, shown)} ({size:,})" for shown, size in largest)
    steps = ", ".join(_STEPS.get(name, name) for name in tried)
    unpin = "unpin something, " if floor_of(look).pinned else ""
    return ContextFloor(
        f"{_over(look)}, and nothing more can be taken out"
        f" (tried: {steps or 'nothing'}; largest left: {left or 'none'})",
        hint=f"Use a model with a larger window, {unpin}or go on in a new session.",
    )


def over_with_policy_off(look: Look) -> ContextFloor:
    """The error for a full window that nobody may touch."""
    return ContextFloor(
        f"{_over(look)}, and the policy 'none' changes nothing",
        hint="Choose another policy, such as rules, or a model with a larger window.",
    )


def _together(parts: dict[str, int], total: int) -> str:
    """What must stay and how large it is; of a single part the size is said once."""
    named = [name for name, size in parts.items() if size]
    if len(named) > 1:
        return f"{_listed(parts)} have {total:,} tokens together"
    return f"{named[0]} alone {'have' if named[0] in ('tools', 'pinned items') else 'has'} {total:,} tokens"


def _over(look: Look) -> str:
    """What the request holds, part by part, and how much of it may be sent."""
    tokens = look.estimate.tokens
    most = f", at most {look.used:,}" if look.used > tokens else ""
    return f"the context has {tokens:,} tokens{most} ({_listed(_shares(tokens, _parts(floor_of(look))))}), {look.budget.hard:,} may be sent"


def _parts(floor: Floor) -> dict[str, int]:
    return {
        "system prompt": floor.system,
        "tools": floor.tools,
        "pinned items": floor.pinned,
        "your last message": floor.newest,
    }


def _shares(total: int, parts: dict[str, int]) -> dict[str, int]:
    """The parts and the rest, which add up to `total`: what a server reported for all of them may be less than our counts of each."""
    rest = total - sum(parts.values())
    if rest >= 0:
        return {**parts, "the rest": rest}
    counted, shares, so_far, given = sum(parts.values()), {}, 0, 0
    for name, size in parts.items():
        so_far += size
        shares[name] = total * so_far // counted - given
        given += shares[name]
    return shares


def _named(look: Look, shown: Shown) -> str:
    slot = look.view.slots[shown.place]
    return f"summary {slot.lead}" if shown.lead and slot.lead else name_of(slot)


_STEPS = {
    "dedupe": "hiding what is stale",
    "offload": "pointers in place of large arguments",
    "fold": "shortening large results",
    "elide": "hiding results",
    "digest": "a digest of the oldest part",
    "summary": "a summary by a model",
    "newest": "hiding what the newest step wrote",
    "whole": "a digest of all but your last message",
}
"""The steps of the ladder, in words."""
_ADVICE = {
    "system prompt": "Shorten the system prompt, or use a model with a larger window.",
    "tools": "Give the model fewer tools, or use a model with a larger window.",
    "pinned items": "Unpin something, or use a model with a larger window.",
    "your last message": "Put the long text into a file and name it, or use a model with a larger window.",
}


def _listed(parts: dict[str, int]) -> str:
    named = [f"{name} ({size:,})" for name, size in parts.items() if size] or ["nothing"]
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
