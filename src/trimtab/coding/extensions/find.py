"""Which extensions there are, without running any: installed packages, the person's own files, those of a trusted project.

    entry points `trimtab.extensions`      NAME = "module"                                       installed, so wanted
    HOME/extensions, extensions.paths      NAME.py or NAME/__init__.py                           the person's own
    .trimtab/extensions                    the same, in each folder from the project's root on   judged by content (judge.py)

Of two with one name the first holds. What can't be used is said in words. The one rule: of a project that isn't trusted nothing is even looked at.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from trimtab.coding.extensions.foreign import said
from trimtab.coding.extensions.open import FOLDER, GROUP, offering
from trimtab.coding.instructions.reach import reach_of
from trimtab.coding.project import Project
from trimtab.coding.telling.printable import one_path
from trimtab.coding.trust.own import own_path
from trimtab.coding.trust.place import lies_in
from trimtab.types.errors import ConfigError

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

_Real: TypeAlias = Callable[[Path], Path | None]
"""From a path to the one to read in its place, links resolved; None where it may not be used."""
Whose: TypeAlias = Literal["package", "yours", "project"]
_MOST = 100
"""Extensions of one folder."""
_MOST_FILES = 200
"""Files of one extension."""
_DEEP = 8
_BROKEN = (OSError, ValueError, TypeError, KeyError, AttributeError)
"""What reading damaged metadata of a package ends in."""
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class Found:
    """One extension. `where` is what people read; `files` are its sources by their paths from `folder` on, links resolved; a package has an `entry` instead."""

    name: str
    whose: Whose
    where: str
    folder: Path = Path()
    files: dict[str, Path] = field(default_factory=dict)
    entry: "EntryPoint | None" = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What isn't loaded, and why."""

    name: str
    whose: Whose
    where: str
    why: str


def find_extensions(project: Project) -> tuple[tuple[Found, ...], tuple[LeftOut, ...]]:
    """All that may be loaded, in the order in which it is, and what can't be. Touches the disk."""
    found: dict[str, Found] = {}
    left: list[LeftOut] = []
    seen: set[str] = set()
    for one in _all(project):
        if isinstance(one, LeftOut):
            left.append(one)
        elif one.name == "mcp":
            left.append(LeftOut(one.name, one.whose, one.where, "tools of servers are named so; give it another name"))
        elif one.name in project.settings.extensions.off:
            left.append(LeftOut(one.name, one.whose, one.where, "turned off (extensions.off)"))
        elif one.name in found:
            why = f"another one has the name {one.name}: {found[one.name].where}"
            if one.where not in seen:
                left.append(LeftOut(one.name, one.whose, one.where, why))
        else:
            found[one.name] = one
            seen.add(one.where)
    return tuple(found.values()), tuple(left)


def _all(project: Project) -> Iterator[Found | LeftOut]:
    yield from _in_folder(project.home.config / FOLDER, "yours")
    for text in project.settings.extensions.paths:
        yield from _named(Path(os.path.expanduser(text)), project)
    yield from installed(project)
    reach = reach_of(project)
    for folder in reach.folders:
        yield from _of_project(project, folder)


def _named(path: Path, project: Project) -> Iterator[Found | LeftOut]:
    """An extension, or a folder of them, that the settings name."""
    path = Path(os.path.realpath(project.cwd / path))
    if path.is_dir() and not (path / "__init__.py").is_file():
        yield from _in_folder(path, "yours")
    elif path.exists():
        yield from _entry(path, "yours", lambda one: one)
    else:
        said = "" if project.named_now("extensions.paths") else " (extensions.paths)"
        yield LeftOut(path.stem, "yours", one_path(path), f"it isn't there{said}")


def _in_folder(folder: Path, whose: Whose) -> Iterator[Found | LeftOut]:
    for path in _listed(folder):
        yield from _entry(path, whose, lambda one: Path(os.path.realpath(one)))


def _of_project(project: Project, folder: Path) -> Iterator[Found | LeftOut]:
    root, store = project.trust.root, project.home.trust_file
    place = folder / ".trimtab" / FOLDER
    if os.path.realpath(place) == os.path.realpath(project.home.config / FOLDER):
        return  # a home folder that is worked in
    notes: list[str] = []

    def own(path: Path) -> Path | None:
        try:
            real, notice = own_path(root, path, store)
        except ConfigError as e:
            real, notice = None, e.message
        if notice:
            notes.append(notice)
        return real

    if (real := own(place)) is not None:
        for path in _listed(real):
            yield from _entry(path, "project", own)
    for note in notes:
        yield LeftOut(one_path(place), "project", one_path(place), note)


