"""An agent: a Markdown file whose front matter says what it may use, and whose text is what it is told.

    name, description, tools, model, mode, max_steps ──checked──▶ Subagent            what can't be read as meant is left out, with a sentence

Files for other agents of that kind say `permissionMode` and `maxTurns`, and name tools and models in their own way: what has a meaning here is taken.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, TypeAlias

from trimtab.coding.instructions.allowed_tools import tool_named
from trimtab.coding.instructions.front_matter import BadFrontMatter, Field, split
from trimtab.coding.instructions.texts import SourceText, Unread
from trimtab.coding.permissions.policy import CONTEXT_TOOLS, MODES, Mode

Whose: TypeAlias = Literal["built-in", "user", "project"]

_NAME = re.compile(r"[A-Za-z0-9](?:[\w-]{0,62}[A-Za-z0-9])?", re.ASCII)
_LONGEST_DESCRIPTION = 1024
_MOST_TOOLS = 200
_MOST_STEPS = 100_000
_MODES: dict[str, Mode | None] = {
    **{mode: mode for mode in MODES},
    "default": None,
    "acceptedits": "auto-edit",
    "bypasspermissions": "full",
    "dontask": None,
}
NEVER = frozenset({"memory"})
"""Tools that no subagent has: what outlives the session is its parent's to write."""
_INHERITED = frozenset({"", "inherit", "default", "sonnet", "opus", "haiku"})
"""Models that are the parent's: names that mean something only to one maker's agent do too."""


@dataclass(frozen=True, slots=True)
class Subagent:
    """One agent. `text` are its instructions; None for `tools`, `model`, `mode`: as its parent has them; `path` is None for those that come with Trimtab.

    `tools` and `without` hold names; those with `__` in them may be globs (`mcp__files__*`), or the beginning of names (`mcp__files`).
    """

    name: str
    description: str
    text: str
    whose: Whose
    path: Path | None = None
    tools: frozenset[str] | None = None
    model: str | None = None
    mode: Mode | None = None
    max_steps: int | None = None
    notes: tuple[str, ...] = ()
    """What of its file means nothing here."""
    without: frozenset[str] = frozenset()
    """Tools that it doesn't have, whatever `tools` says."""

    def has(self, tool: str) -> bool:
        """Whether its file lets it have the tool of that name."""
        if tool in NEVER or _names(self.without, tool):
            return False
        return self.tools is None or _names(self.tools, tool)

    def unmet(self, there: Collection[str]) -> tuple[str, ...]:
        """The names of tools from elsewhere in its file that none of those that are `there` has."""
        wanted = sorted(name for name in self.tools or () if "__" in name)
        return tuple(name for name in wanted if not any(_names((name,), tool) for tool in there))


def _names(patterns: Collection[str], tool: str) -> bool:
    if tool in patterns:
        return True
    return any("__" in one and (fnmatchcase(tool, one) or tool.startswith(f"{one}__")) for one in patterns)


def parse_agent(source: SourceText, *, whose: Whose) -> Subagent:
    """The agent in a file. Raises `Unread`."""
    if source.spoilt:
        raise Unread(f"{source.shown} is left out: it holds text that nobody sees, and a model would")
    if source.rest is not None:
        raise Unread(f"{source.shown} is left out: it is larger than instructions can be ({source.size:,} bytes)")
    try:
        fields, text = split(source.text)
        return _agent(source, fields, text, whose)
    except BadFrontMatter as why:
        raise Unread(f"{source.shown} is left out: {why}") from None


def _agent(source: SourceText, fields: dict[str, Field], text: str, whose: Whose) -> Subagent:
    name = _line(fields, "name") or source.path.stem
    if not _NAME.fullmatch(name):
        raise BadFrontMatter(f"its name {name!r} is no word of letters, digits, - and _")
    description = _line(fields, "description")
    if not description:
        raise BadFrontMatter("its description is missing: the model chooses by it")
    if not text.strip():
        raise BadFrontMatter("it says nothing behind its front matter")
    notes: list[str] = []
    tools, without = _tools(fields, notes)
    return Subagent(
        name,
        description[:_LONGEST_DESCRIPTION],
        text.strip("\n"),
        whose,
        source.path,
        tools,
        _model(fields, notes),
        _mode(fields),
        _steps(fields),
        tuple(f"{source.shown}: {note}" for note in notes),
        without,
    )


