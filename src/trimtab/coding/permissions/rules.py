"""Rules: what a person allows or denies, in one line each.

    bash(npm test)     commands that begin with these words; `*` stands for any one word, at the end for any rest
    write(docs/**)     files by glob, relative to the project; /absolute and ~ too; `edit` and `write` are one tool here
    fetch              every call of that tool

Setting `tools.bash.allow = ["npm test"]` is `permissions.allow = ["bash(npm test)"]`. A denial wins over everything.
"""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from trimtab.coding.permissions.shell import Word
from trimtab.coding.tools.glob import compile_glob
from trimtab.types.errors import ConfigError

_RULE = re.compile(r"\s*([\w*-]+)\s*(?:\(\s*(.+?)\s*\))?\s*", re.DOTALL)
WRITING = frozenset({"write", "edit"})


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: a tool (or `*`) and, for some calls of it only, words of a command or a glob of paths."""

    tool: str
    argument: str | None = None

    def is_about(self, tool: str) -> bool:
        """Tell whether the rule speaks of this tool; whoever may write may edit."""
        return self.tool in ("*", tool) or (self.tool in WRITING and tool in WRITING)

    def fits_command(self, words: tuple[Word, ...]) -> bool:
        """Tell whether a command with these words begins as the rule says."""
        if self.argument is None:
            return True
        wanted = self.argument.split()
        if wanted[-1] == "*" and len(wanted) > 1:
            wanted.pop()
        if len(words) < len(wanted):
            return False
        return all(w.known and fnmatchcase(w.text, want) for w, want in zip(words, wanted, strict=False))

    def fits_path(self, path: str, *, project: str, home: str) -> bool:
        """Tell whether the real path `path` matches the glob."""
        if self.argument is None:
            return True
        pattern = home + self.argument[1:] if self.argument.startswith("~/") else self.argument
        if pattern.startswith("/"):
            return compile_glob("root" + pattern)("root" + path)
        inside = path.startswith(project + "/")
        return inside and compile_glob(pattern)(path[len(project) + 1 :])


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules. Order doesn't matter."""

    allow: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()


def parse_rule(text: str) -> Rule:
    """Return the rule in `text`. Raises `ConfigError` when it is none."""
    match = _RULE.fullmatch(text)
    if match is None:
        raise ConfigError(
            f"{text!r} is not a permission rule", hint='write "tool" or "tool(argument)", as in "bash(npm test)"'
        )
    return Rule(match[1], match[2])


def command_rule(text: str) -> Rule:
    """Return the rule for commands that begin with `text`: an item of `tools.bash.allow`. Raises `ConfigError`."""
    if not text.split():
        raise ConfigError(
            "an item of tools.bash.allow is empty", hint='write the first words of a command, as in "npm test"'
        )
    return Rule("bash", text.strip())
