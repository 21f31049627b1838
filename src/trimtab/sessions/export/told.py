"""What the model was told beside the talk, as whoever has the session open knows it: the system prompt by its sections, and its tools."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trimtab.context.summary.redact import redact
from trimtab.sessions.export.prose import code, escaped
from trimtab.sessions.export.redacted import value_without_secrets


@dataclass(frozen=True, slots=True)
class ToldSection:
    """A part of the system prompt: its name, where it comes from, what it costs, its text."""

    name: str
    source: str
    tokens: int
    text: str


@dataclass(frozen=True, slots=True)
class ToldTool:
    """A tool as the model sees it; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Told:
    """All of it, as it was when the page was written."""

    sections: tuple[ToldSection, ...] = ()
    tools: tuple[ToldTool, ...] = ()


def told_section(told: Told) -> Iterator[str]:
    """Yield it as folded parts of a page, without secrets."""
    if told.sections:
        total = sum(section.tokens for section in told.sections)
        yield f'<details class="told"><summary>System prompt: {_counted(len(told.sections), "section")}, {total:,} tokens</summary>\n'
        for section in told.sections:
            head = f'<b>{escaped(section.name)}</b><span>{escaped(redact(section.source))}</span><em class="cost">{section.tokens:,} tokens</em>'
            yield f'<details class="call"><summary>{head}</summary>{code(redact(section.text))}</details>\n'
        yield "</details>\n"
    if told.tools:
        yield f'<details class="told"><summary>{_counted(len(told.tools), "tool")}</summary>\n'
        for tool in told.tools:
            schema = json.dumps(value_without_secrets(tool.parameters), indent=2, ensure_ascii=False, default=str)
            first = tool.description.strip().partition("\n")[0]
            head = f"<b>{escaped(tool.name)}</b><span>{escaped(redact(first))}</span>"
            body = f"{code(redact(tool.description))}{code(schema)}"
            yield f'<details class="call"><summary>{head}</summary>{body}</details>\n'
        yield "</details>\n"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
