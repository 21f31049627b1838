"""A transcript in memory: the harness alone, tests, and sub-agents that leave no file.

Keeps everything it was given, in order; `view` shows the part a model may see, with every call answered right behind its message.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from trimtab.agent.ports import Prompt, Spent
from trimtab.types.errors import ErrorInfo
from trimtab.types.messages import Assistant, Message, Text, ToolCall, ToolResult
from trimtab.types.models import ModelRequest


class MemoryTranscript:
    """Satisfies `Transcript`. "Durable" means: as long as the object lives."""

    def __init__(self, messages: Sequence[Message] = ()) -> None:
        self._messages: list[Message] = list(messages)
        self._parked: dict[str, str] = {}
        self._records = len(self._messages)

    @property
    def messages(self) -> tuple[Message, ...]:
        """Everything recorded, in order."""
        return tuple(self._messages)

    @property
    def parked(self) -> dict[str, str]:
        """The calls that wait for a person, with their questions."""
        return dict(self._parked)

    def unsettled(self) -> Spent:
        """Nothing is asked for beside the conversation."""
        return Spent()

    async def append(self, messages: Sequence[Message]) -> tuple[str, ...]:
        """Record messages; return one id each."""
        self._messages.extend(messages)
        for message in messages:
            if isinstance(message, ToolResult):
                self._parked.pop(message.call_id, None)
        return tuple(self._new_id() for _ in messages)

    async def park(self, call_id: str, question: str) -> str:
        """Record that a call waits for a person; return the entry id."""
        self._parked[call_id] = question
        return self._new_id()

    def view(self) -> tuple[Message, ...]:
        """Return the conversation as a model may see it.

        Voided and blank answers are left out. Results stand behind their calls, in call order; a call without one is answered
        `pending` (a person was asked) or `interrupted`; a result without a call, or a second one, is left out.
        """
        results: dict[str, ToolResult] = {}
        for message in self._messages:
            if isinstance(message, ToolResult):
                results.setdefault(message.call_id, message)
        shown: list[Message] = []
        for message in self._messages:
            if isinstance(message, ToolResult) or (isinstance(message, Assistant) and _hidden(message)):
                continue
            shown.append(message)
            if isinstance(message, Assistant):
                shown.extend(results.get(call.id) or self._filler(call) for call in message.tool_calls)
        return tuple(shown)

    async def prompt(self, request: ModelRequest) -> Prompt:
        """Return `request` with the whole view."""
        return Prompt(replace(request, messages=self.view()))

    async def reduce(self, request: ModelRequest, refusal: ErrorInfo) -> Prompt | None:
        """Return None: nothing is ever left out here."""
        return None

    async def settle_up(self) -> Spent:
        """Nobody is asked for a summary here."""
        return Spent()

    def _filler(self, call: ToolCall) -> ToolResult:
        text = "pending" if call.id in self._parked else "interrupted"
        return ToolResult(call.id, call.name, (Text(text),), is_error=True)

    def _new_id(self) -> str:
        self._records += 1
        return f"m{self._records}"


def _hidden(message: Assistant) -> bool:
    return message.superseded or not message.parts
