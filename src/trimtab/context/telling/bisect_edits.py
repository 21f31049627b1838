"""Bisecting: which edits broke a run, found by trying it again with some of them taken back.

    begin(edits) ──next_trial──▶ Trial(revert) ──whoever can fork and run──▶ judged(state, verdict) ──▶ … ──▶ Found

First with nothing taken back (it must fail) and with everything (it must pass), then by halves. One guilty edit among n is found in about log₂ n trials; where several
are guilty together the parts get smaller until taking back any less of them fails (delta debugging). A state machine of plain values: a driver may stop and go on later.
"""

import itertools
from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

Verdict: TypeAlias = Literal["pass", "fail", "unknown"]
"""`unknown`: the check could not be run; it counts as fail, for nothing is proved by it."""
_MOST_TRIALS = 200


class Trial(msgspec.Struct, frozen=True):
    """Take these edits back on a fork, in their order, and run the check."""

    revert: tuple[str, ...]


class Found(msgspec.Struct, frozen=True, omit_defaults=True):
    """The end. `guilty`: with these taken back the check passes, and with fewer of them it doesn't. Empty: `reason` says why none is to blame.

    `proved` is False when the trials were used up before the set was the smallest.
    """

    guilty: tuple[str, ...]
    trials: int
    reason: str = ""
    proved: bool = True


class Search(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a search stands. `suspects`: taking all of them back passes. `parts` they are cut into; `part` is tried next, `complement`: all the others are.

    `phase`: `all_held`, `all_reverted`, `parts`, `done`.
    """

    suspects: tuple[str, ...]
    phase: Literal["all_held", "all_reverted", "parts", "done"] = "all_held"
    parts: int = 2
    part: int = 0
    complement: bool = False
    trials: int = 0
    reason: str = ""
    proved: bool = True


def begin(edits: Sequence[str]) -> Search:
    """Start a search among `edits`, in the order of the log."""
    edits = tuple(dict.fromkeys(edits))
    return Search(edits) if edits else Search((), phase="done", reason="there are no edits")


def next_trial(search: Search) -> Trial | Found:
    """Return what to try next, or what was found."""
    match search.phase:
        case "all_held":
            return Trial(())
        case "all_reverted":
            return Trial(search.suspects)
        case "done":
            return Found(() if search.reason else search.suspects, search.trials, search.reason, search.proved)
        case "parts":
            return Trial(_chosen(search))


def judged(search: Search, verdict: Verdict) -> Search:
    """Return where the search stands after the trial that `next_trial` named."""
    if search.phase == "done":
        return search
    after = msgspec.structs.replace(search, trials=search.trials + 1)
    passed = verdict == "pass"
    if search.phase == "all_held":
        if passed:
            return _ended(after, "the check passes with all edits in place")
        return msgspec.structs.replace(after, phase="all_reverted")
    if search.phase == "all_reverted":
        if not passed:
            return _ended(after, "the check fails without any edit too")
        return _settled(msgspec.structs.replace(after, phase="parts"))
    return _settled(_narrowed(after) if passed else _advanced(after))


def _chosen(search: Search) -> tuple[str, ...]:
    groups = _cut(search.suspects, search.parts)
    if not search.complement:
        return groups[search.part]
    return tuple(edit for n, group in enumerate(groups) if n != search.part for edit in group)


def _narrowed(search: Search) -> Search:
    """What was taken back was enough: only that is suspected from here on."""
    parts = max(2, search.parts - 1) if search.complement else 2
    return msgspec.structs.replace(search, suspects=_chosen(search), parts=parts, part=0, complement=False)


def _advanced(search: Search) -> Search:
    """The next part; after the last one all but one; after those, smaller parts."""
    if search.part + 1 < search.parts:
        return msgspec.structs.replace(search, part=search.part + 1)
    # With two parts the complements are the parts themselves.
    if not search.complement and search.parts > 2:
        return msgspec.structs.replace(search, part=0, complement=True)
    if search.parts >= len(search.suspects):
        return msgspec.structs.replace(search, phase="done")
    parts = min(len(search.suspects), 2 * search.parts)
    return msgspec.structs.replace(search, parts=parts, part=0, complement=False)


def _settled(search: Search) -> Search:
    if search.phase == "parts" and len(search.suspects) == 1:
        return msgspec.structs.replace(search, phase="done")
    if search.phase == "parts" and search.trials >= _MOST_TRIALS:
        return msgspec.structs.replace(search, phase="done", proved=False)
    return search


def _ended(search: Search, reason: str) -> Search:
    return msgspec.structs.replace(search, phase="done", reason=reason)


def _cut(edits: tuple[str, ...], parts: int) -> list[tuple[str, ...]]:
    """Cut into `parts` of nearly the same length."""
    bounds = [len(edits) * n // parts for n in range(parts + 1)]
    return [edits[a:b] for a, b in itertools.pairwise(bounds)]
