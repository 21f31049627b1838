"""What the person gave: words, `@file` arguments and piped text become the parts of one prompt.

Standard input is read only when something is there: a silent pipe (a scheduler, an editor's task) never makes a run hang.
"""

import os
import select
import stat
import sys
from collections.abc import Sequence

from trimtab.coding.attachments import Attached, attach, attached, is_there, names_file
from trimtab.coding.mentions import Mention
from trimtab.coding.project import Project
from trimtab.types.errors import UsageError
from trimtab.types.messages import Part, Text
from trimtab.types.text import scrub

PATIENCE_S = 1.0
MAX_STDIN = 10_000_000


def prompt_parts(words: Sequence[str], project: Project) -> tuple[tuple[Part, ...], tuple[str, ...]]:
    """Return the prompt's parts and notices. A word `-` waits for standard input. Raises `UsageError` when there is nothing to ask."""
    of_files = [w for w in words if names_file(w) and _is_file(w[1:], project)]
    files, text_words = [w[1:] for w in of_files], [w for w in words if w not in of_files and w != "-"]
    piped, notices = _piped(wait="-" in words or not (text_words or files))
    parts: list[Part] = []
    said = attached(" ".join(text_words), project)
    if text_words:
        more = files or said.parts or piped.strip()
        parts.append(Text(scrub(" ".join(text_words)) + ("\n\n" if more else "")))
    if piped.strip():
        parts.append(Text(scrub(piped)))
    parts += said.parts
    for name in files:
        one = attach(name, project)
        parts += [part for part in one.parts if part not in said.parts]
        notices = (*notices, *one.notes)
    if not parts or not any(not isinstance(p, Text) or p.text.strip() for p in parts):
        raise UsageError(
            "there is no prompt", hint='Write trimtab -p "what to do", name a file with @FILE, or pipe text in.'
        )
    return tuple(parts), (*notices, *said.notes)


def _is_file(name: str, project: Project) -> bool:
    """Whether a whole argument behind an `@` is meant as a file: one is there, or it is one word that ends as files do, which a script had better not send as text."""
    return is_there(name, project) or (len(name.split()) == 1 and Mention(name, quoted=True).like_a_file)


def line_parts(line: str, project: Project) -> Attached:
    """The parts of one line of a talk: the line as it is, then the files that it names with `@`. Raises `UsageError` for one that can't be read."""
    files = attached(line, project)
    return Attached((Text(scrub(line) + ("\n\n" if files.parts else "")), *files.parts), files.notes)


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
