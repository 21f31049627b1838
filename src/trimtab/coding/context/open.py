"""Everything about the context of one open session: engine, transcript, tools."""

from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from trimtab.agent.ports import Provider
from trimtab.agent.run import Agent
from trimtab.coding.context.chosen import chosen_tools
from trimtab.coding.context.engine import build_engine, context_settings, engine_settings, make_compactor
from trimtab.coding.context.files import ArchiveFiles
from trimtab.coding.context.marker_guard import SEARCHED
from trimtab.coding.context.summariser import Summarisers
from trimtab.coding.context.tools import ContextAgentTool, agent_tools, host_for
from trimtab.coding.context.transcript import ManagedTranscript
from trimtab.coding.logs import now, session_folder
from trimtab.coding.models import OpenModel, close_provider, open_model, resolve_model
from trimtab.coding.project import Project
from trimtab.coding.tools.capture import PrivateFolder
from trimtab.config.settings import ContextSettings
from trimtab.context.asks import Failed, Kept
from trimtab.context.engine import Engine
from trimtab.context.stores.log import SessionLog
from trimtab.context.tools.engine_host import EngineHost
from trimtab.types.errors import StoreError
from trimtab.types.messages import ToolCall
from trimtab.types.models import ModelInfo, ModelRequest

if TYPE_CHECKING:
    from trimtab.context.window.view import View


@dataclass(slots=True)
class OpenContext:
    """The context of a session. `attach` it to the agent once there is one."""

    engine: Engine
    transcript: ManagedTranscript
    host: EngineHost
    tools: tuple[ContextAgentTool, ...]
    files: ArchiveFiles | None = None
    _agent: Agent | None = field(default=None)

    def attach(self, agent: Agent) -> None:
        """Say whose model, system prompt and tools the requests carry."""
        self._agent = agent

    def request(self) -> ModelRequest:
        """The request as it would be made now, without messages."""
        if self._agent is None:
            return ModelRequest(self.engine.model, ())
        tools = tuple(tool.spec for tool in self._agent.tools)
        return ModelRequest(self._agent.model, (), system=self._agent.system, tools=tools)

    def current(self) -> tuple[Provider, ModelInfo]:
        """The model in use."""
        if self._agent is None:
            raise RuntimeError("the context was never attached to an agent")
        return self._agent.provider, self._agent.model

    def reattached(self, view: "View") -> str:
        """What is put behind a summary from state."""
        from trimtab.coding.context.state import SHARE, reattached  # noqa: PLC0415 - not needed while there is room

        return reattached(view, room=self.engine.budget.room // SHARE, count=self.engine.tally.text)

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

    async def use_model(self, model: ModelInfo, settings: ContextSettings, *, departed: Provider) -> None:
        """Manage for another model from its first request on: a turn that is running ends with the model and the rules it began with.

        Where the new window is smaller, the model in use until then, which `departed` reaches, is asked to summarise first.
        """
        self.transcript.switch_to(
            model, engine_settings(settings, profile=self.engine.settings.tools), departed=departed
        )
        if self._agent is not None and not self._agent.busy:
            await self.transcript.settle_switch()

    def refuse(self, call: ToolCall) -> str | None:
        """Why `call` must not run: it would write a stub or pointer of this session."""
        return self.host.refuse(call.arguments or call.raw, searched=SEARCHED)


def open_context(project: Project, log: SessionLog, model: ModelInfo, stack: AsyncExitStack) -> OpenContext:
    """Build the context of a session that has just been opened. Raises `UsageError` for an unknown policy."""
    archive = PrivateFolder(archive_beside(log.path) if log.path else None)
    stack.callback(archive.close)
    chosen = chosen_tools(context_settings(project, model), project.settings.tools)
    in_files = chosen.way_back != "recall"
    folder = archive.ensure() if in_files and archive.path is None else archive.path or Path()
    found: list[OpenContext] = []
    ref = context_settings(project, model).summary_model
    small = SmallModel(project, ref, stack) if ref else None
    engine = build_engine(
        project,
        log,
        model,
        archive=folder,
        now=lambda: now().timestamp(),
        compactor=lambda: make_compactor(
            small.info if small else found[0].engine.model, reattached=found[0].reattached
        ),
    )
    files = ArchiveFiles(archive) if chosen.way_back == "files" else None
    transcript = ManagedTranscript(
        log,
        engine,
        summarisers=Summarisers(lambda: found[0].current(), small=small.open if small else None),
        files=files,
    )
    host = host_for(transcript, lambda: found[0].request(), memories=memory_file(project), now=now)
    context = OpenContext(engine, transcript, host, agent_tools(chosen, host), files)
    found.append(context)
    return context


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
    name = session_folder(project).folder_of(str(project.cwd)).name
    return project.home.data / "memory" / f"{name}.jsonl"
