"""Everything about the context of one open session: engine, transcript, tools."""

from collections.abc import Collection
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from msgspec import structs

from trimtab.agent.ports import Provider
from trimtab.agent.run import Agent
from trimtab.coding.context.advice import adviser_for
from trimtab.coding.context.chosen import chosen_tools
from trimtab.coding.context.engine import build_engine, context_settings, engine_settings, make_compactor
from trimtab.coding.context.files import ArchiveFiles
from trimtab.coding.context.learned import experience_of
from trimtab.coding.context.marker_guard import SEARCHED
from trimtab.coding.context.own_policy import OwnPolicy, own_policy
from trimtab.coding.context.summaries import ProjectSummaries
from trimtab.coding.context.summariser import Summarisers
from trimtab.coding.context.tokenizers import Tokenizers
from trimtab.coding.context.tools import ContextAgentTool, agent_tools, host_for
from trimtab.coding.context.transcript import ManagedTranscript
from trimtab.coding.logs import now, session_folder
from trimtab.coding.models import OpenModel, close_provider, open_model, resolve_model
from trimtab.coding.project import Project
from trimtab.coding.role_models import members_named
from trimtab.coding.roles import members_of
from trimtab.coding.tools.capture import PrivateFolder
from trimtab.config.settings import ContextSettings
from trimtab.context.asks import Failed, Kept
from trimtab.context.engine import Engine
from trimtab.context.stores.jsonl import SessionFile
from trimtab.context.stores.log import SessionLog
from trimtab.context.stores.notes import memos_beside
from trimtab.context.tools.engine_host import EngineHost
from trimtab.types.errors import StoreError, TrimtabError, UsageError
from trimtab.types.messages import ToolCall
from trimtab.types.models import ModelInfo, ModelRequest

if TYPE_CHECKING:
    from trimtab.context.window.view import View

_ANCESTORS = 20
"""Forks of forks whose memos are looked for."""


@dataclass(slots=True)
class OpenContext:
    """The context of a session in `folder`. `attach` it to the agent once there is one."""

    engine: Engine
    transcript: ManagedTranscript
    host: EngineHost
    tools: tuple[ContextAgentTool, ...]
    folder: Path
    files: ArchiveFiles | None = None
    _agent: Agent | None = field(default=None)
    recollected: bool = field(default=False)
    """Whether the model was told what the project's memory holds, since the session was opened."""

    def attach(self, agent: Agent) -> None:
        """Say whose model, system prompt and tools the requests carry."""
        self._agent = agent

    def request(self) -> ModelRequest:
        """The request as it would be made now, without messages."""
        if self._agent is None:
            return ModelRequest(self.engine.model, ())
        tools = tuple(tool.spec for tool in self._agent.tools)
        return ModelRequest(self._agent.model, (), system=self._agent.system, tools=tools)

    @property
    def policy(self) -> str:
        """The policy in use, as it was named."""
        return self.engine.policy_name

    @property
    def automatic(self) -> bool:
        """Whether the policy acts by itself. Where it doesn't, only what keeps a request within the window is done; the policy `none` does nothing anyway."""
        return self.engine.deciding and self.policy != "none"

    def set_automatic(self, *, on: bool) -> None:
        """Let the policy act by itself from the next request on, or not. Raises `UsageError` where there is none that could."""
        if on and self.policy == "none":
            raise UsageError("this session has no policy that could act", hint="Start without --policy none.")
        self.engine.deciding = on

    def current(self) -> tuple[Provider, ModelInfo]:
        """The model in use."""
        if self._agent is None:
            raise RuntimeError("the context was never attached to an agent")
        return self._agent.provider, self._agent.model

    def reattached(self, view: "View", gone: "Collection[int]") -> str:
        """What is put from state behind a summary that stands for the slots `gone`."""
        from trimtab.coding.context.state import SHARE, reattached  # noqa: PLC0415 - not needed while there is room

        room = self.engine.budget.room // SHARE
        return reattached(view, self.folder, gone=gone, room=room, count=self.engine.tally.text)

    def keep(self, key: str, text: str, *, summary: str) -> str:
        """Put a text that is in no message where the model can read it, and say how; "" when it has no tool for that.

        Raises `StoreError` when it can't be written.
        """
        if any(tool.spec.name == "memo" for tool in self.tools):
            self.host.memos.write(key, text, summary=summary)
            return f"memo action=read key={key}"
        if self.files is None:
            return ""
        kept = self.files.keep({key: text})
        if not isinstance(kept, Kept):
            raise StoreError(f"{key} can't be kept: {kept.reason if isinstance(kept, Failed) else 'unexpected answer'}")
        return f"read path={kept.paths[key]}"

    async def use_model(self, model: ModelInfo, settings: ContextSettings, *, departed: Provider | None) -> None:
        """Manage for another model from its first request on: a turn that is running ends with the model and the rules it began with.

        Where the new window is smaller, the model in use until then, which `departed` reaches, is asked to summarise first; None: it can't be asked.
        """
        self.transcript.switch_to(
            model, engine_settings(settings, profile=self.engine.settings.tools), departed=departed
        )
        if self._agent is not None and not self._agent.busy:
            await self.transcript.settle_switch()

    async def recollect(self) -> None:
        """Say at the end of the context what earlier sessions kept in the project's memory: once for each opening, to a model that can load it."""
        if self.recollected or all(tool.spec.name != "memory" for tool in self.tools):
            return
        self.recollected = True
        if (wish := await anyio.to_thread.run_sync(self.host.recollection)) is not None:
            view = await anyio.to_thread.run_sync(self.transcript.log.snapshot)
            await self.transcript.run(self.engine.act(view, self.request(), [wish], author="policy:memory"))

    def refuse(self, call: ToolCall) -> str | None:
        """Why `call` must not run: it would write a stub or pointer of this session."""
        return self.host.refuse(call.arguments or call.raw, searched=SEARCHED)


