"""The composition root: a session is a log, a model, tools and a loop, wired together.

    flags → Project → open_session ── choose the log ── resolve the model ── build the tools ── Agent
    prompt → Agent.prompt → loop → provider, tools → LogTranscript → SessionLog; events → feed → whoever watches

This is the only module that knows all siblings. Frontends get events from `feed` and call methods here; they decide nothing.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio

from trimtab.agent.events import Notice, Result, SessionOpened
from trimtab.agent.feed import Feed
from trimtab.agent.loop import Turn
from trimtab.agent.ports import Provider, Tool
from trimtab.agent.run import Agent
from trimtab.coding.changes import ChangeRecorder
from trimtab.coding.choose import Choice
from trimtab.coding.guard import permission_hooks, workspace_of
from trimtab.coding.logs import last_model, now, open_log, outputs_beside, writes_at_once
from trimtab.coding.models import OpenModel, open_model, pick_model
from trimtab.coding.outcome import exit_code
from trimtab.coding.project import Project
from trimtab.coding.prompts import describe_tools, load_prompt
from trimtab.coding.tools.capture import PrivateFolder
from trimtab.coding.toolset import build_tools
from trimtab.coding.transcript import LogTranscript
from trimtab.context.stores.log import SessionLog
from trimtab.types.messages import User
from trimtab.types.models import ModelInfo

PATIENCE_S = 60.0
"""How long the agent waits for a watcher that takes nothing more before it gives it up, in seconds."""


class Session:
    """One open session. Make one with `open_session`.

    `feed` carries every event; subscribe before `announce`. One turn at a time: `steer`, `follow_up` and `cancel` are for meanwhile.
    """

    def __init__(
        self, project: Project, log: SessionLog, agent: Agent, changes: ChangeRecorder, *, notices: tuple[str, ...]
    ) -> None:
        self.project = project
        self.log = log
        self.agent = agent
        self._changes = changes
        self._notices = notices

    @property
    def feed(self) -> Feed:
        """Where events are."""
        return self.agent.feed

    @property
    def model(self) -> ModelInfo:
        """The model in use."""
        return self.agent.model

    @property
    def busy(self) -> bool:
        """True while a turn runs."""
        return self.agent.busy

    async def announce(self) -> None:
        """Publish the header and what a person should know; always the first events."""
        header = self.log.header
        file = str(self.log.path) if self.log.path else None
        await self.feed.publish(
            SessionOpened(
                format=header.format,
                id=header.id,
                cwd=self.log.cwd,
                created=header.created,
                parent_session=header.parent_session,
                session_file=file,
            )
        )
        for text in self._notices:
            await self.feed.publish(Notice(message=text))

    async def tell(self, text: str) -> None:
        """Publish a notice."""
        await self.feed.publish(Notice(message=text))

    async def prompt(self, prompt: str | User) -> Turn:
        """Say something and run until idle. Raises `AgentBusy` while a turn runs; failures end the turn instead of raising."""
        await self._record_model()
        return await self.agent.prompt(prompt)

    async def answer(self, call_id: str, text: str) -> Turn:
        """Answer a parked call and go on. Raises `UsageError` when no such call waits."""
        return await self.agent.answer(call_id, text)

    def steer(self, text: str) -> None:
        """Tell the running turn something before its next step."""
        self.agent.steer(text)

    def follow_up(self, text: str) -> None:
        """Say something once the turn is done."""
        self.agent.follow_up(text)

    def cancel(self) -> None:
        """Stop the running turn."""
        self.agent.cancel()

    async def set_model(self, ref: str) -> None:
        """Use another model from the next request on. Raises `UnknownModel` or `ConfigError`, and then nothing changes."""
        opened = await open_model(self.project, ref)
        await _close(self.agent.provider)
        self.agent.provider, self.agent.model, self.agent.thinking = opened.provider, opened.info, opened.thinking
        for note in opened.notes:
            await self.feed.publish(Notice(message=note))

    async def _record_model(self) -> None:
        """Say in the log which model answers from here on, when the log doesn't say so yet."""
        used = last_model(self.log)
        if used is not None and used != self.model.ref:
            await anyio.to_thread.run_sync(self.log.set_model, self.model.provider, self.model.id)

    def result(self, turn: Turn, *, code: int | None = None) -> Result:
        """The last event of JSON mode. `code` overrides the exit code (a signal)."""
        return Result(
            reason=turn.reason,
            exit_code=exit_code(turn.reason) if code is None else code,
            text=turn.text,
            usage=turn.usage,
            cost_usd=turn.cost_usd,
            steps=turn.steps,
            session_id=self.log.header.id,
            session_file=str(self.log.path) if self.log.path else None,
            changed_files=self._changes.files,
        )


