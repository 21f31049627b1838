"""The scripted model: a public test model whose answers stand in a file, a line per request.

One request: take the next line → check what it expects of the request → wait → thinking, text, tool calls in pieces → `Ended`. A
line is used once per *attempt*: an error that a client would retry (429, 503, 529, a broken connection, …) yields `Retrying` and
the next line answers, as long as there is one; so a script can test retries. The position belongs to the instance: a new process
starts at line 1.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import anyio

from trimtab.providers.classify import classify
from trimtab.providers.script import Expect, Line, ScriptedError, make_script, read_script
from trimtab.types.errors import ErrorInfo
from trimtab.types.messages import Text, Thinking, ToolCall, ToolResult
from trimtab.types.models import ModelRequest
from trimtab.types.stream import DeltaKind, Ended, PartDelta, PartEnded, PartStarted, Retrying, StreamEvent, make_call
from trimtab.types.text import scrub
from trimtab.types.usage import Usage


class ScriptedProvider:
    """Answers from a script: a path to a JSON Lines file, or its lines as values. Raises `ConfigError` for a wrong script.

    `sleep` takes seconds. At most `max_retries` lines in a row are spent on one request's retryable errors.
    """

    def __init__(
        self,
        source: str | Path | Iterable[Line | Mapping[str, Any]],
        *,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        max_retries: int = 4,
    ) -> None:
        named = isinstance(source, str | Path)
        self._file = str(source) if named else "script"
        self._lines = read_script(source) if isinstance(source, str | Path) else make_script(source)
        self._sleep = sleep
        self._max_retries = max_retries
        self._next = 0

    @property
    def remaining(self) -> int:
        """How many lines no request has used yet."""
        return len(self._lines) - self._next

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Answer with the next line."""
        for attempt in range(1, self._max_retries + 2):
            if not self.remaining:
                yield _complaint(f"request {self._next + 1} is past the last line of {self._file}")
                return
            line = self._lines[self._next]
            self._next += 1
            problem = unmet(line.expect, request)
            if problem:
                yield _complaint(f"{self._file}, line {line.number}: {problem}")
                return
            if line.delay_ms:
                await self._sleep(line.delay_ms / 1000)
            for event in answer(line):
                if line.chunk_delay_ms and isinstance(event, PartDelta):
                    await self._sleep(line.chunk_delay_ms / 1000)
                yield event
            ended = _ended(line, request)
            error = ended.error
            streamed = line.text or line.thinking or line.tool_calls
            if error is None or not error.retryable or streamed or not self.remaining or attempt > self._max_retries:
                yield ended
                return
            wait = error.retry_after_s or 0.0
            yield Retrying(attempt=attempt, wait_s=wait, kind=error.kind, message=error.message, hint=error.hint)
            await self._sleep(wait)


def answer(line: Line) -> Iterable[StreamEvent]:
    """The parts of a line as stream events: thinking, text, then each tool call."""
    part = 0
    if line.thinking:
        yield from _part(part, "thinking", Thinking(scrub(line.thinking)), chunk=line.chunk)
        part += 1
    if line.text:
        yield from _part(part, "text", Text(scrub(line.text)), chunk=line.chunk)
        part += 1
    for call in line.tool_calls:
        yield from _part(part, "tool_arguments", make_call(call.id, call.name, call.raw), chunk=line.chunk)
        part += 1


def _part(part: int, kind: DeltaKind, value: Text | Thinking | ToolCall, *, chunk: int | None) -> Iterable[StreamEvent]:
    call_id, name, text = (value.id, value.name, value.raw) if isinstance(value, ToolCall) else ("", "", value.text)
    yield PartStarted(part, kind, call_id=call_id, name=name)
    size = chunk or len(text)
    for start in range(0, len(text), max(size, 1)):
        yield PartDelta(part, kind, text[start : start + size])
    yield PartEnded(part, value)


def _ended(line: Line, request: ModelRequest) -> Ended:
    usage = None
    if line.usage is not None:
        said = line.usage
        usage = Usage(said.input, said.output, said.cache_read, said.cache_write)
    if line.error is not None:
        return Ended("error", usage, request.model.id, _failure(line.error))
    return Ended(line.stop_reason or ("tool_use" if line.tool_calls else "stop"), usage, request.model.id)


def _failure(error: ScriptedError) -> ErrorInfo:
    """The error as a wire would report it."""
    if not error.status:
        return ErrorInfo("network", error.text or "the connection broke", retryable=True)
    wait = error.retry_after_s
    return classify(error.status, error.text, {} if wait is None else {"retry-after": str(wait)})


def unmet(expect: Expect, request: ModelRequest) -> str:
    """What `request` lacks or holds against `expect`, in words; empty when all is well."""
    if not expect.contains and not expect.absent:
        return ""
    text = request_text(request)
    missing = [s for s in expect.contains if s not in text]
    present = [s for s in expect.absent if s in text]
    said = [f"the request lacks {', '.join(map(repr, missing))}"] if missing else []
    said += [f"the request holds {', '.join(map(repr, present))}"] if present else []
    return " and ".join(said)


def request_text(request: ModelRequest) -> str:
    """All that a model would read, as plain text: system prompt, then per message its texts, tool names, arguments and results."""
    texts = [request.system]
    for message in request.messages:
        for part in message.parts:
            if isinstance(part, Text | Thinking):
                texts.append(part.text)
            elif isinstance(part, ToolCall):
                texts.append(f"{part.name} {part.raw}")
        if isinstance(message, ToolResult):
            texts.append(message.tool_name)
    return "\n".join(texts)


def _complaint(message: str) -> Ended:
    return Ended("error", error=ErrorInfo("script", message, hint="compare the script with the requests of this run"))
