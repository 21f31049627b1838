"""The shapes of a Chat Completions answer, as they are read.

A chunk is decoded by type in one step (`decode_chunk`). What that refuses (a list as content, a lone surrogate, NaN, a number as text) is parsed
by the standard library and picked over field by field (`parse`, `pick_chunk`), so a strange field costs itself and nothing else.
Source: platform.openai.com/docs/api-reference/chat-streaming, and what compatible servers make of it.
"""

import json
from typing import Any, Final

import msgspec

from trimtab.types.text import scrub, scrub_deep
from trimtab.types.usage import Usage


class Function(msgspec.Struct, gc=False):
    """Name and arguments of a call, or a piece of them."""

    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class Call(msgspec.Struct):
    """A tool call, or a piece of one."""

    index: int | None = None
    id: str | None = None
    function: Function | None = None
    extra_content: dict[str, Any] | None = None


class Delta(msgspec.Struct):
    """What a chunk adds to an answer; a whole answer has the same shape."""

    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: list[Call] | None = None
    function_call: Function | None = None


class Details(msgspec.Struct, gc=False):
    """Parts of a token count."""

    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


class RawUsage(msgspec.Struct, gc=False):
    """Usage in the server's convention: cached tokens are part of the prompt's."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    prompt_tokens_details: Details | None = None
    completion_tokens_details: Details | None = None
    prompt_cache_hit_tokens: int | None = None
    cached_tokens: int | None = None


class Choice(msgspec.Struct):
    """One of the answers; only the first is read."""

    delta: Delta | None = None
    message: Delta | None = None
    finish_reason: str | None = None
    usage: RawUsage | None = None
    error: Any = None


class Chunk(msgspec.Struct):
    """One chunk of a stream, or a whole `chat.completion`; only what is read."""

    choices: list[Choice] | None = None
    usage: RawUsage | None = None
    error: Any = None


_decoder = msgspec.json.Decoder(Chunk)
BROKEN: Final = object()
"""What `parse` returns for bytes that are no JSON."""


def decode_chunk(data: bytes) -> Chunk | None:
    """Return the chunk in `data`, or None when it isn't a chunk of the exact types."""
    try:
        return _decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def parse(data: bytes) -> Any:
    """Return any JSON, tolerating bad UTF-8, lone surrogates and NaN; `BROKEN` for anything else."""
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return BROKEN


def reports_failure(value: dict[str, Any]) -> bool:
    """Whether an object without choices is an error, in one of the shapes that have no `error` field."""
    if value.get("error") or value.get("object") == "error" or value.get("type") == "error":
        return True
    base = value.get("base_resp")
    if isinstance(base, dict) and base.get("status_code"):
        return True
    return "choices" not in value and any(value.get(k) for k in ("message", "detail", "msg", "error_msg", "errors"))


def pick_chunk(value: dict[str, Any]) -> Chunk:
    """Return what can be understood of a chunk of loose types."""
    choices = value.get("choices")
    return Chunk(
        choices=[_choice(c) for c in choices if isinstance(c, dict)] if isinstance(choices, list) else None,
        usage=_usage(value.get("usage")),
        error=value.get("error"),
    )


def normal_usage(usage: RawUsage) -> Usage:
    """Chat counts cached tokens inside the prompt and reasoning inside the completion; ours don't overlap.

    A total that is exactly larger by the reasoning tokens shows a server that counts them beside the completion.
    """
    prompt, output = max(usage.prompt_tokens or 0, 0), max(usage.completion_tokens or 0, 0)
    inside = usage.prompt_tokens_details or Details()
    read = inside.cached_tokens or usage.prompt_cache_hit_tokens or usage.cached_tokens or 0
    read = min(read, prompt)
    write = min(inside.cache_write_tokens or 0, prompt - read)
    reasoning = (usage.completion_tokens_details or Details()).reasoning_tokens or 0
    if reasoning and usage.total_tokens == prompt + output + reasoning:
        output += reasoning
    return Usage(
        input=prompt - read - write, output=output, cache_read=read, cache_write=write, reasoning=min(reasoning, output)
    )


def _choice(value: dict[str, Any]) -> Choice:
    return Choice(
        delta=_delta(value.get("delta")),
        message=_delta(value.get("message")),
        finish_reason=_str(value.get("finish_reason")),
        usage=_usage(value.get("usage")),
        error=value.get("error"),
    )


def _delta(value: Any) -> Delta | None:
    if not isinstance(value, dict):
        return None
    content, thought = _texts(value.get("content"))
    calls = value.get("tool_calls")
    if isinstance(calls, dict):
        calls = [calls]
    return Delta(
        content=content,
        reasoning_content=_texts(value.get("reasoning_content"))[0] or thought,
        reasoning=_texts(value.get("reasoning"))[0],
        refusal=_texts(value.get("refusal"))[0],
        tool_calls=[_call(c) for c in calls if isinstance(c, dict)] if isinstance(calls, list) else None,
        function_call=_function(value.get("function_call")),
    )


def _texts(value: Any) -> tuple[str, str]:
    """The text and the thinking in a content that is text, or a list of typed parts (Mistral).

    Not scrubbed: a surrogate pair may be cut between two deltas.
    """
    if isinstance(value, str):
        return value, ""
    text, thought = "", ""
    for part in value if isinstance(value, list) else ():
        if isinstance(part, str):
            text += part
        elif isinstance(part, dict):
            more = _texts(part.get("thinking") or part.get("text"))[0]
            if part.get("type") == "thinking":
                thought += more
            else:
                text += more
    return text, thought


def _call(value: dict[str, Any]) -> Call:
    index, extra = value.get("index"), value.get("extra_content")
    return Call(
        index=_int(index),
        id=_str(value.get("id")),
        function=_function(value.get("function")),
        extra_content=scrub_deep(extra) if isinstance(extra, dict) else None,
    )


def _function(value: Any) -> Function | None:
    if not isinstance(value, dict):
        return None
    arguments = value.get("arguments")
    if arguments is not None and not isinstance(arguments, str | dict):
        arguments = json.dumps(arguments)
    return Function(name=_str(value.get("name")), arguments=arguments)


def _usage(value: Any) -> RawUsage | None:
    if not isinstance(value, dict):
        return None
    return RawUsage(
        prompt_tokens=_int(value.get("prompt_tokens")),
        completion_tokens=_int(value.get("completion_tokens")),
        total_tokens=_int(value.get("total_tokens")),
        prompt_tokens_details=_details(value.get("prompt_tokens_details")),
        completion_tokens_details=_details(value.get("completion_tokens_details")),
        prompt_cache_hit_tokens=_int(value.get("prompt_cache_hit_tokens")),
        cached_tokens=_int(value.get("cached_tokens")),
    )


def _details(value: Any) -> Details | None:
    if not isinstance(value, dict):
        return None
    return Details(
        cached_tokens=_int(value.get("cached_tokens")),
        cache_write_tokens=_int(value.get("cache_write_tokens")),
        reasoning_tokens=_int(value.get("reasoning_tokens")),
    )


def _str(value: Any) -> str | None:
    """Text, or a number as text (ids of some servers)."""
    if isinstance(value, str):
        return scrub(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _int(value: Any) -> int | None:
    """A count, also when it is written as a float or as text; never negative."""
    try:
        return max(int(value), 0)
    except (TypeError, ValueError, OverflowError):
        return None
