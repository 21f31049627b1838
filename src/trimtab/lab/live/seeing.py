"""What one request shows to somebody who looks for a value in it.

    request ──shown──▶ the value, from the newest message that has it     in whatever form: a result, a summary, what was written earlier
            ──ways──▶ how it might be had again: `recall` of what is hidden where its source was read; its source read anew, if anything names that;
                      a search, where a summary says that one may search

Pure functions of the request. What it doesn't say isn't known here.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trimtab.sessions.replay.needs import texts_of
from trimtab.types.messages import Assistant, Message, ToolResult

_RECALL = re.compile(r"recall id=([^\s\];,]+)")
_READ = re.compile(r"read path=([^\n\]]+)")
_SEARCH = "recall query="
_ON = re.compile(r"; go on with page (\d+)\]")


@dataclass(frozen=True, slots=True)
class Way:
    """A call that may bring a value back."""

    tool: str
    arguments: Mapping[str, Any]


def shown(messages: tuple[Message, ...], pattern: str) -> str | None:
    """The value that the newest message with a match of `pattern` has, the last one in it."""
    sought = re.compile(pattern)
    for message in reversed(messages):
        found = [match[1] for text in texts_of(message) for match in sought.finditer(text)]
        if found:
            return found[-1]
    return None


def ways(messages: tuple[Message, ...], source: str, words: str) -> Iterator[Way]:
    """Yield how the text of the file `source` might be had again, the likeliest first; nothing where the request leads nowhere. `words`: what to search for."""
    calls = {
        call.id
        for message in messages
        if isinstance(message, Assistant)
        for call in message.tool_calls
        if source in call.raw
    }
    for message in reversed(messages):
        if isinstance(message, ToolResult) and message.call_id in calls:
            text = message.text
            yield from (Way("recall", {"id": name}) for name in _RECALL.findall(text)[:1])
            yield from (Way("read", {"path": path}) for path in _READ.findall(text)[:1])
    texts = [text for message in messages for text in texts_of(message)]
    if any(source in text for text in texts):
        yield Way("read", {"path": source})
    if any(_SEARCH in text for text in texts):
        yield Way("recall", {"query": words})


def next_page(messages: tuple[Message, ...], way: Way) -> Way | None:
    """The call that goes on where the newest result, which answers `way`, stops; None where it has all."""
    last = messages[-1] if messages else None
    if "id" not in way.arguments or not isinstance(last, ToolResult) or last.tool_name != "recall":
        return None
    found = _ON.search(last.text)
    return Way("recall", {**way.arguments, "page": int(found[1])}) if found else None
