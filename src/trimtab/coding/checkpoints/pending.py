"""How files were before a call that is running: what a kill in the middle of it would lose.

before a call ──▶ FOLDER/SESSION/CALL.json ──after it──▶ gone        what is still there when a session is opened was never written down
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from trimtab.coding.checkpoints.states import State, from_data, to_data
from trimtab.coding.checkpoints.store import ContentStore
from trimtab.context.stores.private import make_private
from trimtab.types.errors import StoreError


@dataclass(frozen=True, slots=True)
class Begun:
    """A call that began: in which turn, when (nanoseconds since the epoch), how the files were that it names, or all (`whole`), the folders that would be made,
    and those that there were (None: nobody knows)."""

    turn: str
    states: Mapping[str, State]
    whole: bool
    made: Mapping[str, str]
    at_ns: int = 0
    folders: frozenset[str] | None = None
    numbers: Mapping[str, int] = field(default_factory=dict)
    """Of all files, while the process lives: a file keeps its own under another name."""


@dataclass(frozen=True, slots=True)
class Pending:
    """The calls of one session that run. Touches the disk: use it in a thread. The states lie in `store`, where equal ones take no room."""

    folder: Path
    store: ContentStore

    def keep(self, call_id: str, begun: Begun) -> None:
        """Remember a call. Raises `StoreError`."""
        states = {path: to_data(state) for path, state in begun.states.items()}
        name = self.store.put(json.dumps(states, sort_keys=True).encode())
        folders = None if begun.folders is None else sorted(filter(is_text, begun.folders))
        data = {
            "turn": begun.turn,
            "at_ns": begun.at_ns,
            "states": name,
            "whole": begun.whole,
            "made": dict(begun.made),
            "folders": None if folders is None else self.store.put(json.dumps(folders).encode()),
        }
        try:
            make_private(self.folder)
            self._path(call_id).write_text(json.dumps(data), "utf-8")
        except OSError as e:
            raise StoreError(
                f"{self.folder} can't be written: {e.strerror}", hint="make room, or fix its permissions"
            ) from e

    def drop(self, call_id: str) -> None:
        """The call was written down."""
        self._path(call_id).unlink(missing_ok=True)

    def left(self) -> Iterator[Begun]:
        """Yield, and forget, the calls that a kill cut off. One that can't be read is left out."""
        try:
            files = sorted(self.folder.glob("*.json"))
        except OSError:
            return
        for file in files:
            try:
                data = json.loads(file.read_text("utf-8"))
                states = json.loads(self.store.get(data["states"]))
                folders = json.loads(self.store.get(data["folders"])) if data.get("folders") else None
                begun = Begun(
                    str(data["turn"]),
                    {p: from_data(s) for p, s in states.items()},
                    bool(data["whole"]),
                    dict(data["made"]),
                    int(data.get("at_ns", 0)),
                    None if folders is None else frozenset(map(str, folders)),
                )
            except (OSError, ValueError, KeyError, TypeError, AttributeError, StoreError):
                begun = None
            file.unlink(missing_ok=True)
            if begun is not None:
                yield begun

    def _path(self, call_id: str) -> Path:
        return self.folder / f"{hashlib.sha256(call_id.encode()).hexdigest()[:32]}.json"


def is_text(path: str) -> bool:
    """Whether a log can name the path."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
