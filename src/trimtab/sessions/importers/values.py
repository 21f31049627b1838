"""Values of foreign JSON, read without trust: a wrong type is an absent value, never an error."""

import math
from datetime import UTC, datetime
from typing import Any

from trimtab.sessions.lenient import json_text
from trimtab.types.messages import Image, Part, Text
from trimtab.types.usage import Usage

_MILLISECONDS = 1e11
"""A count of seconds that is larger is one of milliseconds (seconds reach it in the year 5138)."""

_LATEST = 4_102_444_800.0
"""Seconds at the end of the year 2099. What claims to be later was damaged, and would drag all that follows along."""

_TEXTS = frozenset({"text", "input_text", "output_text", "summary_text", "reasoning_text"})


def text_of(value: Any) -> str:
    """A string, else the empty one."""
    return value if isinstance(value, str) else ""


def mapping_of(value: Any) -> dict[str, Any]:
    """An object, else an empty one."""
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """An array, else an empty one."""
    return value if isinstance(value, list) else []


def count_of(value: Any) -> int:
    """A count that is not negative, else 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**53:
        return 0
    return int(value)


def moment_of(value: Any) -> float | None:
    """Seconds since 1970 of an RFC 3339 text, or of a number of seconds or milliseconds; a text without a zone is UTC. None for what no session can have."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
            seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    elif isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e15:
        return None
    else:
        seconds = value / 1000 if value > _MILLISECONDS else float(value)
    return seconds if 0 < seconds < _LATEST else None


def usage_of(
    input: Any, output: Any, *, cache_read: Any = 0, cache_write: Any = 0, cache_write_1h: Any = 0, reasoning: Any = 0
) -> Usage | None:
    """Disjoint counts as a usage; None when nothing was counted, as aborted calls say."""
    usage = Usage(
        input=count_of(input),
        output=count_of(output),
        cache_read=count_of(cache_read),
        cache_write=count_of(cache_write),
        cache_write_1h=count_of(cache_write_1h),
        reasoning=count_of(reasoning),
    )
    return usage if usage != Usage() else None


def parts_of(content: Any) -> list[Part]:
    """Text and images of a message's content, whichever vendor's blocks these are. What is none, an unknown block or a value of another type, is kept as its JSON."""
    blocks = content if isinstance(content, list) else [content]
    return [part for block in blocks if (part := _part_of(block)) is not None]


def _part_of(block: Any) -> Part | None:
    if isinstance(block, str):
        return Text(block) if block else None
    if not isinstance(block, dict):
        return Text(json_text(block)) if block is not None else None
    kind = text_of(block.get("type", "text" if "text" in block else ""))
    if kind in _TEXTS:
        return Text(block["text"]) if text_of(block.get("text")) else None
    return _image_of(block) or (Text(json_text(block)) if block else None)


def _image_of(block: dict[str, Any]) -> Image | None:
    """Anthropic's `source`, OpenAI's and Codex's `image_url`, pi's flat fields, Gemini's `inlineData`."""
    source = mapping_of(block.get("source")) or mapping_of(block.get("inlineData")) or block
    media = next((m for k in ("media_type", "mimeType", "mime_type") if (m := text_of(source.get(k)))), "")
    if media.startswith("image/") and text_of(source.get("data")):
        return Image(media, source["data"])
    url = block.get("image_url")
    address = text_of(mapping_of(url).get("url")) or text_of(url)
    head, found, data = address.partition(";base64,")
    return Image(head.removeprefix("data:"), data) if found and head.startswith("data:image/") else None


def is_number(value: Any) -> bool:
    """Say whether a value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
