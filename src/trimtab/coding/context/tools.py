"""The context tools as tools of the agent, and the guard that keeps stubs out of files.

call ──▶ ContextAgentTool ──worker thread──▶ handler ──▶ EngineHost ──back on the loop──▶ the engine's plan
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from anyio import from_thread

from trimtab.agent.ports import Access, ToolOutput, ToolRun
from trimtab.coding.context.chosen import ChosenTools
from trimtab.coding.context.transcript import ManagedTranscript
from trimtab.context.stores.memories import Memories
from trimtab.context.stores.notes import MemoDict, MemoFolder, MemoStore, memos_beside
from trimtab.context.tools.engine_host import EngineHost
from trimtab.context.tools.host import ContextTool
from trimtab.context.tools.profiles import context_tools
from trimtab.types.models import ModelRequest
from trimtab.types.tools import ToolSpec

if TYPE_CHECKING:
    from trimtab.context.asks import Answer, Ask

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ContextAgentTool:
    """One context tool, run in a worker thread."""

    tool: ContextTool

    @property
    def spec(self) -> ToolSpec:
        """Name, description and JSON Schema."""
        return self.tool.spec

    @property
    def snippet(self) -> str:
        """Nothing: what the model needs to know stands in the description."""
        return ""

    @property
    def guidelines(self) -> tuple[str, ...]:
        """None."""
        return ()

    def access(self, arguments: Mapping[str, Any]) -> Access:
        """Touches no file of the project."""
        return Access()

    async def run(self, arguments: Mapping[str, Any], run: ToolRun) -> ToolOutput:
        """Do it."""
        reply = await anyio.to_thread.run_sync(self.tool.handle, arguments)
        return ToolOutput.text(reply.text, is_error=reply.is_error)


def host_for(
    transcript: ManagedTranscript,
    request: Callable[[], ModelRequest],
    *,
    memories: Path,
    folder: Path,
    now: Callable[[], datetime],
    forked_from: Sequence[Path] = (),
) -> EngineHost:
    """Return the host of a session's context tools. `memories` is the file of the long-term memory of the project in `folder`.

    `forked_from` are the folders of memos of the sessions that this one was forked from, the nearest first.
    """
    log = transcript.log
    memos: MemoStore = (
        MemoFolder(memos_beside(log.path), now=now, others=forked_from) if log.path else MemoDict(now=now)
    )
    transcript.engine.memos = memos.infos

    def drive(plan: "Generator[Ask, Answer, T]", /) -> T:
        # Handlers run in a worker thread; the plan runs on the loop, where a model can be asked.
        return from_thread.run(transcript.run, plan)

    return EngineHost(
        engine=transcript.engine,
        view=log.snapshot,
        request=request,
        drive=drive,
        memos=memos,
        memories=Memories(memories, now=now, redact=_redact, folder=folder),
        labels=lambda: dict(log.archive.labels),
        page_tokens=transcript.engine.page_tokens,
    )


def agent_tools(chosen: ChosenTools, host: EngineHost) -> tuple[ContextAgentTool, ...]:
    """Return the tools that are on."""
    tools = context_tools(chosen.catalogue, host, refuse=host.refuse)
    return tuple(ContextAgentTool(tool) for tool in tools if tool.spec.name in chosen.names)


def _redact(text: str) -> str:
    from trimtab.context.summary.redact import redact  # noqa: PLC0415 - needed by a tool that is seldom used

    return redact(text)
