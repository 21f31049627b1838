"""`AGENTS.md` and its kin: what people wrote down for whoever works in a folder.

    person's own ─▶ each folder from the project's root to the working folder ─▶ folders below, in the order in which they were touched
        of each: the first file of `instructions.files` that says something of its own (one that only imports another of them gives way to it)

The one rule: each file is told once, whatever names lead to it.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from trimtab.coding.instructions.remark import Remark
from trimtab.coding.instructions.section import Section
from trimtab.coding.instructions.texts import SourceText, Texts, Unread
from trimtab.coding.telling.printable import one_line
from trimtab.coding.tools.paths import shown_name

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


@dataclass(slots=True)
class Finder:
    """Finds the files of folders. `names` in order of preference; `most` is how many bytes of a file are read; `remarks` are for the person."""

    texts: Texts
    names: Sequence[str]
    most: int
    remarks: list[Remark] = field(default_factory=list)
    _seen: set[tuple[int, int]] = field(default_factory=set)

    def own(self, folder: Path) -> Iterator[Guidance]:
        """The person's own file."""
        if found := self._first(folder, None):
            yield Guidance(one_line(f"user:{found.path.name}"), "of the person, for all projects", found)

    def of_folders(self, folders: Iterable[Path], top: Path | None, *, below: bool) -> Iterator[Guidance]:
        """The files of a project's folders, `top` its highest one. `below`: they hold for the files in their folder."""
        for folder in folders:
            if found := self._first(folder, top):
                name = os.path.relpath(found.path, top)
                scope = f"for the files in {shown_name(os.path.relpath(folder, top))}/" if below else "of the project"
                yield Guidance(one_line(shown_name(name)), one_line(scope), found)

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
