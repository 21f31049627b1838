"""`AGENTS.md` and its kin: what people wrote down for whoever works in a folder.

    person's own ─▶ each folder from the project's root to the working folder ─▶ folders below, in the order in which they were touched
        of each: the first file of `instructions.files` that says something of its own (one that only imports another of them gives way to it),
        what a CLAUDE.md imports (imports.py), then every one of `instructions.local_files`

The one rule: each file is told once, whatever names lead to it.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from trimtab.coding.instructions.imports import DEEPEST, MOST, imports_of
from trimtab.coding.instructions.remark import Remark
from trimtab.coding.instructions.section import Section
from trimtab.coding.instructions.texts import SourceText, Texts, Unread
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import shortened
from trimtab.coding.tools.paths import shown_name
from trimtab.coding.trust.place import is_foreign, lies_in

_IMPORT = re.compile(r"\s*@(?:\./)?([\w.-]+)\s*")
_LISTED = 10_000
"""Names of a folder among which another spelling is looked for."""
PREFACE = (
    "Below are instructions of the person and of the project. Where two disagree, the later one holds; "
    "what the person says in the conversation holds over all of them."
)


@dataclass(frozen=True, slots=True)
class Guidance:
    """One file. `name` is what `/system` calls it; `scope` says in words for what it holds."""

    name: str
    scope: str
    source: SourceText
    hops: int = 0
    """How many imports led to it."""


@dataclass(slots=True)
class Finder:
    """Finds the files of folders. `names` in order of preference, `beside` are read whatever else there is; `most` is how many bytes of a file are read; `home` is what `~` means; `remarks` are for the person."""

    texts: Texts
    names: Sequence[str]
    most: int
    remarks: list[Remark] = field(default_factory=list)
    beside: Sequence[str] = ()
    home: Path | None = None
    is_secret: Callable[[Path], bool] = lambda _path: False
    _seen: set[tuple[int, int]] = field(default_factory=set)
    _imported: int = 0

    def own(self, folder: Path, shown: str = "") -> Iterator[Guidance]:
        """The person's own file in a folder, which `/system` calls `shown`."""
        if found := self._first(folder, None):
            scope = "of the person, for all projects"
            yield from self._with_imports(Guidance(one_line(f"user:{shown}{found.path.name}"), scope, found), None)

    def of_folders(self, folders: Iterable[Path], top: Path | None, *, below: bool) -> Iterator[Guidance]:
        """The files of a project's folders, `top` its highest one. `below`: they hold for the files in their folder."""
        for folder in folders:
            scope = f"for the files in {shown_name(os.path.relpath(folder, top))}/" if below else "of the project"
            first = self._first(folder, top)
            for found in (*((first,) if first else ()), *self._beside(folder, top)):
                name = os.path.relpath(found.path, top)
                yield from self._with_imports(Guidance(one_line(shown_name(name)), one_line(scope), found), top)

    def _beside(self, folder: Path, top: Path | None) -> Iterator[SourceText]:
        for path in named(folder, self.beside):
            source = self._read(path, top)
            if source is not None and source.identity not in self._seen:
                self._seen.add(source.identity)
                yield source

    def _with_imports(self, one: Guidance, top: Path | None) -> Iterator[Guidance]:
        """A file, and behind it what it imports and they import in their turn, each once. `top`: what lies outside of it is left out."""
        yield one
        if not (one.hops or one.source.path.name.casefold().startswith("claude")):
            return
        for mention in imports_of(one.source.text):
            found = next(filter(None, (self._import(one, name, top) for name in mention.names())), None)
            if found is not None:
                yield from self._with_imports(found, top)
            elif mention.like_a_file and not any(os.path.lexists(self._meant(one, n)) for n in mention.names()):
                self._leave_out(one, mention.core, "which isn't there")

    def _meant(self, one: Guidance, name: str) -> str:
        from_home = self.home is not None and name.startswith("~/")
        start = self.home if from_home and self.home is not None else one.source.path.parent
        return os.path.normpath(start / (name[2:] if from_home else name))

    def _import(self, one: Guidance, name: str, top: Path | None) -> Guidance | None:
        path = self._meant(one, name)
        if "\0" in name or not os.path.lexists(path) or os.path.isdir(path):
            return None
        real = os.path.realpath(path)
        if self.is_secret(Path(path)):
            self._leave_out(one, name, "it holds the person's keys")
        elif top is not None and is_foreign(real, os.path.realpath(top)):
            why = "outside of the project" if not lies_in(real, os.path.realpath(top)) else "what others wrote"
            self._leave_out(one, name, why)
        elif one.hops == DEEPEST or self._imported == MOST:
            deep = f"more than {DEEPEST} imports deep" if one.hops == DEEPEST else f"more than {MOST} imports"
            self._leave_out(one, name, deep)
        elif (source := self._read(Path(path), top)) is not None and source.identity not in self._seen:
            self._seen.add(source.identity)
            self._imported += 1
            shown = shown_name(os.path.relpath(path, top)) if top else f"user:{shown_name(path)}"
            scope = f"{one.scope.partition(', imported by')[0]}, imported by {one.name}"
            return Guidance(one_line(shown), one_line(scope), source, one.hops + 1)
        return None

    def _leave_out(self, one: Guidance, name: str, why: str) -> None:
        text = f"{one.source.shown}: its import @{shortened(shown_name(name), 200)} is left out: {why}"
        self.remarks.append(Remark(one_line(text), "files"))

    def _read(self, path: Path, top: Path | None) -> SourceText | None:
        try:
            source = self.texts.read(path, most=self.most, inside=top)
        except Unread as why:
            self.remarks.append(Remark(str(why), "files"))
            return None
        self.remarks += [Remark(note, "files", left_out=False) for note in source.notes]
        return source

    def _first(self, folder: Path, top: Path | None) -> SourceText | None:
        for path in named(folder, self.names):
            try:
                source = self.texts.read(path, most=self.most, inside=top)
            except Unread as why:
                self.remarks.append(Remark(str(why), "files"))
                continue
            imported = _IMPORT.fullmatch(source.text)
            if imported is not None and imported[1] in self.names:
                continue
            if source.identity in self._seen:
                return None
            self.remarks += [Remark(note, "files", left_out=False) for note in source.notes]
            self._seen.add(source.identity)
            return source if source.text.strip() else None
        return None


