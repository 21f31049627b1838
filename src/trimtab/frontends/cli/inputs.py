"""What the person gave: words, `@file` arguments and piped text become the parts of one prompt.

Standard input is read only when something is there: a silent pipe (a scheduler, an editor's task) never makes a run hang.
"""

import os
import select
import stat
import sys
from collections.abc import Sequence

from trimtab.coding.attachments import attach, attached, names_file
from trimtab.coding.project import Project
from trimtab.types.errors import UsageError
from trimtab.types.messages import Part, Text
from trimtab.types.text import scrub

PATIENCE_S = 1.0
MAX_STDIN = 10_000_000


def prompt_parts(words: Sequence[str], project: Project) -> tuple[tuple[Part, ...], tuple[str, ...]]:
    """Return the prompt's parts and notices. A word `-` waits for standard input. Raises `UsageError` when there is nothing to ask."""
    text_words = [w for w in words if not names_file(w) and w != "-"]
    files = [w[1:] for w in words if names_file(w)]
    piped, notices = _piped(wait="-" in words or not (text_words or files))
    parts: list[Part] = []
    if text_words:
        parts.append(Text(scrub(" ".join(text_words)) + ("\n\n" if files or piped.strip() else "")))
    if piped.strip():
        parts.append(Text(scrub(piped)))
    for name in files:
        parts.extend(attach(name, project))
    if not parts or not any(not isinstance(p, Text) or p.text.strip() for p in parts):
        raise UsageError(
            "there is no prompt", hint='Write trimtab -p "what to do", name a file with @FILE, or pipe text in.'
        )
    return tuple(parts), notices


def line_parts(line: str, project: Project) -> tuple[Part, ...]:
    """The parts of one line of a talk: the line as it is, then the files that it names with `@`. Raises `UsageError` for one that can't be read."""
    files = attached(line, project)
    return (Text(scrub(line) + ("\n\n" if files else "")), *files)


def _piped(*, wait: bool) -> tuple[str, tuple[str, ...]]:
    """Text on standard input, if any is coming."""
    stdin = sys.stdin
    if stdin is None or stdin.closed or stdin.isatty():
        return "", ()
    try:
        fd = stdin.fileno()
        mode = os.fstat(fd).st_mode
    except (OSError, ValueError):
        return "", ()
    waits = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
    if waits and not wait and not select.select([fd], [], [], PATIENCE_S)[0]:
        return "", ("standard input is a pipe with nothing in it and is left alone (add - to wait for it)",)
    data = stdin.buffer.read(MAX_STDIN + 1)
    notices = (f"standard input was cut at {MAX_STDIN:,} bytes",) if len(data) > MAX_STDIN else ()
    return data[:MAX_STDIN].decode("utf-8", "replace"), notices
