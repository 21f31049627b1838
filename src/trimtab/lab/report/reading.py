"""What lies in the folders of a bench and of a training run, read as the report needs it.

    rows.jsonl        a `Row` a line, of one tier or several                                     needed
    manifest.json     the bench's: arguments and versions
    opened.jsonl      the bench's: when the test part was opened, and for which candidate
    ablation.json     training's: what each variant of credit came to
    record.json       training's, of each run: how it was configured and how long it took; scores.json beside it: what it came to, task by task
    timings.jsonl     a `Timing` a line: commands that had a part in it, and how long each took

A folder is read with all that lies below it, but for tables of a page that was written there. What can't be read is said in words, with file and line. The last line of a run that was broken off may be torn: it is left
out and told of. A line that is whole but no row is an error, since a page that leaves out what it doesn't understand would be about something else.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from trimtab.lab.bench.folder import Manifest, Opened
from trimtab.lab.bench.row import Row
from trimtab.lab.files import REFUSALS, bytes_of
from trimtab.lab.report.table import is_table
from trimtab.lab.train.ablation_row import AblationRow
from trimtab.types.errors import TrimtabError, UsageError

T = TypeVar("T")


class TaskReward(msgspec.Struct, frozen=True):
    """What a policy came to on one task."""

    task: str
    reward: float


class Scored(msgspec.Struct, frozen=True):
    """A line of training's `scores.json`: a policy on several tasks."""

    name: str
    figures: tuple[TaskReward, ...] = ()


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What training's `record.json` says of a run: what was trained, how long it took, in seconds, and how many decisions it made. `figures`: of the trained policy, from its `scores.json`."""

    stage: str = ""
    seconds: float = 0.0
    decisions: int = 0
    config: dict[str, Any] = {}
    figures: tuple[TaskReward, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a configuration that isn't one. Raises `ValueError`."""
        if wrong := [part for part in ("learning", "judging") if not isinstance(self.config.get(part) or {}, dict)]:
            raise ValueError(f"config.{wrong[0]} is no table")

    @property
    def seed(self) -> object:
        """Of everything that was drawn."""
        return self.config.get("seed", 0)

    @property
    def way(self) -> tuple[str, str] | None:
        """Credit and branch points; None for a run without."""
        learning = self.config.get("learning")
        if not isinstance(learning, dict) or not {"variant", "branching"} <= learning.keys():
            return None
        return str(learning["variant"]), str(learning["branching"])

    @property
    def rest(self) -> dict[str, Any]:
        """The configuration without its seed, credit and branch points, and without the arms that it was shown beside."""
        learning, judging = (
            {key: value for key, value in dict(self.config.get(part) or {}).items() if key not in left}
            for part, left in (("learning", ("variant", "branching")), ("judging", ("arms",)))
        )
        return {**self.config, "seed": 0, "learning": learning, "judging": judging}


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """A command that had a part in what is shown, and how long it took, in seconds."""

    command: str
    seconds: float | None = None
    machine: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """All that was read. `notes`: what a person should know of it, one line each."""

    rows: tuple[Row, ...]
    ablation: tuple[AblationRow, ...] = ()
    manifests: tuple[Manifest, ...] = ()
    timings: tuple[Timing, ...] = ()
    runs: tuple[Run, ...] = ()
    opened: tuple[Opened, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def candidate(self) -> str:
        """For which arm the test part was opened: the last time, if it was opened more than once."""
        return self.opened[-1].candidate if self.opened else ""


class NoRows(TrimtabError):
    """There is nothing to report on."""

    exit_code = 1


class NotARow(TrimtabError):
    """A line or a file that is whole, and not what its name says."""

    exit_code = 2


def read(folders: Sequence[Path]) -> Found:
    """Return what lies in the folders. Raises `UsageError` for a folder that isn't there, `NoRows` where none has a row, `NotARow` for what isn't one."""
    for folder in folders:
        if not folder.exists():
            raise UsageError(f"{folder}: no such folder", hint="Name the folder that `trimtab bench` wrote.")
    notes: list[str] = []
    rows = _unlike(_of(Row, _files(folders, "rows.jsonl"), notes), notes)
    if not rows:
        names = ", ".join(map(str, folders))
        raise NoRows(
            f"no rows in {names}", hint="`trimtab bench` writes them, as rows.jsonl; name the folder that it wrote."
        )
    ablation = _of(AblationRow, _files(folders, "ablation.json"), notes)
    manifests = _of(Manifest, _files(folders, "manifest.json"), notes)
    timings = _of(Timing, _files(folders, "timings.jsonl"), notes)
    runs = [_run(path, notes) for path in _files(folders, "record.json")]
    opened = sorted(_of(Opened, _files(folders, "opened.jsonl"), notes), key=lambda one: one.at)
    if len(opened) > 1:
        notes.append(f"The test part was opened {len(opened)} times; what was judged later knew more than the first.")
    return Found(
        tuple(rows), tuple(ablation), tuple(manifests), tuple(timings), tuple(runs), tuple(opened), tuple(notes)
    )


def _run(path: Path, notes: list[str]) -> Run:
    run, *more = [*_values(Run, path, notes), None]
    if run is None or more != [None]:
        raise _no(Run, str(path), "it holds no run, or several")
    scores = path.with_name("scores.json")
    if not scores.is_file():
        return run
    trained = next((one.figures for one in _values(Scored, scores, notes) if one.name == "trained"), ())
    return msgspec.structs.replace(run, figures=trained)


def _files(folders: Sequence[Path], pattern: str) -> list[Path]:
    """The files of a name, each once, in an order that doesn't depend on the file system."""
    found: dict[Path, Path] = {}
    for folder in folders:
        below = (path for path in folder.rglob(pattern) if not is_table(path))
        here = [folder] if folder.match(pattern) else sorted(below)
        for path in filter(Path.is_file, here):
            found.setdefault(path.resolve(), path)
    return list(found.values())


def _of(kind: type[T], files: Iterable[Path], notes: list[str]) -> list[T]:
    return [one for path in files for one in _values(kind, path, notes)]


def _values(kind: type[T], path: Path, notes: list[str]) -> Iterator[T]:
    """What a file holds: a line each, or a list, or one."""
    try:
        raw = bytes_of(path)
    except OSError as error:
        raise UsageError(
            f"{path} can't be read: {error.strerror}", hint="Move it away, or name folders that can be read."
        ) from error
    if path.suffix == ".jsonl":
        yield from _lines(kind, path, raw, notes)
        return
    try:
        whole = msgspec.json.decode(raw)
        yield from msgspec.convert(whole if isinstance(whole, list) else [whole], list[kind])  # type: ignore[valid-type]
    except REFUSALS as error:
        raise _no(kind, str(path), error) from error


def _lines(kind: type[T], path: Path, raw: bytes, notes: list[str]) -> Iterator[T]:
    decoder = msgspec.json.Decoder(kind)
    lines = raw.splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield decoder.decode(line)
        except msgspec.ValidationError as error:
            raise _no(kind, f"{path}:{number}", error) from error
        except REFUSALS:
            torn = "the last line, as a run that was broken off leaves it" if number == len(lines) else "no whole JSON"
            notes.append(f"{path}:{number} was left out: {torn}.")


def _no(kind: type, where: str, error: object) -> NotARow:
    return NotARow(
        f"{where} is no {kind.__name__} of this version: {error}",
        hint="Make it anew with this version of Trimtab, or read it with the one that wrote it.",
    )


def _unlike(rows: Iterable[Row], notes: list[str]) -> list[Row]:
    """Rows of one arm and group only once: the last, since a run that goes on writes what it does anew behind what was there."""
    found: dict[tuple[object, ...], Row] = {}
    doubled = 0
    for row in rows:
        key = (row.tier, row.part, row.slot, row.arm, row.group)
        doubled += key in found
        found[key] = row
    if doubled:
        notes.append(f"{doubled:,} rows stood there twice, under the same arm and group; the later ones count.")
    return list(found.values())