@asynccontextmanager
async def open_session(
    project: Project,
    choice: Choice,
    *,
    takeover: bool = False,
    provider: Provider | None = None,
    extra_tools: tuple[Tool, ...] = (),
) -> AsyncIterator[Session]:
    """Open (or begin) the session that `choice` means, ready for a prompt. `provider` replaces the configured one.

    Raises `UnknownSession`, `SessionLocked`, `SessionError`, `UnknownModel` or `ConfigError`; then nothing was written.
    """
    more = tuple(tool.spec.name for tool in extra_tools)
    # A new file is made only once nothing else can fail; an existing one says which model it used.
    kit = await _kit(project, None, provider, more) if writes_at_once(choice, project) else None
    opened = await anyio.to_thread.run_sync(lambda: open_log(project, choice, takeover=takeover))
    log = opened.log
    try:
        kit = kit or await _kit(opened.project, opened.model_ref, provider, more)
        kit.outputs.path = outputs_beside(log.path) if log.path else None
        tools = (*kit.tools, *extra_tools)
        agent = Agent(
            kit.model.provider,
            model=kit.model.info,
            system=system_prompt(opened.project, tools),
            tools=tools,
            transcript=LogTranscript(log),
            parked={p.call_id: p.question for p in log.parked},
            seen=await anyio.to_thread.run_sync(log.call_ids),
            hooks=kit.hooks,
            feed=Feed(now=lambda: now().timestamp(), patience_s=PATIENCE_S),
            thinking=kit.model.thinking,
            max_steps=opened.project.settings.max_steps,
            session_id=log.header.id,
        )
        notices = (*opened.project.notices, *opened.notices, *kit.model.notes)
        try:
            yield Session(opened.project, log, agent, kit.hooks, notices=notices)
        finally:
            agent.feed.close()
            with anyio.CancelScope(shield=True):
                await _close(agent.provider)
    finally:
        if kit is not None:
            kit.outputs.close()
        log.close()


@dataclass(frozen=True, slots=True)
class _Kit:
    """What a session needs beside its log."""

    model: OpenModel
    tools: tuple[Tool, ...]
    hooks: ChangeRecorder
    outputs: PrivateFolder


async def _kit(
    project: Project, session_ref: str | None, provider: Provider | None, more_tools: tuple[str, ...]
) -> _Kit:
    workspace = workspace_of(project)
    hooks = ChangeRecorder(permission_hooks(project, workspace, more_tools=more_tools), workspace)
    outputs = PrivateFolder()
    model = await pick_model(project, session_ref, provider=provider)
    tools = build_tools(project, images="image" in model.info.input, outputs=outputs)
    return _Kit(model, tools, hooks, outputs)


def system_prompt(project: Project, tools: tuple[Tool, ...]) -> str:
    """The system prompt: ours or the person's, then what was appended."""
    settings = project.settings
    values: Mapping[str, str] = {
        "tools": describe_tools(tools),
        "cwd": str(project.cwd),
        "platform": project.platform,
        "date": now().strftime("%Y-%m-%d"),
    }
    base = settings.system_prompt if settings.system_prompt is not None else load_prompt("system", values)
    return base + (f"\n{settings.append_system_prompt}\n" if settings.append_system_prompt else "")


async def _close(provider: Provider) -> None:
    close = getattr(provider, "aclose", None)
    if close is not None:
        await close()
