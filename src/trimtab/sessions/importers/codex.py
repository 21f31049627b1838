"""Codex CLI rollouts: JSON lines of `{timestamp, type, payload}`, oldest first.

    items of the model ──┐
    results, as they come ─┤ held until the usage that follows ──▶ one answer, then its results
    token_count ─────────┘

Usage belongs to the items before it. A count whose total didn't move repeats an earlier one. Where a count is missing, an answer ends when
the model goes on after all its calls were answered, or when somebody else speaks. `compacted` says exactly what replaced the context.
Commands and messages that `event_msg` repeats are for display.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from trimtab.sessions.importers.gathering import Answer, Gathering, opaque
from trimtab.sessions.importers.values import count_of, list_of, mapping_of, moment_of, parts_of, text_of, usage_of
from trimtab.sessions.lenient import json_text
from trimtab.sessions.recorded import Recording
from trimtab.sessions.source import Source
from trimtab.types.messages import Assistant, Message, Part, Text, Thinking, User

NAME = "codex"

_KINDS = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state"})
_ITEMS = frozenset({"function_call", "function_call_output", "custom_tool_call"})
_BLOCKS = frozenset({"input_text", "output_text"})
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "tool_call"})
_RESULTS = frozenset({"function_call_output", "custom_tool_call_output", "function_result", "tool_result"})
_INJECTED = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<turn_aborted>",
    "<skill>",
    "<subagent_notification>",
    "<user_shell_command>",
    "# AGENTS.md instructions",
)
"""How a user message begins that the client wrote."""


class _Line(msgspec.Struct):
    timestamp: Any = None
    created_at: Any = None
    type: Any = None
    payload: Any = None
    role: Any = None
    content: Any = None
    message: Any = None
    summary: Any = None
    encrypted_content: Any = None
    name: Any = None
    function: Any = None
    arguments: Any = None
    input: Any = None
    call_id: Any = None
    output: Any = None
    result: Any = None

    def item(self) -> dict[str, Any]:
        """The response item: the payload, or in the oldest files the line itself."""
        if isinstance(self.payload, dict):
            return self.payload
        item = msgspec.structs.asdict(self)
        item["type"] = self.type or ("message" if self.role else None)
        item["content"] = self.content if self.content is not None else self.message
        return item


def fits(record: Any) -> bool:
    """Say whether a line is one of these."""
    record = mapping_of(record)
    if text_of(record.get("type")) in _KINDS:
        return isinstance(record.get("payload"), dict)
    if record.get("type") == "message" or "role" in record:
        blocks = {text_of(mapping_of(block).get("type")) for block in list_of(record.get("content"))}
        return bool(_BLOCKS & blocks) or ("created_at" in record and "message" in record)
    return text_of(record.get("type")) in _ITEMS and isinstance(record.get("call_id"), str)


def read(source: Source) -> list[Recording]:
    """Return the session in a file."""
    reader = _Reader()
    for line in source.records(_Line):
        reader.take(line)
    reader.finish()
    return [reader.recording(source)]


class _Reader:
    """Goes along the file."""

    def __init__(self) -> None:
        self.gathering = Gathering()
        self._answer: Answer | None = None
        self._held: list[Callable[[], None]] = []
        """Results that came before the usage of the answer that asked for them."""
        self._waiting: set[str] = set()
        self._asked = False
        self._total: Any = None
        self._prompt = 0
        self._facts: dict[str, Any] = {}
        self._window: int | None = None
        self._model = ""
        self._metas = 0

    def take(self, line: _Line) -> None:
        """Take in the next line."""
        item, time = line.item(), moment_of(line.timestamp) or moment_of(line.created_at)
        match line.type:
            case "session_meta":
                self._metas += 1
                self._facts = self._facts or item
            case "turn_context":
                self._model = text_of(item.get("model")) or self._model
            case "event_msg":
                self._event(item)
            case "compacted":
                self.finish()
                self._compacted(item, time)
            case "world_state" | "inter_agent_communication_metadata":
                self.gathering.leave_out(f"{line.type} lines")
            case _:
                self._item(item, time)

    def finish(self) -> None:
        """End the answer that is open."""
        if self._answer is not None:
            answer, self._answer = self._answer, None
            reasoned = answer.usage is not None and answer.usage.reasoning > 0
            shown = any(isinstance(part, Thinking) and part.text for part in answer.parts)
            answer.hidden = answer.hidden or (reasoned and not shown)
            self.gathering.answered(answer)
        for release in self._held:
            release()
        self._held.clear()
        self._waiting.clear()
        self._asked = False

    def recording(self, source: Source) -> Recording:
        """Return what was gathered."""
        parent = text_of(self._facts.get("forked_from_id")) or text_of(self._facts.get("parent_thread_id"))
        notes = [f"{self._metas} session headers in one file"] if self._metas > 1 else []
        notes += [f"goes on from {parent}"] if parent else []
        return self.gathering.recording(
            source,
            NAME,
            window=self._window,
            system=text_of(mapping_of(self._facts.get("base_instructions")).get("text")),
            id=text_of(self._facts.get("id")),
            cwd=text_of(self._facts.get("cwd")),
            model=self._model,
            notes=notes,
        )

    def _item(self, item: dict[str, Any], time: float | None) -> None:
        match item.get("type"):
            case "message" if item.get("role") == "assistant":
                self._open(time, goes_on=True).parts.extend(parts_of(item.get("content")))
            case "message":
                self.finish()
                self._said(item, time)
            case "reasoning":
                self._reasoned(self._open(time, goes_on=True), item)
            case "agent_message":
                self.finish()
                self.gathering.came(parts_of(item.get("content")), time=time, injected=True)
            case str(kind) if kind.endswith("_call") and "call_id" not in item and kind not in _CALLS:
                self._open(time).parts.append(opaque("openai", item))  # the provider ran it itself
            case str(kind) if kind in _CALLS or kind.endswith("_call"):
                self._called(item, time)
            case str(kind) if kind in _RESULTS or kind.endswith("_output"):
                self._answered(item, time)
            case kind:
                self.gathering.leave_out(f"{kind} items" if isinstance(kind, str) else "items of no kind")

    def _event(self, event: dict[str, Any]) -> None:
        kind = event.get("type")
        if kind == "token_count":
            self._counted(mapping_of(event.get("info")))
        elif kind in ("task_started", "task_complete", "turn_aborted"):
            if kind == "turn_aborted" and self._answer is not None:
                self._answer.stop = "cancelled"
            self.finish()
            self._window = count_of(event.get("model_context_window")) or self._window

    def _counted(self, info: dict[str, Any]) -> None:
        total, last = info.get("total_token_usage"), mapping_of(info.get("last_token_usage"))
        self._window = count_of(info.get("model_context_window")) or self._window
        if not info or total == self._total:
            return
        last = last or _less(mapping_of(total), mapping_of(self._total))
        self._total = total
        prompt = count_of(last.get("input_tokens"))
        cached = min(prompt, count_of(last.get("cached_input_tokens")))
        written = min(prompt - cached, count_of(last.get("cache_write_input_tokens")))
        self._prompt = prompt
        if self._answer is None:
            self.gathering.leave_out("token counts without an answer")
            return
        self._answer.usage = usage_of(
            prompt - cached - written,
            last.get("output_tokens"),
            cache_read=cached,
            cache_write=written,
            reasoning=last.get("reasoning_output_tokens"),
        )
        self.finish()

    def _open(self, time: float | None, *, goes_on: bool = False) -> Answer:
        """The answer that is open, or a new one. `goes_on`: what comes begins a new one once every call has its result."""
        if goes_on and self._asked and not self._waiting:
            self.finish()
        if self._answer is None:
            provider = text_of(self._facts.get("model_provider")) or "openai"
            self._answer = Answer(model=self._model, provider=provider, time=time)
        return self._answer

    def _reasoned(self, answer: Answer, item: dict[str, Any]) -> None:
        pieces = parts_of(item.get("summary")) + parts_of(item.get("content"))
        text = "\n\n".join(part.text for part in pieces if isinstance(part, Text))
        secret = text_of(item.get("encrypted_content"))
        answer.hidden = answer.hidden or bool(secret) or not text
        if text or secret:
            answer.parts.append(Thinking(text, secret or None, redacted=not text))

    def _called(self, item: dict[str, Any], time: float | None) -> None:
        recorded = text_of(item.get("call_id"))
        arguments = item.get("input") if item.get("type") == "custom_tool_call" else item.get("arguments")
        if arguments is None:
            arguments = item.get("action")
        kind = text_of(item.get("type")).removesuffix("_call")
        name = text_of(item.get("name")) or text_of(mapping_of(item.get("function")).get("name")) or kind
        self._open(time).parts.append(self.gathering.call(recorded, name, arguments))
        self._waiting.add(recorded)
        self._asked = True

    def _answered(self, item: dict[str, Any], time: float | None) -> None:
        recorded = text_of(item.get("call_id"))
        output = next((item[key] for key in ("output", "result", "tools") if item.get(key) is not None), None)
        parts, failed = _output(output)

        def release() -> None:
            self.gathering.result(recorded, parts, name=text_of(item.get("name")), is_error=failed, time=time)

        self._waiting.discard(recorded)
        if self._answer is None:
            release()
        else:
            self._held.append(release)

    def _said(self, item: dict[str, Any], time: float | None) -> None:
        parts = parts_of(item.get("content"))
        text = next((part.text for part in parts if isinstance(part, Text)), "")
        injected = item.get("role") != "user" or text.lstrip().startswith(_INJECTED)
        self.gathering.came(parts, time=time, injected=injected)

    def _compacted(self, item: dict[str, Any], time: float | None) -> None:
        history = item.get("replacement_history")
        exact = (
            tuple(m for entry in history if (m := _message(entry)) is not None) if isinstance(history, list) else None
        )
        self.gathering.compacted(text_of(item.get("message")), replacement=exact, time=time, before_tokens=self._prompt)


def _less(total: dict[str, Any], before: dict[str, Any]) -> dict[str, int]:
    """What one call added to the totals, for files that hold nothing else; a total that fell began anew."""
    anew = count_of(total.get("input_tokens")) < count_of(before.get("input_tokens"))
    return {key: count_of(total[key]) - (0 if anew else count_of(before.get(key))) for key in total}


def _output(output: Any) -> tuple[list[Part], bool]:
    """Parts of a result. The oldest files wrap its text together with whether it went well."""
    if isinstance(output, dict) and "content" in output:
        return parts_of(output["content"]), output.get("success") is False
    if isinstance(output, str | list):
        return parts_of(output), False
    return parts_of(json_text(output)) if output is not None else [], False


def _message(entry: Any) -> Message | None:
    """A message of a replacement history; items of other kinds are not to be read by us."""
    entry = mapping_of(entry)
    parts = tuple(parts_of(entry.get("content")))
    if entry.get("type", "message") == "message" and parts:
        return Assistant(parts, "stop") if entry.get("role") == "assistant" else User(parts)
    secret = text_of(entry.get("encrypted_content"))
    return Assistant((opaque("openai", entry),), "stop") if secret else None
