"""Recorded sessions made in a line: what a person said, what calls were made, what came back, and when.

recording(said("fix it"), answered(call("Read", path="a.py")), result("c1", "def parse_header(): …"), answered(text="done"))
"""

import json
from typing import Any

from trimtab.sessions.recorded import Answered, Came, Compacted, Event, Recording
from trimtab.types.messages import Assistant, Text, ToolCall, ToolResult, user
from trimtab.types.usage import Usage

MODEL = "claude-opus-4-5"


def said(words: str, *, at: float | None = None) -> Came:
    """A person's words."""
    return Came(user(words), at)


def call(name: str, call_id: str, **arguments: Any) -> ToolCall:
    """A call."""
    return ToolCall(call_id, name, arguments, json.dumps(arguments))


def answered(*calls: ToolCall, text: str = "", prompt: int = 0, output: int = 0, at: float | None = None) -> Answered:
    """An API message; with `prompt`, its usage was reported."""
    parts = (*((Text(text),) if text else ()), *calls)
    usage = Usage(input=prompt, output=output) if prompt else None
    return Answered(Assistant(parts, "tool_use" if calls else "stop", usage=usage, model=MODEL), at)


def result(call_id: str, text: str, *, tool: str = "Read", at: float | None = None) -> Came:
    """What came back."""
    return Came(ToolResult(call_id, tool, (Text(text),), False), at)


def paid(written: int, *, hour: int = 0, read: int = 0, at: float | None = None, words: str = "hello") -> Answered:
    """An API message that wrote so many tokens to the cache, `hour` of them for an hour."""
    usage = Usage(input=10, output=10, cache_read=read, cache_write=written, cache_write_1h=hour)
    return Answered(Assistant((Text(words),), "stop", usage=usage, model=MODEL), at)


def compacted(summary: str, *, before: int | None = None, trigger: str = "") -> Compacted:
    """The client's own compaction."""
    return Compacted(summary, before_tokens=before, trigger=trigger)


def recording(*events: Event, model: str = MODEL, window: int | None = None) -> Recording:
    """The session of these events."""
    return Recording("session.jsonl", "claude-code", model, events, provider="anthropic", window=window, id="s1")


def long_session(reads: int, *, lines: int = 60) -> Recording:
    """A session that reads files of its own names and, much later, uses a name from the first one."""
    events: list[Event] = [said("look at the project", at=0.0)]
    for n in range(reads):
        events.append(answered(call("Read", f"c{n}", path=f"src/module_{n}.py"), at=10.0 * n + 1))
        body = "\n".join(f"def handler_{n}_{line}(): pass  # words that fill the line" for line in range(lines))
        events.append(result(f"c{n}", body, at=10.0 * n + 2))
    events.append(answered(call("Bash", "last", command="grep handler_0_3 -r ."), at=10.0 * reads))
    events.append(result("last", "found", tool="Bash", at=10.0 * reads + 1))
    events.append(answered(text="done", at=10.0 * reads + 2))
    return recording(*events)
