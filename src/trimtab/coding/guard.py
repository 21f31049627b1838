"""What may run in a project: its settings as a permission policy, in front of every tool call."""

import os
from collections.abc import Iterable
from pathlib import Path

from trimtab.coding.kept_rules import RuleKeeper, reading_rules, rules_of
from trimtab.coding.permissions import PermissionHooks, Policy
from trimtab.coding.permissions.grants import Granted, nothing
from trimtab.coding.permissions.looking import closed_by
from trimtab.coding.permissions.policy import READING_TOOLS
from trimtab.coding.permissions.rules import TOOLS
from trimtab.coding.person import NOBODY, Person
from trimtab.coding.project import Project
from trimtab.coding.tools.environment import command_environment
from trimtab.coding.tools.paths import Workspace


def permission_hooks(
    project: Project,
    workspace: Workspace,
    *,
    more_tools: Iterable[str] = (),
    reading: Iterable[str] = (),
    person: Person = NOBODY,
    granted: Granted = nothing,
) -> PermissionHooks:
    """Return the hook for this project. `more_tools` are names of tools beside our own, `reading` those that change nothing; `person` is who can be asked; `granted` is what loaded skills may use.

    Raises `ConfigError` for a rule that can't be read or could never act.
    """
    rules = rules_of(project, TOOLS.union(more_tools))
    own = tuple(os.path.realpath(folder) for folder in (project.home.config, project.home.data))
    policy = Policy(
        project.settings.permissions.mode,
        str(project.cwd),
        os.path.realpath(workspace.home),
        rules,
        READING_TOOLS.union(reading),
        own=own,
        mode_origin=project.loaded.origins.get("permissions.mode", "default"),
    )
    return PermissionHooks(
        policy,
        workspace,
        project.env.get("PATH", os.defpath),
        person,
        keep=keeper_of(project).keep,
        granted=granted,
        environment=command_environment(project.env),
    )


def keeper_of(project: Project) -> RuleKeeper:
    """What keeps answers for later sessions in this project."""
    return RuleKeeper(project.home.config_file, str(project.cwd))


def workspace_of(project: Project) -> Workspace:
    """Where the tools' relative paths start, and what `~` means."""
    secret = os.path.realpath(project.home.auth_file)
    home = Path(project.env.get("HOME") or project.cwd)
    closed = closed_by(reading_rules(project), str(project.cwd), os.path.realpath(home))
    return Workspace(project.cwd, home, secret, closed)
