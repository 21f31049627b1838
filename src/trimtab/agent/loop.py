"""The agent's loop: ask the model, run the tools it called, until it is done.

    turn  = prompt … step* … end
    step  = prompt (the request, fitted) → answer (recorded) → verdict → calls run, results recorded

One coroutine that pushes events through `emit`; it knows a provider, a transcript and tools only by their ports. The one rule is the
order: *record, then tell, then act*. An answer is durable before `message_ended` and before any of its tools runs; a result is
durable before `tool_ended`. What is being recorded when a cancel comes is recorded to the end.

A cancel leaves `scope` (or whatever scope is outside it). On the way out the partial answer and a result for every call are recorded,
so the conversation is always whole: the next request needs no repair.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import assert_never

import anyio

from trimtab.agent.answer import Draft
from trimtab.agent.calls import with_unique_ids
from trimtab.agent.dispatch import Bench, ended_event, run_calls
from trimtab.agent.events import Error, MessageEnded, Retry, StepEnded, StepStarted, TurnEnded, TurnReason, TurnStarted
from trimtab.agent.inbox import Inbox
from trimtab.agent.limits import Allowance
from trimtab.agent.ports import Closer, Prompt, Provider, Relief, Seat, Spent
from trimtab.agent.verdict import EMPTY_PROMPT, Verdict, judge
from trimtab.types.errors import BudgetExceeded, ContextFloor, ErrorInfo, StoreError, TrimtabError
from trimtab.types.messages import Assistant, Message, StopReason, ToolCall, ToolResult, User, user
from trimtab.types.models import ModelInfo, ModelRequest, add_costs, cost_usd
from trimtab.types.usage import Usage

_REDUCIBLE = frozenset({"overflow", "request_too_large_for_tier", "output_cap", "media"})
"""Refusals that a smaller request may get around. A rate limit is none: waiting helps there, and shortening doesn't."""


@dataclass(frozen=True, slots=True)
class Kit:
    """All that a turn works with. `seen` are the call ids of the session so far; it grows. `system` is asked before each request, `again` (may it be sent once more?) when one failed. `max_output` in tokens."""

    provider: Provider
    model: ModelInfo
    bench: Bench
    inbox: Inbox = field(default_factory=Inbox)
    seen: set[str] = field(default_factory=set)
    system: Callable[[], str] = str
    again: Callable[[], bool] = lambda: True
    thinking: str | None = None
    max_output: int | None = None
    max_steps: int | None = None
    session_id: str = ""
    allowance: Allowance = field(default_factory=Allowance)
    closer: Closer | None = None
    relief: Relief | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """How a turn ended. `message` is the last answer that was recorded; `usage` and `cost_usd` are sums over its requests, and of these
    `summaries` went to requests that no answer of the conversation tells of.

    `cost_usd` is None when a price is unknown. It is counted request by request, because the tier depends on the size of each prompt.
    """

    reason: TurnReason
    message: Assistant | None
    usage: Usage
    steps: int
    error: Error | None = None
    cost_usd: float | None = None
    summaries: Spent = field(default_factory=Spent)

    @property
    def text(self) -> str:
        """The text of the last answer."""
        return self.message.text if self.message else ""


async def run_turn(kit: Kit, opening: Sequence[Message], *, scope: anyio.CancelScope) -> Turn:
    """Record `opening` (a prompt, or answers to parked calls) and take steps until the turn ends.

    Never raises a `TrimtabError`: that ends the turn with an `error` event. Cancelling `scope` ends it with reason `cancelled`; a
    cancel from outside does the same and goes on upwards.
    """
    state = _State(kit)
    reason: TurnReason = "error"
    try:
        with scope:
            reason = await _in_time(state, opening)
        if scope.cancelled_caught:
            reason = "cancelled"
    except TrimtabError as error:
        reason, state.error = _ended_by(error)
    except anyio.get_cancelled_exc_class():
        reason = "cancelled"
        raise
    finally:
        with anyio.CancelScope(shield=True):
            if state.error is not None:
                await kit.bench.emit(state.error)
            spent = await kit.bench.transcript.settle_up()
            kit.allowance.spend(spent.usage, spent.usd)
            usage = state.usage + spent.usage
            await kit.bench.emit(TurnEnded(reason=reason, usage=usage, summary_usage=spent.usage))
    cost = add_costs(state.cost_usd, spent.usd)
    return Turn(reason, state.message, usage, state.steps, state.error, cost, spent)


