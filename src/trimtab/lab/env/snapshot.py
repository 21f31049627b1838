"""Snapshots: a story that is being played, copied at a decision, so that it can go on in more than one way.

    episode ──snapshot──▶ Snapshot ──Episode.of──▶ an episode that goes on from there, as often as wanted
                              │
                              └ the player at rest: before the request of the decision was begun, or after it was answered

A request that is being made is a suspended generator, which nobody can copy. So what is copied is the player at rest, and an episode that begins at a
decision walks to it again: the way from there to the question depends on nothing else, and is walked with the same bytes.

What is copied. Nearly all that an engine keeps is a value: views, vectors, looks, shapes of requests, the state of the cache, messages and entries never
change, so a copy refers to them. What does change is a handful of ledgers. `CHANGING` names each class of them and says of each attribute that
holds something changing how it is copied; all other attributes are referred to. A test walks through everything that a player keeps and fails on what
is neither listed nor a value, so that an engine that gets a new ledger doesn't get a leak between branches with it. Referred to on purpose, although
they change, are things that only remember what can be worked out: sizes of messages by identity, names of a family of views (each answer of theirs is
checked against the view that asks), keys of segments, and the strings that references know (whose origins are copied).

What it costs: about the number of entries of its tables, which grow with the history: copies of dictionaries and lists of references, no text and no
message. The largest is the origins of distinctive strings. Memory likewise. Measured on a machine that others used too: 200 µs at 100 steps (3,000 strings),
1,500 µs at 1,000 (31,000 strings), beside 10 to 25 ms that a step takes there with a policy that acts. A branch costs the same again, and one request up to its decision.
"""

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from types import MethodType
from typing import Any, TypeAlias, TypeVar

from trimtab.context.archive import Archive
from trimtab.context.cycle.account import Account
from trimtab.context.cycle.deciding import Decider
from trimtab.context.cycle.epochs import Epochs
from trimtab.context.cycle.faults import Faultfinder
from trimtab.context.cycle.managing import Manager
from trimtab.context.cycle.marks import Marks
from trimtab.context.cycle.told_once import ToldOnce
from trimtab.context.editing.compacting import Compactor
from trimtab.context.embed.log_in_memory import MemoryLog
from trimtab.context.engine import Engine
from trimtab.context.policies.fallback import Fallback
from trimtab.context.seeing.observing import Observer
from trimtab.context.seeing.references import References, Use
from trimtab.context.seeing.regret import RegretLedger
from trimtab.context.seeing.staleness import Staleness
from trimtab.context.window.fold import Conversation, Fold
from trimtab.lab.env.acceptance import Acceptance
from trimtab.lab.env.facts import StepFacts
from trimtab.sessions.replay.player import Clock, Player
from trimtab.sessions.replay.till import Till

T = TypeVar("T")


class _Copies:
    """The copies made for one player. Whatever refers to a thing that is copied gets its one copy."""

    def __init__(self) -> None:
        # With each copy the thing that it was made of: while that is held, no other thing has its address.
        self._made: dict[int, tuple[object, Any]] = {}

    def of(self, thing: T) -> T:
        """The copy of a thing of a class that changes; None stays None."""
        if thing is None:
            return thing
        known = self._made.get(id(thing))
        if known is not None:
            again: T = known[1]
            return again
        made = copy(thing)
        self._made[id(thing)] = (thing, made)
        for name, way in CHANGING[type(thing)].items():
            setattr(made, name, way(self, getattr(made, name)))
        return made


Way: TypeAlias = Callable[[_Copies, Any], Any]


def _own(copies: _Copies, thing: Any) -> Any:
    """A thing that changes."""
    return copies.of(thing)


def _flat(_copies: _Copies, table: Any) -> Any:
    """A list, dictionary or set of values; or none."""
    return None if table is None else table.copy()


def _each(_copies: _Copies, table: Any) -> Any:
    """A dictionary of lists or sets; or none."""
    return None if table is None else {name: inner.copy() for name, inner in table.items()}


def _uses(_copies: _Copies, table: dict[str, Use]) -> dict[str, Use]:
    return {name: Use(use.count, use.last_step) for name, use in table.items()}


def _bound(copies: _Copies, method: Any) -> Any:
    """A method, or a function, of something that is copied."""
    return MethodType(method.__func__, copies.of(method.__self__)) if isinstance(method, MethodType) else method


def _clock(copies: _Copies, now: Any) -> Any:
    return copies.of(now) if isinstance(now, Clock) else now


def _rungs(copies: _Copies, rungs: Any) -> Any:
    """The rungs of a ladder, each of which refers to the manager."""
    return tuple(replace(rung, manager=copies.of(rung.manager)) for rung in rungs)


CHANGING: Mapping[type, Mapping[str, Way]] = {
    Player: {
        "clock": _own,
        "log": _own,
        "engine": _own,
        "till": _own,
        "messages": _flat,
        "edits": _flat,
        "events": _flat,
        "summaries": _flat,
        "reloads": _flat,
    },
    Clock: {},
    Till: {},
    MemoryLog: {"archive": _own, "_conversation": _own},
    Archive: {
        "labels": _flat,
        "damage": _flat,
        "repaired": _flat,
        "_entries": _flat,
        "_children": _each,
        "_path": _flat,
        "_looked": _flat,
    },
    Conversation: {"archive": _own, "_fold": _own},
    Fold: {"noted": _flat},
    Engine: {"_now": _clock, "faults": _own, "_epochs": _own, "_manager": _own, "_account": _own},
    Faultfinder: {"_has_way": _bound},
    Account: {},
    Epochs: {"engine": _own},
    Manager: {
        "engine": _own,
        "decider": _own,
        "observer": _own,
        "rungs": _rungs,
        "regret": _own,
        "marks": _own,
        "told_once": _own,
        "compactor": _own,
        "_notes": _flat,
    },
    Compactor: {},
    Decider: {"last": _flat, "acted_at": _flat, "notes": _flat, "passed": _flat, "_fallback": _own},
    Fallback: {},
    Observer: {
        "references": _own,
        "staleness": _own,
        "words": _flat,
        "resources": _flat,
        "_lasting": _flat,
        "_prompts": _flat,
    },
    References: {"uses": _uses, "_origins": _flat, "_taken": _flat, "_passed": _flat},
    Staleness: {"newer": _flat, "first": _flat, "_texts": _flat, "_latest": _flat, "_readers": _each},
    RegretLedger: {
        "bookings": _flat,
        "_hidden": _flat,
        "_booked": _flat,
        "_regretted": _flat,
        "_asked": _each,
        "_written": _flat,
        "_rates": _flat,
    },
    Marks: {"_held": _flat},
    ToldOnce: {"_told": _each},
}
"""Classes whose instances change, and how each attribute that holds something changing is copied."""


def fork(player: Player) -> Player:
    """Return a player that goes on from where this one is, at rest between two steps, without either being heard by the other."""
    return _Copies().of(player)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An episode at a decision, in front of (`asked`) or behind an action. `player` is at rest in front of the step `place`, from 0, and is never played itself.

    `facts` are those so far; an episode of it has them too. `acceptance` only remembers.
    """

    player: Player
    place: int
    asked: bool
    facts: tuple[StepFacts, ...]
    acceptance: Acceptance
