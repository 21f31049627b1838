"""Labels on disk: those of each task and each session by themselves, named after it, so that labelling goes on where it was broken off.

    TaskItem | SessionItem with what its file holds ──sha256──▶ OUT/labels-CODE/KEY.labels: rows, packed

Neither the seed of a run nor how much it learns from is part of the name: runs share what they both need.
"""

import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from trimtab.lab.executor import Executor
from trimtab.lab.files import MOST
from trimtab.lab.labels.collected import SessionItem, TaskItem
from trimtab.lab.labels.hindsight import Labelled
from trimtab.lab.train.kept import Kept
from trimtab.lab.train.runs import RunFolder, key_of, version
from trimtab.sessions.source import Source

_FAST = 1
"""Level of packing: rows repeat what they say of the whole, so any makes a tenth of them."""
_decoder = msgspec.msgpack.Decoder(list[Labelled])


def keeping_labels(executor: Executor, folder: Path, *, say: Callable[[str], None] = lambda _: None) -> Kept:
    """Return an executor that labels only what isn't labelled in `folder` yet."""
    kept = RunFolder(folder / f"labels-{version()}")
    return Kept(executor, kept, label_name, packed, unpacked, lambda told: say(f"needed: {told}"))


def label_name(item: TaskItem | SessionItem) -> str:
    """Return the name of what an item comes to. Raises `ImportFailed` for a file that can't be read."""
    if isinstance(item, TaskItem):
        return f"{key_of('task', item)}.labels"
    return f"{key_of('session', Path(item.path).name, item.group, item.number, Source(Path(item.path)).data())}.labels"


def packed(rows: Sequence[Labelled]) -> bytes:
    """Return rows as bytes, which say when they were damaged."""
    return zlib.compress(msgspec.msgpack.encode(rows), _FAST)


def unpacked(data: bytes) -> list[Labelled]:
    """Return what was packed, to the bit. Raises `ValueError` for what isn't that."""
    unpacking = zlib.decompressobj()
    try:
        rows = unpacking.decompress(data, MOST)
    except zlib.error as problem:
        raise ValueError(str(problem)) from problem
    if not unpacking.eof:
        raise ValueError("it ends too early, or never")
    return _decoder.decode(rows)
