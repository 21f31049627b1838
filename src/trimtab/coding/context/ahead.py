"""A summary that is written beside the conversation, before the compaction that needs it.

    results recorded, or a turn over in a talk ──▶ engine.prepare_ahead ──asks──▶ model        one at a time, in a task group that a frontend lends
                            a compaction asks the same meanwhile ──▶ the answer that is on its way anyway

The engine takes its steps under the transcript's lock, for moments; the model is waited for outside of it, so no turn waits. Whoever lends the
task group ends this with it: what is being written then is thrown away. Nobody lends one, and nothing is prepared.
"""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import anyio

from trimtab.context.asks import Answer, Ask, Consent, Failed, Summarize
from trimtab.types.messages import Assistant, Message, ToolResult

Work: TypeAlias = Callable[[], Coroutine[Any, Any, None]]
Start: TypeAlias = Callable[[Work], object]
"""Starts a function in a task group: its `start_soon`."""
AskModel: TypeAlias = Callable[[Summarize], Awaitable[Answer]]
AskOthers: TypeAlias = Callable[[Consent], Awaitable[Answer]]


@dataclass(slots=True)
class _Asked:
    """A question that is out. `answer` stays None when nobody waited for it to the end."""

    ask: Summarize | Consent
    answered: anyio.Event = field(default_factory=anyio.Event)
    answer: Answer | None = None


class Background:
    """Runs one preparation after another. `lent`: where, and whether a talk goes on after a turn, so that the time between turns is used too."""

    def __init__(self) -> None:
        self._start: Start | None = None
        self._between_turns = False
        self._running = False
        self._asked: list[_Asked] = []

    def lend(self, start: Start, *, between_turns: bool) -> None:
        """Use this task group from now on."""
        self._start, self._between_turns = start, between_turns

    def begins_after(self, messages: Sequence[Message]) -> bool:
        """Whether to prepare something once these were recorded: another request follows results for certain, and the end of a turn in a talk.

        After the last answer of a single run none follows, and a summary would be money lost.
        """
        if self._start is None or self._running or not messages:
            return False
        last = messages[-1]
        ends = isinstance(last, Assistant) and last.stop_reason == "stop" and not last.tool_calls
        return isinstance(last, ToolResult) or (self._between_turns and ends)

    def begin(self, work: Work) -> None:
        """Start one preparation."""
        assert self._start is not None
        self._running = True

        async def run() -> None:
            try:
                await work()
            finally:
                self._running = False
                self._asked.clear()

        self._start(run)

    async def ask(self, ask: Ask, model: AskModel, others: AskOthers) -> Answer:
        """Ask a model, or others, in the background, where the answer can be shared."""
        if not isinstance(ask, Summarize | Consent):
            return Failed("nothing else is done in the background")
        asked = _Asked(ask)
        self._asked.append(asked)
        try:
            asked.answer = await (model(ask) if isinstance(ask, Summarize) else others(ask))
            return asked.answer
        finally:
            asked.answered.set()

    async def share(self, ask: Summarize) -> Answer | None:
        """The answer to the same question if the background has asked it; None if it hasn't, or never got one."""
        return await self._answer(next((one for one in self._asked if one.ask == ask), None))

    async def share_consent(self) -> Answer | None:
        """What others say to the question about a preparation that they are just being asked; None when they aren't."""
        asks = (one for one in self._asked if isinstance(one.ask, Consent) and not one.answered.is_set())
        return await self._answer(next(asks, None))

    async def _answer(self, asked: _Asked | None) -> Answer | None:
        if asked is None:
            return None
        await asked.answered.wait()
        return asked.answer
