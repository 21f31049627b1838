"""Putting extensions into Trimtab's home, and taking them out: all of them or none.

    offers ──▶ .adding-…/NAME, whole ──▶ renamed into place, what was there aside ──▶ the record ──▶ what was there is removed, or kept in .replaced
                                                          └─ anything fails ──▶ all is as it was

Names with a dot in front are no extensions (find.py), so what a killed process leaves acts nowhere; the next one clears it away. The one rule: a file that the
record doesn't know byte for byte is never removed, only moved.
"""

import os
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeAlias

from trimtab.coding.extensions.adding.offer import Offer
from trimtab.coding.extensions.adding.record import Added, read_record, write_record
from trimtab.coding.extensions.adding.tree import folder_tree
from trimtab.coding.telling.printable import one_path
from trimtab.coding.trust.code import digest_of
from trimtab.context.stores.exclusive import exclusive
from trimtab.context.stores.private import make_private
from trimtab.types.errors import StoreError, UsageError
from trimtab.types.near import nearest

State: TypeAlias = Literal["as added", "changed here", "gone"]
_STAGED = ".adding-"


def state_of(folder: Path, name: str, added: Added) -> State:
    """What became of the extension `name` since it was added."""
    files = files_of(folder, name)
    if not files:
        return "gone"
    same = {path: digest_of(data) for path, data in files.items()} == added.files
    return "as added" if same and (folder / name).is_dir() == added.package else "changed here"


def files_of(folder: Path, name: str) -> dict[str, bytes]:
    """The files of the extension `name` as they are now; a link is none, so what has one isn't as it was added. Nothing where it can't be read."""
    at = place_of(folder, name)
    if at is None:
        return {}
    try:
        tree = folder_tree(at)
        paths = {
            p: e.kind
            for p, e in tree.entries.items()
            if not p.startswith(".") and "/." not in p and not p.endswith(".pyc")
        }
        if any(kind != "file" for kind in paths.values()) or at.is_symlink():
            return {"": b""}
        return tree.read(list(paths))
    except (UsageError, OSError):
        return {"": b""}


def place_of(folder: Path, name: str) -> Path | None:
    """Where the extension `name` is, if it is there."""
    return next((at for at in (folder / name, folder / f"{name}.py") if os.path.lexists(at)), None)


def named(folder: Path, name: str) -> Added:
    """What is known of `name`. Raises `UsageError` when it wasn't added."""
    record = read_record(folder)
    if name in record:
        return record[name]
    if (at := place_of(folder, name)) is not None and name and "/" not in name:
        raise UsageError(f"{one_path(name)} wasn't added, but put there by you", hint=f"It is {one_path(at)}.")
    meant = nearest(name, record)
    guess = f"Did you mean {meant}? " if meant else ""
    raise UsageError(
        f"no extension {one_path(name)} was added", hint=f"{guess}trimtab extensions list shows those that were."
    )


def keep(folder: Path, offered: Sequence[Offer], origin: Added, *, force: bool) -> tuple[str, ...]:
    """Put `offered` into `folder`, with where they came from in `origin`. Returns what to tell; raises `UsageError` for names that are taken, and `StoreError`."""
    with _changing(folder) as record:
        _require_free(folder, offered, record, force=force)
        staged = folder / f"{_STAGED}{secrets.token_hex(8)}"
        with _all_or_nothing(folder, staged) as moves:
            for offer in offered:
                _write(staged / "new", offer)
            for offer in offered:
                for old in (folder / offer.name, folder / f"{offer.name}.py"):
                    if os.path.lexists(old):
                        moves.append((old, staged / "old" / old.name))
                        old.rename(staged / "old" / old.name)
                new = offer.name if offer.package else f"{offer.name}.py"
                (staged / "new" / new).rename(folder / new)
                moves.append((None, folder / new))
            made = {offer.name: _entry(offer, origin) for offer in offered}
            told = _put_aside(folder, staged / "old", record, moves)
            write_record(folder, {**record, **made})
    return told


