"""What is said of a branch that is left, so that the other one knows what was tried there.

leaf, target ──▶ messages that only the leaf's path has ──summed up, as for a compaction──▶ a message behind the target, in the person's place
"""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.coding.context.engine import summariser_of
from trimtab.coding.context.open import OpenContext
from trimtab.context.archive import Archive
from trimtab.context.editing.writing import relayed
from trimtab.context.summary.job import Job, SummaryOutcome
from trimtab.types.entries import MessageEntry
from trimtab.types.messages import Message, Text, User

_MOST_TOKENS = 2_000
_SHARE = 8
"""One part in so many of what the window may hold, where that is less."""


@dataclass(frozen=True, slots=True)
class Left:
    """The messages of a branch from where it parts from another one, with the ids of their entries."""

    ids: tuple[str, ...]
    messages: tuple[Message, ...]


def left_behind(archive: Archive, target: str | None) -> Left:
    """What is on the branch in use and not on the way to `target`."""
    kept = {entry.id for entry in archive.path(target)} if target is not None else set()
    found = [(e.id, e.value.message) for e in archive.path() if e.id not in kept and isinstance(e.value, MessageEntry)]
    return Left(tuple(one for one, _ in found), tuple(message for _, message in found))


async def summary_of(context: OpenContext, left: Left, *, wishes: str = "") -> SummaryOutcome:
    """Sum up a branch: by the session's model for summaries, or as a digest where nobody answers well."""
    engine = context.engine
    job = Job(
        left.messages,
        left.ids,
        engine.tally.text,
        replaces_tokens=sum(map(engine.tally.message, left.messages)),
        instructions=wishes,
        purpose="branch",
        wanted=min(_MOST_TOKENS, max(engine.budget.target // _SHARE, 200)),
        summariser=summariser_of(engine.model),
    )
    return await context.transcript.run(relayed(job))


def told(outcome: SummaryOutcome, left: Sequence[Message]) -> User:
    """The message that stands on the other branch."""
    head = f"[A branch of this conversation was left; {len(left)} messages were said there. In short:]"
    return User((Text(f"{head}\n\n{outcome.text}"),), origin="summary")
