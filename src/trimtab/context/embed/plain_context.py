"""A context of plain messages: everything that was said, and of it what a model is to see.

    add_messages, add_responses ──▶ get_messages: complete, always
                                └─▶ to_model_messages: what `compact` left, then what came since

For programs that manage their own window and want the record kept. Nothing is counted here; `ContextManager` does that.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from trimtab.context.counting.counter import Counter
from trimtab.context.embed.unasked import as_read
from trimtab.context.summary.digest import digest
from trimtab.context.summary.fit import fit
from trimtab.context.summary.prompt import build_summary_prompt
from trimtab.context.summary.redact import redact
from trimtab.context.summary.reply import Malformed, parse_reply
from trimtab.context.vendor.formats import format_named
from trimtab.context.vendor.plain import Dumps, VendorMessage, copied, plain_object
from trimtab.context.vendor.remembered import Remembered
from trimtab.types.errors import TrimtabError
from trimtab.types.messages import Assistant, Message, ToolResult, User, user
from trimtab.types.models import ModelInfo

Model: TypeAlias = Callable[[list[dict[str, Any]]], str]
"""Gets messages, returns what the model said."""
_DIGEST_TOKENS = 2_000
"""What a digest may have."""
_HEAD = "[summary of the conversation so far]"


@dataclass(frozen=True, slots=True)
class _Summary:
    """What stands for the first `covered` messages, and what the model thought when it wrote it."""

    covered: int
    analysis: str
    text: str


class Context:
    """One conversation in one message format. Give it messages in the order in which they were said."""

    def __init__(
        self, messages: Iterable[VendorMessage] = (), *, format: Literal["openai", "anthropic"] = "openai"
    ) -> None:
        self._remembered = Remembered(format_named(format))
        self._given: list[dict[str, Any]] = []
        self._messages: list[Message] = []
        self._summary: _Summary | None = None
        self.add_messages(messages)

    def add_messages(self, messages: Iterable[VendorMessage] | VendorMessage) -> None:
        """Add messages at the end: all of them, or none when one can't be read (`VendorMessageError`)."""
        given = [messages] if isinstance(messages, Mapping | Dumps) else list(messages)
        for number, message in enumerate(given):
            self._remembered.format.decode(message, index=len(self._given) + number)
        for message in given:
            self._messages += self._remembered.decode(message)
            self._given.append(plain_object(message, len(self._given)))

    def add_responses(self, responses: Iterable[VendorMessage] | VendorMessage) -> None:
        """Add the answers to calls: messages of role `tool` or, in Anthropic's format, user messages that hold `tool_result` blocks.

        Each goes behind what was said before; where it belongs is found by the id of its call.
        """
        self.add_messages(responses)

    def get_messages(self) -> list[dict[str, Any]]:
        """Return everything that was said, as it came, whatever was compacted since."""
        return [copied(message) for message in self._given]

    def get_responses(self, call_ids: Iterable[str] | str) -> dict[str, str | None]:
        """Return the text of the answer to each call; None for a call without one. The last answer holds, that of the newest call of an id."""
        wanted = [call_ids] if isinstance(call_ids, str) else list(call_ids)
        texts = {m.call_id: m.text for m in self._messages if isinstance(m, ToolResult)}
        names = {call_id: self._remembered.names_of(call_id) for call_id in wanted}
        return {call_id: next((texts[n] for n in names[call_id] if n in texts), None) for call_id in wanted}

    def to_model_messages(self) -> list[dict[str, Any]]:
        """Return what a model is to see: every call answered, in the shape that the API takes."""
        return self._remembered.encode(self._active())

    def compact(self, model: Model | None = None) -> dict[str, str]:
        """Put a summary in place of all but the instructions, calls without an answer, and what the user asked last if nobody answered it.

        Returns `{"analysis", "summary"}`. Without a model the summary is a digest. Where nothing came since the last summary that could go into another one, nobody is asked and
        that one is returned. Raises `TrimtabError` when the reply can't be a summary (a
        tag that isn't closed, no text, or not text at all); then nothing has changed, and neither has it when there is nothing to compact.
        """
        end, last = self._border(), self._summary
        fresh = [m for m in self._messages[0 if last is None else last.covered : end] if not _instructs(m)]
        if not fresh:
            return (
                {"analysis": "", "summary": ""} if last is None else {"analysis": last.analysis, "summary": last.text}
            )
        messages, earlier = as_read(fresh), last.text if last is not None else ""
        analysis, text = self._digest(messages, earlier) if model is None else self._asked(model, messages, earlier)
        self._summary = _Summary(end, analysis, text)
        return {"analysis": analysis, "summary": text}

    def _active(self) -> tuple[Message, ...]:
        """What is in view."""
        if self._summary is None:
            return as_read(self._messages)
        covered = self._summary.covered
        kept = [m for m in self._messages[:covered] if _instructs(m)]
        told = User(user(f"{_HEAD}\n{self._summary.text}").parts, origin="summary")
        return as_read([*kept, told, *self._messages[covered:]])

    def _border(self) -> int:
        """Up to where a summary may stand: calls that wait for an answer stay, and so does a request that nobody has answered yet."""
        answered = {m.call_id for m in self._messages if isinstance(m, ToolResult)}
        end = len(self._messages)
        for number, message in enumerate(self._messages):
            if isinstance(message, Assistant) and any(c.id not in answered for c in message.tool_calls):
                return number
        while end and isinstance(last := self._messages[end - 1], User) and not _instructs(last):
            end -= 1
        return end if any(not _instructs(m) for m in self._messages[:end]) else len(self._messages)

    def _digest(self, messages: tuple[Message, ...], earlier: str) -> tuple[str, str]:
        """The earlier summary, in half of the room at most, and behind it what came since."""
        count = Counter(ModelInfo(provider="", id="", api="openai-chat")).text
        begun = fit(redact(earlier), max_tokens=_DIGEST_TOKENS // 2, count=count).text
        told = digest(messages, count=count, max_tokens=_DIGEST_TOKENS - count(begun))
        return "", "\n\n".join(text for text in (begun, told) if text)

    def _asked(self, model: Model, messages: tuple[Message, ...], earlier: str) -> tuple[str, str]:
        prompt = build_summary_prompt(messages, previous=earlier or None, profile="general")
        encode = self._remembered.format.encode
        text = model(encode((user(prompt.system), *prompt.messages), lambda _messages, _index: None))
        reply = parse_reply(text) if isinstance(text, str) else Malformed(f"the model returned {type(text).__name__}")
        if isinstance(reply, Malformed):
            raise TrimtabError(f"the reply is no summary: {reply.reason}", hint="Ask again; nothing was compacted.")
        if not reply.summary:
            raise TrimtabError("the reply holds no summary", hint="Ask again; nothing was compacted.")
        return redact(reply.analysis), redact(reply.summary)


def _instructs(message: Message) -> bool:
    return isinstance(message, User) and (message.wire or {}).get("role") in ("system", "developer")
