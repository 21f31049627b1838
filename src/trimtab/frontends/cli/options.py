"""The options that every command which runs a session takes, and the value they become."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from trimtab.coding.choose import AtFile, Choice, Ephemeral, Fork, New, Resume
from trimtab.coding.trust import TrustAnswer
from trimtab.frontends.cli import completers
from trimtab.frontends.cli.amounts import Dollars, Duration
from trimtab.types.errors import UsageError

_UNNAMED = "\0"
"""What `--resume` without a session says: no id is that."""


def _named(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """The session that `--resume` names. Raises `UsageError` where it names none."""
    if value == _UNNAMED:
        raise UsageError(
            "--resume says of no session which one",
            hint="trimtab sessions list shows them, and in a talk /resume does; --continue goes on with the last one.",
        )
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """What was given on the command line, unchanged."""

    model: str | None = None
    cwd: str | None = None
    continue_: bool = False
    resume: str | None = None
    fork: str | None = None
    session: str | None = None
    no_session: bool = False
    takeover: bool = False
    tools: str | None = None
    no_tools: bool = False
    system_prompt: str | None = None
    append_system_prompt: str | None = None
    max_steps: int | None = None
    max_cost: float | None = None
    max_tokens: int | None = None
    max_time: float | None = None
    verify: tuple[str, ...] = ()
    no_verify: bool = False
    safe: bool = False
    worktree: str | None = None
    policy: str | None = None
    permission: str | None = None
    extensions: tuple[str, ...] = ()
    no_extensions: bool = False
    trust: TrustAnswer | None = None
    sets: tuple[str, ...] = ()

    def choice(self) -> Choice:
        """Which session is meant. Raises `UsageError` when two flags disagree."""
        given = {
            "--continue": Resume("last") if self.continue_ else None,
            "--resume": Resume(self.resume) if self.resume is not None else None,
            "--fork": Fork(self.fork) if self.fork is not None else None,
            "--session": AtFile(Path(self.session)) if self.session is not None else None,
            "--no-session": Ephemeral() if self.no_session else None,
        }
        named = {flag: choice for flag, choice in given.items() if choice is not None}
        if len(named) > 1:
            raise UsageError(f"{' and '.join(named)} exclude each other", hint="Give one of them.")
        return next(iter(named.values()), New())


_CHOICE = (
    click.option("--continue", "-c", "continue_", is_flag=True, help="Go on with the last session of this folder."),
    click.option(
        "--resume",
        "-r",
        metavar="ID",
        is_flag=False,
        flag_value=_UNNAMED,
        callback=_named,
        shell_complete=completers.sessions,
        help="Go on with a session: id, start of an id, path, or last.",
    ),
    click.option(
        "--fork", metavar="ID", shell_complete=completers.sessions, help="Start a new session from a copy of this one."
    ),
    click.option(
        "--session",
        metavar="FILE",
        shell_complete=completers.files,
        help="Use this session file; it is created when it isn't there.",
    ),
    click.option("--no-session", is_flag=True, help="Write no session."),
)
_MODEL = click.option(
    "--model", metavar="P/M[:THINKING]", shell_complete=completers.models, help="Provider, model and thinking level."
)
_RUN = (
    click.option("--takeover", is_flag=True, help="Take a session over that another host has locked."),
    click.option("--tools", metavar="A,B", help="Only these tools."),
    click.option("--no-tools", is_flag=True, help="No tools at all."),
    click.option(
        "--system-prompt", metavar="TEXT|FILE", shell_complete=completers.files, help="Replace the system prompt."
    ),
    click.option(
        "--append-system-prompt", metavar="TEXT|FILE", shell_complete=completers.files, help="Add to the system prompt."
    ),
    click.option("--max-steps", type=click.IntRange(min=1), metavar="N", help="At most N model requests in a turn."),
    click.option(
        "--max-cost", type=Dollars(), metavar="USD", help="Stop before the next request once so much is spent."
    ),
    click.option(
        "--max-tokens",
        type=click.IntRange(min=1),
        metavar="N",
        help="The same by tokens, prompts and answers together.",
    ),
    click.option("--max-time", type=Duration(), metavar="TIME", help="Stop after so long: seconds, or 10m, 1h30m."),
    click.option(
        "--verify", metavar="CMD", multiple=True, help="A command that has to succeed when the model says it is done."
    ),
    click.option("--no-verify", is_flag=True, help="Run no checks."),
    click.option(
        "--policy",
        metavar="NAME",
        shell_complete=completers.policies,
        help="What decides about edits of the context. Default: rules.",
    ),
    click.option(
        "--permission",
        type=click.Choice(["ask", "auto-edit", "full", "plan"]),
        help="What may run unasked. Default: auto-edit.",
    ),
    click.option(
        "--trust",
        type=click.Choice(["once", "folder", "parent", "never"]),
        help="Whether this project's own settings act, now (once) or from now on. Without it: no, and nothing is stored.",
    ),
    click.option("--safe", is_flag=True, help="Start with nothing of the project's own, whatever was trusted before."),
    click.option(
        "--extension",
        "-e",
        "extensions",
        metavar="PATH",
        multiple=True,
        shell_complete=completers.files,
        help="An extension beside those in Trimtab's home: a file, a package, or a folder of them.",
    ),
    click.option("--no-extensions", is_flag=True, help="Load no extension, and let no hook of the settings act."),
    click.option(
        "--worktree",
        metavar="NAME",
        help="Work in a git worktree of that name, on a branch of its own; it is made if need be.",
    ),
    click.option("--set", "sets", metavar="KEY=VALUE", multiple=True, help="Any setting, as in config.toml."),
    click.option("--cwd", metavar="DIR", shell_complete=completers.folders, help="Work in this folder."),
)


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `Flags` to a command whose session is known, so those that choose one are left out."""
    return _with(command, (_MODEL, *_RUN))


def session_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `Flags` to a command."""
    return _with(command, (_MODEL, *_CHOICE, *_RUN))


def _with(command: Callable[..., Any], options: tuple[Callable[..., Any], ...]) -> Callable[..., Any]:
    for option in reversed(options):
        command = option(command)
    return command
