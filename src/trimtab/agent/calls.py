"""What can be said of a model's calls without running anything: their ids, their tools, their arguments.

Pure. A call that can't run becomes a text that the model can act on: it names what was wrong and what to do instead.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from trimtab.agent.ports import Tool, ToolOutput
from trimtab.agent.schema import fit
from trimtab.types.messages import Assistant, Part, ToolCall
from trimtab.types.near import near
from trimtab.types.stream import parse_arguments

QUOTE_CHARS = 500
"""How much of unparsable arguments is quoted back."""


@dataclass(frozen=True, slots=True)
class Runnable:
    """A call whose tool exists and whose arguments fit its schema."""

    call: ToolCall
    tool: Tool
    arguments: Mapping[str, Any]


def with_unique_ids(message: Assistant, seen: set[str]) -> Assistant:
    """Return `message` with every call id new to the session, and add those ids to `seen`.

    Some servers count calls from zero in each answer, some give two calls one id; a result could then not be told to which it belongs.
    """
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolCall):
            fresh, number = part.id, 1
            while fresh in seen:
                number += 1
                fresh = f"{part.id}_{number}"
            seen.add(fresh)
            part = part if fresh == part.id else replace(part, id=fresh)
        parts.append(part)
    return replace(message, parts=tuple(parts))


def resolve(call: ToolCall, tools: Mapping[str, Tool], *, shown: Collection[str] = ()) -> Runnable | ToolOutput:
    """Return the call ready to run, or the error result that explains to the model why it can't. `shown`: tools that its request offered.

    A request may go on offering a tool that was turned off since: to take it out would break the provider's cache.
    """
    tool = tools.get(call.name)
    if tool is None:
        off = call.name in shown
        text = _turned_off(call.name, tuple(tools)) if off else _no_such_tool(call.name, tuple(tools))
        return ToolOutput.text(text, is_error=True)
    arguments = call.arguments if call.arguments is not None else _unwrapped(call.raw)
    if arguments is None:
        return ToolOutput.text(_unparsable(call), is_error=True)
    fitted, problems = fit(tool.spec.parameters, arguments)
    if problems:
        text = f"Not run: the arguments of {call.name} don't fit.\n" + "\n".join(f"- {p}" for p in problems)
        return ToolOutput.text(text, is_error=True)
    return Runnable(call, tool, fitted)


def _turned_off(name: str, names: tuple[str, ...]) -> str:
    on = f"Tools that are on: {', '.join(names)}." if names else "No tool is on."
    return f"Not run: the tool {name!r} is turned off now, though it is still listed. {on}"


def _no_such_tool(name: str, names: tuple[str, ...]) -> str:
    if close := near(name, names, most=3):
        return f"There is no tool named {name!r}. Nearest: {', '.join(close)}."
    return f"There is no tool named {name!r}. " + (f"Tools: {', '.join(names)}." if names else "No tool is on.")


def _unwrapped(raw: str) -> dict[str, Any] | None:
    """Arguments that were encoded twice: a JSON string that holds a JSON object."""
    try:
        inner = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return parse_arguments(inner) if isinstance(inner, str) and inner.strip() else None


def _unparsable(call: ToolCall) -> str:
    try:
        json.loads(call.raw)
        fault = "they are JSON, but not an object"
    except json.JSONDecodeError as error:
        fault = f"{error.msg} at line {error.lineno}, column {error.colno} (character {error.pos})"
    except (ValueError, RecursionError) as error:
        fault = str(error)
    shown = call.raw[:QUOTE_CHARS]
    more = f"… ({len(call.raw)} characters in all)" if len(call.raw) > QUOTE_CHARS else ""
    return f"Not run: the arguments of {call.name} are no JSON object: {fault}. Send the call again.\nYou sent: {shown}{more}"
