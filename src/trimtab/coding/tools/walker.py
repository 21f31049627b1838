"""A small stand-in for ripgrep: `python -m …walker QUESTION` prints what `rg` would for the same question.

    QUESTION (JSON) → files under the path, in path order, ignore files obeyed → names, or JSON records of lines

Slower, and patterns are Python's regular expressions; everything else agrees with ripgrep, which is its oracle in the tests.
The one rule: ignore files of four kinds (`.rgignore`, `.ignore`, `.gitignore`, `.git/info/exclude`) are asked in that order, the
nearest folder first; those of folders above hold in a repository inside too, as they do for `rg --no-require-git`.
"""

import base64
import codecs
import os
import re
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import msgspec

from trimtab.coding.tools.glob import Matches, compile_glob
from trimtab.coding.tools.ripgrep import Question

_KINDS = (".rgignore", ".ignore", ".gitignore", ".git/info/exclude")
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True, slots=True)
class _Rule:
    """One line of an ignore file. `matches` takes `=/` and a path relative to its folder."""

    matches: Matches
    ignores: bool
    only_folders: bool


@dataclass(frozen=True, slots=True)
class _Folder:
    """What a folder says about ignoring, the last line of a file first, and the folder above. `path` is absolute."""

    path: str
    rules: dict[str, list[_Rule]]
    above: "_Folder | None"


def main(argv: list[str]) -> int:
    """Answer the question in `argv[1]` on standard output; 0 when something was found, 1 when not, 2 for a bad pattern."""
    question = msgspec.json.decode(argv[1], type=Question)
    path = os.fsdecode(question.path.encode("latin-1"))
    out = sys.stdout.buffer
    if question.pattern is None:
        found = False
        for file in files_under(path):
            out.write(os.fsencode(file) + b"\0")
            found = True
        return 0 if found else 1
    try:
        flags = re.IGNORECASE if question.ignore_case else 0
        pattern = re.compile(re.escape(question.pattern) if question.literal else question.pattern, flags)
    except re.error as error:
        print(f"regex parse error: {error}", file=sys.stderr)  # noqa: T201 - this is a program
        return 2
    found = False
    for file in files_under(path):
        found = _search(file, pattern, question, out) or found
        out.flush()
    _put(out, "summary", {})
    return 0 if found else 1


def files_under(path: str) -> Iterator[str]:
    """Yield the regular files under `path` (or `path` itself when it is a file) in path order, as ripgrep lists them."""
    if not os.path.isdir(path):
        yield path
        return
    top = os.path.abspath(path)
    above = None
    for part in reversed(list(_parents(top))):
        above = _folder(part, above)
    yield from _walk(path, top, above)


def _walk(shown: str, path: str, above: _Folder | None) -> Iterator[str]:
    here = _folder(path, above)
    try:
        with os.scandir(path) as listing:
            entries = sorted(listing, key=lambda e: os.fsencode(e.name))
    except OSError as error:
        print(f"{shown}: {error.strerror}", file=sys.stderr)  # noqa: T201
        return
    for entry in entries:
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name == ".git" or _is_ignored(here, entry.path, is_folder=is_folder):
            continue
        below = os.path.join(shown, entry.name)
        if is_folder:
            yield from _walk(below, entry.path, here)
        elif entry.is_file(follow_symlinks=False):
            yield below


def _parents(path: str) -> Iterator[str]:
    while (parent := os.path.dirname(path)) != path:
        yield parent
        path = parent


def _folder(path: str, above: _Folder | None) -> _Folder:
    rules = {}
    for kind in _KINDS:
        try:
            with open(os.path.join(path, kind), encoding="utf-8", errors="replace") as file:
                lines = file.read().removeprefix("\ufeff").splitlines()
        except (OSError, ValueError):
            continue
        rules[kind] = [rule for line in reversed(lines) if (rule := _rule(line))]
    return _Folder(path, rules, above)


def _rule(line: str) -> _Rule | None:
    """Read one line of an ignore file: gitignore(5), with ripgrep's globs."""
    line = re.sub(r"(?<!\\)\s+$", "", line)
    ignores = not line.startswith("!")
    pattern = line.removeprefix("!")
    if line.startswith("#") or not pattern.strip("/"):
        return None
    glob = re.sub(r"(?:\*\*/){2,}", "**/", pattern.removeprefix("/").removesuffix("/"))
    if "/" not in pattern.removesuffix("/"):
        glob = f"**/{glob}"
    # "=/" in front of both keeps a glob without a slash from being about names at any depth, which is its meaning elsewhere
    return _Rule(compile_glob(f"=/{glob}" + "/*" * glob.endswith("/**")), ignores, only_folders=pattern.endswith("/"))


def _is_ignored(here: _Folder, path: str, *, is_folder: bool) -> bool:
    """Whether rules speak of this very path: what lies in an ignored folder isn't asked about, since nobody goes there unasked."""
    for kind in _KINDS:
        folder: _Folder | None = here
        while folder is not None:
            relative = "=/" + path[len(folder.path.rstrip("/")) + 1 :]
            for rule in folder.rules.get(kind, ()):
                if (is_folder or not rule.only_folders) and rule.matches(relative):
                    return rule.ignores
            folder = folder.above
    return False


def _search(file: str, pattern: re.Pattern[str], question: Question, out: BinaryIO) -> bool:
    try:
        with open(file, "rb") as source:
            data = source.read() if stat.S_ISREG(os.fstat(source.fileno()).st_mode) else b""
    except OSError as error:
        print(f"{file}: {error.strerror}", file=sys.stderr)  # noqa: T201
        return False
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            data = data[len(mark) :].decode(encoding, "replace").encode("utf-8", "replace")
    binary = data.find(b"\0")
    lines = data.replace(b"\0", b"\n").splitlines(keepends=True) if binary >= 0 else _lines(data)
    spans = _spans(lines, pattern, question.max_count)
    if not spans:
        return False
    path = _portable(os.fsencode(file))
    _put(out, "begin", {"path": path})
    for number in _numbers(spans, question.context, len(lines)):
        submatches = [{"match": {"text": ""}, "start": a, "end": b} for a, b in spans.get(number, ())]
        line = {"path": path, "lines": _portable(lines[number]), "line_number": number + 1, "submatches": submatches}
        _put(out, "match" if number in spans else "context", line)
    _put(out, "end", {"path": path, "binary_offset": binary if binary >= 0 else None})
    return True


def _lines(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def _spans(lines: list[bytes], pattern: re.Pattern[str], max_count: int) -> dict[int, list[tuple[int, int]]]:
    """Return, for each matching line number (from 0), where its first match is, in bytes."""
    spans: dict[int, list[tuple[int, int]]] = {}
    for number, line in enumerate(lines):
        text = line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "surrogateescape")
        if match := pattern.search(text):
            start = len(text[: match.start()].encode("utf-8", "surrogateescape"))
            spans[number] = [(start, start + len(match[0].encode("utf-8", "surrogateescape")))]
            if len(spans) == max_count:
                break
    return spans


def _numbers(spans: dict[int, list[tuple[int, int]]], context: int, total: int) -> list[int]:
    return sorted({n for m in spans for n in range(max(0, m - context), min(total, m + context + 1))})


def _portable(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"bytes": base64.b64encode(data).decode()}


def _put(out: BinaryIO, kind: str, data: dict[str, Any]) -> None:
    out.write(msgspec.json.encode({"type": kind, "data": data}) + b"\n")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv))
