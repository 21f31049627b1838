"""Everything about the context of one open session: engine, transcript, tools."""

from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from trimtab.agent.ports import Provider
from trimtab.agent.run import Agent
from trimtab.coding.context.chosen import chosen_tools
from trimtab.coding.context.engine import build_engine, context_settings
from trimtab.coding.context.files import ArchiveFiles
from trimtab.coding.context.marker_guard import SEARCHED
from trimtab.coding.context.summariser import Summarisers
from trimtab.coding.context.tools import ContextAgentTool, agent_tools, host_for
from trimtab.coding.context.transcript import ManagedTranscript
from trimtab.coding.logs import now, session_folder
from trimtab.coding.project import Project
from trimtab.coding.tools.capture import PrivateFolder
from trimtab.context.engine import Engine
from trimtab.context.hosting import EngineHost
from trimtab.context.stores.log import SessionLog
from trimtab.types.messages import ToolCall
from trimtab.types.models import ModelInfo, ModelRequest


@dataclass(slots=True)
class OpenContext:
    """The context of a session. `attach` it to the agent once there is one."""

    engine: Engine
    transcript: ManagedTranscript
    host: EngineHost
    tools: tuple[ContextAgentTool, ...]
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

    def refuse(self, call: ToolCall) -> str | None:
        """Why `call` must not run: it would write a stub or pointer of this session."""
        return self.host.refuse(call.arguments or call.raw, searched=SEARCHED)


def open_context(project: Project, log: SessionLog, model: ModelInfo, stack: AsyncExitStack) -> OpenContext:
    """Build the context of a session that has just been opened. Raises `UsageError` for an unknown policy."""
    archive = PrivateFolder(archive_beside(log.path) if log.path else None)
    stack.callback(archive.close)
    chosen = chosen_tools(context_settings(project, model), project.settings.tools)
    in_files = chosen.way_back == "files"
    folder = archive.ensure() if in_files and archive.path is None else archive.path or Path()
    engine = build_engine(project, log, model, archive=folder, now=lambda: now().timestamp())
    found: list[OpenContext] = []
    transcript = ManagedTranscript(
        log,
        engine,
        summarisers=Summarisers(lambda: found[0].current()),
        files=ArchiveFiles(archive) if in_files else None,
    )
    host = host_for(transcript, lambda: found[0].request(), memories=memory_file(project), now=now)
    context = OpenContext(engine, transcript, host, agent_tools(chosen, host))
    found.append(context)
    return context


def archive_beside(session_file: Path) -> Path:
    """The folder of hidden bodies of a session, for models without `recall`."""
    return session_file.with_name(session_file.name + ".archive")


def memory_file(project: Project) -> Path:
    """The long-term memory of a project."""
    name = session_folder(project).folder_of(str(project.cwd)).name
    return project.home.data / "memory" / f"{name}.jsonl"
