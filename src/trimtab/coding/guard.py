"""What may run unasked in a project: its settings as a permission policy, in front of every tool call."""

import os
from pathlib import Path

from trimtab.coding.permissions import PermissionHooks, Policy, Rules, parse_rule
from trimtab.coding.permissions.rules import command_rule
from trimtab.coding.project import Project
from trimtab.coding.tools.paths import Workspace


def permission_hooks(project: Project, workspace: Workspace) -> PermissionHooks:
    """Return the hook for this project. Raises `ConfigError` for a rule that can't be read."""
    settings = project.settings
    rules = Rules(
        allow=(*map(parse_rule, settings.permissions.allow), *map(command_rule, settings.tools.bash.allow)),
        deny=tuple(map(parse_rule, settings.permissions.deny)),
    )
    own = tuple(os.path.realpath(folder) for folder in (project.home.config, project.home.data))
    policy = Policy(settings.permissions.mode, str(project.cwd), os.path.realpath(workspace.home), rules, own=own)
    return PermissionHooks(policy, workspace, project.env.get("PATH", os.defpath))


def workspace_of(project: Project) -> Workspace:
    """Where the tools' relative paths start, and what `~` means."""
    return Workspace(project.cwd, Path(project.env.get("HOME") or project.cwd))