def _listed(folder: Path) -> list[Path]:
    """What may be an extension in a folder, by name."""
    try:
        with os.scandir(folder) as entries:
            names = sorted(e.name for e in islice(entries, 10 * _MOST) if not e.name.startswith((".", "_")))
    except OSError:
        return []
    return [folder / name for name in names if name.endswith(".py") or (folder / name).is_dir()][:_MOST]


def _entry(path: Path, whose: Whose, real_of: _Real) -> Iterator[Found | LeftOut]:
    name = path.stem if path.suffix == ".py" else path.name
    where = one_path(path)
    if not NAME.fullmatch(name):
        yield LeftOut(one_path(name), whose, where, "its name has other signs than letters, digits, - and _")
        return
    real = real_of(path)
    if real is None:
        return  # said by whoever judges links
    if path.is_dir():
        files, why = _package_files(real, real_of)
        if "__init__.py" not in files and not why:
            return  # a folder of something else
        if why:
            yield LeftOut(name, whose, where, why)
            return
        yield Found(name, whose, where, real, files)
    else:
        yield Found(name, whose, where, real.parent, {path.name: real})


def _package_files(folder: Path, real_of: _Real) -> tuple[dict[str, Path], str]:
    """The sources of a package, links that may be followed resolved, and why it can't be used."""
    files: dict[str, Path] = {}
    pending = [(folder, "", 0)]
    while pending:
        here, prefix, deep = pending.pop(0)
        try:
            with os.scandir(here) as entries:
                listed = sorted(islice(entries, 10 * _MOST_FILES), key=lambda entry: entry.name)
        except OSError as e:
            return {}, f"{one_path(here)} can't be read: {e.strerror}"
        for entry in listed:
            if entry.name.startswith(".") or entry.name == "__pycache__":
                continue
            path = Path(entry.path)
            if entry.is_dir(follow_symlinks=False) and deep < _DEEP:
                pending.append((path, f"{prefix}{entry.name}/", deep + 1))
            elif entry.name.endswith(".py"):
                if (real := real_of(path)) is None:
                    return {}, f"{one_path(prefix + entry.name)} in it may not be used"
                files[prefix + entry.name] = real
        if len(files) > _MOST_FILES:
            return {}, f"it has more than {_MOST_FILES} files"
    return files, ""


def installed(project: Project) -> Iterator[Found | LeftOut]:
    """The extensions of installed packages. One that lies in the project is no installed package, but the project's code under another name."""
    for path in offering():
        from importlib.metadata import Distribution  # noqa: PLC0415 - takes long, and hardly anybody has one installed

        distribution = Distribution.at(path)
        try:
            points = [point for point in distribution.entry_points if point.group == GROUP]
        except _BROKEN as problem:
            why = f"its entry points can't be read: {said(problem)}"
            yield LeftOut(one_path(os.path.basename(path)), "package", one_path(path), why)
            continue
        for point in points:
            yield _of_package(project, distribution, point, _called(distribution, path))


def _of_package(project: Project, distribution: "Distribution", point: "EntryPoint", called: str) -> Found | LeftOut:
    ours = os.path.realpath(Path(__file__).parents[3])
    folder = os.path.realpath(str(distribution.locate_file("")))
    where = one_path(f"{called} ({point.value})")
    if folder != ours and lies_in(folder, os.path.realpath(project.trust.root or project.cwd)):
        why = f"it lies in the project, at {one_path(folder)}: no package that was installed"
        return LeftOut(one_path(point.name), "package", where, why)
    if not NAME.fullmatch(point.name):
        return LeftOut(one_path(point.name), "package", where, "its name has other signs")
    if point.pattern.match(point.value) is None:
        return LeftOut(point.name, "package", where, "its entry point names no module")
    return Found(point.name, "package", where, entry=point)


def _called(distribution: "Distribution", path: str) -> str:
    """Name and version of a package, or what its folder is called."""
    with suppress(*_BROKEN):
        name, version = distribution.metadata["Name"], distribution.version
        if name and version:
            return f"{name} {version}"
    return os.path.splitext(os.path.basename(path))[0]
