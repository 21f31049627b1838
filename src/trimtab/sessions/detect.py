"""Which agent wrote a file, told by what is in it, and reading it as recordings.

    file ──head──▶ values that it begins with ──first format that one of them fits──▶ importer ──▶ recordings

The name of a file says nothing: a session that was renamed, packed or piped is the same session. Only a search through a folder passes
over endings that no agent uses. Formats are asked from the most particular to the most general, so a bare list of messages is OpenAI's
unless it says otherwise.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from trimtab.sessions.importers import (
    anthropic,
    claude_code,
    codex,
    gemini,
    mini_swe_agent,
    openai,
    pi,
    swe_agent,
    tau,
    trimtab,
)
from trimtab.sessions.lenient import REFUSALS, document, salvage
from trimtab.sessions.recorded import Recording
from trimtab.sessions.source import ImportFailed, Source, holds_lines

_LINES = 200
"""Lines after which a file that no format fits is given up."""

_SESSION_ENDINGS = (".jsonl", ".json", ".traj", ".jsonl.gz", ".json.gz", ".traj.gz")
_SKIPPED = frozenset({".git", "node_modules", "__pycache__"})


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file: its name on the command line, whose it is, and how it is known and read."""

    name: str
    title: str
    fits: Callable[[Any], bool]
    read: Callable[[Source], list[Recording]]


FORMATS: dict[str, Format] = {
    format.name: format
    for format in (
        Format(trimtab.NAME, "Trimtab", trimtab.fits, trimtab.read),
        Format(claude_code.NAME, "Claude Code", claude_code.fits, claude_code.read),
        Format(codex.NAME, "Codex CLI", codex.fits, codex.read),
        Format(tau.NAME, "tau", tau.fits, tau.read),
        Format(pi.NAME, "pi", pi.fits, pi.read),
        Format(gemini.NAME, "Gemini CLI", gemini.fits, gemini.read),
        Format(swe_agent.NAME, "SWE-agent", swe_agent.fits, swe_agent.read),
        Format(mini_swe_agent.NAME, "mini-swe-agent", mini_swe_agent.fits, mini_swe_agent.read),
        Format(anthropic.NAME, "Anthropic messages", anthropic.fits, anthropic.read),
        Format(openai.NAME, "OpenAI messages", openai.fits, openai.read),
    )
}
"""Every format, by name, in the order in which they are asked."""


def detect(data_head: bytes, name: str = "") -> Format | None:
    """Return the format of a file that begins with `data_head` (plain or gzip), or None. `name` is for people only."""
    head = Source(data_head, name=name).head()
    for value in _values(head):
        for format in FORMATS.values():
            if format.fits(value):
                return format
    return None


def contradicted(origin: Path | str | bytes, format: str, *, name: str = "") -> Format | None:
    """Return the format that a file certainly has, where that is another one than `format`; None where both may be right. Raises `ImportFailed`.

    A bare list of messages without calls is OpenAI's and Anthropic's alike, and so contradicts neither.
    """
    head = Source(origin, name=name).head()
    found = detect(head, name)
    if found is None or found.name == format:
        return None
    either = {found.name, format} == {openai.NAME, anthropic.NAME}
    if either and found.name == openai.NAME and not any(map(openai.certain, _values(head))):
        return None
    return found


def read_recordings(origin: Path | str | bytes, format: str | None = None, *, name: str = "") -> list[Recording]:
    """Return every session in a file (or its bytes), plain or gzip. `format` is a name of `FORMATS`; default: by content.

    Raises `ImportFailed` when the file can't be read, no format fits, or it holds no message.
    """
    source = Source(origin, name=name)
    head = source.head()
    if not head.strip():
        why = ": the archive is cut or damaged, and nothing of it can be read" if source.cut else " is empty"
        raise ImportFailed(_shown(source) + why, hint="give a file that holds a session")
    chosen = detect(head, source.name) if format is None else FORMATS.get(format)
    known = ", ".join(FORMATS)
    if chosen is None and format is not None:
        raise ImportFailed(f"no session format is called {format!r}", hint=f"one of: {known}")
    if chosen is None:
        raise ImportFailed(
            f"{_shown(source)} is no session of a known agent",
            hint=_way_back(head) or f"name the format, if it has one of these: {known}",
        )
    recordings = [recording for recording in chosen.read(source) if recording.events]
    if not recordings:
        raise ImportFailed(
            f"{_shown(source)} holds no message that can be read as {chosen.title}",
            hint="leave the format out, or check that the file is whole",
        )
    return recordings


def read_recording(origin: Path | str | bytes, format: str | None = None, *, name: str = "") -> Recording:
    """Return the one session in a file. Raises `ImportFailed` as `read_recordings` does, and when there are several."""
    recordings = read_recordings(origin, format, name=name)
    if len(recordings) > 1:
        raise ImportFailed(f"{name or 'the file'} holds {len(recordings)} sessions", hint="use read_recordings")
    return recordings[0]


def find_recordings(folder: Path, *, tell: Callable[[str], object] = lambda _: None) -> list[Path]:
    """Return the session files below a folder, in the same order each time. Files that are no session are passed over; what can't be read, too, and `tell` is told."""
    found: list[Path] = []

    def unread(problem: OSError) -> None:
        tell(f"can't read {os.fsdecode(problem.filename or folder)!r}: {problem.strerror}")

    for place, folders, names in os.walk(folder, onerror=unread):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        for name in sorted(names):
            path = Path(place, name)
            try:
                if name.endswith(_SESSION_ENDINGS) and path.is_file() and detect(Source(path).head(), name):
                    found.append(path)
            except ImportFailed as problem:
                tell(problem.message)
            except OSError as problem:
                unread(problem)
    return found


def _way_back(head: bytes) -> str:
    """What to do about a page or Markdown, which people read and nothing reads back; empty for what is neither."""
    begin = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:200].lower()
    if not begin.startswith((b"<!doctype html", b"<html", b"# ", b"---\n", b"<?xml")):
        return ""
    return (
        "it is a text for people; of the formats of an export, jsonl comes back whole, openai and anthropic as messages"
    )


def _shown(source: Source) -> str:
    if source.name in ("", "-"):
        return "standard input" if source.name else "the input"
    return repr(source.name)


def _values(head: bytes) -> Iterator[Any]:
    """Yield what a file begins with: its first records, or its document as far as it is there."""
    head = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not holds_lines(head):
        value, _ = document(head)
        yield value
    for line in head.split(b"\n", _LINES)[:_LINES]:
        try:
            yield msgspec.json.decode(line)
        except REFUSALS:
            yield from salvage(line)
