"""Rules of a person: read from every layer of the settings, and kept there when they answer so.

layers ──each by itself──▶ rules with their place ──▶ Rules, all of which hold together
"always" ──▶ [permissions] allow      "here" ──▶ [projects."PATH".permissions] allow      both in the person's own file, never in the project's
"""

import os
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from trimtab.coding.permissions.hooks import Where
from trimtab.coding.permissions.rules import LOOKING, TOOLS, Rule, Rules, command_rules, parse_rule, parse_rules
from trimtab.coding.project import Project
from trimtab.config.edit import add_to_list, remove_from_list
from trimtab.config.load import Layer, file_layer, load, sift
from trimtab.config.settings import PermissionSettings, ProjectPermissions
from trimtab.types.errors import ConfigError

_TABLES = frozenset({"permissions", "tools", "projects"})


def rules_of(project: Project, tools: Collection[str]) -> Rules:
    """Return the rules of all layers. `tools` are those there are. Raises `ConfigError` for a rule that can't be read or could never act."""
    rules = Rules()
    for layer in project.loaded.layers:
        if not _TABLES.isdisjoint(layer.values):
            rules += _rules_in(layer, str(project.cwd), tools)
    return Rules(*(tuple(dict.fromkeys(each)) for each in (rules.allow, rules.deny, rules.ask)))


def reading_rules(project: Project) -> Rules:
    """The rules about reading by path of all layers; what is no rule is left to `rules_of` to refuse."""
    found: dict[str, list[Rule]] = {"ask": [], "deny": []}
    for layer in project.loaded.layers:
        if _TABLES.isdisjoint(layer.values):
            continue
        settings = load([layer]).settings
        tables: list[PermissionSettings | ProjectPermissions] = [
            settings.permissions,
            *(t.permissions for p, t in settings.projects.items() if os.path.realpath(p) == str(project.cwd)),
        ]
        for table in tables:
            for kind, texts in (("ask", table.ask), ("deny", table.deny)):
                for text in texts:
                    with suppress(ConfigError):
                        rule = parse_rule(text)
                        found[kind] += [rule] if rule.tool in LOOKING and rule.argument is not None else []
    return Rules(ask=tuple(found["ask"]), deny=tuple(found["deny"]))


def _rules_in(layer: Layer, folder: str, tools: Collection[str]) -> Rules:
    settings = load([layer]).settings
    commands = command_rules(settings.tools.bash.allow, key="tools.bash.allow", origin=layer.name)
    rules = _parsed("permissions", settings.permissions, layer.name, tools) + Rules(allow=commands)
    for path, table in settings.projects.items():
        if os.path.realpath(path) == folder:
            rules += _parsed(f'projects."{path}".permissions', table.permissions, layer.name, tools)
    return rules


def _parsed(key: str, table: PermissionSettings | ProjectPermissions, origin: str, tools: Collection[str]) -> Rules:
    return Rules(
        allow=parse_rules(table.allow, key=f"{key}.allow", origin=origin, tools=tools),
        deny=parse_rules(table.deny, key=f"{key}.deny", origin=origin, tools=tools),
        ask=parse_rules(table.ask, key=f"{key}.ask", origin=origin, tools=tools),
    )


@dataclass(frozen=True, slots=True)
class RuleKeeper:
    """Keeps rules for the project in the real folder `project`, or for all, in the person's own `file`."""

    file: Path
    project: str

    def keep(self, rule: str, where: Where) -> str:
        """Add an allowance to the file, unless it is there; say where it stands. Raises `ConfigError`."""
        key = self._key(where)
        parse_rules(
            [rule], key=".".join(key), origin="", tools=TOOLS
        )  # what can't be read again would stop later sessions
        if not all(part.isprintable() for part in key):
            raise ConfigError("the project's path can't stand in a file of settings", hint="Rename the folder.")
        add_to_list(self.file, key, rule)
        tool, bound, _ = rule.partition("#")
        if bound:  # the tool as it is now stands in the place of what it was
            for other in self._allowed(where):
                if other.startswith(f"{tool}#") and other != rule:
                    remove_from_list(self.file, key, other)
        return f"{_written(key)}, user config ({self.file})"

    def forget(self, rule: str) -> bool:
        """Take an allowance for this project, or for all, out of the file; False when it isn't there. Raises `ConfigError`."""
        found = [remove_from_list(self.file, self._key(where), rule) for where in ("here", "always")]
        return any(found)

    def holds(self, rule: Rule) -> bool:
        """Whether `rule`, an allowance, stands where answers are kept."""
        place, _, file = rule.origin.partition(", ")
        return "permissions.allow" in place and file == f"user config ({self.file})"

    def _allowed(self, where: Where) -> tuple[str, ...]:
        layers, _ = sift([file_layer(self.file, name="")])
        settings = load(layers).settings
        if where == "always":
            return settings.permissions.allow
        return settings.projects[self.project].permissions.allow if self.project in settings.projects else ()

    def _key(self, where: Where) -> tuple[str, ...]:
        above = ("projects", self.project) if where == "here" else ()
        return (*above, "permissions", "allow")


def _written(key: tuple[str, ...]) -> str:
    return ".".join(f'"{part}"' if "/" in part else part for part in key)
