"""A place whose sessions have extensions and hooks, and a person who answers as a test says."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.agent_fakes import Script
from support.instructed import Place
from trimtab.agent.events import Event, Notice, ToolEnded
from trimtab.agent.feed import Watcher
from trimtab.coding.choose import AtFile, Choice, Ephemeral
from trimtab.coding.opening import open_session
from trimtab.coding.person import NOBODY, Person, Question
from trimtab.coding.session import Session
from trimtab.types.messages import Text

YES = "API = 1\n"


@dataclass
class Answers:
    """A person who gives these answers one after the other, then none; what was asked is kept."""

    keys: list[str] = field(default_factory=list)
    asked: list[Question] = field(default_factory=list)

    async def ask(self, question: Question) -> str | None:
        self.asked.append(question)
        return self.keys.pop(0) if self.keys else None


@dataclass
class Talk:
    """An open session that is listened to from before its announcement on."""

    session: Session
    watcher: Watcher
    events: list[Event] = field(default_factory=list)

    def _hear(self) -> None:
        self.events += self.watcher.pending()

    @property
    def notices(self) -> list[str]:
        """What the person was told."""
        self._hear()
        return [event.message for event in self.events if isinstance(event, Notice)]

    @property
    def results(self) -> list[str]:
        """What the model read of its calls."""
        self._hear()
        return [
            "".join(p.text for p in e.parts if isinstance(p, Text)) for e in self.events if isinstance(e, ToolEnded)
        ]

    @property
    def failed(self) -> list[bool]:
        """Which of them were errors."""
        self._hear()
        return [event.is_error for event in self.events if isinstance(event, ToolEnded)]


@asynccontextmanager
async def talk(
    place: Place, *answers: Any, person: Person = NOBODY, file: Path | None = None, **more: Any
) -> AsyncIterator[Talk]:
    """An open session whose model gives these answers."""
    choice: Choice = AtFile(file) if file else Ephemeral()
    async with open_session(place.project(**more), choice, provider=Script(*answers), person=person) as session:
        watcher = session.feed.subscribe()
        await session.announce()
        yield Talk(session, watcher)
