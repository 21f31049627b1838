"""Servers of the Model Context Protocol for tests: a program that does as it is told (`mcp_server.py`), configured, connected, left.

Where the SDK isn't installed, the tests that need it are skipped, and say so.
"""

import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from trimtab.agent.ports import ToolOutput, ToolRun
from trimtab.coding.confine import confiner_of
from trimtab.coding.guard import permission_hooks, workspace_of
from trimtab.coding.mcp.hub import Mcp
from trimtab.coding.mcp.open import configured, servers_of, ways_of
from trimtab.coding.mcp.sdk import installed
from trimtab.coding.person import NOBODY, Person, Question
from trimtab.coding.project import Project, open_project
from trimtab.coding.services import services
from trimtab.coding.tools.caps import Caps
from trimtab.coding.tools.capture import PrivateFolder
from trimtab.types.messages import Text
from trimtab.types.models import ModelInfo

FAKE = str(Path(__file__).with_name("mcp_server.py"))
needs_sdk = pytest.mark.skipif(not installed(), reason="MCP IS NOT TESTED: the extra isn't installed (trimtab[mcp])")


def fake(mode: str = "good", **more: Any) -> dict[str, Any]:
    """The configuration of a server that behaves so."""
    return {"command": sys.executable, "args": ["-I", FAKE, mode], **more}


def project_of(root: Path, servers: Mapping[str, Any] | None = None, **more: Any) -> Project:
    """A project in an empty home, with these servers; `more` are other settings of `[mcp]`."""
    folder = root / "project"
    folder.mkdir(exist_ok=True)
    env = {"TRIMTAB_HOME": str(root / "home"), "HOME": str(root), "PATH": "/usr/bin:/bin", "OPENAI_API_KEY": "sk-1"}
    trust = more.pop("trust", None)
    return open_project(folder, overrides={"mcp": {"servers": dict(servers or {}), **more}}, env=env, trust=trust)


@dataclass
class Said:
    """A person who gives these answers, one after the other."""

    given: list[str | None]
    asked: list[Question] = field(default_factory=list)

    async def ask(self, question: Question) -> str | None:
        """Give the next answer."""
        self.asked.append(question)
        return self.given.pop(0)


@dataclass
class Bench:
    """A hub, what it told its person, and the whole outputs."""

    hub: Mcp
    notices: tuple[str, ...]
    told: list[str] = field(default_factory=list)

    async def call(
        self, server: str, tool: str, update: Callable[[str], Any] | None = None, **arguments: Any
    ) -> ToolOutput:
        """Call a tool by the server's name for it."""

        async def show(text: str) -> None:
            if update is not None:
                update(text)

        found = next(t for t in self.hub.every_tool() if t.server.name == server and t.remote.name == tool)
        return await found.run(arguments, ToolRun("call", show))

    def names(self, window: int = 100_000) -> list[str]:
        """The names of the tools that a model with this window gets."""
        return [tool.spec.name for tool in self.hub.tools(model(window))]


def model(window: int = 100_000, *, images: bool = False) -> ModelInfo:
    """A model with that window."""
    return ModelInfo(
        "p",
        "m",
        api="scripted",
        context_window=window,
        max_output=1_000,
        input=("text", "image") if images else ("text",),
    )


def text_of(output: ToolOutput) -> str:
    """The text of an output."""
    return "".join(part.text for part in output.parts if isinstance(part, Text))


@asynccontextmanager
async def bench(
    root: Path,
    servers: Mapping[str, Any],
    *,
    person: Person = NOBODY,
    met: bool = True,
    project: Project | None = None,
    **more: Any,
) -> AsyncIterator[Bench]:
    """Servers in a project of their own; `met`: a turn began, so that unknown ones have been started."""
    project = project or project_of(root, servers, **more)
    configs, notices = await configured(project, person)
    async with services() as beside:
        found = await servers_of(project, configs, ways_of(project, confiner_of(project), person), beside)
        hooks = permission_hooks(project, workspace_of(project))
        hub = Mcp(project.settings.mcp, found, beside, hooks, PrivateFolder(root / "outputs"), Caps())
        made = Bench(hub, notices)

        async def tell(text: str) -> None:
            made.told.append(text)

        hub.tell = tell
        if met:
            await hub.arrivals()
        yield made
