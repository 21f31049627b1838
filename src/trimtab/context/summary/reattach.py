"""What comes back after a compaction from state, not from prose: rules, pins, plan, to-do list, files that were read.

Each part stands once: what the request shows anyway (system prompt, kept messages) is not repeated. And the whole never costs more
than the compaction gained: parts that would are left out, least important first, and named, so the caller can say so.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from trimtab.context.summary.fit import Count


@dataclass(frozen=True, slots=True)
class RulesFile:
    """A file of project rules, verbatim."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file that the model has read: which lines (empty: all), its version then, and whether it has changed since."""

    path: str
    lines: str = ""
    version: str = ""
    changed: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """What the session knows apart from the messages. `pins` are texts with the ids of their sources."""

    rules: tuple[RulesFile, ...] = ()
    pins: tuple[tuple[str, str], ...] = ()
    plan: str = ""
    todo: str = ""
    files: tuple[ReadFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Reattached:
    """The text to append, empty when there is nothing. `left_out` names parts for which there was no room."""

    text: str
    tokens: int = 0
    left_out: tuple[str, ...] = ()


def reattach(state: State, *, visible: Iterable[str], room: int, count: Count) -> Reattached:
    """Return the parts of `state` that aren't in `visible` texts, most important first, in at most `room` tokens.

    `room`: what was removed, less the summary, less the gain that is wanted. A part comes whole or not at all.
    """
    seen = [_plain(text) for text in visible]
    shown: list[str] = []
    left_out: list[str] = []
    for name, head, text in _parts(state):
        plain = _plain(text)
        if any(plain in other for other in seen):
            continue
        part = f"{head}\n{text}"
        if count("\n\n".join((*shown, part))) <= room:
            shown.append(part)
            seen.append(plain)
        else:
            left_out.append(name)
    whole = "\n\n".join(shown)
    return Reattached(whole, count(whole) if whole else 0, tuple(left_out))


def _parts(state: State) -> Iterator[tuple[str, str, str]]:
    """Name, heading and text of each part, most important first; empty ones left out."""
    for rules in state.rules:
        if rules.text.strip():
            yield f"rules {rules.path}", f"Rules of {rules.path}:", rules.text.strip()
    for source, text in state.pins:
        if text.strip():
            yield f"pin {source}", f"Pinned ({source}):", text.strip()
    if state.plan.strip():
        yield "plan", "The plan:", state.plan.strip()
    if state.todo.strip():
        yield "todo", "To-do list:", state.todo.strip()
    if state.files:
        yield (
            "files",
            "Files read before this point (their text is no longer shown):",
            "\n".join(map(_file, state.files)),
        )


def _file(file: ReadFile) -> str:
    notes = (
        file.lines and f"lines {file.lines}",
        file.version and f"version {file.version}",
        file.changed and "changed since: read it again",
    )
    told = ", ".join(note for note in notes if note)
    return f"- {file.path}{f' ({told})' if told else ''}"


def _plain(text: str) -> str:
    return " ".join(text.split())
