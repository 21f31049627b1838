"""What `/memory` and `/memo` have in common: list, show KEY, add KEY TEXT, forget KEY.

words ──Wanted──▶ a store of the engine, in a thread ──▶ lines
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import anyio

from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line, set_in
from trimtab.coding.telling.tables import counted, shortened
from trimtab.types.errors import UsageError

ACTIONS = ("list", "show", "add", "forget")
_SUMMARY = 120
"""Characters of the first line of a text that stand for it in lists."""


@dataclass(frozen=True, slots=True)
class Held:
    """One that is kept, for a list."""

    key: str
    summary: str
    size: int


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where texts are kept by key. Each function touches the disk and may raise `StoreError`."""

    held: Callable[[], Sequence[Held]]
    text: Callable[[str], str | None]
    add: Callable[[str, str, str], object]
    """Gets key, summary and text."""
    forget: Callable[[str], bool]
    note: str = ""
    """What a person should know of what is kept."""
    seen: str = ""
    """When the model sees what is added."""


ShelfOf: TypeAlias = Callable[[Session], Shelf]


def kept_command(name: str, help: str, shelf_of: ShelfOf) -> Command:
    """The command `name` over the shelf of a session."""

    async def run(desk: Desk, rest: str) -> None:
        shelf = shelf_of(desk.session)
        lines = await anyio.to_thread.run_sync(_done, name, shelf, rest)
        desk.tell("\n".join(lines))

    def complete(session: Session, typed: str) -> Sequence[Completion]:
        action, blank, key = typed.partition(" ")
        if not blank:
            return [Completion(word) for word in ACTIONS if word.startswith(action)]
        if action not in ("show", "forget"):
            return ()
        held = shelf_of(session).held()
        return [Completion(f"{action} {one.key}", one.summary) for one in held if one.key.startswith(key)]

    return Command(name, "[show|add|forget KEY]", help, run, complete)


def _done(name: str, shelf: Shelf, rest: str) -> list[str]:
    action, _, more = rest.partition(" ")
    key, _, text = more.strip().partition(" ")
    match action:
        case "" | "list":
            return _listed(name, shelf)
        case "show" if more.strip():
            return _shown(name, shelf, more.strip())
        case "add" if text.strip():
            summary = shortened(" ".join(text.strip().split("\n")[0].split()), _SUMMARY)
            shelf.add(key, summary, text.strip())
            return [one_line(f"kept {key}"), *(line for line in (shelf.note, shelf.seen) if line)]
        case "forget" if more.strip():
            if not shelf.forget(more.strip()):
                raise _unknown(name, shelf, more.strip())
            return [one_line(f"forgot {more.strip()}")]
        case _:
            what = f"/{name} {action} needs more" if action in ACTIONS else f"/{name} doesn't know {action!r}"
            raise UsageError(what, hint=f"/{name}, /{name} show KEY, /{name} add KEY TEXT, /{name} forget KEY.")


def _listed(name: str, shelf: Shelf) -> list[str]:
    held = shelf.held()
    lines = [one_line(f"{one.key} ({counted(one.size, 'character')}): {one.summary}") for one in held]
    lines = lines or [f"none is kept; /{name} add KEY TEXT keeps one"]
    return [*lines, *([shelf.note] if shelf.note else [])]


def _shown(name: str, shelf: Shelf, key: str) -> list[str]:
    text = shelf.text(key)
    if text is None:
        raise _unknown(name, shelf, key)
    return [one_line(f"{key}:"), set_in(text).rstrip("\n")]


def _unknown(name: str, shelf: Shelf, key: str) -> UsageError:
    keys = ", ".join(one.key for one in shelf.held()[:8])
    return UsageError(f"no {name} {key!r}", hint=f"There are: {keys}." if keys else "None is kept.")
