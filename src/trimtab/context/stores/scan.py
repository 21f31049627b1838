"""Reading a session file: bytes to header, entries and damage, in one pass.

    bytes ──split at LF──▶ line ──envelope──▶ Entry          the fast way, for every line that is what it should be
                             └──salvage──▶ Entry …, Damage   glued, torn, zeroed, re-encoded lines

Nothing here touches a disk. A file is what crashes, editors, sync services and other versions left of it, so everything that can
be read is kept, and everything else is named by its line; the bytes themselves stay where they are. Line numbers never
change in a file that only grows: they identify a damage across openings.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from trimtab.context.archive import Damage
from trimtab.types.codec import Entry, decode_header, decode_line
from trimtab.types.entries import Header
from trimtab.types.text import scrub

_BOM = b"\xef\xbb\xbf"
_START = re.compile(
    r'\{\s*"type"\s*:\s*"(?:session"|[^"\\]{1,64}"\s*,\s*"id"\s*:\s*"[^"\\]{0,128}"\s*,\s*"parent"\s*:)'
)
"""Where a record can begin inside a broken line. A part of a message has a type too, but no parent."""

_ATTEMPTS = 1_000
"""Failed starts after which the rest of a broken line is given up: hostile nesting makes each of them slow."""

_TORN_HEADER = re.compile(rb'\{\s*"type"\s*:\s*"session"[^\n]*')
_PARENT = b'"parent"'
_BLANK = b" \t\r\n\0"
_json = json.JSONDecoder()


@dataclass(slots=True)
class Scan:
    """What a session file holds. `entries` are in file order, `lines` the line of each, counted from 1.

    `ends_clean`: the next record may be written right behind the last byte. `empty`: there is nothing at all. `torn_header`: all
    there is, is the beginning of a header.
    """

    header: Header | None = None
    entries: list[Entry] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    ends_clean: bool = True
    empty: bool = False
    torn_header: bool = False

    @property
    def is_session(self) -> bool:
        """Whether these are the remains of a session, rather than somebody's text or data that has to stay as it is.

        Other programs write JSON lines with a type too: a header counts when it says when it began, an entry when it has all of an envelope.
        """
        if self.empty or self.torn_header or (self.header is not None and self.header.created):
            return True
        return any(entry.id and entry.time and _PARENT in entry.raw for entry in self.entries)

    def numbered(self) -> Iterator[tuple[int, Entry]]:
        """Each entry with its line."""
        return zip(self.lines, self.entries, strict=True)


def scan(data: bytes) -> Scan:
    """Read a whole session file. Never raises for what the bytes are."""
    found = Scan(ends_clean=not data or data.endswith(b"\n"), empty=_is_blank(data))
    found.torn_header = _TORN_HEADER.fullmatch(data) is not None
    ascii_only = data.isascii()
    number = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        entry = decode_line(line)
        if entry is None or entry.refused:
            if line.strip():
                _take_odd(found, number, line)
        elif entry.type == "session":
            _take_header(found, number, line)
        else:
            if line.endswith(b"\r"):
                entry.raw = line.rstrip(b"\r")
            if not ascii_only and not _is_utf8(line):
                entry.refused = True
                found.damage.append(Damage("refused", number, "not valid UTF-8"))
            found.entries.append(entry)
            found.lines.append(number)
    if found.header is None and not found.empty:
        found.damage = [d for d in found.damage if d.line != 1]
        found.damage.insert(0, Damage("no_header", 1, "the first line is no session header"))
    if not found.ends_clean and not any(d.line == number for d in found.damage):
        found.damage.append(Damage("no_newline", number, "the last record had no line end"))
    return found


def _take_header(found: Scan, number: int, line: bytes) -> None:
    header = decode_header(line)
    if header is None:
        found.damage.append(Damage("unreadable", number, "a header that names no session"))
    elif found.header is None:
        found.header = header
    else:
        found.damage.append(Damage("second_header", number, header.id))


def _take_odd(found: Scan, number: int, line: bytes) -> None:
    """Take what can be read of a line that is not one plain record."""
    if number == 1 and line.startswith(_BOM):
        plain = decode_line(line[len(_BOM) :])
        if plain is not None and plain.type == "session" and not plain.refused:
            _take_header(found, number, line[len(_BOM) :])
            return
    whole = decode_line(line)
    records = [whole] if whole is not None else list(_salvage(line))
    kind = "refused" if whole is not None else "salvaged" if records else "unreadable"
    found.damage.append(Damage(kind, number, line[:40].decode("utf-8", "replace")))
    for entry in records:
        if entry.type == "session":
            _take_header(found, number, entry.raw)
        else:
            found.entries.append(entry)
            found.lines.append(number)


def _salvage(line: bytes) -> Iterator[Entry]:
    """Yield the whole records inside a broken line: glued ones, and those behind a torn one or behind NUL bytes."""
    text = scrub(line.decode("utf-8-sig", "replace"))
    at = failed = 0
    while failed < _ATTEMPTS and (start := _next_start(text, at)) is not None:
        try:
            data, end = _json.raw_decode(text, start)
        except (ValueError, RecursionError):
            at = start + 1
            failed += 1
            continue
        at = end
        if isinstance(data, dict) and isinstance(data.get("type"), str):
            entry = decode_line(text[start:end].encode())
            if entry is not None:
                yield entry


def _next_start(text: str, at: int) -> int | None:
    """Where the next record can begin: an object right here, else the next thing that looks like a record of ours."""
    here = at
    while here < len(text) and text[here] in " \t\r\0":
        here += 1
    if text.startswith("{", here) and (at == 0 or text[at - 1] == "}"):
        return here
    match = _START.search(text, at)
    return match.start() if match else None


def _is_blank(data: bytes) -> bool:
    return not data[:64].strip(_BLANK) and not data.strip(_BLANK)


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
