"""How protected files were when the person last had a hand in them: pure, and the same after every opening of the session.

    protected {old, seen, open} entries of the log ──read──▶ Baseline ──a look at the files──▶ the next Baseline ──what differs──▶ an entry

The one rule: what changes between two turns is the person's and counts from then on; what changes in a turn is the agent's, and never does.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from trimtab.coding.tools.glob import compile_glob
from trimtab.types.entries import CustomEntry, KnownEntry

KIND = "protected"
_BYTES = "\0"
"""Before a name that is no text: its bytes follow, a character each."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A file: its content's hash, its permission bits, and whether a copy is kept."""

    content: str
    mode: int
    kept: bool = True


Files: TypeAlias = Mapping[str, Kept]
"""By path, relative to the folder that the globs are relative to."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """`old`: the files as a check takes them; `seen`: as they were when a turn last began or ended; `open`: a turn began and nobody saw its end."""

    old: Files = field(default_factory=dict)
    seen: Files = field(default_factory=dict)
    globs: tuple[str, ...] = ()
    open: bool = False


def next_baseline(before: Baseline | None, now: Files, globs: Sequence[str], *, opens: bool) -> Baseline:
    """What holds when the files are `now` and no turn runs; `opens`: one begins."""
    if before is None:
        return Baseline(now, now, tuple(globs), opens)
    moved = set() if before.open else {path for path in {*now, *before.seen} if now.get(path) != before.seen.get(path)}
    if tuple(globs) != before.globs:  # what wasn't protected then was nobody's to keep
        covered, covers = fitting(before.globs), fitting(globs)
        moved |= {path for path in {*now, *before.old} if not covered(path) or not covers(path)}
    old = {path: file for path, file in before.old.items() if path not in moved}
    old |= {path: now[path] for path in moved if path in now}
    return Baseline(old, now, tuple(globs), opens)


def differences(old: Files, now: Files) -> tuple[str, ...]:
    """What isn't as it was, in words: `tests/test_a.py was deleted`."""
    words = {
        **{path: "was deleted" for path in old if path not in now},
        **{path: "was added" for path in now if path not in old},
        **{path: "was changed" for path, file in old.items() if path in now and now[path] != file},
    }
    return tuple(f"{path} {what}" for path, what in sorted(words.items()))


class _Fits:
    """Whether a path fits one of several globs."""

    def __init__(self, globs: Iterable[str]) -> None:
        self._each = [compile_glob(glob) for glob in globs]

    def __call__(self, path: str) -> bool:
        return any(fits(path) for fits in self._each)


def fitting(globs: Iterable[str]) -> _Fits:
    """Return a predicate on relative paths with `/`."""
    return _Fits(globs)


def entry_of(before: Baseline | None, after: Baseline) -> CustomEntry:
    """What the log has to hold so that `after` comes of `before`: only what is new."""
    was = before or Baseline()
    data: dict[str, Any] = {"open": after.open}
    if after.globs != was.globs:
        data["globs"] = list(after.globs)
    for name, old, new in (("old", was.old, after.old), ("seen", was.seen, after.seen)):
        if delta := {path: new.get(path) for path in {*old, *new} if old.get(path) != new.get(path)}:
            data[name] = {_as_text(path): _to_data(delta[path]) for path in sorted(delta)}
    return CustomEntry(id="", parent=None, time="", kind=KIND, data=data)


def baseline_in(values: Iterable[KnownEntry | Any]) -> Baseline | None:
    """The baseline that a log's entries come to, whatever branch they are on: files have one state. None when there is none."""
    old: dict[str, Kept] = {}
    seen: dict[str, Kept] = {}
    globs: tuple[str, ...] = ()
    is_open: bool | None = None
    for value in values:
        if not isinstance(value, CustomEntry) or value.kind != KIND:
            continue
        is_open = value.data.get("open") is True
        if isinstance(named := value.data.get("globs"), list):
            globs = tuple(map(str, named))
        for name, into in (("old", old), ("seen", seen)):
            _take(into, value.data.get(name))
    return None if is_open is None else Baseline(old, seen, globs, is_open)


def _take(into: dict[str, Kept], delta: Any) -> None:
    for text, data in delta.items() if isinstance(delta, dict) else ():
        path = _as_path(str(text))
        file = _from_data(data)
        if file is None:
            into.pop(path, None)
        else:
            into[path] = file


def _to_data(file: Kept | None) -> Any:
    if file is None:
        return None
    return {"content": file.content, "mode": file.mode, **({} if file.kept else {"kept": False})}


def _from_data(data: Any) -> Kept | None:
    if not isinstance(data, dict) or not isinstance(data.get("content"), str) or not isinstance(data.get("mode"), int):
        return None
    return Kept(data["content"], data["mode"] & 0o7777, data.get("kept") is not False)


def _as_text(path: str) -> str:
    try:
        path.encode()
    except UnicodeEncodeError:
        return _BYTES + os.fsencode(path).decode("latin-1")
    return path


def _as_path(text: str) -> str:
    return os.fsdecode(text[1:].encode("latin-1", "ignore")) if text.startswith(_BYTES) else text
