"""A desk without a frontend over a session whose model is a script."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from trimtab.coding import ScriptedProvider, Session
from trimtab.coding.choose import Choice
from trimtab.coding.commands.registry import run_command
from trimtab.coding.project import Project


class PlainDesk:
    """Does work at once and remembers what was said; it has no clipboard, no keys and no colours."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.said: list[str] = []
        self._work: list[Callable[[], Awaitable[object]]] = []

    def tell(self, text: str) -> None:
        self.said.append(text)

    def answer(self, call_id: str, text: str) -> None:
        raise NotImplementedError

    def work(self, turn: Callable[[], Awaitable[object]], *, is_turn: bool = True) -> None:
        self._work.append(turn)

    async def switch(self, project: Project, choice: Choice) -> None:
        raise NotImplementedError

    def reload(self, project: Project) -> None:
        raise NotImplementedError

    def leave(self) -> None:
        raise NotImplementedError

    async def run(self, name: str, rest: str = "") -> str:
        """Run a command and what it leaves to do; return what was said."""
        before = len(self.said)
        await run_command(self, name, rest)
        while self._work:
            await self._work.pop(0)()
        return "\n".join(self.said[before:])


Sitting = Callable[..., AbstractAsyncContextManager[PlainDesk]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where one works."""
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def sitting(tmp_path: Path, folder: Path) -> Sitting:
    """Opens a session, with these lines of a script, at a desk."""

    @asynccontextmanager
    async def at(*script: Mapping[str, Any], env: Mapping[str, str] | None = None, **more: Any) -> AsyncIterator[Any]:
        home = {"TRIMTAB_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
        async with Session.open(
            folder, model="scripted/none", provider=ScriptedProvider(script), env=home | dict(env or {}), **more
        ) as session:
            yield PlainDesk(session)

    return at
