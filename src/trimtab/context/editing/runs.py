"""Runs: which messages give way to a summary, and what whoever writes it is told of them.

    action ──places_of──▶ indices of slots: those of its targets, or all but the end ──told──▶ messages, ids, what stays, facts from below

Of items that are hidden by then it is told in words, and facts are looked for in what was recorded (`hidden_items`). The border never falls into a group: a call goes with its results. The newest request, pinned items and calls without an answer stay.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from trimtab.context.actions import Action
from trimtab.context.cycle.look import Look
from trimtab.context.editing.applying import shown_size
from trimtab.context.editing.beneath import places_beneath, retold, written_text
from trimtab.context.editing.checks import newest_request
from trimtab.context.editing.hidden_items import in_words, recorded
from trimtab.context.naming import body_of, name_of
from trimtab.context.summary.facts import Fact, facts_of
from trimtab.context.summary.job import Retold
from trimtab.context.window.slots import Slot
from trimtab.context.window.view import View
from trimtab.types.messages import Assistant, Message, ToolResult, User

KEEP_SHARE = 0.4
"""Of the target: how much of the end of the conversation stays when nobody says how much."""
_MOST_BELOW = 400_000
"""Characters of what earlier summaries stand for that are searched for facts again, the newest first; the user's words always are."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a summariser is told of a run: its messages with their ids, the messages that stay, and facts of what earlier summaries in it stand for.

    `recorded`: the same messages, those that are hidden as they were recorded. `turn_goes_on`: the run ends within a turn. `retold`: what a digest is made from.
    """

    messages: tuple[Message, ...]
    recorded: tuple[Message, ...]
    ids: tuple[str, ...]
    later: tuple[Message, ...]
    facts: tuple[Fact, ...]
    retold: Retold
    turn_goes_on: bool


def places_of(look: Look, action: Action, *, immune: Collection[str] = ()) -> list[int]:
    """The indices of the slots that a compaction takes: those of the action's targets, or all but the end.

    `immune` are ids of slots that somebody has just brought back: they stay, unless they are named or everything has to go.
    """
    view = look.view
    if action.targets:
        found = [address.index for name in action.targets if (address := view.find(name)) is not None]
        wanted = {index for start in found for index in view.group(start)}
    elif action.params.get("whole") is True:
        wanted = set(range(len(view.slots)))
    else:
        wanted = set(range(_end(look, kept_of(look, action))))
        found = [address.index for name in immune if (address := view.find(name)) is not None]
        wanted.difference_update(index for start in found for index in view.group(start))
    newest = newest_request(view)
    return [i for i in sorted(wanted) if i != newest and _compactable(view, i)]


def kept_of(look: Look, action: Action) -> int:
    """Tokens of the end that stay at least."""
    keep = action.params.get("keep_tokens")
    return keep if isinstance(keep, int) else int(look.budget.target * KEEP_SHARE)


def told(view: View, run: Sequence[int]) -> Told:
    """What is told of `run`."""
    # A note is state: it is said again by whoever keeps it.
    shown = [(slot, message) for slot in map(view.slots.__getitem__, run) if not slot.note for message in slot.shown]
    taken = set(run)
    later = tuple(m for index, slot in enumerate(view.slots) if index not in taken for m in slot.shown)
    ids = tuple(name_of(slot) for slot, _ in shown)
    plain = tuple(written_text(view, slot, in_words(slot, message)) for slot, message in shown)
    behind = tuple(written_text(view, slot, message) for (slot, _), message in zip(shown, recorded(shown), strict=True))
    facts = _facts_below(view, run, (*plain, *later))
    return Told(plain, behind, ids, later, facts, retold(view, run), _turn_goes_on(view, run))


def _end(look: Look, keep_tokens: int) -> int:
    """The index behind which at least `keep_tokens` stand, at a border between groups; the last group always stays."""
    view = look.view
    kept = 0
    index = len(view.slots)
    while index > 0:
        group = view.group(index - 1)
        if kept and kept >= keep_tokens:
            break
        kept += shown_size(view, group, look.tally.message)
        index = group.start
    return index


def _compactable(view: View, index: int) -> bool:
    members = [view.slots[i] for i in view.group(index)]
    if any(slot.pinned or (isinstance(slot.base, ToolResult) and not slot.answered) for slot in members):
        return False
    slot = view.slots[index]
    return bool(slot.shown)


def _turn_goes_on(view: View, run: Sequence[int]) -> bool:
    """Whether the run ends within a turn: what stands behind it is an answer, not something the user said."""
    behind = next((s for s in view.slots.range(run[-1] + 1, len(view.slots)) if s.shown), None)
    return behind is not None and isinstance(behind.base, Assistant)


def _facts_below(view: View, run: Sequence[int], later: tuple[Message, ...]) -> tuple[Fact, ...]:
    """Facts in what earlier summaries of the run stand for: what the user said there outlives any number of compactions."""
    left = _MOST_BELOW
    told: list[Slot] = []
    for place in reversed(places_beneath(view, run)):
        slot = view.slots[place]
        if not isinstance(slot.base, User):
            left -= len(body_of(slot.base))
            if left < 0:
                continue
        told.append(slot)
    told.reverse()
    return facts_of([slot.base for slot in told], ids=[name_of(slot) for slot in told], later=later) if told else ()
