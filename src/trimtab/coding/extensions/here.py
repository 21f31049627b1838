"""Where an extension's code runs: the open session, as far as an extension may see and use it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from trimtab.coding.person import Person, Question
from trimtab.context.stores.private import make_private
from trimtab.types.messages import Message, User, user
from trimtab.types.text import scrub


class Here(Protocol):
    """The session in which a hook, tool or command of an extension is called."""

    @property
    def cwd(self) -> Path:
        """The folder one works in, a real path."""
        ...

    @property
    def session_id(self) -> str:
        """The session."""
        ...

    @property
    def model(self) -> str:
        """The model in use, `PROVIDER/ID`."""
        ...

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation as it stands."""
        ...

    async def tell(self, text: str) -> None:
        """Show a notice to the person."""
        ...

    async def ask(self, question: Question) -> str | None:
        """Ask the person; the key of an option, or words. None where nobody is there or nobody answers."""
        ...

    def steer(self, text: str) -> None:
        """Say something to the model before its next request, in this turn or the next."""
        ...

    def state_folder(self) -> Path:
        """A folder for what this extension keeps, the same in every session; made when it isn't there. Touches the disk."""
        ...


@dataclass(frozen=True, slots=True)
class Ground:
    """What `Here` stands on, made once for a session. `steer` says something to the model, `state` is where extensions keep things."""

    cwd: Path
    session_id: str
    model: Callable[[], str]
    messages: Callable[[], tuple[Message, ...]]
    tell: Callable[[str], Awaitable[None]]
    steer: Callable[[User], None]
    person: Person
    state: Path


@dataclass(frozen=True, slots=True)
class SessionHere:
    """`Here` for the extension `name`."""

    name: str
    ground: Ground

    @property
    def cwd(self) -> Path:
        """The folder one works in."""
        return self.ground.cwd

    @property
    def session_id(self) -> str:
        """The session."""
        return self.ground.session_id

    @property
    def model(self) -> str:
        """The model in use."""
        return self.ground.model()

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation as it stands."""
        return self.ground.messages()

    async def tell(self, text: str) -> None:
        """Publish a notice that says who speaks."""
        await self.ground.tell(f"{self.name}: {text}")

    async def ask(self, question: Question) -> str | None:
        """Ask the person."""
        return await self.ground.person.ask(question)

    def steer(self, text: str) -> None:
        """Put a note into the inbox."""
        self.ground.steer(user(scrub(f"[{self.name}: {text}]"), origin="note"))

    def state_folder(self) -> Path:
        """The folder, made."""
        folder = self.ground.state / self.name
        make_private(folder)
        return folder
