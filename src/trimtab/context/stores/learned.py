"""What the sessions of a project have taught: a file that any of its processes adds to.

session ends ──update──▶ [lock] read, put in its own part, write aside, rename [unlock]
session begins ──read──▶ calibration of its model; regret by tool of all other sessions

Calibrations are one for each model, and the last writer's holds, since each session goes on from what it read. Regret is kept by session: a session
that is opened again works its own part out from its log, so each part is written whole and nothing is counted twice. Both are bounded; the oldest goes.

The one rule: none of this is needed. What can't be read counts as nothing, and the caller says so.
"""

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from trimtab.context.counting.ratio import CalibrationState
from trimtab.context.seeing.regret import KindRecord
from trimtab.context.stores.disk import disk, make_folder, store_errors, sync_folder, write_all
from trimtab.context.stores.exclusive import exclusive

T = TypeVar("T")
FORMAT = 1
MOST_MODELS = 40
MOST_SESSIONS = 50
MOST_TOOLS = 40
MOST_BYTES = 1 << 20


class Lessons(msgspec.Struct, frozen=True, omit_defaults=True):
    """All that is kept."""

    format: int = FORMAT
    """Version of this format."""
    models: dict[str, CalibrationState] = {}
    """Calibrations by `PROVIDER/ID`, the newest last."""
    regret: dict[str, dict[str, KindRecord]] = {}
    """By session, the newest last, and by tool."""


@dataclass(frozen=True, slots=True)
class LessonsFile:
    """The file of one project. It and its folder are made by the first `update`."""

    path: Path

    def read(self) -> tuple[Lessons, str | None]:
        """Return what is kept, and why that is nothing although there is a file. Never raises."""
        try:
            facts = self.path.stat()
            if not stat.S_ISREG(facts.st_mode) or facts.st_size > MOST_BYTES:
                return Lessons(), "it is no file of a size that we write"
            found = msgspec.json.decode(self.path.read_bytes(), type=Lessons)
        except (FileNotFoundError, NotADirectoryError):
            return Lessons(), None
        except OSError as problem:
            return Lessons(), problem.strerror or str(problem)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
            return Lessons(), str(problem) or type(problem).__name__
        if found.format != FORMAT:
            return Lessons(), f"its format is {found.format}, and this version knows {FORMAT}"
        return found, None

    def update(
        self, *, models: Mapping[str, CalibrationState], session: str, regret: Mapping[str, KindRecord] | None
    ) -> None:
        """Put in what a session learned; `regret` None leaves its part as it is. A file of a newer format is left alone, a broken one is replaced.

        Raises `StoreError`.
        """
        make_folder(self.path.parent)
        with exclusive(self._lock):
            known, problem = self.read()
            if problem is not None and problem.startswith("its format"):
                return
            parts = dict(known.regret)
            if regret:
                parts.pop(session, None)
                most = sorted(regret.items(), key=lambda kind: -kind[1].hidden)[:MOST_TOOLS]
                parts[session] = dict(most)
            lessons = Lessons(
                FORMAT,
                _newest({**_without(known.models, models), **models}, MOST_MODELS),
                _newest(parts, MOST_SESSIONS),
            )
            self._put(msgspec.json.format(msgspec.json.encode(lessons), indent=1))

    def reset(self) -> bool:
        """Forget everything; return whether there was anything. Raises `StoreError`."""
        if not self.path.parent.is_dir():
            return False
        with exclusive(self._lock), store_errors(self.path):
            there = self.path.exists()
            self.path.unlink(missing_ok=True)
        return there

    @property
    def _lock(self) -> Path:
        return self.path.with_name(f"{self.path.name}.lock")

    def _put(self, data: bytes) -> None:
        """Replace the file at once, so that no reader sees half of one."""
        aside = self.path.with_name(f"{self.path.name}.new")
        with store_errors(self.path):
            with suppress(FileNotFoundError):
                aside.unlink()  # of a process that died; the lock is ours
            fd = disk.open(aside, create=True)
            try:
                write_all(disk, fd, data)
            finally:
                os.close(fd)
            aside.replace(self.path)
        sync_folder(self.path.parent)


def _without(known: Mapping[str, T], newer: Mapping[str, object]) -> dict[str, T]:
    return {name: value for name, value in known.items() if name not in newer}


def _newest(values: dict[str, T], most: int) -> dict[str, T]:
    return dict(list(values.items())[-most:])
