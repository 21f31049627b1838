"""The harness: an agent as one object, usable alone. It knows no files, no settings and no screen.

    from trimtab.agent import Agent, SimpleTool, ToolOutput

    async def main(provider, model):
        agent = Agent(provider, model=model, system="Be brief.", tools=[clock])
        turn = await agent.prompt("What time is it?")
        print(turn.reason, turn.text)

`examples/harness.py` is that with a model and a tool in it. One rule: the agent does one thing at a time. `prompt` while it is busy is
an error that says so; `steer`, `follow_up`, `cancel` and `answer` are what one may do meanwhile.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import anyio

from trimtab.agent.dispatch import Bench, result_of
from trimtab.agent.feed import Feed
from trimtab.agent.inbox import Inbox
from trimtab.agent.limits import Allowance, Limits
from trimtab.agent.loop import Kit, Turn, run_turn
from trimtab.agent.memory import MemoryTranscript
from trimtab.agent.ports import Closer, Hooks, NoHooks, Provider, Relief, Tool, ToolOutput, Transcript
from trimtab.types.errors import UsageError
from trimtab.types.messages import Assistant, Message, Origin, ToolCall, ToolResult, User, user
from trimtab.types.models import ModelInfo, add_costs
from trimtab.types.text import scrub

PENDING = "pending: nobody has answered this call; the conversation went on without it."
"""The result of a parked call when a new prompt arrives before its answer."""


class AgentBusy(UsageError):
    """The agent already runs a turn."""


class Agent:
    """A model, its tools and a conversation.

    `messages` begin the conversation when no `transcript` is given (then one in memory is used). `parked` are the calls of the
    transcript that wait for a person, with their questions; who reopens a session passes them, and in `seen` the ids of all calls it
    holds, shown or not (default: those it shows). `max_output` is in tokens.
    `limits` hold for all turns together; `closer` is asked before a turn ends well, `relief` when a model can't be had. `feed`: give one with a clock for events that carry a time. The attributes may be set between turns; a running turn keeps what it
    began with, but for `system`, which its next request has, and `retries`.
    """

    def __init__(
        self,
        provider: Provider,
        *,
        model: ModelInfo,
        system: str = "",
        tools: Iterable[Tool] = (),
        messages: Sequence[Message] = (),
        transcript: Transcript | None = None,
        parked: Mapping[str, str] | None = None,
        seen: Iterable[str] | None = None,
        hooks: Hooks | None = None,
        feed: Feed | None = None,
        thinking: str | None = None,
        max_steps: int | None = None,
        max_output: int | None = None,
        session_id: str = "",
        limits: Limits | None = None,
        closer: Closer | None = None,
        relief: Relief | None = None,
    ) -> None:
        self.allowance = Allowance(limits or Limits())
        self.closer = closer
        self.relief = relief
        self.provider = provider
        self.model = model
        self.system = system
        self.tools: tuple[Tool, ...] = tuple(tools)
        self.transcript: Transcript = MemoryTranscript(messages) if transcript is None else transcript
        self.hooks: Hooks = hooks or NoHooks()
        self.feed = feed or Feed()
        self.inbox = Inbox()
        self.retries = True
        """Whether a request that failed is sent again by itself; asked at each failure."""
        self.thinking = thinking
        self.max_steps = max_steps
        self.max_output = max_output
        self.session_id = session_id
        self._parked = dict(parked or {})
        self._seen = {call.id for call in _calls(self.messages)} if seen is None else set(seen)
        self._scope: anyio.CancelScope | None = None
        self._idle = anyio.Event()

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation as it stands: what a request shows if nothing has to make room."""
        return self.transcript.view()

    @property
    def busy(self) -> bool:
        """True while a turn runs."""
        return self._scope is not None

    @property
    def parked(self) -> dict[str, str]:
        """The calls that wait for a person, with their questions."""
        return dict(self._parked)

    async def prompt(self, prompt: str | User) -> Turn:
        """Say something and run until the agent is idle again; follow-ups that wait are run too.

        Returns the last turn; `usage`, `cost_usd` and `steps` count all of them. Calls that still wait for a person are closed as pending.
        Raises `AgentBusy` while a turn runs; failures end the turn with reason `error` and never raise.
        """
        closing = [self._answer_message(call_id, ToolOutput.text(PENDING, is_error=True)) for call_id in self._parked]
        return await self._run([*closing, _message(prompt, "prompt")])

    async def continue_(self) -> Turn:
        """Run a turn without saying anything: after an error, a cancel or a restart. Raises as `prompt` does.

        Raises `UsageError` when a call waits for a person.
        """
        if self._parked and not self.busy:
            raise UsageError("A call waits for an answer.", hint=f"Answer it first: {', '.join(self._parked)}.")
        return await self._run([])

    async def answer(self, call_id: str, text: str, *, is_error: bool = False) -> Turn:
        """Answer a parked call; the turn goes on when it was the last one. While a turn runs, waits until it has ended.

        Raises `UsageError` when no call of that id waits.
        """
        while self.busy:
            await self._idle.wait()
        if call_id not in self._parked:
            waiting = ", ".join(self._parked) or "none"
            raise UsageError(f"No call {call_id!r} waits for an answer.", hint=f"Waiting: {waiting}.")
        return await self._run([self._answer_message(call_id, ToolOutput.text(text, is_error=is_error))])

    def look_again(self, parked: Mapping[str, str]) -> None:
        """The conversation is another one now (a turn was taken back, another branch): these calls wait for a person in it. For an idle agent."""
        self._parked = dict(parked)

    def steer(self, text: str | User) -> None:
        """Change the course of the running turn: delivered before its next request, or with the next turn."""
        self.inbox.steer(_message(text, "steering"))

    def follow_up(self, text: str | User) -> None:
        """Say something once the running turn is done."""
        self.inbox.follow_up(_message(text, "follow_up"))

    def cancel(self) -> None:
        """Stop the running turn, at whatever point; does nothing while idle. What waits in the inbox stays there."""
        if self._scope is not None:
            self._scope.cancel()

    async def _run(self, opening: Sequence[Message]) -> Turn:
        if self.busy:
            raise AgentBusy("The agent is busy.", hint="Steer it, queue a follow-up, or cancel the turn first.")
        self._idle = anyio.Event()
        try:
            turn = await self._turn(opening)
            while turn.reason == "stop" and not self._cancelled and (more := self.inbox.take_opening()):
                later = await self._turn(more)
                turn = replace(
                    later,
                    usage=turn.usage + later.usage,
                    steps=turn.steps + later.steps,
                    cost_usd=add_costs(turn.cost_usd, later.cost_usd),
                    summaries=turn.summaries + later.summaries,
                )
            return turn
        finally:
            self._scope = None
            self._idle.set()

    @property
    def _cancelled(self) -> bool:
        return self._scope is not None and self._scope.cancel_called

    async def _turn(self, opening: Sequence[Message]) -> Turn:
        self._scope = anyio.CancelScope()
        bench = Bench(
            tools={tool.spec.name: tool for tool in self.tools},
            hooks=self.hooks,
            transcript=self.transcript,
            emit=self.feed.publish,
            parked=self._parked,
        )
        kit = Kit(
            provider=self.provider,
            model=self.model,
            bench=bench,
            inbox=self.inbox,
            seen=self._seen,
            system=lambda: self.system,
            again=lambda: self.retries,
            thinking=self.thinking,
            max_output=self.max_output,
            max_steps=self.max_steps,
            session_id=self.session_id,
            allowance=self.allowance,
            closer=self.closer,
            relief=self.relief,
        )
        return await run_turn(kit, opening, scope=self._scope)

    def _answer_message(self, call_id: str, output: ToolOutput) -> ToolResult:
        name = next((call.name for call in _calls(self.messages) if call.id == call_id), "")
        return result_of(call_id, name, output)


def _message(text: str | User, origin: Origin) -> User:
    return text if isinstance(text, User) else user(scrub(text), origin=origin)


def _calls(messages: Iterable[Message]) -> Iterator[ToolCall]:
    return (call for message in messages if isinstance(message, Assistant) for call in message.tool_calls)
