"""What a shell offers for the values of options: models, sessions, files. Bad settings or folders offer nothing; they are told of when the command runs."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from trimtab.types.errors import TrimtabError

if TYPE_CHECKING:
    from trimtab.coding.project import Project

_SHOWN = 200


def models(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Models of settings and catalogue, by whole reference or by id."""
    from trimtab.coding.models import known_models

    try:
        refs = [model.ref for model in known_models(_project(ctx), usable=False)]
    except TrimtabError:
        return []
    found = [r for r in refs if r.startswith(incomplete)] or [
        r for r in refs if r.split("/", 1)[1].startswith(incomplete)
    ]
    return [CompletionItem(ref) for ref in found]


def providers(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Providers that one may log in to."""
    from trimtab.coding.auth.login import offered

    try:
        return [CompletionItem(name) for name in offered(_project(ctx)) if name.startswith(incomplete)]
    except TrimtabError:
        return []


def policies(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Context policies, those of installed packages too."""
    from trimtab.context.policies.registry import known_policies

    return [CompletionItem(name) for name in known_policies() if name.startswith(incomplete)]


def sessions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Sessions of this folder, the newest first, with their titles."""
    from trimtab.coding.session_list import list_sessions

    try:
        rows, _ = list_sessions(_project(ctx), everywhere=False)
    except TrimtabError:
        return []
    named = [("last", "the last one of this folder")] if rows else []
    named += [(row.summary.id, row.summary.title) for row in rows[:_SHOWN]]
    return [CompletionItem(name, help=title) for name, title in named if name.startswith(incomplete)]


def archived_sessions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Sessions of this folder that were put away."""
    from trimtab.coding.session_list import list_sessions

    try:
        rows, _ = list_sessions(_project(ctx), everywhere=False, archived=True)
    except TrimtabError:
        return []
    named = ((row.summary.id, row.summary.title) for row in rows[:_SHOWN])
    return [CompletionItem(name, help=title) for name, title in named if name.startswith(incomplete)]


def jobs(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Jobs of this folder that run, with their commands."""
    import anyio

    from trimtab.coding.jobs.recorded import recorded_jobs

    try:
        found = anyio.run(recorded_jobs, _project(ctx))
    except TrimtabError:
        return []
    return [CompletionItem(one.ref, help=one.job.name) for one in found if one.ref.startswith(incomplete)]


def settings(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Keys of settings, with what each is for."""
    from trimtab.coding.settings.names import setting_names

    try:
        names = list(setting_names(_project(ctx).settings))
    except TrimtabError:
        return []
    return [CompletionItem(name, help=text) for name, text in names if name.startswith(incomplete)]


def setting_values(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What the setting named before may be."""
    from trimtab.coding.settings.names import setting_values as values_of

    try:
        values = values_of(_project(ctx).settings, ctx.params.get("key") or "")
    except TrimtabError:
        return []
    return [CompletionItem(value) for value in values if value.startswith(incomplete)]


def files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Whatever file the shell finds."""
    return [CompletionItem(incomplete, type="file")]


def folders(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Whatever folder the shell finds."""
    return [CompletionItem(incomplete, type="dir")]


def words(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files after an `@`. bash hands the `@` over as a word of its own, yet replaces both; other shells leave it on."""
    apart = (ctx.params.get("words") or ("",))[-1] == "@"
    return attached(f"@{incomplete}" if apart else incomplete)


def attached(incomplete: str) -> list[CompletionItem]:
    """`@` and the files whose path begins with what follows it."""
    if not incomplete.startswith("@"):
        return []
    names = _beginning_with(incomplete[1:])
    if len(names) == 1 and names[0].endswith("/"):
        names += _beginning_with(names[0])  # a lone offer is taken for a whole word, and a folder is none
    return [CompletionItem(f"@{name}") for name in names[:_SHOWN]]


def _beginning_with(path: str) -> list[str]:
    folder, start = os.path.split(path)
    try:
        with os.scandir(folder or ".") as entries:
            found = [(entry.name, "/" if entry.is_dir() else "") for entry in entries if entry.name.startswith(start)]
    except OSError:
        return []
    return sorted(os.path.join(folder, n) + end for n, end in found if start.startswith(".") or not n.startswith("."))


def _project(ctx: click.Context) -> "Project":
    from trimtab.coding.project import open_project

    return open_project(Path(ctx.params.get("cwd") or "."))