def open_context(
    project: Project, log: SessionLog, model: ModelInfo, stack: AsyncExitStack, *, policy: "OwnPolicy | None" = None
) -> OpenContext:
    """Build the context of a session that has just been opened; `policy` decides in place of the one that settings name. Raises `UsageError` for an unknown policy."""
    settings = context_settings(project, model)
    adviser = adviser_for(project, settings)
    archive = PrivateFolder(archive_beside(log.path) if log.path else None)
    stack.callback(archive.close)
    chosen = chosen_tools(settings, project.settings.tools)
    in_files = chosen.way_back != "recall"
    folder = archive.ensure() if in_files and archive.path is None else archive.path or Path()
    found: list[OpenContext] = []
    writers = writers_of(project, settings, stack)
    experience, tokenizers = experience_of(project, log), Tokenizers(project)
    summaries = ProjectSummaries(summary_file(project) if log.path else None)
    engine = build_engine(
        project,
        log,
        model,
        archive=folder,
        now=lambda: now().timestamp(),
        compactor=lambda: make_compactor(
            smallest_of(writers) if writers else found[0].engine.model,
            reattached=found[0].reattached,
            cache=summaries.cache(),
            asks_first=lambda: found[0].transcript.around.hears_compactions,
        ),
        experience=experience,
        tokenizers=tokenizers.of,
        policy=own_policy(policy, log, lambda: found[0].engine) if policy is not None else None,
    )
    stack.callback(tokenizers.close)
    stack.callback(experience.leave, engine)
    files = ArchiveFiles(archive) if chosen.way_back == "files" else None
    transcript = ManagedTranscript(
        log,
        engine,
        summarisers=Summarisers(
            lambda: found[0].current(),
            small=writers[0].open if writers else None,
            others=tuple(writer.open for writer in writers[1:]),
            quiet_s=settings.summary_wait_s,
        ),
        files=files,
        adviser=adviser,
        experience=experience,
        tokenizers=tokenizers,
        summaries=summaries,
    )
    host = host_for(
        transcript,
        lambda: found[0].request(),
        memories=memory_file(project),
        folder=project.cwd,
        now=now,
        forked_from=memos_of_parents(project, log),
    )
    context = OpenContext(engine, transcript, host, agent_tools(chosen, host), project.cwd, files)
    found.append(context)
    return context


def writers_of(project: Project, settings: ContextSettings, stack: AsyncExitStack) -> tuple["SmallModel", ...]:
    """The models that write summaries before the session's own does: `context.summary_model`, else those of `roles.small`. Raises `UnknownModel` or `ConfigError`."""
    if settings.summary_model:
        members = members_named(project, settings.summary_model)
    else:
        members = members_of(project.settings, "small")
    return tuple(SmallModel(project, member.ref, stack) for member in members)


def smallest_of(writers: tuple["SmallModel", ...]) -> ModelInfo:
    """The first writer, with the window and the answers that all of them have: whichever of them is asked can take it."""
    infos = [writer.info for writer in writers]
    return structs.replace(
        infos[0],
        context_window=min(info.context_window for info in infos),
        max_output=min(info.max_output for info in infos),
    )


def memos_of_parents(project: Project, log: SessionLog) -> tuple[Path, ...]:
    """The folders of memos of the sessions that this one was forked from, the nearest first, as far as they are there."""
    folder, found = session_folder(project), list[Path]()
    parent = log.header.parent_session
    while parent is not None and len(found) < _ANCESTORS:
        try:
            file = folder.find(parent, str(project.cwd))
            parent = SessionFile.read(file).header.parent_session
        except TrimtabError:
            break
        found.append(memos_beside(file))
    return tuple(found)


@dataclass(slots=True)
class SmallModel:
    """The model that writes summaries, where the settings name one. Known at once, opened when it is first asked.

    Raises `UnknownModel` or `ConfigError` for one that there is not.
    """

    project: Project
    ref: str
    stack: AsyncExitStack
    info: ModelInfo = field(init=False)
    _open: OpenModel | None = field(default=None)

    def __post_init__(self) -> None:
        """Find it."""
        self.info = resolve_model(self.project, self.ref).model

    async def open(self) -> tuple[Provider, ModelInfo]:
        """The model, ready to be asked."""
        if self._open is None:
            self._open = await open_model(self.project, self.ref)
            self.stack.push_async_callback(close_provider, self._open.provider)
        return self._open.provider, self._open.info


def archive_beside(session_file: Path) -> Path:
    """The folder of hidden bodies of a session, for models without `recall`."""
    return session_file.with_name(session_file.name + ".archive")


def memory_file(project: Project) -> Path:
    """The long-term memory of a project."""
    return project.home.data / "memory" / f"{name_of(project)}.jsonl"


def summary_file(project: Project) -> Path:
    """The summaries of a project's documents."""
    return project.home.data / "summaries" / f"{name_of(project)}.jsonl"


def name_of(project: Project) -> str:
    """What the folders and files are called that Trimtab keeps for a project."""
    return session_folder(project).folder_of(str(project.cwd)).name
