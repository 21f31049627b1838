"""Kinds: what a text is, judged cheaply by the lines at its start.

The kind steers how a text is shortened; a wrong one costs quality and nothing else, save that what looks like code or a diff isn't
compressed at all (`refuse`). Numbers that tools print in front of lines are looked through.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal

TextKind = Literal["log", "json", "table", "code", "diff", "prose", "listing"]
"""What a text is."""

_SAMPLE_CHARS = 40_000
_SAMPLE_LINES = 400
_LINE_CHARS = 400

_NUMBERED = re.compile(r"[ \t]{0,8}\d{1,7}(?:→|\t|[:|] )")
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")
_DIFF_FILE = re.compile(r"(?:diff --git |\+\+\+ \S|Index: |\*\*\* (?:Update|Add|Delete) File: )")
_JSON_LINE = re.compile(
    r'\s*(?:"(?:[^"\\]++|\\.)*+"\s*:|"(?:[^"\\]++|\\.)*+",?\s*$|[\[\]{}]+,?\s*$|-?\d[\d.eE+-]*,?\s*$|(?:true|false|null),?\s*$)'
)
_STAMP = re.compile(
    r"\W{0,3}(?:\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d|\d+(?:\.\d+)?m?s\b)"
)
_REPORT = re.compile(
    r"\s*(?:\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|PASS|PASSED|FAIL|FAILED|SKIP|SKIPPED|trace|debug|info|warn|warning|error)\b[\]:]?"
    r"|ok  ?\t|\?   \t|=== (?:RUN|PAUSE|CONT)|--- (?:PASS|FAIL|SKIP)|[\w.-]+\.\w{1,6}:\d+: |Traceback |E   |[✓✗✔✘] |npm |"
    r"\[[\w:.-]+\] |Collecting |Downloading |Compiling |Exit code )"
)
_PATH_LINE = re.compile(
    r"(?:\.{0,2}/|~/|[A-Za-z]:\\)?[\w@.+-]+(?:[/\\][\w@.+ -]+)+(?:[:-]\d+[:-]|[:/]|\s*$)|[dlbcps-][rwxsStT-]{9}[ .+@]|[\w@.+-]+\.\w{1,8}$"
)
_CODE_END = re.compile(r"(?:[{};]|[\])],?|\)\s*:|\\)\s*$")
_CODE_WORD = re.compile(
    r"\s*(?:def|class|func|fn|import|from|return|package|const|let|var|type|struct|enum|interface|public|private|protected|static|"
    r"async|await|export|impl|pub|use|elif|else|except|finally|try|switch|case|defer|raise|throw|yield|assert|#include|#define|@\w+)\b"
)
_CODE_SIGN = re.compile(r":=|=>|->|==|!=|&&|\|\||\w\(|\w\[\w|\w\.\w+\(|^\s*(?://|/\*|\*/|#!)|\s=\s")
_SENTENCE = re.compile(r"[a-z,;)][ ]+\w+[^.!?]{8,}[.!?:](?:\s|$)|[。！？]|^\s*(?:[-*•] |#{1,6} |\d+\. )")


def sample(text: str) -> list[str]:
    """The lines by which a text is judged: not blank, cut to a length, without numbers in front."""
    lines = [line[:_LINE_CHARS] for line in text[:_SAMPLE_CHARS].split("\n")[:_SAMPLE_LINES] if line.strip()]
    numbered = [_NUMBERED.match(line) for line in lines]
    if sum(found is not None for found in numbered) * 2 <= len(lines):
        return lines
    return [line[found.end() :] if found else line for line, found in zip(lines, numbered, strict=True)]


def kind_of(text: str) -> TextKind:
    """Return what `text` is most like; `prose` when nothing else fits."""
    lines = sample(text)
    if not lines:
        return "prose"
    if is_json(text, lines):
        return "json"
    if is_diff(lines):
        return "diff"
    if is_table(lines):
        return "table"
    shares: list[tuple[TextKind, float, float]] = [
        ("listing", _share(lines, _PATH_LINE), 0.5),
        ("log", _share(lines, _STAMP, _REPORT), 0.15),
        ("code", code_share(lines), 0.4),
    ]
    for kind, share, least in shares:
        if share >= least:
            return kind
    return "prose" if _share(lines, _SENTENCE, search=True) >= 0.15 else "log" if len(lines) > 20 else "prose"


def is_json(text: str, lines: Sequence[str]) -> bool:
    """Whether it is one JSON value, or most of its lines are JSON values or parts of one."""
    start = text.lstrip()[:1]
    if start in ("{", "[") and len(text) <= _SAMPLE_CHARS and _parses(text):
        return True
    long = [line for line in lines if line.lstrip().startswith(("{", "[")) and '":' in line]
    if sum(map(len, long)) >= 0.6 * sum(map(len, lines)):
        return True
    return _share(lines, _JSON_LINE) >= 0.8


def is_diff(lines: Sequence[str]) -> bool:
    """Whether a part of it is a diff: a hunk, or a file's head with changed lines."""
    changed = sum(line.startswith(("+", "-")) for line in lines)
    hunks = any(_HUNK.match(line) for line in lines)
    return changed > 0 and (hunks or (any(_DIFF_FILE.match(line) for line in lines) and changed >= 0.2 * len(lines)))


def is_table(lines: Sequence[str]) -> bool:
    """Whether most lines have the same two or more columns, by `|`, tab or comma."""
    if len(lines) < 3:
        return False
    for separator, least in (("|", 2), ("\t", 2), (",", 3)):
        counts = Counter(line.count(separator) for line in lines)
        columns, often = counts.most_common(1)[0]
        if columns >= least and often >= 0.7 * len(lines) and code_share(lines) < 0.5:
            return True
    return False


def code_share(lines: Sequence[str]) -> float:
    """Share of the lines that look like a program's."""
    if not lines:
        return 0.0
    return sum(
        (_CODE_END.search(s) is not None) + (_CODE_WORD.match(s) is not None) + (_CODE_SIGN.search(s) is not None) >= 2
        or s.lstrip().startswith(("//", "}", "#include"))
        for s in lines
    ) / len(lines)


def _share(lines: Sequence[str], *patterns: re.Pattern[str], search: bool = False) -> float:
    return sum(any(p.search(line) if search else p.match(line) for p in patterns) for line in lines) / len(lines)


def _parses(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
