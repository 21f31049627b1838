"""Which calls, or events, a hook is about: `bash(git *) | write(docs/**)`, `turn_ended | tool_*`; nothing means all.

A match for calls is written as permission rules are, and finds a command in every guise in which a denial does. The one rule: what can't be judged is matched, so that
a guard is asked rather than passed by.
"""

import os
import re
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from trimtab.coding.permissions.denials import denied
from trimtab.coding.permissions.rules import WITH_ARGUMENT, Rule, parse_rule
from trimtab.coding.permissions.shell import Unclear, parse
from trimtab.coding.permissions.workspace_paths import WorkspacePaths
from trimtab.coding.tools.paths import Workspace
from trimtab.types.errors import ConfigError

_BETWEEN = re.compile(r"\|(?![^(]*\))")
_CHECKED = ("tool_call", "tool_result")


@dataclass(frozen=True, slots=True)
class Match:
    """What is matched: `rules` for calls, `names` (globs) for events; none of both is everything."""

    rules: tuple[Rule, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """As it is written."""
        return " | ".join((*(rule.text for rule in self.rules), *self.names))

    def fits_call(self, tool: str, arguments: dict[str, object], workspace: Workspace) -> bool:
        """Whether a call is meant. Touches the disk where a rule has a glob."""
        return not self.rules or any(_fits(rule, tool, arguments, workspace) for rule in self.rules)

    def fits_name(self, name: str) -> bool:
        """Whether an event is meant."""
        return not self.names or any(fnmatchcase(name, pattern) for pattern in self.names)


def parse_match(text: str, point: str) -> Match:
    """Read a match for hooks at `point`. Raises `ConfigError` for one that can't be read or that could never be asked."""
    parts = [part.strip() for part in _BETWEEN.split(text) if part.strip()]
    if not parts:
        return Match()
    if point == "event":
        return Match(names=tuple(parts))
    if point not in _CHECKED:
        raise ConfigError(f"a hook at {point} matches nothing", hint="Leave `match` out there.")
    rules = tuple(parse_rule(part) for part in parts)
    for rule in rules:
        if rule.argument is not None and rule.tool not in WITH_ARGUMENT:
            hint = f"Write {rule.tool!r} for every call of it; {', '.join(sorted(WITH_ARGUMENT))} take an argument."
            raise ConfigError(f"a match for {rule.tool!r} takes no argument", hint=hint)
    return Match(rules)


def _fits(rule: Rule, tool: str, arguments: dict[str, object], workspace: Workspace) -> bool:
    if not rule.is_about(tool):
        return False
    if rule.argument is None:
        return True
    if tool == "bash":
        try:
            return denied(parse(str(arguments.get("command", ""))), (replace(rule, tool="bash"),)) is not None
        except Unclear:
            return True
    real = WorkspacePaths(workspace).of_tool(str(arguments.get("path", "")), tool)
    home = os.path.realpath(workspace.home)
    return real is None or rule.fits_path(real, project=str(workspace.cwd), home=home)