def named(folder: Path, names: Sequence[str]) -> Iterator[Path]:
    """The files of these names, in this order; one of another case where only one file has it."""
    there = {name for name in names if os.path.lexists(folder / name)}
    alike: dict[str, list[str]] = {name.casefold(): [] for name in names if name not in there}
    if alike:
        with suppress(OSError, ValueError), os.scandir(folder) as entries:
            for entry in islice(entries, _LISTED):
                if (folded := entry.name.casefold()) in alike:
                    alike[folded].append(entry.name)
    for name in names:
        if name in there:
            yield folder / name
        elif len(found := alike[name.casefold()]) == 1:
            yield folder / found[0]


def guidance_sections(found: Sequence[Guidance], *, most: int) -> Iterator[Section]:
    """The sections of these files. Together they have at most `most` bytes: the person's own file first, then those nearest to the working folder; what is cut says so."""
    if not found:
        return
    yield Section("preface", "Trimtab", PREFACE)
    room = _rooms(found, most)
    for guidance in found:
        yield Section(guidance.name, guidance.source.shown, _shown(guidance, room[guidance.name]))


def _rooms(found: Sequence[Guidance], most: int) -> dict[str, int]:
    """How many bytes each file may have, by name."""
    above = [g for g in found if g.scope.startswith("of the project")]
    first = [g for g in found if g.name.startswith("user:")]
    order = [*first, *reversed(above), *(g for g in found if g not in above and g not in first)]
    order.sort(key=lambda one: one.hops)
    rooms: dict[str, int] = {}
    for guidance in order:
        rooms[guidance.name] = min(most, len(guidance.source.text.encode()))
        most -= rooms[guidance.name]
    return rooms


def _shown(guidance: Guidance, room: int) -> str:
    source = guidance.source
    path = source.shown
    text, rest = source.text, source.rest
    if len(text.encode()) > room:
        text = text.encode()[:room].decode("utf-8", "ignore")
        text = text[: text.rfind("\n") + 1]
        rest = text.count("\n") + 1
    cut = (
        f"\n[cut: {len(text.encode()):,} of {source.size:,} bytes; read {path} from line {rest} on for the rest]"
        if rest
        else ""
    )
    return f'<instructions scope="{guidance.scope}" path="{path}">\n{text.strip()}{cut}\n</instructions>'
