"""`allowed-tools` of a skill as a grant: what may run without a question once it is loaded.

    Bash(git:*) Bash(npm run test) Read Edit      → bash(git), bash(npm run test), read, files of the project

Names are those of Trimtab's tools or of the agents for which skills are written; what names none is left out. A project's skill may name
commands, not all commands.
"""

import re
from collections.abc import Iterator

from trimtab.coding.instructions.skills import Skill
from trimtab.coding.permissions.grants import Grant
from trimtab.coding.permissions.rules import TOOLS, WRITING, Rule, command_rules
from trimtab.types.errors import ConfigError

_ITEM = re.compile(r"([A-Za-z_][\w*-]*)(?:\(([^()]*)\))?")
_ALIASES = {
    "glob": "find",
    "multiedit": "edit",
    "notebookedit": "edit",
    "todowrite": "todo",
    "shell": "bash",
    "webfetch": "fetch",
}
"""What other agents call a tool, folded."""
_SERVER = re.compile(r"(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)+")
_ANY = ("", "*", ":*")


def grant_of(skill: Skill) -> Grant:
    """What the skill's `allowed-tools` grants."""
    rules: list[Rule] = []
    edits = False
    for tool, argument in _items(skill.allowed_tools):
        if tool in WRITING:
            edits = edits or argument in _ANY
        elif tool == "bash":
            rules += _commands(argument)
        elif tool == "fetch":
            rules += _servers(argument)
        elif argument in _ANY:
            rules.append(Rule(tool))
    found = tuple(dict.fromkeys(rules))
    if skill.whose == "user":
        return Grant(rules=found, edits=edits)
    return Grant(project_rules=tuple(rule for rule in found if rule != _ALL_COMMANDS), edits=edits)


def tool_named(text: str) -> str:
    """The tool that is meant by what a file for this or another agent says; empty for one that there is not."""
    name = text.partition("(")[0]
    known = _ALIASES.get(name.casefold(), name.casefold())
    return known if known in TOOLS else name if "__" in name else ""


def _items(text: str) -> Iterator[tuple[str, str]]:
    for found in _ITEM.finditer(text):
        if tool := tool_named(found[1]):
            yield tool, (found[2] or "").strip()


_ALL_COMMANDS = Rule("bash")


def _servers(argument: str) -> tuple[Rule, ...]:
    """`domain:example.com` and `example.com` are pages of that server; all servers are more than a skill can grant."""
    server = argument.removeprefix("domain:").strip().lower()
    return (Rule("fetch", server),) if _SERVER.fullmatch(server) else ()


def _commands(argument: str) -> tuple[Rule, ...]:
    """`git:*` and `git *` are commands that begin with git; a line of several commands is none."""
    if argument in _ANY:
        return (_ALL_COMMANDS,)
    words = argument.removesuffix(":*").removesuffix(" *")
    if set(words) <= set("* "):
        return (_ALL_COMMANDS,)
    try:
        return command_rules([words], key="allowed-tools", origin="")
    except ConfigError:
        return ()
