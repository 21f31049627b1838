"""A server's word about itself, made harmless before anybody reads it.

    tools/list, prompts/list, initialize ──bounded, hidden text out, schemas held to what every provider takes──▶ Listing

A provider refuses a whole request for one bad schema, so a tool whose schema isn't sound is left out, and that is told. The one rule: nothing of
what a server says enters a prompt longer than its bound, or with characters that nobody sees.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trimtab.coding.mcp.values import Listing, PromptArgument, RemotePrompt, RemoteTool
from trimtab.coding.telling.hidden import invisible_text, without_invisible
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import counted, shortened
from trimtab.types.text import scrub, scrub_deep

MOST_TOOLS = 1_000
MOST_PROMPTS = 200
_DESCRIPTION = 4_000
_INSTRUCTIONS = 4_000
_SCHEMA = 32_000
"""Bytes of JSON."""
_DEEP = 40
_REMARKS = 10
_KEY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""What providers take as the name of an argument."""
_WORDS = frozenset({"description", "title", "$comment"})
_WHOLE = ("anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "then", "else")
"""What may not stand at the top of a schema of arguments; the server checks it itself."""


def listing_of(
    tools: Sequence[Any],
    prompts: Sequence[Any],
    *,
    server: str = "",
    instructions: str = "",
    resources: bool = False,
    remarks: Sequence[str] = (),
) -> Listing:
    """A `Listing` of what came from the wire as plain JSON values; `remarks` are ours about it. Takes a moment for hundreds of tools: not for the event loop."""
    found = list(remarks)
    seen: set[str] = set()
    kept: list[RemoteTool] = []
    for entry in tools[:MOST_TOOLS]:
        tool = _tool(entry, found)
        if tool is not None and tool.name not in seen:
            seen.add(tool.name)
            kept.append(tool)
        elif tool is not None:
            found.append(f"{_said(tool.name)} is listed twice; the first counts")
    if len(tools) > MOST_TOOLS:
        found.append(f"it lists {len(tools):,} tools; the first {MOST_TOOLS:,} count")
    if invisible_text(instructions):
        found.append("its instructions held hidden text, which is left out")
    more = len(found) - _REMARKS
    told = (*found[:_REMARKS], f"and {more:,} more") if more > 0 else tuple(found)
    return Listing(
        tuple(kept),
        tuple(_prompts(prompts[:MOST_PROMPTS])),
        resources,
        words(instructions, _INSTRUCTIONS),
        shortened(one_line(scrub(server)), 100),
        told,
    )


def words(text: object, most: int) -> str:
    """Text of a server as a model or person may read it."""
    return shortened(without_invisible(scrub(text)).strip(), most) if isinstance(text, str) else ""


def _tool(entry: Any, remarks: list[str]) -> RemoteTool | None:
    name = entry.get("name") if isinstance(entry, Mapping) else None
    if not isinstance(name, str) or not name:
        remarks.append("a tool without a name is left out")
        return None
    text = entry.get("description") or entry.get("title") or ""
    schema, wrong = _schema(entry.get("inputSchema"))
    if wrong:
        remarks.append(f"{_said(name)} is left out: {wrong}")
        return None
    if hidden := invisible_text(str(text)):
        remarks.append(f"the description of {_said(name)} held hidden text, which is left out: {hidden[0]}")
    hints = entry.get("annotations")
    reads = isinstance(hints, Mapping) and hints.get("readOnlyHint") is True
    return RemoteTool(scrub(name), words(text, _DESCRIPTION), schema, reads)


def _schema(given: Any) -> tuple[dict[str, Any], str]:
    """The schema as every provider takes it, and what is wrong with it."""
    if not isinstance(given, Mapping):
        return {}, "its arguments have no schema"
    if _depth(given) > _DEEP:
        return {}, "the schema of its arguments is too deep"
    size = len(json.dumps(given))
    if size > _SCHEMA:
        return {}, f"the schema of its arguments has {size:,} bytes"
    schema = _cleaned({key: value for key, value in scrub_deep(dict(given)).items() if key not in _WHOLE})
    properties = schema.setdefault("properties", {})
    if schema.setdefault("type", "object") != "object" or not isinstance(properties, dict):
        return {}, "its arguments are no object"
    if bad := next((key for key in properties if not _KEY.fullmatch(key)), None):
        return {}, f"an argument has the name {_said(bad)}, which providers refuse"
    return schema, _unsound(schema)


def _unsound(schema: dict[str, Any]) -> str:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - only a server that was just asked is checked
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415

    schema.pop("$schema", None)
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as e:
        return f"the schema of its arguments isn't valid: {shortened(one_line(e.message), 120)}"
    except RecursionError:
        return "the schema of its arguments is too deep"
    return ""


def _cleaned(value: Any) -> Any:
    """A schema whose texts for people hold nothing hidden."""
    if isinstance(value, dict):
        return {
            key: words(inner, _DESCRIPTION) if key in _WORDS and isinstance(inner, str) else _cleaned(inner)
            for key, inner in value.items()
        }
    return [_cleaned(inner) for inner in value] if isinstance(value, list) else value


def _depth(value: Any) -> int:
    """How deep a JSON value is, as far as it matters."""
    level, deep = [value], 0
    while level and deep <= _DEEP:
        level = [inner for one in level for inner in _inside(one)]
        deep += 1
    return deep


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def _prompts(entries: Sequence[Any]) -> Iterable[RemotePrompt]:
    for entry in entries:
        name = entry.get("name") if isinstance(entry, Mapping) else None
        if not isinstance(name, str) or not name or not name.isprintable() or " " in name or len(name) > LONGEST_NAME:
            continue
        listed = entry.get("arguments") or ()
        arguments = tuple(
            PromptArgument(scrub(str(a["name"])), words(a.get("description"), 200), a.get("required") is True)
            for a in listed
            if isinstance(a, Mapping) and isinstance(a.get("name"), str)
        )
        yield RemotePrompt(scrub(name), words(entry.get("description") or entry.get("title"), 400), arguments)


LONGEST_NAME = 100


def _said(name: str) -> str:
    return repr(shortened(one_line(without_invisible(scrub(name))), 60))


def described(listing: Listing) -> str:
    """What a server has, in a few words."""
    more = ([counted(len(listing.prompts), "prompt")] if listing.prompts else []) + (
        ["resources"] if listing.resources else []
    )
    return ", ".join([counted(len(listing.tools), "tool"), *more])
