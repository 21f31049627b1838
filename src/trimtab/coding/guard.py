"""What may run unasked in a project: its settings as a permission policy, in front of every tool call."""

import os
from collections.abc import Iterable
from pathlib import Path

from trimtab.coding.permissions import PermissionHooks, Policy, Rule, Rules
from trimtab.coding.permissions.grants import Granted, nothing
from trimtab.coding.permissions.rules import TOOLS, command_rules, parse_rules
from trimtab.coding.project import Project
from trimtab.coding.tools.paths import Workspace


def permission_hooks(
    project: Project, workspace: Workspace, *, more_tools: Iterable[str] = (), granted: Granted = nothing
) -> PermissionHooks:
    """Return the hook for this project. `more_tools` are names of tools beside our own; `granted` is what loaded skills may use.

    Raises `ConfigError` for a rule that can't be read or could never act.
    """
    settings, origins = project.settings, project.loaded.origins
    tools = TOOLS.union(more_tools)

    def rules(key: str, texts: tuple[str, ...]) -> tuple[Rule, ...]:
        return parse_rules(texts, key=key, origin=origins.get(key, ""), tools=tools)

    key = "tools.bash.allow"
    commands = command_rules(settings.tools.bash.allow, key=key, origin=origins.get(key, ""))
    given = Rules(
        allow=(*rules("permissions.allow", settings.permissions.allow), *commands),
        deny=rules("permissions.deny", settings.permissions.deny),
    )
    own = tuple(os.path.realpath(folder) for folder in (project.home.config, project.home.data))
    policy = Policy(settings.permissions.mode, str(project.cwd), os.path.realpath(workspace.home), given, own=own)
    return PermissionHooks(policy, workspace, project.env.get("PATH", os.defpath), granted)


def workspace_of(project: Project) -> Workspace:
    """Where the tools' relative paths start, and what `~` means."""
    return Workspace(project.cwd, Path(project.env.get("HOME") or project.cwd))
