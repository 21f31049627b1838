"""Rules: what a person allows or denies, in one line each.

    bash(npm test)     commands that begin with these words; `*` stands for any one word, at the end for any rest
    bash(rm a $)       this command and no more words: `$` is the end
    write(docs/**)     files by glob, relative to the project; /absolute and ~ too; `edit` and `write` are one tool here
    read(.env)         files that may not be shown, by glob, with what is in folders of that name; `read`, `grep`, `find` and `ls` are one here
    fetch(python.org)  pages of that server; `*.python.org` of those below it (`fetching.py`)
    grep               every call of that tool; `mcp__files__*` of every tool with such a name
    mcp__a__b#DIGEST   that tool of a server for as long as it describes itself so (`forms.py`); a denial holds for each form

Setting `tools.bash.allow = ["npm test"]` is `permissions.allow = ["bash(npm test)"]`. A denial wins over everything, a rule of `ask` over all that allows.

An allowance is compared with the words as they stand, a denial or a rule of `ask` with every guise of the command that `denials` knows: `bash(git push)`
denies `sudo /usr/bin/git -C . push` too. What it can't see: a program or subcommand that only the shell knows (`$X push`), aliases, what a
script or another program runs, options between or behind the words, or in another order (`rm -r -f` is no `rm -rf`: deny `rm`).

The one rule: a rule that could never act is an error, not silence.
"""

import os.path
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import takewhile

from trimtab.coding.permissions.shell import Word
from trimtab.coding.permissions.verdicts import By
from trimtab.coding.tools.glob import compile_glob, is_wild
from trimtab.types.errors import ConfigError
from trimtab.types.near import nearest

