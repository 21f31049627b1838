"""`/models [WORD]`, `/models star|unstar P/M`, `/models load|unload P/M`: the models that one can switch to, which of them are favourites, and which a server on this machine holds in memory."""

from collections.abc import Sequence

import anyio

from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.model_list import ModelRow, matching, model_rows
from trimtab.coding.models import resolve_model
from trimtab.coding.session import Session
from trimtab.coding.settings.change import add_to_setting, take_from_setting
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import table
from trimtab.types.errors import UsageError

_SHOWN = 40
_COLUMNS = ("", "MODEL", "WINDOW", "PRICE", "ROLES", "NAME")
_MARKS = "* in use, ★ favourite"


async def _run(desk: Desk, rest: str) -> None:
    word, _, ref = rest.partition(" ")
    if word in ("star", "unstar"):
        await _star(desk, ref.strip(), on=word == "star")
        return
    if word in ("load", "unload"):
        await _load(desk, ref.strip(), on=word == "load")
        return
    session = desk.session
    found = matching(await anyio.to_thread.run_sync(rows_of, session), rest)
    if not found:
        desk.tell("no such model can be used; trimtab models lists all, trimtab doctor says what is missing")
        return
    rows = [_COLUMNS, *map(_cells, found[:_SHOWN])]
    used = [n for n in range(len(_COLUMNS)) if any(row[n].strip() for row in rows[1:])]
    lines = table([[row[n] for n in used] for row in rows], None, right=[used.index(n) for n in (2, 3) if n in used])
    more = [f"and {len(found) - _SHOWN} more: /models WORD"] if len(found) > _SHOWN else []
    desk.tell("\n".join([*map(one_line, lines), *more, f"{_MARKS}; /model P/M switches, /models star P/M marks one"]))


async def _star(desk: Desk, ref: str, *, on: bool) -> None:
    """Make a model a favourite, or no longer: in the person's own settings, and here at once."""
    session = desk.session
    ref = ref or session.model.ref
    project = session.project
    wanted = await anyio.to_thread.run_sync(lambda: resolve_model(project, ref).model.ref)
    named = [one for one in session.favourites if _same(session, one, wanted)]
    if on and named:
        desk.tell(one_line(f"{ref} is a favourite already"))
        return
    if not on and not named:
        raise UsageError(f"{ref} is no favourite", hint="/models marks those with ★.")
    for one in [ref] if on else named:
        change = add_to_setting if on else take_from_setting
        for line in await anyio.to_thread.run_sync(change, project, "favourites", one):
            desk.tell(one_line(line))
    left = tuple(one for one in session.favourites if one not in named)
    session.favourites = (*session.favourites, ref) if on else left


async def _load(desk: Desk, ref: str, *, on: bool) -> None:
    """Have a server load a model, or let it go; a load is waited for beside the desk."""
    from trimtab.coding.loading import on_demand  # noqa: PLC0415 - the HTTP client

    session = desk.session
    model = await on_demand(session.project, ref or session.model.ref)
    if not on:
        desk.tell(one_line(await model.unload()))
        return

    async def load() -> None:
        desk.tell(one_line(await model.load()))

    desk.work(load, is_turn=False)
    desk.tell(one_line(f"{model.ref}: its server loads it"))


def _same(session: Session, written: str, ref: str) -> bool:
    try:
        return resolve_model(session.project, written).model.ref == ref
    except UsageError:
        return written == ref


def rows_of(session: Session) -> tuple[ModelRow, ...]:
    """The models that need no more configuration, favourites first."""
    return model_rows(session.project, favourites=session.favourites, here=session.model.ref)


def _cells(row: ModelRow) -> tuple[str, ...]:
    marks = f"{'*' if row.here else ' '}{'★' if row.favourite else ' '}"
    info = row.info
    return (marks, row.ref, f"{info.context_window:,}", row.price, ", ".join(row.roles), info.name)


def complete_models(session: Session, typed: str) -> Sequence[Completion]:
    """The models that need no more configuration, favourites first."""
    return tuple(Completion(row.ref, _about(row)) for row in rows_of(session))


def _about(row: ModelRow) -> str:
    """What a person chooses by: name, window, price per million tokens, roles."""
    facts = (row.info.name, f"{row.info.context_window:,}", row.price, *row.roles, "★" if row.favourite else "")
    return " · ".join(fact for fact in facts if fact)


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    word, blank, _ = typed.partition(" ")
    if blank and word == "star":
        return tuple(Completion(f"star {row.ref}", _about(row)) for row in rows_of(session) if not row.favourite)
    if blank and word == "unstar":
        return tuple(Completion(f"unstar {one}") for one in session.favourites)
    if blank and word in ("load", "unload"):
        return tuple(Completion(f"{word} {row.ref}", _about(row)) for row in rows_of(session))
    return (
        Completion("star", "make a model a favourite"),
        Completion("unstar", "no longer"),
        Completion("load", "have its server load a model (llama.cpp in router mode)"),
        Completion("unload", "let its memory go"),
    )


COMMAND = Command(
    "models",
    "[WORD | star|unstar P/M | load|unload P/M]",
    "the models that you can switch to, and your favourites",
    _run,
    _complete,
)
