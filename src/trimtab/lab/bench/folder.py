"""The folder of a bench: rows as they were played, and how they came about.

    DIR/rows.jsonl       a row a line, appended as it is played          DIR/manifest.json    arguments, versions, and what the rows depend on
    DIR/opened.jsonl     when the test part was opened, with which candidate

Rows hold as long as neither the code that played them nor the recording changes. So a run goes on where it stopped, and one with more arms or stories plays only what is new. Rows of
other code are set aside under another name. A line that was cut off by whatever ended the run is dropped, and that is said.
"""

import hashlib
import os
import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path

import msgspec

from trimtab import __version__
from trimtab.lab.bench.row import Row
from trimtab.lab.corpora.cache import code_version
from trimtab.lab.files import REFUSALS, bytes_of, replace
from trimtab.lab.suite import REAL_PART
from trimtab.lab.tasks.real.registry import REAL
from trimtab.types.errors import StoreError, UsageError

ROWS, MANIFEST, OPENED = "rows.jsonl", "manifest.json", "opened.jsonl"
PLAYERS = (
    *("types", "context", "providers", "agent", "sessions", "coding"),
    *("lab/arms", "lab/env", "lab/rewards", "lab/tasks", "lab/suite.py"),
    *("lab/live", "lab/bench/live_jobs.py"),
    *("lab/bench/measuring.py", "lab/bench/playing.py", "lab/bench/row.py"),
)
"""What of the package decides what a row holds."""
_CODE = re.compile(r"[\w-]{1,64}", re.ASCII)
"""The name of a code, as a name of a file may have it: a manifest may say anything."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """How the rows beside it came about. `content`: of the code that played them; `files`: of each recording, and of each family of real material; `weights`: of the files that an arm names; `arguments`: of the last run."""

    content: str
    trimtab: str = __version__
    python: str = platform.python_version()
    arguments: dict[str, str] = {}
    files: dict[str, str] = {}
    weights: dict[str, str] = {}


class Opened(msgspec.Struct, frozen=True):
    """The test part was opened: when (UTC), and to judge which arm."""

    at: str
    candidate: str


@dataclass(slots=True)
class Folder:
    """An open folder. `rows`: all that are there, one for each arm and group. `notes`: what a person should know of how it was found."""

    path: Path
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, made: Sequence[Row]) -> None:
        """Append rows. They are on disk when this returns."""
        with _told(self.path / ROWS) as path, path.open("ab") as file:
            file.write(b"".join(msgspec.json.encode(row) + b"\n" for row in made))
            file.flush()
            os.fsync(file.fileno())
        self.rows += made

    def opened(self) -> list[Opened]:
        """When the test part was opened before, the first time first."""
        try:
            lines = bytes_of(self.path / OPENED).splitlines()
        except FileNotFoundError:
            return []
        except OSError as problem:
            raise _unread(self.path / OPENED, problem) from problem
        try:
            return [msgspec.json.decode(line, type=Opened) for line in lines if line.strip()]
        except REFUSALS as problem:
            raise StoreError(
                f"{str(self.path / OPENED)!r} doesn't say any more when the test part was opened: {problem}",
                hint="Mend its lines, or move it away and say so: what is opened again is known to be.",
            ) from problem

    def open_test(self, candidate: str, *, at: str) -> None:
        """Write down that the test part is opened."""
        with _told(self.path / OPENED) as path, path.open("ab") as file:
            file.write(msgspec.json.encode(Opened(at, candidate)) + b"\n")

    def write(self, name: str, data: bytes) -> None:
        """Write a file of tables, whole or not at all."""
        with _told(self.path / name) as path:
            replace(path, data)


def open_folder(
    path: Path,
    arguments: Mapping[str, str],
    files: Mapping[str, Sequence[Path]] | None = None,
    weights: Mapping[str, Sequence[Path]] | None = None,
) -> Folder:
    """Open a folder, or make it. `files`: what will be played is made of, by the names that its rows have (a recording, or a family of real material); `weights`: the files that arms name, by the arm.
    Raises `UsageError` and `StoreError`.
    """
    if path.exists() and not path.is_dir():
        raise UsageError(
            f"{str(path)!r} is no folder", hint="Name a folder with --out; it is made when it isn't there."
        )
    with _told(path):
        path.mkdir(parents=True, exist_ok=True)
    folder = Folder(path)
    before = _manifest(path / MANIFEST)
    content = code_version(PLAYERS)
    if os.path.lexists(path / ROWS) and (before is None or before.content != content):
        _set_aside(folder, before.content if before else "unknown")
    folder.rows = _read(folder)
    known = before if before is not None and before.content == content else Manifest(content=content)
    now = Manifest(
        content=content,
        arguments=dict(arguments),
        files=_digests(files),
        weights=_digests(weights),
    )
    changed = _changed(known.files, now.files), _changed(known.weights, now.weights)
    if any(changed):
        _drop(folder, *changed)
    manifest = msgspec.structs.replace(now, files=known.files | now.files, weights=known.weights | now.weights)
    folder.write(MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")
    return folder


def rows_in(path: Path) -> list[Row]:
    """Return the rows of a folder as they are, one for each arm and group."""
    return _read(Folder(path))


def _read(folder: Folder) -> list[Row]:
    path = folder.path / ROWS
    try:
        data = bytes_of(path)
    except FileNotFoundError:
        return []
    except OSError as problem:
        raise _unread(path, problem) from problem
    *lines, torn = data.split(b"\n")
    if torn:
        folder.notes.append(f"the last line of {path} was cut off; it is dropped, and played again")
        with _told(path):
            os.truncate(path, len(data) - len(torn))
    rows: dict[tuple[object, ...], Row] = {}
    damaged = 0
    for line in lines:
        try:
            row = msgspec.json.decode(line, type=Row)
        except REFUSALS:
            damaged += 1
            continue
        rows[row.arm, row.part, row.slot, *row.group] = row
    if damaged:
        folder.notes.append(f"damaged, and passed over: {damaged:,} of the lines in {path}")
    return list(rows.values())


def _set_aside(folder: Folder, content: str) -> None:
    path = folder.path / ROWS
    code = content if _CODE.fullmatch(content) else "unknown"
    names = chain([f"rows-{code}.jsonl"], (f"rows-{code}-{number}.jsonl" for number in count(2)))
    aside = next(one for one in (folder.path / name for name in names) if not os.path.lexists(one))
    with _told(aside):
        path.replace(aside)
    folder.notes.append(
        f"the rows in {path} were played by other code; they are in {aside.name} now, and all is played anew"
    )


def _changed(before: Mapping[str, str], now: Mapping[str, str]) -> set[str]:
    return {name for name, digest in now.items() if before.get(name, digest) != digest}


def _drop(folder: Folder, files: set[str], arms: set[str]) -> None:
    """Drop the rows of recordings, of real material, and of weights, that changed."""
    kept = [row for row in folder.rows if _made_of(row) not in files and row.arm not in arms]
    if len(kept) < len(folder.rows):
        what = ", ".join(
            [
                *(f"the files of {name}" if name in REAL else f"the recording {name}" for name in sorted(files)),
                *(f"the weights of {name}" for name in sorted(arms)),
            ]
        )
        folder.notes.append(f"changed since it was played, and played again: {what}")
        folder.rows = kept
        folder.write(ROWS, b"".join(msgspec.json.encode(row) + b"\n" for row in kept))


def _made_of(row: Row) -> str:
    """The name under which the files of a row are known."""
    return row.family if row.part == REAL_PART else row.recording


def _manifest(path: Path) -> Manifest | None:
    try:
        return msgspec.json.decode(bytes_of(path), type=Manifest)
    except (FileNotFoundError, *REFUSALS):
        return None
    except OSError as problem:
        raise _unread(path, problem) from problem


def _unread(path: Path, problem: OSError) -> StoreError:
    return StoreError(
        f"{str(path)!r} can't be read: {problem.strerror}", hint="Move it away, or name another folder with --out."
    )


def _digests(files: Mapping[str, Sequence[Path]] | None) -> dict[str, str]:
    """What the files of each name hold; of one that can't be read nothing, which is told when it is played."""
    found: dict[str, str] = {}
    for name, paths in (files or {}).items():
        try:
            found[name] = hashlib.sha256(b"".join(map(bytes_of, paths))).hexdigest()[:16]
        except OSError:
            found[name] = ""
    return found


@contextmanager
def _told(path: Path) -> Iterator[Path]:
    """Whatever the disk says, as an error with a next step."""
    try:
        yield path
    except OSError as problem:
        raise StoreError(
            f"{str(path)!r} can't be written: {problem.strerror}", hint="Make room, or name another folder with --out."
        ) from problem
