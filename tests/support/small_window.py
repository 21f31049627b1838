"""Sessions in a window that is too small for them: a project with large files, and scripts that read them.

room = SmallRoom.at(tmp_path, window=8_000)
async with room.open(calls(("read", {"path": "a.txt"})), text("done")) as session: ...
"""

import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from trimtab.agent.feed import Watcher
from trimtab.agent.ports import Provider, Tool
from trimtab.coding.choose import AtFile, Choice
from trimtab.coding.opening import open_session
from trimtab.coding.project import Project, open_project
from trimtab.coding.session import Session
from trimtab.providers.scripted import ScriptedProvider
from trimtab.types.messages import Message, ToolResult
from trimtab.types.models import ModelRequest

Json: TypeAlias = dict[str, Any]


def calls(*wanted: tuple[str, Json], text: str = "") -> Json:
    """A line of a script that makes these calls."""
    return {"text": text, "tool_calls": [{"name": name, "arguments": arguments} for name, arguments in wanted]}


def reads(*names: str) -> Json:
    """A line that reads these files."""
    return calls(*(("read", {"path": name}) for name in names))


def says(text: str) -> Json:
    """A line that ends a turn."""
    return {"text": text}


def refuses(status: int, body: object) -> Json:
    """A line with which a server refuses."""
    return {"error": {"status": status, "body": body}}


def page(name: str, lines: int = 120) -> str:
    """A text of about 14 tokens a line, no two lines alike."""
    return "".join(f"{name} line {n}: the value of item_{n} is {n * 7919 % 10007} in {name}\n" for n in range(lines))


class Heard:
    """A scripted provider that keeps the requests it got."""

    def __init__(self, lines: Iterable[Json]) -> None:
        self.requests: list[ModelRequest] = []
        self._inner = ScriptedProvider(lines)

    async def stream(self, request: ModelRequest) -> AsyncIterator[Any]:
        """Keep the request and answer from the script."""
        self.requests.append(request)
        async for event in self._inner.stream(request):
            yield event


@dataclass(frozen=True)
class SmallRoom:
    """A project, a home, and a model with a small window. `context` is the table of that name."""

    root: Path
    window: int
    context: Json = field(default_factory=dict)

    @classmethod
    def at(cls, root: Path, window: int = 12_000, **context: object) -> "SmallRoom":
        """Make home and project below `root`, with six files that don't fit side by side."""
        (root / "work").mkdir()
        for letter in "abcdef":
            (root / "work" / f"{letter}.txt").write_text(page(letter))
        return cls(root, window, context)

    @property
    def file(self) -> Path:
        """The session file."""
        return self.root / "s.jsonl"

    def project(self, **overrides: object) -> Project:
        """The project with its settings."""
        # The second model serves as a smaller one to switch to, or as one that writes summaries.
        rows = [
            {"id": "tiny", "context_window": self.window, "max_output": 1_000},
            {"id": "tinier", "context_window": self.window // 2, "max_output": 500},
        ]
        settings = {
            "model": "local/tiny",
            "providers": {"local": {"base_url": "http://127.0.0.1:9/v1", "models": rows}},
            "permissions": {"mode": "full"},
            "context": self.context,
            **overrides,
        }
        return open_project(self.root / "work", overrides=settings, env={"TRIMTAB_HOME": str(self.root / "home")})

    @asynccontextmanager
    async def open(
        self,
        *lines: Json,
        choice: Choice | None = None,
        provider: Provider | None = None,
        tools: tuple[Tool, ...] = (),
        settings: Json | None = None,
    ) -> AsyncIterator[Session]:
        """Open the session with a script."""
        talker = provider or Heard(lines)
        where = choice or AtFile(self.file)
        async with open_session(self.project(**settings or {}), where, provider=talker, extra_tools=tools) as session:
            yield session

    def entries(self) -> list[Json]:
        """What the session file holds, the header aside."""
        return [json.loads(line) for line in self.file.read_bytes().splitlines()[1:]]

    def handles(self) -> list[str | None]:
        """The handles of the recorded results."""
        messages = (entry["message"] for entry in self.entries() if entry["type"] == "message")
        return [message.get("handle") for message in messages if message["role"] == "tool"]

    def edits(self) -> list[Json]:
        """The recorded edits."""
        return [entry for entry in self.entries() if entry["type"] == "edit"]


def watch(session: Session) -> Watcher:
    """A watcher that misses nothing; take what it saw with `pending`."""
    return session.feed.subscribe(max_events=100_000)


def results(messages: Iterable[Message]) -> list[ToolResult]:
    """The tool results among messages."""
    return [message for message in messages if isinstance(message, ToolResult)]
