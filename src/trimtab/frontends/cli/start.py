"""From flags to a project: what every command that runs a session does first."""

import os
import re
from pathlib import Path
from typing import Any

import click

from trimtab.coding.project import Project, open_project
from trimtab.coding.telling.printable import one_line
from trimtab.coding.toolset import removed_variables
from trimtab.coding.worktree import make_worktree
from trimtab.config.hide import hide_variables
from trimtab.frontends.cli.options import Flags
from trimtab.types.errors import UsageError

_LIKE_A_FILE = re.compile(r"\S+\.(?:md|txt|prompt)|(?:\.{0,2}|~)/\S+")
MAX_PROMPT_FILE = 1_000_000


def open_flags(flags: Flags) -> Project:
    """Open the project that `flags` name, and hide this process's keys from the commands to come. Raises `UsageError` and `ConfigError`."""
    _refuse_crossed(flags)
    overrides = overrides_of(flags)
    cwd, trust = Path(flags.cwd or "."), flags.trust
    if flags.worktree is not None:
        told = False if flags.safe else None if trust is None else trust != "never"
        made = make_worktree(cwd, flags.worktree, trusted=told)
        click.echo(one_line(made.notice), err=True)
        cwd = made.folder
        trust = trust or ("once" if made.trusted and not flags.safe else None)
    project = open_project(
        cwd,
        overrides=overrides,
        sets=flags.sets,
        trust=trust,
        cwd_given=flags.cwd is not None or flags.worktree is not None,
        safe=flags.safe,
    )
    hide_variables(removed_variables(project))
    return project


def _refuse_crossed(flags: Flags) -> None:
    """Raise `UsageError` for flags that exclude each other."""
    crossed = (
        ("--no-tools", flags.no_tools, "--tools", flags.tools),
        ("--verify", flags.verify, "--no-verify", flags.no_verify),
        ("--no-extensions", flags.no_extensions, "--extension", flags.extensions),
        ("--safe", flags.safe, "--trust", flags.trust),
    )
    for one, given, other, also in crossed:
        if given and also:
            raise UsageError(f"{other} and {one} exclude each other", hint="Give one of them.")
    if flags.tools is not None and not flags.tools.strip(", "):
        raise UsageError("--tools names no tool", hint="Name some, as in --tools read,grep; --no-tools turns all off.")


def overrides_of(flags: Flags) -> dict[str, Any]:
    """What the flags say, as a tree of settings."""
    named = {
        "model": flags.model,
        "max_steps": flags.max_steps,
        "max_cost_usd": flags.max_cost,
        "max_tokens": flags.max_tokens,
        "max_time_s": flags.max_time,
        "system_prompt": flags.system_prompt and _text_or_file(flags.system_prompt),
        "append_system_prompt": flags.append_system_prompt and _text_or_file(flags.append_system_prompt),
        "permissions": flags.permission and {"mode": flags.permission},
        "context": flags.policy and {"policy": flags.policy},
        "verify": _verify(flags),
        "tools": _tools(flags),
        "extensions": _extensions(flags),
    }
    return {key: value for key, value in named.items() if value is not None}


def _verify(flags: Flags) -> dict[str, Any] | None:
    if flags.no_verify:
        return {"enabled": False}
    return {"commands": list(flags.verify)} if flags.verify else None


def _extensions(flags: Flags) -> dict[str, Any] | None:
    if flags.no_extensions:
        return {"enabled": False}
    return {"paths": [os.path.abspath(path) for path in flags.extensions]} if flags.extensions else None


def _tools(flags: Flags) -> dict[str, Any] | None:
    if flags.no_tools:
        return {"enabled": []}
    if flags.tools is None:
        return None
    return {"enabled": [name.strip() for name in flags.tools.split(",") if name.strip()]}


def _text_or_file(value: str) -> str:
    """The content of the file that `value` names, or `value` itself."""
    if "\n" in value or len(value) > 255 or not os.path.isfile(value):
        if _LIKE_A_FILE.fullmatch(value):
            raise UsageError(
                f"there is no file {value!r}", hint="Check the path; a prompt of one such word needs a blank after it."
            )
        return value
    try:
        data = Path(value).read_bytes()[:MAX_PROMPT_FILE]
    except OSError as e:
        raise UsageError(f"{value} can't be read: {e.strerror}", hint="Check the file's permissions.") from None
    return data.decode("utf-8", "replace")