def _tools(fields: dict[str, Field], notes: list[str]) -> tuple[frozenset[str] | None, frozenset[str]]:
    """The tools that it has, None where all are meant, and those that are taken away from them."""
    named, refused = _list(fields.get("tools")), _list(fields.get("disallowedTools") or fields.get("disallowed-tools"))
    without = _known(refused or (), notes)
    return None if named is None or "*" in named else _known(named, notes), without


def _known(named: Sequence[str], notes: list[str]) -> frozenset[str]:
    """Our names for these tools; a note about those that there can't be."""
    found = {tool: tool_named(tool) for tool in named[:_MOST_TOOLS]}
    if unknown := [tool for tool, known in found.items() if not known]:
        notes.append(f"there is no tool {', '.join(map(repr, unknown[:5]))} here")
    if len(named) > _MOST_TOOLS:
        notes.append(f"it names {len(named):,} tools, of which {_MOST_TOOLS} are looked at")
    return frozenset(filter(None, found.values()))


def _model(fields: dict[str, Field], notes: list[str]) -> str | None:
    model = _line(fields, "model")
    if model.lower() in _INHERITED:
        if model.lower() not in ("", "inherit"):
            notes.append(f"its model {model!r} is no model here; it works with its parent's")
        return None
    return model


def _mode(fields: dict[str, Field]) -> Mode | None:
    text = _line(fields, "mode") or _line(fields, "permission-mode") or _line(fields, "permissionMode")
    if text and text.lower() not in _MODES:
        raise BadFrontMatter(f"its permission mode {text!r} is none of {', '.join(MODES)}")
    return _MODES[text.lower()] if text else None


def _steps(fields: dict[str, Field]) -> int | None:
    text = _line(fields, "max_steps") or _line(fields, "max-steps") or _line(fields, "maxTurns")
    if not text:
        return None
    if not text.isascii() or not text.isdecimal() or not 0 < int(text[:9]) <= _MOST_STEPS:
        raise BadFrontMatter(f"its max_steps {text[:40]!r} is no number from 1 to {_MOST_STEPS:,}")
    return int(text)


def _list(value: "Field | None") -> list[str] | None:
    if isinstance(value, list):
        return [" ".join(one.split()) for one in value if isinstance(one, str)]
    if isinstance(value, str) and value.strip():
        return [word for word in re.split(r"[,\s]+(?![^()]*\))", value.strip()) if word]
    return None if value is None else []


def _line(fields: dict[str, Field], key: str) -> str:
    value = fields.get(key, "")
    if not isinstance(value, str):
        raise BadFrontMatter(f"its {key} is no text")
    return " ".join(value.split())


_BUILT_IN = (
    Subagent(
        "general",
        "any task that stands alone, with all tools",
        "You work for another agent, which gave you one task and sees nothing of your work but your last message. Do the task, and nothing beyond it. "
        "Nobody answers questions: decide what is sensible, and say what you assumed. End with the answer itself, complete and short: what you found or "
        "changed, with paths and lines, how you checked it, what is open.",
        "built-in",
    ),
    Subagent(
        "explore",
        "finds things out and changes nothing",
        "You find things out for another agent, which sees nothing of your work but your last message. Search and read as much as the question needs and no more; "
        "change nothing. End with the answer itself: facts, each with the path and line that shows it, and what you couldn't find.",
        "built-in",
        tools=frozenset({"read", "grep", "find", "ls", "bash"}) | CONTEXT_TOOLS - NEVER,
        mode="plan",
    ),
)
BUILT_IN = {agent.name: agent for agent in _BUILT_IN}
"""Those that come with Trimtab; a file of the same name takes its place."""