async def _in_time(state: "_State", opening: Sequence[Message]) -> TurnReason:
    """Take steps, until the time is up. Raises `BudgetExceeded` then."""
    allowance = state.kit.allowance
    allowance.start(anyio.current_time())
    with anyio.CancelScope(deadline=allowance.ends):
        return await _steps(state, opening)
    raise allowance.out_of_time()


async def _steps(state: "_State", opening: Sequence[Message]) -> TurnReason:
    kit = state.kit
    with anyio.CancelScope(shield=True):  # what a person said is kept, even when the cancel comes right behind it
        await kit.bench.emit(TurnStarted())
        await state.record(opening)
    if kit.closer is not None:
        said = not opening or any(isinstance(message, User) for message in opening)
        await (kit.closer.begin() if said else kit.closer.resume())
    while not kit.bench.parked:
        if kit.max_steps is not None and state.steps >= kit.max_steps:
            return "max_steps"
        kit.allowance.check(kit.bench.transcript.unsettled())
        await _deliver_steering(state)
        verdict = await _step(state)
        state.error = _as_event(verdict.failure) if verdict.failure else None
        if verdict.reason == "stop" and kit.inbox.steering:
            continue
        if verdict.reason == "stop" and kit.closer is not None and state.message is not None:
            closing = await kit.closer.close(state.message, kit.bench.emit)
            if closing.messages:
                await state.record(closing.messages)
                continue
            state.error = closing.error
            return closing.reason
        if verdict.reason is not None:
            return verdict.reason
        if verdict.flaw == "empty":
            await state.record([user(EMPTY_PROMPT, origin="command")])
    return "parked"


async def _step(state: "_State") -> Verdict:
    """One model request, and the calls of its answer."""
    kit = state.kit
    bench = kit.bench
    stop: StopReason = "error"
    answer: Assistant | None = None
    prompt = await bench.transcript.prompt(_request(kit, state.seat))
    state.steps += 1
    try:
        await _tell(bench, prompt)
        await bench.emit(StepStarted(step=state.steps, prompt_tokens=prompt.tokens))
        state.prompt_tokens = prompt.tokens or 0
        answer = await _ask(state, prompt.request)
        stop = answer.stop_reason
        verdict = judge(answer, empties=state.empties, cuts=state.cuts)
        state.empties = state.empties + 1 if verdict.flaw == "empty" else 0
        state.cuts = state.cuts + 1 if verdict.flaw == "cut" else 0
        shown = {tool.name for tool in prompt.request.tools}
        await run_calls(answer.tool_calls, bench, answered=verdict.answered, shown=shown)
        return verdict
    except anyio.get_cancelled_exc_class():
        stop = "cancelled"
        raise
    finally:
        with anyio.CancelScope(shield=True):
            usage = answer.usage if answer else None
            await bench.emit(StepEnded(step=state.steps, stop_reason=stop, usage=usage))


def _request(kit: Kit, seat: Seat) -> ModelRequest:
    """What is asked for, before the transcript has put the messages in."""
    return ModelRequest(
        model=seat.model,
        messages=(),
        system=kit.system(),
        tools=tuple(tool.spec for tool in kit.bench.tools.values()),
        max_output=kit.max_output,
        thinking=seat.thinking,
        session_id=kit.session_id,
    )


async def _ask(state: "_State", request: ModelRequest) -> Assistant:
    """Send the request, hear the answer, record it."""
    kit = state.kit
    draft = Draft(request, kit.bench.emit)

    async def void(partial: Assistant) -> None:
        await state.record([partial], draft=draft)

    try:
        await draft.hear(state.seat.provider, void=void, again=kit.again)
        tried: list[str] = []
        while True:
            if (smaller := await _smaller(state, draft)) is not None:
                draft = Draft(smaller, kit.bench.emit)
                await draft.hear(state.seat.provider, void=void, again=kit.again)
            tried.append(state.seat.model.ref)
            if (elsewhere := await _relieved(state, draft, tried)) is None:
                break
            draft = Draft(elsewhere, kit.bench.emit)
            await draft.hear(state.seat.provider, void=void, again=kit.again)
    except anyio.get_cancelled_exc_class():
        if not draft.empty:
            with anyio.CancelScope(shield=True):
                partial = await state.keep(draft.cancelled(), draft)
                verdict = judge(partial)
                await run_calls(partial.tool_calls, kit.bench, answered=verdict.answered)
        raise
    return await state.keep(draft.message(), draft)


