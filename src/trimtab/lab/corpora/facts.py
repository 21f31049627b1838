"""Facts: what is known of a result when it is decided whether to keep it.

Every 40 calls stands a decision, in front of a request. Its candidates are the results of 400 characters or more that came at least ten calls ago, but for
readings of a file that was read again since. All of it is counted on `Trajectory.until`, so it can't know what came later; `leaks` proves that it doesn't, by
counting again on a recording that ends there.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from trimtab.lab.corpora.trajectory import Place, Result, Trajectory, blinded, trajectory_of
from trimtab.sessions.recorded import Recording

Kind: TypeAlias = Literal["read", "search", "edit", "shell", "agent", "other"]
EVERY = 40
"""Calls from one decision to the next, and those that a decision is judged by."""
LEAST_SIZE = 400
"""Characters of the smallest candidate."""
LEAST_AGE = 10
"""Calls since the newest candidate."""

_SHELLS = frozenset({"bash", "shell", "exec", "exec_command", "write_stdin", "run_shell_command", "local_shell"})
_AGENTS = frozenset({"task", "agent", "spawn_agent", "wait_agent", "taskoutput", "agentoutputtool"})


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of one candidate. Counts are of requests up to the decision."""

    result: int
    """Its number in the chain."""
    size: int
    """Characters."""
    novel: int
    """Strings that it was the first to show."""
    uses: int
    """Requests that wrote any of them."""
    used: int
    """How many of them were written."""
    age: int
    """Calls since it came."""
    idle: int
    """Calls since it came or was last used."""
    edits: int
    """Calls since it came that changed the file it shows."""
    kind: Kind
    """What kind of tool gave it."""
    error: bool
    """Whether it was a failure."""


Extract: TypeAlias = Callable[[Trajectory, int], Sequence[Facts]]
"""Gives the facts of the candidates at a decision behind a request."""


@dataclass(frozen=True, slots=True)
class Leak:
    """A decision at which facts change with what comes later."""

    step: int
    whole: tuple[Facts, ...]
    cut: tuple[Facts, ...]


def facts_at(trajectory: Trajectory, step: int) -> tuple[Facts, ...]:
    """Return the facts of the candidates at the decision behind request `step`, oldest first."""
    past = trajectory.until(step)
    uses: dict[int, int] = defaultdict(int)
    used: dict[int, set[str]] = defaultdict(set)
    last: dict[int, int] = {}
    for need in past.needs:
        if need.strings:
            uses[need.result] += 1
            used[need.result].update(need.strings)
            last[need.result] = need.step
    edits: dict[str, list[int]] = defaultdict(list)
    for request in past.steps:
        for call in request.calls:
            if call.writes and call.path:
                edits[call.path].append(request.number)
    return tuple(
        Facts(
            result=one.number,
            size=one.size,
            novel=one.novel,
            uses=uses[one.number],
            used=len(used[one.number]),
            age=step - one.step,
            idle=step - max(one.step, last.get(one.number, 0)),
            edits=sum(at > one.step for at in edits[one.file]) if one.file in edits else 0,
            kind=kind_of(one),
            error=one.error,
        )
        for one in candidates(past, step)
    )


def candidates(past: Trajectory, step: int) -> Iterator[Result]:
    """Yield the results that may be kept or not at the decision behind request `step`. `past` knows nothing of what follows it."""
    read = {one.file: one.step for one in past.results if one.file is not None}
    for one in past.results:
        superseded = one.file is not None and read[one.file] > one.step
        if one.size >= LEAST_SIZE and step - one.step >= LEAST_AGE and not superseded:
            yield one


def kind_of(result: Result) -> Kind:
    """Return what kind of tool gave a result."""
    name = result.tool.lower()
    call = result.call
    if call is not None and call.writes:
        return "edit"
    if call is not None and call.reads:
        return "read" if call.path is not None else "search"
    if name in _SHELLS:
        return "shell"
    return "agent" if name in _AGENTS else "other"


def leaks(recording: Recording, steps: Iterable[int], *, extract: Extract = facts_at) -> Iterator[Leak]:
    """Yield the decisions at which `extract` says something else of the whole recording than of one that ends there: there it used the future."""
    place = Place(name=recording.file)
    whole = trajectory_of(recording, place)
    for step in steps:
        known, cut = extract(whole, step), extract(trajectory_of(blinded(recording, step), place), step)
        if known != cut:
            yield Leak(step, tuple(known), tuple(cut))
