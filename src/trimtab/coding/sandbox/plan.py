"""What a command may do, as data: which places it may write, which stay as they are, which sockets are closed, whether there is a network.

    Place("write" | "read" | "close", path) … ──▶ Confinement ──▶ a backend's own words

The rule for two places that lie in each other: the deeper one holds; of two for one path, the later. What lies in no place is read, not written. Pure.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["write", "read", "close"]


@dataclass(frozen=True, slots=True)
class Place:
    """One real path and what may be done there; `close` is for a socket that nobody may connect to, or a file that nobody may read."""

    kind: Kind
    path: str


@dataclass(frozen=True, slots=True)
class Confinement:
    """What a command may do. Anything may be read. `places` come by depth, the deepest last, one for each path.

    `devices` may be opened for writing as well; `missing` are paths that would be kept as they are if they were there; `ignored` are wishes of the
    person's that are no places.
    """

    places: tuple[Place, ...] = ()
    devices: tuple[str, ...] = ()
    network: bool = True
    missing: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def write(self) -> tuple[str, ...]:
        """Where it may write."""
        return tuple(place.path for place in self.places if place.kind == "write")

    def guarded(self) -> tuple[Place, ...]:
        """The places, with every folder between one to write and one to keep named: a mount of its own can't be renamed, and what lies in it neither."""
        guards = {
            Place("write", folder)
            for place in self.places
            if place.kind == "read"
            for root in self.write
            for folder in _between(root, place.path)
        }
        taken = {place.path for place in self.places}
        return by_depth((*(guard for guard in guards if guard.path not in taken), *self.places))

    def kept(self) -> tuple[str, ...]:
        """What lies inside a place to write and still may not be written."""
        return tuple(
            place.path
            for place in self.places
            if place.kind == "read" and any(is_in(place.path, root) for root in self.write)
        )

    def may_write(self, path: str) -> bool:
        """Whether the real path lies where a command may write."""
        around = [place for place in self.places if path == place.path or is_in(path, place.path)]
        return bool(around) and around[-1].kind == "write"


def by_depth(places: Iterable[Place]) -> tuple[Place, ...]:
    """One place for each path, the last that was given, and the deeper behind those around it."""
    last = {place.path: place for place in places}
    return tuple(sorted(last.values(), key=lambda place: (place.path.rstrip("/").count("/"), place.path)))


def is_in(path: str, folder: str) -> bool:
    """Whether the path lies below the folder, both real and absolute."""
    return path.startswith(folder.rstrip("/") + "/") and path != folder


def _between(root: str, path: str) -> Iterable[str]:
    if not is_in(path, root):
        return
    folder = path.rpartition("/")[0]
    while is_in(folder, root):
        yield folder
        folder = folder.rpartition("/")[0]
