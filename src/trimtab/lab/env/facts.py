"""Facts: what one request of a story took and lacked, as plain values. Rewards, tables and training rows are made of these.

    StepRun of the player + what the log got during it + what was wanted ──▶ StepFacts

No figure here is a judgement: prices, weights and chances are applied by whoever reads them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import msgspec

from trimtab.context.actions import Action
from trimtab.sessions.replay.reach import Reach
from trimtab.types.edits import edit_kind
from trimtab.types.entries import CustomEntry, EditEntry
from trimtab.types.usage import Usage

Tier: TypeAlias = Literal["T0", "T1", "T2", "T3"]
"""Where a number comes from: a generated story, a recording, a scripted agent in a real repository, a live model."""
FORCED = "recovery"
"""The author of edits that the ladder makes because a request doesn't fit."""


class Decided(msgspec.Struct, frozen=True):
    """Decisions about a context in all, and those of them that were left to the rules: the policy couldn't know, failed, or wasn't asked any more."""

    decisions: int = 0
    left: int = 0


@dataclass(frozen=True, slots=True)
class NeedFacts:
    """Something that a step needed. `message`: the number of the message that shows it, from 0, in the story. `point`: of a task's key points, from 0; None in a recording.

    `chance`: how likely the step had it: 1 where it was visible, that a stub is noticed where there was one, else 0. What a need does to success, rewards say.
    """

    message: int
    reach: Reach
    chance: float
    point: int | None = None


@dataclass(frozen=True, slots=True)
class EditFacts:
    """An edit that was made in front of a request. `author` as in the log; edits of one `batch` were made together. `before` and `after`: tokens of what it changed."""

    kind: str
    author: str
    batch: str
    targets: tuple[str, ...]
    before: int
    after: int

    @property
    def gained(self) -> int:
        """Tokens that it took out; below zero for one that brings something back."""
        return self.before - self.after

    @property
    def forced(self) -> bool:
        """Whether the ladder made it, because the request didn't fit."""
        return self.author == FORCED


@dataclass(frozen=True, slots=True)
class StepFacts:
    """One request of a story. Tokens throughout.

    `request` is the bill of the request with its answer; `summaries` were written by a model in front of it; `reloads` fetch what was hidden, one for each message, and
    `repeated` makes the original call of each once more, for a bound from above. Where `asked`, `actions` is what was answered, and `refused` says what of it came to nothing (each
    reason once, until something succeeds again). `fixed`: system prompt and tools. `room`: what a request may have. `noticed`: how likely a stub is noticed, with which a reload happens.
    `overflow`: larger than the room; `invalid`: a provider would refuse it for its shape.
    """

    tier: Tier
    step: int
    prompt: int
    cached: int
    fixed: int
    room: int
    request: Usage
    summaries: tuple[Usage, ...] = ()
    reloads: tuple[Usage, ...] = ()
    repeated: tuple[Usage, ...] = ()
    noticed: float = 1.0
    needs: tuple[NeedFacts, ...] = ()
    edits: tuple[EditFacts, ...] = ()
    asked: bool = False
    actions: tuple[Action, ...] = ()
    refused: tuple[str, ...] = ()
    overflow: bool = False
    invalid: bool = False

    @property
    def output(self) -> int:
        """Tokens that the model wrote to answer."""
        return self.request.output

    @property
    def forced(self) -> tuple[EditFacts, ...]:
        """The edits that the ladder made."""
        return tuple(edit for edit in self.edits if edit.forced)


def edit_facts(entries: Sequence[EditEntry]) -> tuple[EditFacts, ...]:
    """What the log says of edits."""
    return tuple(
        EditFacts(
            edit_kind(entry.edit),
            entry.author,
            entry.batch or "",
            entry.edit.targets,
            entry.before_tokens or 0,
            entry.after_tokens or 0,
        )
        for entry in entries
    )


def refusals(events: Sequence[CustomEntry]) -> tuple[str, ...]:
    """Why wishes of the policy came to nothing, as the log says it."""
    found: list[str] = []
    for event in events:
        if event.data.get("event") == "policy_failed":
            found.append(str(event.data.get("reason")))
        elif event.data.get("event") == "not_applied" and str(event.data.get("author")).startswith("policy:"):
            reasons = event.data.get("reasons")
            found += [str(reason) for reason in reasons] if isinstance(reasons, list) else []
    return tuple(found)
