"""Tests that a turn seems to have taken out: deleted, or marked to be skipped. Guesses by name and by text, for whoever should look again.

FileChange by file ──looks like a test? gone, or more marks than before?──▶ lines in words
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from trimtab.coding.verify.turn_changes import FileChange

_FOLDERS = re.compile(r"(^|/)(tests?|__tests__|specs?)/", re.IGNORECASE)
_NAMES = re.compile(
    r"(^|/)(test_[^/]*|[^/]*_(test|spec)\.[^/.]+|[^/]*\.(test|spec|cy)\.[^/.]+|[^/]*(Test|Tests|Spec)\.(java|kt|cs|scala|swift|php|groovy))$"
)
_CODE = re.compile(
    r"\.(py|[cm]?[jt]sx?|go|rs|rb|java|kt|cs|c|cc|cpp|h|scala|swift|php|sh|bats|ex|exs|lua|dart|groovy|zig)$"
)
_SKIPS = re.compile(
    r"@?pytest\.(mark\.)?(skip|skipif|xfail)\b|@?unittest\.(skip\w*|expectedFailure)\b|\bself\.skipTest\("
    r"|\b(it|test|describe|context|suite)\.(skip|todo|only|failing)\b|(?<![\w.])x(it|describe|test)\(|(?<![\w.])f(it|describe)\("
    r"|#\[ignore\b|@(Disabled|Ignore)\b|\b[tb]\.Skip(f|Now)?\(|\[(Ignore|Skip)\b|\bXCTSkip\b|\bmarkTestSkipped\("
)


def weakened(changes: Sequence[FileChange], root: Path) -> tuple[str, ...]:
    """What looks like tests below `root` that don't run any more, in words. A file whose text stands in another one now was moved."""
    arrived = {change.now for change in changes if change.now and not change.was}
    found: list[str] = []
    for change in changes:
        path = os.path.relpath(change.path, root).replace(os.sep, "/")
        if not is_test(path):
            continue
        if change.gone:
            if not (change.was and change.was in arrived):
                found.append(f"{path} was deleted")
        elif (more := _more_skips(change)) > 0:
            found.append(f"{path} has {more} more mark{'s that skip' if more > 1 else ' that skips'} tests")
    return tuple(found)


def is_test(path: str) -> bool:
    """Whether a file looks like one of tests, by its path in the project: its name, or its folder."""
    return _NAMES.search(path) is not None or (_FOLDERS.search(path) is not None and _CODE.search(path) is not None)


def _more_skips(change: FileChange) -> int:
    if change.was == "":
        return 0  # a new file takes nothing out
    if change.now is not None and change.was is not None:
        return _count(change.now) - _count(change.was)
    lines = change.diff.splitlines()
    return sum(_count(line[1:]) * ((line[:1] == "+") - (line[:1] == "-")) for line in lines)


def _count(text: str) -> int:
    return sum(1 for _ in _SKIPS.finditer(text))
