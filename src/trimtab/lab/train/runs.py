"""Runs on disk: a folder for each, named after all that its result depends on.

    config + weights that it begins with + code ──sha256──▶ OUT/STAGE-KEY/
        config.json    what it is                        curves.jsonl   a line for each step
        state.pt       where it is: it goes on from here  weights.json   what came of it, with its record
        scores.json    it, its clone and arms, task by task    record.json    how it came about
    OUT/labels-CODE/   what was labelled, see `labels_on_disk`

A folder whose record says that the budget is used is done, and isn't done again. Whatever is written replaces the old as a whole, so a run that is killed at any time goes on from its last step.
"""

import hashlib
import io
import pickle
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import torch

from trimtab.context.policies.learned.weights import Weights, read_weights, write_weights
from trimtab.lab.corpora.cache import code_version
from trimtab.lab.files import REFUSALS, bytes_of, replace
from trimtab.lab.train.judging import Score
from trimtab.types.errors import ConfigError, StoreError

_CODE = (
    "lab/train",
    "lab/env",
    "lab/tasks",
    "lab/rewards",
    "lab/credit",
    "lab/arms",
    "lab/labels",
    "lab/suite.py",
    "context",
    "sessions",
    "types",
)
"""What of the package decides what comes of a run."""


_DAMAGE = (
    *REFUSALS,
    *(ConfigError, pickle.UnpicklingError, zlib.error),
    *(ArithmeticError, AttributeError, EOFError, LookupError, RuntimeError, TypeError, ValueError),
)
"""What reading may come to where a file isn't what was written: torch says it in many ways."""


@cache
def version() -> str:
    """A name for the code that a run depends on."""
    return code_version(_CODE)


def key_of(*parts: object) -> str:
    """Return a name for everything that these parts, and the code, say."""
    found = hashlib.sha256(version().encode())
    for part in parts:
        found.update(part if isinstance(part, bytes) else msgspec.json.encode(part, order="sorted"))
        found.update(b"\0")
    return found.hexdigest()[:16]


class RunFolder:
    """One folder. It is made with the first thing that is written."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def weights(self) -> Weights | None:
        """The best of the run so far; None before there is one."""
        data = self.read("weights.json")
        if data is None:
            return None
        with self.whole("weights.json"):
            return read_weights(data, source="the file")

    def record(self) -> dict[str, Any] | None:
        """How it came about; None before it was ever written."""
        data = self.read("record.json")
        if data is None:
            return None
        with self.whole("record.json"):
            return msgspec.json.decode(data, type=dict[str, Any])

    def finished(self, *names: str) -> bool:
        """Whether the run came to its end, and what it left is still there: its record, which is written last, and `names`."""
        return all(map(self.holds, ("record.json", *names)))

    def ended(self) -> str:
        """How it ended, as its record says; empty before there is one."""
        record = self.record()
        with self.whole("record.json"):
            return "" if record is None else str(record["ended"])

    def finish(self, record: dict[str, Any], weights: Weights | None) -> None:
        """Write what came of it. `weights`: None for a network that nothing but the lab can run."""
        if weights is not None:
            self.write("weights.json", write_weights(weights))
        self.write("record.json", msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")

    def state(self) -> dict[str, Any] | None:
        """Where the run is; None at its beginning."""
        data = self.read("state.pt")
        if data is None:
            return None
        with self.whole("state.pt"):
            found: dict[str, Any] = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
            return found

    def keep(self, state: dict[str, Any]) -> None:
        """Write where it is."""
        held = io.BytesIO()
        torch.save(state, held)
        self.write("state.pt", held.getvalue())

    def curve(self, lines: int = 0) -> list[dict[str, Any]]:
        """The lines so far, at least `lines`: without those it can't go on, so all of the run is made anew then."""
        data = self.read("curves.jsonl") or b""
        with self.whole("curves.jsonl", all_of_it=True):
            found = [msgspec.json.decode(line, type=dict[str, Any]) for line in data.splitlines()]
            if len(found) < lines:
                raise ValueError(f"{len(found)} of its {lines} lines are there")
            return found

    def draw(self, lines: Iterable[dict[str, Any]]) -> None:
        """Write the whole curve."""
        self.write("curves.jsonl", b"".join(msgspec.json.encode(line) + b"\n" for line in lines))

    def report(self, found: list[Score]) -> None:
        """Write what it came to on the tasks that report on it."""
        self.write("scores.json", msgspec.json.encode(found))

    def scores(self) -> list[Score]:
        """What it came to there; nothing while the run isn't done."""
        data = self.read("scores.json")
        with self.whole("scores.json"):
            return [] if data is None else msgspec.json.decode(data, type=list[Score])

    def score(self, name: str) -> Score:
        """One of them."""
        found = [score for score in self.scores() if score.name == name]
        with self.whole("scores.json"):
            if len(found) != 1 or not found[0].figures:
                raise ValueError(f"it doesn't say once what {name} came to")
            return found[0]

    def write(self, name: str, data: bytes) -> None:
        """Replace a file as a whole. Raises `StoreError` with what the disk says."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            replace(self.path / name, data)
        except OSError as problem:
            raise StoreError(
                f"{str(self.path / name)!r} can't be written: {problem.strerror}",
                hint="Make room, or name another folder with --out; the same command goes on from what is kept.",
            ) from problem

    def holds(self, name: str) -> bool:
        """Whether a file is there."""
        return (self.path / name).is_file()

    def read(self, name: str) -> bytes | None:
        """Return a file; None where it isn't there."""
        try:
            return bytes_of(self.path / name)
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise StoreError(
                f"{str(self.path / name)!r} can't be read: {problem.strerror}",
                hint="Remove it, and the same command makes it anew, or name another folder with --out.",
            ) from problem

    @contextmanager
    def whole(self, name: str, *, all_of_it: bool = False) -> Iterator[None]:
        """Say of a file that turns out damaged, or to be another one, which it is, and what makes it anew: to remove it, or all of the run. Raises `StoreError`."""
        try:
            yield
        except _DAMAGE as problem:
            said = str(problem).strip().partition("\n")[0]
            raise StoreError(
                f"{str(self.path / name)!r} is damaged: {said or type(problem).__name__}",
                hint=f"Remove {'the folder ' if all_of_it else ''}{self.path if all_of_it else self.path / name}: the same command makes it anew.",
            ) from problem
