"""Limits: how much others than a person may make stay.

    pin, or reload of what is pinned ──floor with it──▶ half of the room?
    restate ──tokens──▶ an eighth of the room?      ──with all notes that stand──▶ a quarter of it?

What is pinned is out of reach of every later edit, and a note that is said again comes back at the end; so whoever may do either without measure
can fill the window until no valid request exists. A person may: they are told, and can take it back. What the engine itself says again is bounded where it is made.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from trimtab.context.window.view import View
from trimtab.types.edits import Edit, Pin, Restate, Restore

OWN_AUTHORS = frozenset({"policy:housekeeping", "policy:epoch", "policy:memory", "policy:instructions"})
"""Under these names the engine itself edits; no policy does."""
_LEAST_NOTE = 500
"""Tokens that a note may have in a room of any size."""
_LEAST_NOTES = 1_000
"""The same for all of them."""


def policy_author(name: str) -> str:
    """The author of what a policy of that name does: none of the engine's own, whatever the policy calls itself."""
    author = f"policy:{name}"
    return f"policy:other:{name}" if author in OWN_AUTHORS else author


@dataclass(frozen=True, slots=True)
class Limits:
    """`floor(view)`: tokens of all that no edit can take out of that view; `count`: tokens of a text; `hard` and `room` as in the budget."""

    floor: Callable[[View], int]
    count: Callable[[str], int]
    hard: int
    room: int

    def concern(self, edit: Edit, *, author: str) -> bool:
        """Whether an edit has to be measured at all."""
        if author == "user" or author in OWN_AUTHORS:
            return False
        return isinstance(edit, Pin) or (author != "recovery" and isinstance(edit, Restate | Restore))

    def refusal(self, view: View, edit: Edit, *, author: str) -> str | None:
        """Why `edit` makes too much of `view` stay, or None."""
        if isinstance(edit, Restate):
            return self._of_note(view, edit)
        stays = self.floor(view.with_edit("?limit", edit))
        limit = self.hard if author == "recovery" else min(self.hard, self.room // 2)
        if stays <= limit or stays <= self.floor(view):
            return None
        return (
            f"with it, what must stay (system prompt, tools, pinned items, the newest request) has {stays:,} tokens,"
            f" and at most {limit:,} may be made to stay"
        )

    def _of_note(self, view: View, edit: Restate) -> str | None:
        tokens, most = self.count(edit.text), max(_LEAST_NOTE, self.room // 8)
        if tokens > most:
            return f"its text has {tokens:,} tokens, and a note may have {most:,}"
        standing = [self.count(text) for text in _notes(view, but=edit.label)]
        most = max(_LEAST_NOTES, self.room // 4)
        if standing and tokens + sum(standing) > most:
            return (
                f"{len(standing):,} notes stand already, and with it they have {tokens + sum(standing):,} tokens together;"
                f" all notes may have {most:,}: drop some, or say it in one"
            )
        return None


def _notes(view: View, *, but: str) -> Iterator[str]:
    """What notes of others than a person and the engine say. Of those of one label the last counts, which the others gave way to; of the label `but` none."""
    last = {a.edit.label: a.id for a in view.applied if isinstance(a.edit, Restate) and a.id not in view.reverted}
    for applied in view.applied:
        edit = applied.edit
        if not isinstance(edit, Restate) or applied.author == "user" or applied.author in OWN_AUTHORS:
            continue
        outdated = bool(edit.label) and (edit.label == but or last.get(edit.label) != applied.id)
        if not outdated and any(view.slots[index].state != "gone" for index in applied.slots):
            yield edit.text
