"""Splits: which sessions may be learned from, and which only judge what was learned.

    index.jsonl ──▶ places, one a file ──by split, by project, or by family──▶ parts that share no family

Sessions of one family share messages, so a family is never in two parts; rows of one session even less. Every way to split here goes by whole families, and
`prove_apart` fails where parts that came from elsewhere don't.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from trimtab.lab.corpora.trajectory import Place
from trimtab.lab.files import REFUSALS, bytes_of
from trimtab.types.errors import SessionError


class CrossingFamilies(SessionError):
    """Parts that must be apart share families."""


class _Line(msgspec.Struct, frozen=True):
    """What is read of a line of an index."""

    file: str
    source: str
    split: str
    family: int | str


@dataclass(frozen=True, slots=True)
class Fold:
    """One project held out: everything else is `rest`."""

    project: str
    rest: tuple[Place, ...]
    held: tuple[Place, ...]


def read_index(path: Path) -> tuple[Place, ...]:
    """Return the places that an `index.jsonl` names, one a file, in its order. Raises `SessionError` when a line can't be read, or families cross its splits.

    Where several lines name one file, which session it holds is unknown: their families count as one, under the name that came first.
    """
    lines: dict[str, list[_Line]] = {}
    try:
        data = bytes_of(path)
    except OSError as problem:
        raise SessionError(
            f"the index {str(path)!r} can't be read: {problem.strerror}", hint="name a folder whose index can be read"
        ) from problem
    for number, text in enumerate(data.splitlines(), 1):
        try:
            line = msgspec.json.decode(text, type=_Line)
        except REFUSALS as problem:
            raise SessionError(
                f"line {number} of {str(path)!r} is no line of an index: {problem}",
                hint="each line is an object with file, source, split and family",
            ) from problem
        lines.setdefault(line.file, []).append(line)
    kin = _joined([str(line.family) for line in same] for same in lines.values())
    places = tuple(
        Place(name=file, project=same[0].source, family=kin[str(same[0].family)], split=same[0].split)
        for file, same in lines.items()
    )
    prove_apart(by_split(places))
    return places


def by_split(places: Iterable[Place]) -> dict[str, tuple[Place, ...]]:
    """Return the places of each split."""
    parts: dict[str, list[Place]] = defaultdict(list)
    for place in places:
        parts[place.split].append(place)
    return {name: tuple(part) for name, part in parts.items()}


def prove_apart(parts: Mapping[str, Sequence[Place]]) -> None:
    """Return when no family is in two parts. Raises `CrossingFamilies`, which names those that are."""
    home: dict[str, str] = {}
    crossing: dict[str, set[str]] = {}
    for name, part in parts.items():
        for place in part:
            first = home.setdefault(place.family or place.name, name)
            if first != name:
                crossing.setdefault(place.family or place.name, {first}).add(name)
    if crossing:
        told = "; ".join(f"{family} in {', '.join(sorted(crossing[family]))}" for family in sorted(crossing))
        raise CrossingFamilies(f"families in more than one part: {told}", hint="split by whole families")


def leave_one_project_out(places: Sequence[Place]) -> Iterator[Fold]:
    """Yield each project in turn as what is held out, in the order of their names. Raises `CrossingFamilies` when projects share a family."""
    for project in sorted({place.project for place in places}):
        held = tuple(place for place in places if place.project == project)
        rest = tuple(place for place in places if place.project != project)
        prove_apart({project: held, "the rest": rest})
        yield Fold(project, rest, held)


def set_aside(places: Iterable[Place], share: float, *, seed: int) -> dict[str, tuple[Place, ...]]:
    """Return `fit` and `validation`: about `share` of the families go to the latter. Where a family goes depends on its name and `seed` alone."""
    parts: dict[str, list[Place]] = {"fit": [], "validation": []}
    for place in places:
        digest = hashlib.sha256(f"{seed}\0{place.family or place.name}".encode()).digest()
        aside = int.from_bytes(digest[:8], "big") < share * 2**64
        parts["validation" if aside else "fit"].append(place)
    return {name: tuple(part) for name, part in parts.items()}


def _joined(groups: Iterable[Sequence[str]]) -> dict[str, str]:
    """Each name → one name for all that are in a group with it, directly or by others."""
    above: dict[str, str] = {}

    def top(name: str) -> str:
        while above.setdefault(name, name) != name:
            name = above[name]
        return name

    for first, *others in groups:
        for other in others:
            if (joined := top(other)) != (into := top(first)):
                above[joined] = into
        top(first)
    return {name: top(name) for name in list(above)}
