"""Where an extension's code runs: the open session, as far as an extension may see and use it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import msgspec

from trimtab.coding.person import Person, Question
from trimtab.coding.project import Project
from trimtab.context.stores.log import SessionLog
from trimtab.context.stores.private import make_private
from trimtab.types.entries import CustomEntry
from trimtab.types.errors import UsageError
from trimtab.types.messages import Message, User, user
from trimtab.types.text import scrub, scrub_deep

LONGEST_RECORD = 1_000_000
"""Bytes of one record of an extension."""
LONGEST_LABEL = 200
"""Characters of a label."""


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

    @property
    def trusted(self) -> bool:
        """Whether the person trusts the project."""
        ...

    def models(self) -> tuple[str, ...]:
        """The models that could be asked now, each `PROVIDER/ID`. Touches the disk."""
        ...

    def record(self, data: Mapping[str, Any]) -> str:
        """Keep data of JSON in the session's file, behind what was said last; no model reads it. Returns the entry's id. Touches the disk. Raises `UsageError`."""
        ...

    def records(self) -> tuple[dict[str, Any], ...]:
        """What this extension has recorded on the branch that the session is on, the oldest first."""
        ...

    def label(self, name: str, entry_id: str = "") -> None:
        """Name an entry, the last message if none is given, for `/tree` and `/fork`; an empty name takes the name away. Touches the disk. Raises `UsageError`."""
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
    project: Project
    log: SessionLog


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

    @property
    def trusted(self) -> bool:
        """Whether it is."""
        return self.ground.project.trust.trusted

    def models(self) -> tuple[str, ...]:
        """Those that need no more configuration."""
        from trimtab.coding.models import known_models  # noqa: PLC0415 - few extensions ask

        return tuple(info.ref for info in known_models(self.ground.project, usable=True))

    def record(self, data: Mapping[str, Any]) -> str:
        """Append it. Raises `UsageError` for what is no JSON object, or too large."""
        try:
            line = msgspec.json.encode(scrub_deep(dict(data)))
            kept = msgspec.json.decode(line, type=dict[str, Any])
        except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as problem:
            raise UsageError(f"the record is no JSON: {problem}", hint="Give a dict of JSON.") from None
        if len(line) > LONGEST_RECORD:
            hint = f"{LONGEST_RECORD:,} are allowed; put more into a file of state_folder()."
            raise UsageError(f"the record has {len(line):,} bytes", hint=hint)
        (made,) = self.ground.log.append([CustomEntry(id="", parent=None, time="", kind=self._kind, data=kept)])
        return made

    def records(self) -> tuple[dict[str, Any], ...]:
        """Those of its own kind."""
        entries = [entry.value for entry in tuple(self.ground.log.archive.path()) if entry.type == "custom"]
        return tuple(e.data for e in entries if isinstance(e, CustomEntry) and e.kind == self._kind)

    def label(self, name: str, entry_id: str = "") -> None:
        """Name it. Raises `UsageError` for an entry that there is not."""
        path = tuple(self.ground.log.archive.path())
        target = entry_id or next((entry.id for entry in reversed(path) if entry.type == "message"), None)
        if target is None:
            raise UsageError("nothing was said yet", hint="Label an entry once there is one.")
        self.ground.log.label(target, scrub(name)[:LONGEST_LABEL])

    @property
    def _kind(self) -> str:
        return f"extension:{self.name}"

    def state_folder(self) -> Path:
        """The folder, made."""
        folder = self.ground.state / self.name
        make_private(folder)
        return folder
