"""`trimtab permissions`: what may run unasked in this folder, in which order rules win, and why a call is asked about."""

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from trimtab.coding.calls_in_words import call_in_words
from trimtab.coding.guard import permission_hooks, workspace_of
from trimtab.coding.permissions import PermissionHooks
from trimtab.coding.permissions.verdicts import Allow, Ask, Decision, outcome_of
from trimtab.coding.project import open_project
from trimtab.coding.telling.permission_text import ORDER, policy_lines, rule_rows, why_lines
from trimtab.coding.trust import TrustAnswer
from trimtab.frontends.cli import completers
from trimtab.frontends.cli.screen import width_of, wrapped
from trimtab.types.text import strip_terminal

_OPTIONS = (
    click.option("--permission", type=click.Choice(["ask", "auto-edit", "full", "plan"]), help="As if in this mode."),
    click.option("--trust", type=click.Choice(["once"]), help="As if this project's own settings acted."),
    click.option("--set", "sets", metavar="KEY=VALUE", multiple=True, help="Any setting, as in config.toml."),
    click.option("--cwd", metavar="DIR", shell_complete=completers.folders, help="For this folder."),
    click.option("--json", "as_json", is_flag=True, help="As JSON."),
)


def _with_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.group("permissions", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> int:
    """Say what may run unasked in this folder, and why."""
    return int(ctx.invoke(list_)) if ctx.invoked_subcommand is None else 0


@command.command("list")
@_with_options
def list_(*, as_json: bool = False, **given: Any) -> int:
    """The mode, every rule with the place where it stands, and what wins."""
    policy = _hooks(**given).current
    if as_json:
        mode = {"mode": policy.mode, "mode_origin": policy.mode_origin}
        click.echo(json.dumps({**mode, **rule_rows(policy), "order": ORDER}, indent=2))
    else:
        _say(policy_lines(policy))
    return 0


@command.command("why", context_settings={"ignore_unknown_options": True})
@click.argument("tool")
@click.argument("argument", nargs=-1, type=click.UNPROCESSED)
@_with_options
def why(*, tool: str, argument: tuple[str, ...], as_json: bool, **given: Any) -> int:
    """Say what becomes of a call: TOOL bash with a command, write or edit with a path, or any other tool. Exit code 0 when it runs unasked, else 1."""
    text = argument[0] if len(argument) == 1 else shlex.join(argument)
    hooks = _hooks(**given)
    judged = hooks.judge(call_in_words(tool, text))
    if as_json:
        parts = [{"what": part.what, **_decision(part.decision)} for part in judged.parts]
        click.echo(json.dumps({"tool": tool, **_decision(judged.decision), "parts": parts}, indent=2))
    else:
        _say(why_lines(f"{tool} {text}".strip(), judged))
    return 0 if isinstance(judged.decision, Allow) else 1


def _decision(decision: Decision) -> dict[str, Any]:
    by = {"kind": decision.by.kind, "name": decision.by.name, "origin": decision.by.origin}
    told = {} if isinstance(decision, Allow) else {"reason": decision.reason, "hint": decision.hint}
    rules = {"would_allow": decision.rules} if isinstance(decision, Ask) else {}
    return {"outcome": outcome_of(decision), "by": by, **told, **rules}


def _hooks(
    *,
    permission: str | None = None,
    trust: TrustAnswer | None = None,
    sets: tuple[str, ...] = (),
    cwd: str | None = None,
) -> PermissionHooks:
    overrides = {"permissions": {"mode": permission}} if permission else None
    project = open_project(Path(cwd or "."), overrides=overrides, sets=sets, trust=trust)
    for note in project.notices:
        click.echo(strip_terminal(f"note: {note}"), err=True)
    return permission_hooks(project, workspace_of(project))


def _say(lines: list[str]) -> None:
    for line in lines:
        click.echo(wrapped(line, width_of(sys.stdout)))