_RULE = re.compile(r"\s*([\w*-]+)(?:#([0-9a-f]{32}))?\s*(?:\(\s*(\S(?:.*?\S)?)\s*\))?\s*", re.DOTALL)
END = "$"
"""As the last word of a rule for commands: nothing follows."""
WRITING = frozenset({"write", "edit"})
LOOKING = frozenset({"read", "grep", "find", "ls"})
WITH_ARGUMENT = WRITING | LOOKING | {"bash", "fetch"}
TOOLS = frozenset({"read", "write", "edit", "bash", "grep", "find", "ls", "todo", "jobs", "task", "fetch"})
"""The tools that come with Trimtab."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: a tool (or `*`) and, for some calls of it only, words of a command or a glob of paths.

    `origin` says where it stands; `of_project`: a file that the project brought lends it.
    """

    tool: str
    argument: str | None = None
    origin: str = field(default="", compare=False)
    of_project: bool = field(default=False, compare=False)
    answer: bool = field(default=False, compare=False)
    """A person gave it in this session, asked about a call."""
    form: str = ""
    """The digest of the form that a tool from elsewhere has to have; empty: any."""

    @property
    def text(self) -> str:
        """The rule as it is written."""
        tool = f"{self.tool}#{self.form}" if self.form else self.tool
        return tool if self.argument is None else f"{tool}({self.argument})"

    @property
    def by(self) -> By:
        """The rule as what decided."""
        return By("rule", self.text, self.origin)

    def is_about(self, tool: str) -> bool:
        """Tell whether the rule speaks of this tool; whoever may write may edit."""
        looks = self.argument is not None and self.tool in LOOKING and tool in LOOKING
        return looks or fnmatchcase(tool, self.tool) or (self.tool in WRITING and tool in WRITING)

    def fits_form(self, digest: str | None) -> bool:
        """Tell whether the rule is about a tool of this form; None: nobody knows which one it has."""
        return self.argument is None and (not self.form or digest is None or digest == self.form)

    def fits_command(self, words: tuple[Word, ...]) -> bool:
        """Tell whether a command with these words begins as the rule says."""
        if self.argument is None:
            return True
        wanted = self.argument.split()
        last = wanted.pop() if len(wanted) > 1 and wanted[-1] in ("*", END) else ""
        if len(words) < len(wanted) or (last == END and len(words) > len(wanted)):
            return False
        return all(w.known and fnmatchcase(w.text, want) for w, want in zip(words, wanted, strict=False))

    def fits_path(self, path: str, *, project: str, home: str) -> bool:
        """Tell whether the real path `path` matches the glob."""
        if self.argument is None:
            return True
        pattern = self._pattern(home)
        if pattern.startswith("/"):
            return compile_glob("root" + pattern)("root" + path)
        inside = path.startswith(project + "/")
        return inside and compile_glob(pattern)(path[len(project) + 1 :])

    def literal_path(self, *, project: str, home: str) -> str:
        """The folder or file that the glob names before its first wildcard, as an absolute path."""
        named = takewhile(lambda part: not is_wild(part), self._pattern(home).split("/"))
        return os.path.join(project, "/".join(named)).rstrip("/")

    def _pattern(self, home: str) -> str:
        text = self.argument or ""
        return home.rstrip("/") + text[1:] if text.startswith("~/") else text


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules. Order changes no verdict; of several that fit, the first is named as what decided."""

    allow: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()

    def __add__(self, other: "Rules") -> "Rules":
        return Rules((*self.allow, *other.allow), (*self.deny, *other.deny), (*self.ask, *other.ask))


_OPERATOR = re.compile(r"[|&;<>()\n`]|\$\(")
_VARIABLE = re.compile(r"\s*\w+=")


def parse_rule(text: str) -> Rule:
    """Return the rule in `text`, whatever tool it names. Raises `ConfigError` when it is none."""
    match = _RULE.fullmatch(text)
    if match is None:
        here = (
            f'; for commands that begin so: "bash({text.strip()})"'
            if re.search(r"\w", text) and "(" not in text
            else ""
        )
        raise ConfigError(
            f"{text!r} is not a permission rule", hint=f'write "tool" or "tool(argument)", as in "bash(npm test)"{here}'
        )
    return Rule(match[1], match[3], form=match[2] or "")


def parse_rules(texts: Sequence[str], *, key: str, origin: str, tools: Collection[str] = TOOLS) -> tuple[Rule, ...]:
    """Return the rules of the setting `key`, which came from `origin` (a layer; may be empty).

    A tool whose name holds `__` comes from elsewhere (`mcp__SERVER__TOOL`) and need not be among `tools`. Raises `ConfigError` that names
    the item for one that is no rule or could never act.
    """
    return tuple(
        replace(_checked(text, _place(key, at, origin), tools), origin=_stands(key, at, origin))
        for at, text in enumerate(texts)
    )


def command_rules(texts: Sequence[str], *, key: str, origin: str) -> tuple[Rule, ...]:
    """Return the rules for commands that begin with these texts: the setting `tools.bash.allow`. Raises `ConfigError`."""
    for at, text in enumerate(texts):
        if not text.split():
            hint = 'write the first words of a command, as in "npm test"'
            raise ConfigError(f"{_place(key, at, origin)}: it is empty", hint=hint)
        _refuse_line(text, _place(key, at, origin))
    return tuple(Rule("bash", text.strip(), _stands(key, at, origin)) for at, text in enumerate(texts))


def _stands(key: str, at: int, origin: str) -> str:
    return f"{key}[{at}], {origin}" if origin else f"{key}[{at}]"


def _place(key: str, at: int, origin: str) -> str:
    return f"{origin}: setting '{key}[{at}]'" if origin else f"setting '{key}[{at}]'"


def _refuse_line(words: str, place: str) -> None:
    """Refuse what begins no command: a line is judged command by command, without its variables, so such a rule could never act."""
    if _OPERATOR.search(words) or _VARIABLE.match(words):
        hint = 'write the first words of one command, as in "npm test": each command of a line is judged by itself'
        raise ConfigError(f"{place}: {words!r} is a line, not the first words of a command", hint=hint)


def _checked(text: str, place: str, tools: Collection[str]) -> Rule:
    try:
        rule = parse_rule(text)
    except ConfigError as exc:
        raise ConfigError(f"{place}: {exc.message}", hint=exc.hint) from None
    if "__" not in rule.tool and not any(fnmatchcase(tool, rule.tool) for tool in tools):
        close = nearest(rule.tool, tools)
        guess = f" (did you mean {close!r}?)" if close else ""
        hint = f"a rule begins with a tool: {', '.join(sorted(tools))}"
        if not close and rule.argument is None:
            hint += f'; for a command write "bash({rule.tool})"'
        raise ConfigError(f"{place}: there is no tool {rule.tool!r}{guess}", hint=hint)
    if rule.form and ("__" not in rule.tool or "*" in rule.tool or rule.argument is not None):
        hint = 'only a rule for one tool of a server has such an end, as in "mcp__SERVER__TOOL#…"'
        raise ConfigError(f"{place}: {text!r} can't be bound to a tool's form", hint=hint)
    if rule.tool == "bash" and rule.argument is not None:
        _refuse_line(rule.argument, place)
    if rule.tool == "fetch" and rule.argument is not None and re.search(r"[/\\\s@]", rule.argument):
        hint = 'name a server, as in "fetch(docs.python.org)", with its port if need be, or those below a name: "fetch(*.python.org)"'
        raise ConfigError(f"{place}: {rule.argument!r} is no server", hint=hint)
    if rule.argument is not None and rule.tool in LOOKING and ".allow[" in place:
        raise ConfigError(f"{place}: {text!r} allows what nobody asks about", hint="Rules for reading deny or ask.")
    if rule.argument is not None and rule.tool not in WITH_ARGUMENT:
        hint = f'write "{rule.tool}" for every call of it; only {", ".join(sorted(WITH_ARGUMENT))} take an argument'
        raise ConfigError(f"{place}: a rule for {rule.tool!r} takes no argument, but {text!r} has one", hint=hint)
    return rule
