"""The cache of trajectories: read a session once, as long as neither it nor what reads it changes.

    bytes of the file + its place + version of the code ──sha256──▶ FOLDER/KEY.trajectory: digest, then the trajectories

A key is made of all that the answer depends on, so nothing in the cache is ever out of date; files of other keys are nobody's and may be deleted. A file that
doesn't hold what its digest says is made anew, and that is noted.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

import msgspec

import trimtab
from trimtab.lab.corpora.trajectory import Place, Trajectory, trajectory_of
from trimtab.lab.files import bytes_of
from trimtab.sessions.detect import read_recordings
from trimtab.sessions.source import ImportFailed

_DIGEST = 32
_READERS = ("sessions", "context/strings.py", "context/seeing/resources.py", "types", "lab/corpora/trajectory.py")
"""What of the package decides how a file is read."""
_decoder = msgspec.msgpack.Decoder(tuple[Trajectory, ...])


def code_version(parts: Iterable[str] = _READERS) -> str:
    """Return a name for what of the package stands in `parts`, by default what reads trajectories: it changes whenever a byte of that does, weights and other data included."""
    root = Path(trimtab.__file__).parent
    found = hashlib.sha256()
    for part in parts:
        path = root / part
        files = sorted(file for file in path.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
        for file in files if path.is_dir() else [path]:
            found.update(f"{file.relative_to(root).as_posix()}\0".encode())
            found.update(file.read_bytes())
    return found.hexdigest()[:16]


def encode(trajectories: Iterable[Trajectory]) -> bytes:
    """Return trajectories as bytes, which say when they were damaged."""
    body = msgspec.msgpack.encode(tuple(trajectories))
    return hashlib.sha256(body).digest() + body


def decode(data: bytes) -> tuple[Trajectory, ...]:
    """Return what `encode` was given. Raises `ValueError` when that isn't it."""
    digest, body = data[:_DIGEST], data[_DIGEST:]
    if hashlib.sha256(body).digest() != digest:
        raise ValueError("it isn't what was written")
    return _decoder.decode(body)


class TrajectoryCache:
    """Trajectories of files, kept in `folder`. `version`: of the code that makes them. `notes` say what was damaged."""

    def __init__(self, folder: Path, *, version: str | None = None) -> None:
        self.folder = folder
        self.version = code_version() if version is None else version
        self.notes: list[str] = []

    def trajectories(self, path: Path, place: Place) -> tuple[Trajectory, ...]:
        """Return the trajectories of the sessions in a file. Raises `ImportFailed` when it can't be read as such."""
        try:
            data = bytes_of(path)
        except OSError as problem:
            raise ImportFailed(
                f"can't read {str(path)!r}: {problem.strerror}", hint="name a session file that exists"
            ) from problem
        kept = self.folder / f"{self._key(data, place)}.trajectory"
        known = self._load(kept)
        if known is None:
            known = tuple(trajectory_of(recording, place) for recording in read_recordings(data, name=str(path)))
            self._keep(kept, encode(known))
        return known

    def _key(self, data: bytes, place: Place) -> str:
        head = msgspec.json.encode((self.version, place))
        return hashlib.sha256(hashlib.sha256(head).digest() + hashlib.sha256(data).digest()).hexdigest()

    def _load(self, path: Path) -> tuple[Trajectory, ...] | None:
        try:
            return decode(bytes_of(path))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as problem:
            self.notes.append(f"{path.name} was damaged and is made anew: {problem}")
            return None

    def _keep(self, path: Path, data: bytes) -> None:
        """Others may read and write the same key meanwhile: whoever is last leaves the same bytes."""
        self.folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=self.folder, prefix=f"{path.stem[:16]}-", suffix=".new")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
