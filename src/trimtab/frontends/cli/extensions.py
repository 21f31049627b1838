"""`trimtab extensions`: extensions of others: fetched, shown, kept in Trimtab's home after a yes, fetched anew, taken out."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import click

from trimtab.coding.extensions.adding.fetch import Fetched, change_lines, fetch, missing_lines, offer_lines, origin_text
from trimtab.coding.extensions.adding.keeping import files_of, keep, named, state_of, take_out
from trimtab.coding.extensions.adding.record import Added, read_record
from trimtab.coding.extensions.judge import texts_of
from trimtab.coding.extensions.open import FOLDER
from trimtab.coding.telling.printable import json_text, one_path
from trimtab.coding.telling.tables import table
from trimtab.config.home import environment, find_home
from trimtab.types.errors import TrimtabError, UsageError
from trimtab.types.text import scrub_deep

_YES = click.option("--yes", is_flag=True, help="Don't ask; what comes is shown all the same.")
_JSON = click.option("--json", "as_json", is_flag=True, help="As JSON.")
_ACTS = "It acts from the next session on, or after /reload."


@click.group("extensions", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> int:
    """Add extensions of others to your own, and keep them up to date. Alone: those that were added."""
    return int(ctx.invoke(list_)) if ctx.invoked_subcommand is None else 0


@command.command("list")
@_JSON
def list_(*, as_json: bool = False) -> int:
    """List the extensions that were added, where from, and whether they are as they came."""
    folder = _folder()
    rows = [(name, one, state_of(folder, name, one)) for name, one in sorted(read_record(folder).items())]
    if as_json:
        found = [
            {
                "name": n,
                "source": a.source,
                "ref": a.ref or None,
                "commit": a.commit or None,
                "state": s,
                "files": a.files,
            }
            for n, a, s in rows
        ]
        click.echo(json_text(scrub_deep(found)))
    elif rows:
        cells = [("NAME", "NOW", "FROM"), *((one_path(n), s, origin_text(a)) for n, a, s in rows)]
        click.echo("\n".join(table(cells, None)))
    else:
        click.echo("none were added; trimtab doctor lists all that are loaded", err=True)
    return 0


@command.command("add")
@click.argument("source")
@click.option("--ref", metavar="REF", default="", help="A branch, a tag or a commit of a repository.")
@click.option("--force", is_flag=True, help="Put it in the place of one with its name.")
@_YES
def add(source: str, *, ref: str, force: bool, yes: bool) -> int:
    """Add the extensions of SOURCE: a file, a folder, or a git repository (https://…, ssh://…, git@HOST:PATH, file:///…)."""
    folder = _folder()
    fetched = fetch(source, ref, Path.cwd())
    _say([f"from {origin_text(fetched.origin)}:", *(line for offer in fetched.offers for line in offer_lines(offer))])
    texts = {f"{offer.name}/{path}": data for offer in fetched.offers for path, data in offer.files.items()}
    _agree(f"Add {_names(fetched)}? What runs as an extension does what you can do.", texts, yes=yes)
    _say(keep(folder, fetched.offers, fetched.origin, force=force))
    click.echo(f"added: {_names(fetched)}. {_ACTS}")
    return 0


@command.command("update")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--force", is_flag=True, help="Also where it was changed here; what is there now is kept.")
@_YES
def update(names: Sequence[str], *, force: bool, yes: bool) -> int:
    """Fetch extensions anew from where they came, and show what changed. Without NAME: all. Exit code 1 when one of them fails."""
    folder, failed = _folder(), False
    for name in names or sorted(read_record(folder)):
        added = named(folder, name)
        try:
            _update(folder, name, added, force=force, yes=yes)
        except TrimtabError as problem:
            if len(names) == 1:
                raise
            failed = True
            click.echo(f"{one_path(name)}: {problem}", err=True)
    return 1 if failed else 0


@command.command("remove")
@click.argument("name")
@click.option("--force", is_flag=True, help="Also where it was changed here; what is there now is kept.")
def remove(name: str, *, force: bool) -> int:
    """Take out the extension NAME, which was added. What it kept for itself stays."""
    _say(take_out(_folder(), name, force=force))
    click.echo(f"{one_path(name)}: taken out")
    return 0


def _update(folder: Path, name: str, added: Added, *, force: bool, yes: bool) -> None:
    state = state_of(folder, name, added)
    if state == "changed here" and not force:
        raise UsageError(
            f"{name} has changed since it was added",
            hint="--force fetches it all the same; what is there now is kept in .replaced beside it.",
        )
    fetched = fetch(added.source, added.ref, folder)
    offer = next((one for one in fetched.offers if one.name == name), None)
    if offer is None:
        raise UsageError(
            f"{origin_text(fetched.origin)} has no {name} any more; it has {_names(fetched)}",
            hint=f"trimtab extensions remove {name} takes it out.",
        )
    old = {} if state == "gone" else files_of(folder, name)
    if old == offer.files:
        click.echo(f"{name}: as it is there ({origin_text(fetched.origin)})")
        return
    _say(
        [
            f"{name}, from {origin_text(fetched.origin)}:",
            *change_lines(old, offer.files),
            *(missing_lines(offer) if offer.missing else ()),
        ]
    )
    _agree(f"Update {name}?", {f"{name}/{path}": data for path, data in offer.files.items()}, yes=yes)
    _say(keep(folder, [offer], fetched.origin, force=True))
    click.echo(f"updated: {name}. {_ACTS}")


def _agree(question: str, texts: Mapping[str, bytes], *, yes: bool) -> None:
    """Go on only after a yes. Raises `UsageError` where nobody says it."""
    while not yes:
        if sys.stdin is None or not sys.stdin.isatty():
            raise UsageError("nobody is there to say yes, so nothing was added", hint="--yes takes what was shown.")
        answer = click.prompt(question, type=click.Choice(["yes", "no", "show"]), default="no", err=True)
        if answer == "no":
            raise UsageError("nothing was added", hint="You said no.")
        yes = answer == "yes"
        if answer == "show":
            _say(texts_of(texts))


def _names(fetched: Fetched) -> str:
    return ", ".join(offer.name for offer in fetched.offers)


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line, err=True)


def _folder() -> Path:
    return find_home(environment()).config / FOLDER