async def _smaller(state: "_State", draft: Draft) -> ModelRequest | None:
    """A smaller request to send instead, when the server refused the size of this one before it said anything. Asked once for each step."""
    answer = draft.message()
    refusal = answer.error
    if refusal is None or refusal.kind not in _REDUCIBLE or answer.parts:
        return None
    bench = state.kit.bench
    prompt = await bench.transcript.reduce(_request(state.kit, state.seat), refusal)
    if prompt is None:
        return None
    await bench.emit(Retry(attempt=1, wait_s=0.0, kind=refusal.kind, message=refusal.message))
    await _tell(bench, prompt)
    return prompt.request


async def _relieved(state: "_State", draft: Draft, tried: Sequence[str]) -> ModelRequest | None:
    """The request as it is sent to somebody else, when the one who was asked can't be had and had not said anything. What the failure took is counted."""
    kit, answer = state.kit, draft.message()
    if kit.relief is None or answer.error is None or answer.parts:
        return None
    seat = await kit.relief.instead(state.seat, answer.error, tried=tried, emit=kit.bench.emit)
    if seat is None:
        return None
    state.count(answer)
    state.seat = seat
    kit.allowance.check(kit.bench.transcript.unsettled())
    prompt = await kit.bench.transcript.prompt(_request(kit, seat))
    await _tell(kit.bench, prompt)
    state.prompt_tokens = prompt.tokens or 0
    return prompt.request


async def _tell(bench: Bench, prompt: Prompt) -> None:
    for event in prompt.news:
        await bench.emit(event)


async def _deliver_steering(state: "_State") -> None:
    messages = state.kit.inbox.take_steering()
    try:
        await state.record(messages)
    except TrimtabError:
        state.kit.inbox.give_back(messages)
        raise


class _State:
    """What a turn has come to so far."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        self.seat = Seat(kit.provider, kit.model, kit.thinking)
        self.steps = 0
        self.usage = Usage()
        self.cost_usd: float | None = 0.0
        self.message: Assistant | None = None
        self.error: Error | None = None
        self.empties = 0
        self.cuts = 0
        self.prompt_tokens = 0

    async def keep(self, answer: Assistant, draft: Draft) -> Assistant:
        """Record an answer with call ids that are new to the session; return it as recorded."""
        answer = with_unique_ids(answer, self.kit.seen)
        usage = self.count(answer)
        if not usage.prompt:
            taken = Usage(input=self.prompt_tokens, output=_counted(answer))
            self._spend(taken)
        await self.record([answer], draft=draft)
        self.message = answer
        return answer

    def count(self, answer: Assistant) -> Usage:
        """Add what the server says that an answer took, or a request that failed; return it."""
        usage = answer.usage or Usage()
        self.usage += usage
        self.cost_usd = add_costs(self.cost_usd, cost_usd(usage, self.seat.model.prices))
        if usage.prompt:
            self._spend(usage)
        return usage

    def _spend(self, usage: Usage) -> None:
        model = self.seat.model
        self.kit.allowance.spend(usage, cost_usd(usage, model.prices), model=model.ref)

    async def record(self, messages: Sequence[Message], *, draft: Draft | None = None) -> None:
        """Make messages durable, then tell; not to be cut in half by a cancel. `draft` is the one an answer comes from."""
        if not messages:
            return
        bench = self.kit.bench
        with anyio.CancelScope(shield=True):
            entry_ids = await bench.transcript.append(messages)
            for entry_id, message in zip(entry_ids, messages, strict=True):
                match message:
                    case ToolResult():
                        bench.parked.pop(message.call_id, None)
                        await bench.emit(ended_event(entry_id, message))
                    case Assistant() if draft is not None:
                        await draft.announce()
                        await bench.emit(MessageEnded(entry_id=entry_id, message=message, message_id=draft.message_id))
                    case User() | Assistant():
                        await bench.emit(MessageEnded(entry_id=entry_id, message=message))
                    case _:
                        assert_never(message)


def _counted(answer: Assistant) -> int:
    """About how many tokens an answer has whose server says nothing of it; limits are kept by it."""
    return sum(len(part.raw if isinstance(part, ToolCall) else getattr(part, "text", "")) for part in answer.parts) // 4


def _as_event(failure: ErrorInfo) -> Error:
    return Error(kind=failure.kind, message=failure.message, hint=failure.hint)


def _ended_by(error: TrimtabError) -> tuple[TurnReason, Error]:
    reason: TurnReason = "error"
    kind = "store" if isinstance(error, StoreError) else "invalid"
    if isinstance(error, ContextFloor):
        reason = kind = "floor"
    elif isinstance(error, BudgetExceeded):
        reason = kind = "budget"
    return reason, Error(kind=kind, message=error.message, hint=error.hint)
