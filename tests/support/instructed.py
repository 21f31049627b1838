"""A project with instructions, and sessions in it whose model says what a script says."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.agent_fakes import Script
from trimtab.agent.events import Notice
from trimtab.coding.choose import AtFile, Choice, Ephemeral
from trimtab.coding.instructions.instructions import Instructions
from trimtab.coding.opening import open_session
from trimtab.coding.project import Project, open_project
from trimtab.coding.session import Session
from trimtab.coding.trust import TrustAnswer


def skill(name: str = "pdf", description: str = "Fills forms.", *, more: str = "", body: str = "Do it so.") -> str:
    """A `SKILL.md`."""
    return f"---\nname: {name}\ndescription: {description}\n{more}---\n{body}\n"


@dataclass
class Desk:
    """A desk without a frontend: what was told, and the work that is to be run."""

    session: Session
    told: list[str] = field(default_factory=list)
    waiting: list[Callable[[], Any]] = field(default_factory=list)

    def tell(self, text: str) -> None:
        self.told.append(text)

    def answer(self, call_id: str, text: str) -> None:
        raise AssertionError

    def work(self, turn: Callable[[], Any], *, is_turn: bool = True) -> None:
        self.waiting.append(turn)

    def leave(self) -> None:
        raise AssertionError


@dataclass(frozen=True)
class Place:
    """A home and a project below `root`. `HOME` is `root`."""

    root: Path

    @property
    def cwd(self) -> Path:
        """The working folder."""
        return self.root / "work"

    @property
    def home(self) -> Path:
        """`TRIMTAB_HOME`."""
        return self.root / "home"

    def write(self, name: str, content: str | bytes = "") -> Path:
        """Write a file below `root`."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def project(self, *, cwd: str = "work", trust: TrustAnswer | None = "once", **overrides: Any) -> Project:
        """Open the project."""
        (self.root / cwd).mkdir(parents=True, exist_ok=True)
        rows = [{"id": "tiny", "context_window": 200_000, "max_output": 4_000}]
        models = {"model": "local/tiny", "providers": {"local": {"base_url": "http://127.0.0.1:9/v1", "models": rows}}}
        env = {"TRIMTAB_HOME": str(self.home), "HOME": str(self.root)}
        return open_project(self.root / cwd, overrides={**models, **overrides}, trust=trust, env=env)

    def look(self, **more: Any) -> tuple[Instructions, tuple[str, ...]]:
        """The instructions of a fresh session, and what a person is told of them."""
        instructions = Instructions(self.project(**more))
        return instructions, instructions.refresh()

    def names(self, **more: Any) -> list[str]:
        """The names of the instruction files that are told."""
        return [guidance.name for guidance in self.look(**more)[0].found.guidance]

    def system(self, window: int = 200_000, **more: Any) -> str:
        """The system prompt without tools."""
        return self.look(**more)[0].system((), window=window)

    @asynccontextmanager
    async def session(self, script: Script, *, file: Path | None = None, **more: Any) -> AsyncIterator[Session]:
        """An open session on a script."""
        choice: Choice = AtFile(file) if file else Ephemeral()
        async with open_session(self.project(**more), choice, provider=script) as session:
            yield session


def notices(session: Session) -> Callable[[], list[str]]:
    """Begin to listen; the function returns the notices since."""
    watcher = session.feed.subscribe()
    return lambda: [event.message for event in watcher.pending() if isinstance(event, Notice)]
