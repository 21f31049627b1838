"""`/login [PROVIDER]`: keep a key or log in, without leaving the talk; with `--list`, say what lets in where."""

from collections.abc import Sequence
from functools import partial

import anyio

from trimtab.coding.auth.browser import opener
from trimtab.coding.auth.found import ORDER, providers_with_keys, sources
from trimtab.coding.auth.login import choose_provider, log_in, offered, require_provider, unix_time
from trimtab.coding.auth.means import Means
from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.session import Session
from trimtab.coding.telling.auth_text import source_rows
from trimtab.coding.telling.printable import one_line, set_in
from trimtab.types.errors import UsageError

_LIST = "--list"


async def _run(desk: Desk, rest: str) -> None:
    words = rest.split()
    project = desk.session.project
    if words == [_LIST]:
        found = {name: sources(project, name) for name in providers_with_keys(project)}
        rows = await anyio.to_thread.run_sync(partial(source_rows, found, now=unix_time()))
        desk.tell(
            "\n".join([*rows, f"what counts first: {ORDER}"] if rows else ["nothing lets you in yet: /login PROVIDER"])
        )
        return
    if len(words) > 1:
        raise UsageError("/login takes the name of one provider", hint="A key isn't written there: it is asked for.")
    if words:
        require_provider(project, words[0])
    desk.work(partial(_log_in, desk, words[0] if words else None), is_turn=False)


async def _log_in(desk: Desk, name: str | None) -> None:
    session = desk.session
    project, person = session.project, session.permissions.person
    if name is None:
        name = await choose_provider(project, person)
        if name is None:
            raise UsageError("no provider was named", hint="Name one: /login PROVIDER.")
    means = Means(person, lambda text: desk.tell(set_in(text).rstrip("\n")), opener(project.env))
    told = await log_in(project, name, means)
    if session.model.provider == name and not session.busy:
        thinking = session.agent.thinking
        await session.set_model(f"{session.model.ref}:{thinking}" if thinking else session.model.ref)
    desk.tell("\n".join(map(one_line, told)))


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    return [Completion(name) for name in (*offered(session.project), _LIST) if name.startswith(typed)]


COMMAND = Command("login", "[PROVIDER]", "keep a key or log in; --list says what lets in where", _run, _complete)
