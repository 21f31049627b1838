"""Token counts as the vendors report them, in our one convention.

    Chat Completions   prompt_tokens ⊇ cached, written; completion_tokens ⊇ reasoning
    Responses          input_tokens ⊇ cached (told by input_tokens_details); output_tokens ⊇ reasoning
    Messages           input_tokens, cache_read_input_tokens and cache_creation_input_tokens side by side
    ours               the fields of `Usage`

Numbers that are missing, null or no count are 0; a part larger than its whole is cut to it.
"""

from collections.abc import Mapping
from typing import Any

from trimtab.context.vendor.errors import VendorMessageError
from trimtab.context.vendor.plain import Dumps, plain_object
from trimtab.types.errors import UsageError
from trimtab.types.usage import Usage

_OURS = tuple(Usage.__struct_fields__)


def usage_of(given: Usage | Mapping[str, Any] | Dumps | None) -> Usage | None:
    """Return the counts in `given`, None for None. Raises `UsageError` when it is no usage of a known shape."""
    if given is None or isinstance(given, Usage):
        return given
    fields = _fields(given)
    if "prompt_tokens" in fields or "completion_tokens" in fields:
        return _chat(fields)
    if "input_tokens" in fields or "output_tokens" in fields:
        return _responses(fields) if isinstance(fields.get("input_tokens_details"), Mapping) else _messages(fields)
    if fields and all(name in _OURS for name in fields):
        return Usage(**{name: _count(fields, name) for name in fields})
    raise UsageError("usage of an unknown shape", hint=_HINT)


_HINT = "Give the `usage` of the answer (a dict with prompt_tokens or input_tokens), or a Usage."


def _chat(fields: Mapping[str, Any]) -> Usage:
    """A total that is exactly larger by the reasoning shows a server that counts it beside the completion."""
    prompt, output = _count(fields, "prompt_tokens"), _count(fields, "completion_tokens")
    inside = _object(fields, "prompt_tokens_details")
    read = (
        _count(inside, "cached_tokens") or _count(fields, "prompt_cache_hit_tokens") or _count(fields, "cached_tokens")
    )
    reasoning = _count(_object(fields, "completion_tokens_details"), "reasoning_tokens")
    if reasoning and fields.get("total_tokens") == prompt + output + reasoning:
        output += reasoning
    return _within(prompt, output, read, _count(inside, "cache_write_tokens"), reasoning)


def _responses(fields: Mapping[str, Any]) -> Usage:
    inside = _object(fields, "input_tokens_details")
    reasoning = _count(_object(fields, "output_tokens_details"), "reasoning_tokens")
    prompt, output = _count(fields, "input_tokens"), _count(fields, "output_tokens")
    return _within(prompt, output, _count(inside, "cached_tokens"), _count(inside, "cache_write_tokens"), reasoning)


def _messages(fields: Mapping[str, Any]) -> Usage:
    kept = _object(fields, "cache_creation")
    hour = _count(kept, "ephemeral_1h_input_tokens")
    output = _count(fields, "output_tokens")
    thought = _count(_object(fields, "output_tokens_details"), "thinking_tokens")
    written = max(_count(fields, "cache_creation_input_tokens"), hour + _count(kept, "ephemeral_5m_input_tokens"))
    return Usage(
        input=_count(fields, "input_tokens"),
        output=output,
        cache_read=_count(fields, "cache_read_input_tokens"),
        cache_write=written,
        cache_write_1h=hour,
        reasoning=min(thought, output),
    )


def _within(prompt: int, output: int, read: int, write: int, reasoning: int) -> Usage:
    read = min(read, prompt)
    write = min(write, prompt - read)
    return Usage(prompt - read - write, output, read, write, reasoning=min(reasoning, output))


def _object(fields: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = fields.get(name)
    return value if isinstance(value, Mapping) else {}


def _count(fields: Mapping[str, Any], name: str) -> int:
    value = fields.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 < value < 2**63 else 0


def _fields(given: object) -> Mapping[str, Any]:
    if not isinstance(given, Mapping | Dumps) or isinstance(given, type):
        raise UsageError(f"usage must be an object, not {type(given).__name__}", hint=_HINT)
    if isinstance(given, dict):
        return given
    try:
        return plain_object(given, 0)
    except VendorMessageError as problem:
        raise UsageError(f"usage can't be read: {problem.message.partition(': ')[2]}", hint=_HINT) from None
