"""What lies on disk of jobs that run, so that one whose session is gone is found again.

    HOME/jobs/PROJECT/ID.json   written when a job starts, gone when it ends; what is there when a session opens was kept, or Trimtab was killed

A file says nothing by itself: a job is one only while processes of this boot carry its marker, and its output is read only where outputs lie. Touches the disk: use it in a thread.
"""

import os
import re
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from trimtab.coding.tools import process_tree
from trimtab.coding.tools.disk import open_regular
from trimtab.coding.tools.failures import ToolFailure
from trimtab.coding.tools.process import Group
from trimtab.context.stores.private import make_private

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_LARGEST = 256 * 1024
_MOST = 200
_ID = re.compile(r"j[1-9][0-9]{0,8}")
_NAME = re.compile(r"[0-9a-f]{16}")
"""What a record is called: nothing that has to be made harmless, and nothing that anybody would have to guess."""
_LARGEST_PID = 2**31 - 1
MARK = 8
"""Signs of a record's name by which its job is said where the id isn't enough."""
_LAST_S = 1e11
"""Nothing began later, in seconds since 1970."""
_COMMAND = 8_000
"""Characters of a command that are kept."""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One job. `boot` names the run of the machine; `owner` and `owner_born` are the Trimtab that started it; `carried`: the same session is about to be opened again.

    `waited`: it is no job yet, but a command that its session waits for. `project` is the folder in which it was started.
    """

    id: str
    command: str
    session: str
    began: float
    pid: int
    born: int | None
    marker: str
    boot: str
    owner: int
    owner_born: int | None
    kept: bool = False
    carried: bool = False
    waited: bool = False
    by: str = ""
    file: str | None = None
    project: str = ""

    @property
    def group(self) -> Group:
        """What its processes are known by."""
        return Group(self.pid, self.marker, self.born, doubted=True)

    @property
    def is_owned(self) -> bool:
        """Whether the Trimtab that started it still runs."""
        return self.owner_born is not None and process_tree.born_at(self.owner) == self.owner_born


@dataclass(frozen=True, slots=True)
class Records:
    """The records of one project, whose folder is `project`. `outputs` are the folders below which sessions keep outputs, beside those of their own in the system's temp folder."""

    folder: Path
    outputs: tuple[Path, ...] = ()
    project: str = ""

    def write(self, record: Record, path: Path | None = None) -> Path:
        """Write one, in place of the one at `path`. Raises `OSError`."""
        make_private(self.folder)
        path = path or self.folder / f"{secrets.token_hex(8)}.json"
        beside = path.with_suffix(".tmp")
        fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(fd, "wb") as out:
            out.write(msgspec.json.encode(record))
        beside.replace(path)
        return path

    def left_behind(self) -> "list[tuple[Path, Record]]":
        """The records of jobs that no open session has, the oldest first."""
        found = [(path, record) for path, record in self.found() if record.kept or not record.is_owned]
        return sorted(found, key=lambda one: one[1].began)

    def drop(self, path: Path) -> None:
        """The job is over."""
        with suppress(OSError):
            path.unlink(missing_ok=True)

    def output_of(self, record: Record, own: Path | None = None) -> Path | None:
        """The file with its output; None when it names none, or one that isn't an output of a session. `own` is the folder of the session that asks."""
        try:
            file = Path(record.file or "").resolve(strict=True)
            if not (file.is_file() and file.name.startswith("output-") and file.suffix == ".txt"):
                return None
            temp = Path(tempfile.gettempdir()).resolve()
            if file.stat().st_uid != os.geteuid() or file.stat().st_nlink != 1:
                return None
            beside = file.parent.name.endswith(".outputs") and any(
                file.is_relative_to(root.resolve()) for root in self.outputs
            )
            in_temp = file.parent.parent == temp and file.parent.name.startswith("trimtab-")
            is_own = own is not None and file.parent == own.resolve()
        except (OSError, ValueError, RuntimeError):
            return None
        return file if beside or in_temp or is_own else None

    def found(self) -> Iterator[tuple[Path, Record]]:
        """Those of this run of the machine; what is from another one, or can't be read, is removed."""
        boot = boot_id()
        try:
            paths = sorted(path for path in self.folder.iterdir() if path.suffix == ".json")
        except OSError:
            return
        for path in paths[:_MOST]:
            record = _read(path) if _NAME.fullmatch(path.stem) else None
            if record is not None and record.boot == boot:
                yield path, record
            else:
                self.drop(path)


def record_of(
    job_id: str, group: Group, *, command: str, session: str, began: float, by: str, file: Path | None, project: str
) -> Record:
    """The record of a job that this process starts. Reads `/proc`."""
    return Record(
        id=job_id,
        command=command[:_COMMAND],
        session=session,
        began=began,
        pid=group.leader,
        born=group.born,
        marker=group.marker,
        boot=boot_id(),
        owner=os.getpid(),
        owner_born=process_tree.born_at(os.getpid()),
        by=by,
        file=str(file) if file else None,
        project=project,
    )


def mark_of(path: Path) -> str:
    """The beginning of a record's name: by it a job is meant whatever id it has in a session."""
    return path.stem[:MARK]


def boot_id() -> str:
    """The run of the machine; empty where the system tells none."""
    try:
        return _BOOT.read_text("ascii").strip()
    except OSError:
        return ""


def _read(path: Path) -> Record | None:
    try:
        with open_regular(path, path.name) as (file, _):
            record = msgspec.json.decode(file.read(_LARGEST), type=Record)
    except (OSError, ToolFailure, msgspec.DecodeError):
        return None
    sound = 1 < record.pid <= _LARGEST_PID and 0 <= record.began < _LAST_S
    return record if sound and process_tree.is_marker(record.marker) and _ID.fullmatch(record.id) else None
