"""`trimtab login`: keep a key, or log in by a browser or device, and see what lets one in.

    trimtab login                     choose a provider, then as below
    trimtab login P                   the key, typed unseen; by a browser or device where there is such a way
    echo $KEY | trimtab login P       the key from a pipe
    trimtab login --list              where each key comes from, and until when it counts

The dialogue stands on standard error, so that nothing of it is caught in a pipe.
"""

import signal
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import anyio
import click

from trimtab.coding.auth.browser import has_browser, opener
from trimtab.coding.auth.flow import Flow, Way
from trimtab.coding.auth.found import ORDER, Source, keys_held_back, providers_with_keys, sources
from trimtab.coding.auth.login import (
    ask_key,
    choose_provider,
    flow_for,
    log_in_by_flow,
    log_in_by_key,
    offered,
    require_provider,
    unix_time,
    ways_of,
)
from trimtab.coding.auth.means import Means
from trimtab.coding.project import Project, open_project
from trimtab.coding.telling.auth_text import source_rows
from trimtab.coding.telling.printable import json_text
from trimtab.config.auth_file import read_auth
from trimtab.frontends.cli import completers
from trimtab.frontends.cli.asking import LinePerson
from trimtab.frontends.cli.hidden import unshown
from trimtab.frontends.cli.lines import LONGEST, Lines
from trimtab.frontends.cli.screen import note
from trimtab.types.errors import UsageError
from trimtab.types.text import strip_terminal

_MAX_PIPED = 64 * 1024
_ENDED = 143


@click.command("login")
@click.argument("words", metavar="[PROVIDER]", nargs=-1, shell_complete=completers.providers)
@click.option("--with-key", is_flag=True, help="Keep a key, where one could also log in otherwise.")
@click.option("--device", is_flag=True, help="Log in by a code that is typed on another device.")
@click.option("--browser", is_flag=True, help="Log in by a browser, also where none can be opened here.")
@click.option(
    "--list", "list_", is_flag=True, help="Say what lets in where, from where, and until when. Contacts nobody."
)
@click.option("--json", "as_json", is_flag=True, help="The list as JSON.")
@click.option("--set", "sets", metavar="KEY=VALUE", multiple=True, help="Any setting, as in config.toml.")
def command(
    words: tuple[str, ...],
    *,
    with_key: bool,
    device: bool,
    browser: bool,
    list_: bool,
    as_json: bool,
    sets: tuple[str, ...],
) -> int:
    """Keep a key for PROVIDER, or log in there. The key is typed unseen, or read from a pipe; it is never an argument."""
    if len(words) > 1:
        raise UsageError(
            "login takes the name of one provider", hint="A key isn't given as an argument: it is asked for."
        )
    if with_key + device + browser > 1:
        raise UsageError("--with-key, --device and --browser exclude each other", hint="Give one of them.")
    project = open_project(Path("."), sets=sets)
    name = words[0] if words else None
    if list_ or as_json:
        return _list(project, name, as_json=as_json)
    asked: Way | None = "device" if device else "browser" if browser else None
    return anyio.run(partial(_log_in, project, name, with_key=with_key, asked=asked))


def _list(project: Project, name: str | None, *, as_json: bool) -> int:
    names = list(providers_with_keys(project)) if name is None else [name]
    more = (*read_auth(project.home.auth_file).logins, *keys_held_back(project))
    names += [n for n in dict.fromkeys(more) if name is None and n not in names]
    if name is not None:
        require_provider(project, name)
    found = {one: sources(project, one) for one in names}
    told = read_auth(project.home.auth_file)
    for text in filter(None, (told.problem, *told.notices)):
        note(text)
    if as_json:
        click.echo(json_text([_row(one, source, of) for one, of in found.items() for source in of]))
        return 0
    rows = source_rows(found, now=unix_time())
    if rows:
        click.echo(strip_terminal("\n".join([*rows, "", f"What counts first: {ORDER}."])))
    else:
        click.echo("nothing lets you in yet: trimtab login keeps a key, or set a provider's variable", err=True)
    return 0


def _row(name: str, source: Source, found: tuple[Source, ...]) -> dict[str, object]:
    from trimtab.coding.auth.found import in_use

    return {
        "provider": name,
        "kind": "oauth" if source.oauth else "key",
        "source": source.kind,
        "where": source.where,
        "expires_at": source.expires_at,
        "renews": source.renews,
        "used": source is in_use(found),
        "why_not": source.unused,
    }


async def _log_in(project: Project, name: str | None, *, with_key: bool, asked: Way | None) -> int:
    """Log in; return the exit code. A signal ends it with the terminal as it was."""
    code = 0

    async def heed(leave: Callable[[], None]) -> None:
        nonlocal code
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for number in signals:
                code = 130 if number == signal.SIGINT else _ENDED
                leave()

    async with anyio.create_task_group() as group:
        group.start_soon(heed, group.cancel_scope.cancel)
        await _dialogue(project, name, with_key=with_key, asked=asked)
        group.cancel_scope.cancel()
    if code:
        _say("nothing was changed")
    return code


async def _dialogue(project: Project, name: str | None, *, with_key: bool, asked: Way | None) -> None:
    typed = sys.stdin is not None and sys.stdin.isatty()
    person = LinePerson(_say, interactive=typed, hide=partial(unshown, sys.stdin.fileno()) if typed else None)
    with person.reading(Lines(sys.stdin.fileno()).next if typed else None):
        if name is None:
            name = await choose_provider(project, person)
            if name is None:
                known = ", ".join(offered(project))
                raise UsageError("no provider was named", hint=f"Name one: trimtab login PROVIDER. Known: {known}.")
        require_provider(project, name)
        flow = None if with_key else flow_for(project, name)
        if flow is not None and flow.gives_key and not typed and asked is None:
            flow = None  # a key is what would come of it, and here is one
        way = _way(project, flow, asked) if flow or asked else None
        if flow is not None and way is not None:
            told = await log_in_by_flow(project, flow, Means(person, _say, opener(project.env)), way)
        else:
            key = await _typed(ask_key(project, name, person)) if typed else _piped()
            told = await log_in_by_key(project, name, key)
    for line in told:
        _say(line)


def _way(project: Project, flow: Flow | None, asked: Way | None) -> Way:
    if flow is None or (asked and asked not in flow.ways):
        raise UsageError(f"this provider has no login by a {asked}", hint=f"Without --{asked} it asks for what it has.")
    return asked or ways_of(flow, has_browser=has_browser(project.env))[0]


async def _typed(asking: Awaitable[str]) -> str:
    key = await asking
    if len(key) >= LONGEST:
        raise UsageError("the terminal may have cut that key", hint="Give it by a pipe: trimtab login PROVIDER < FILE.")
    return key


def _piped() -> str:
    """The key on standard input."""
    data = sys.stdin.buffer.read(_MAX_PIPED) if sys.stdin is not None else b""
    if not data.strip():
        raise UsageError(
            "no key came on standard input", hint="At a terminal it is asked for; else: trimtab login PROVIDER < FILE."
        )
    return data.decode("utf-8", "replace")


def _say(text: str) -> None:
    click.echo(strip_terminal(text), err=True)