def take_out(folder: Path, name: str, *, force: bool) -> tuple[str, ...]:
    """Remove the extension `name`. Returns what to tell; raises `UsageError` when it wasn't added, or has changed since, and `StoreError`."""
    added = named(folder, name)
    if state_of(folder, name, added) == "changed here" and not force:
        raise UsageError(
            f"{name} has changed since it was added",
            hint="--force takes it out; what is there now is kept in .replaced beside it.",
        )
    with _changing(folder) as record:
        staged = folder / f"{_STAGED}{secrets.token_hex(8)}"
        with _all_or_nothing(folder, staged) as moves:
            if (old := place_of(folder, name)) is not None:
                moves.append((old, staged / "old" / old.name))
                old.rename(staged / "old" / old.name)
            told = _put_aside(folder, staged / "old", record, moves)
            write_record(folder, {key: value for key, value in record.items() if key != name})
    return told


def _entry(offer: Offer, origin: Added) -> Added:
    hashes = {path: digest_of(data) for path, data in offer.files.items()}
    return Added(origin.source, origin.ref, origin.commit, offer.package, hashes)


def _require_free(folder: Path, offered: Sequence[Offer], record: Mapping[str, Added], *, force: bool) -> None:
    for offer in offered:
        at = place_of(folder, offer.name)
        if at is None or force:
            continue
        whose = f"was added from {record[offer.name].source}" if offer.name in record else "is one of yours"
        raise UsageError(
            f"there is an extension {offer.name}: it {whose}, {one_path(at)}",
            hint="--force puts the new one in its place. trimtab extensions update NAME fetches it anew.",
        )


@contextmanager
def _changing(folder: Path) -> Iterator[dict[str, Added]]:
    """The record, while nobody else changes it; what a killed process left is cleared away."""
    try:
        make_private(folder)
        with exclusive(folder / ".lock"):
            record = read_record(folder)
            for left in folder.glob(f"{_STAGED}*"):
                _restore(folder, left)
                _put_aside(folder, left / "old", record, [])
                shutil.rmtree(left, ignore_errors=True)
            yield record
    except OSError as e:
        raise StoreError(
            f"{one_path(e.filename or folder)} can't be written: {e.strerror or e}",
            hint="Nothing was changed. Make room, or look at its rights.",
        ) from None


def _restore(folder: Path, staged: Path) -> None:
    """Bring back what a killed process had moved away and put nothing in the place of."""
    for old in (staged / "old").glob("*"):
        if place_of(folder, old.name.removesuffix(".py")) is None:
            old.rename(folder / old.name)


@contextmanager
def _all_or_nothing(folder: Path, staged: Path) -> Iterator[list[tuple[Path | None, Path]]]:
    """Moves that are taken back when anything fails."""
    moves: list[tuple[Path | None, Path]] = []
    (staged / "old").mkdir(parents=True, mode=0o700)
    try:
        yield moves
    except BaseException:
        for back, now in reversed(moves):
            if back is not None and os.path.lexists(now):
                now.rename(back)
            elif back is None and os.path.lexists(now):
                now.rename(staged / now.name)
        raise
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _write(folder: Path, offer: Offer) -> None:
    base = folder / offer.name if offer.package else folder
    for path, data in offer.files.items():
        make_private((base / path).parent)
        with open(os.open(base / path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as out:
            out.write(data)


def _put_aside(
    folder: Path, old: Path, record: Mapping[str, Added], moves: list[tuple[Path | None, Path]]
) -> tuple[str, ...]:
    """Keep, in `.replaced`, what isn't byte for byte as it was added."""
    told = []
    for one in sorted(old.glob("*")):
        name = one.name.removesuffix(".py")
        if name in record and state_of(old, name, record[name]) == "as added":
            continue
        kept = folder / ".replaced" / f"{one.name}-{secrets.token_hex(4)}"
        make_private(kept.parent)
        moves.append((one, kept))
        one.rename(kept)
        told.append(f"what was there is kept: {one_path(kept)}")
    return tuple(told)
