"""What the opening and the session use of extensions and hooks; and that nothing acts, which is what most sessions have and what costs nothing."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from trimtab.agent.ports import Hooks, Tool
from trimtab.coding.context.ahead import Work
from trimtab.coding.context.around import Around, NobodyAround

if TYPE_CHECKING:
    import anyio

    from trimtab.agent.feed import Feed
    from trimtab.agent.run import Agent
    from trimtab.coding.extensions.api import Body, RegisteredCommand
    from trimtab.coding.extensions.find import LeftOut
    from trimtab.coding.extensions.load import Loaded
    from trimtab.coding.extensions.shell_hooks import ShellHook
    from trimtab.coding.instructions.section import Section
    from trimtab.coding.person import Person
    from trimtab.coding.project import Project
    from trimtab.context.stores.log import SessionLog
    from trimtab.types.messages import User


class Acting(Protocol):
    """What of others acts in one session, from its opening to its end."""

    @property
    def project(self) -> "Project":
        """The project in which it acts."""
        ...

    @property
    def loaded(self) -> "tuple[Loaded, ...]":
        """The extensions."""
        ...

    @property
    def left_out(self) -> "tuple[LeftOut, ...]":
        """Those that aren't loaded, with why."""
        ...

    @property
    def shell(self) -> "tuple[tuple[ShellHook, str], ...]":
        """The shell hooks, each with why it doesn't act, if it doesn't."""
        ...

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that are on."""
        ...

    @property
    def commands(self) -> "tuple[tuple[str, RegisteredCommand], ...]":
        """The commands, each with the name of its extension."""
        ...

    @property
    def listens(self) -> bool:
        """Whether a hook wants events."""
        ...

    def title_of(self, tool: str, arguments: Mapping[str, Any] | None) -> str:
        """The line that stands for a call; empty where nobody says how it is shown."""
        ...

    def body_of(self, tool: str) -> "Body":
        """What the output of a tool is, for who shows it."""
        ...

    def sections(self) -> "tuple[Section, ...]":
        """The parts of the system prompt."""
        ...

    def around(self, hooks: Hooks, log: "SessionLog", person: "Person") -> Hooks:
        """`hooks` with those at tool calls around them, in the session of `log`."""
        ...

    def beneath(self, agent: str) -> "Acting":
        """The same for a session that works for this one as `agent`."""
        ...

    def transcript_hooks(self) -> Around:
        """What the transcript asks."""
        ...

    async def begin(self, agent: "Agent", log: "SessionLog", person: "Person") -> None:
        """The session opens."""
        ...

    def take_notices(self) -> tuple[str, ...]:
        """What a person should know of the opening."""
        ...

    def announce_by(self, publish: Callable[[str], Awaitable[None]]) -> None:
        """From here on notices go to whoever watches."""
        ...

    def listening(self, feed: "Feed", closing: "anyio.Event") -> Work:
        """From here on events are heard; what is returned passes them on until the session closes."""
        ...

    async def hear(self, prompt: "str | User") -> "str | User | None":
        """What becomes of what the person said; None where it is seen to, and nothing goes to the model."""
        ...

    async def refresh(self) -> None:
        """A turn begins: sections are asked again."""
        ...

    async def run_command(self, name: str, command: "RegisteredCommand", rest: str) -> object:
        """What a command answers. Raises `HookFailed`."""
        ...

    async def end(self) -> None:
        """The session closes."""
        ...


@dataclass(frozen=True, slots=True)
class NothingActs:
    """There are no extensions and no hooks, or they are turned off."""

    project: "Project"
    loaded: "tuple[Loaded, ...]" = ()
    left_out: "tuple[LeftOut, ...]" = ()
    shell: "tuple[tuple[ShellHook, str], ...]" = ()
    tools: tuple[Tool, ...] = ()
    commands: "tuple[tuple[str, RegisteredCommand], ...]" = ()
    listens: bool = False

    def title_of(self, tool: str, arguments: Mapping[str, Any] | None) -> str:
        """None."""
        return ""

    def body_of(self, tool: str) -> "Body":
        """Text."""
        return "text"

    def sections(self) -> "tuple[Section, ...]":
        """None."""
        return ()

    def around(self, hooks: Hooks, log: "SessionLog", person: "Person") -> Hooks:
        """The hooks as they are."""
        return hooks

    def beneath(self, agent: str) -> "Acting":
        """Nothing either."""
        return self

    def transcript_hooks(self) -> Around:
        """Nobody."""
        return NobodyAround()

    async def begin(self, agent: "Agent", log: "SessionLog", person: "Person") -> None:
        """Nothing."""

    def take_notices(self) -> tuple[str, ...]:
        """None."""
        return ()

    def announce_by(self, publish: Callable[[str], Awaitable[None]]) -> None:
        """Nothing is told."""

    def listening(self, feed: "Feed", closing: "anyio.Event") -> Work:
        """Nobody listens."""
        return self.end

    async def hear(self, prompt: "str | User") -> "str | User | None":
        """The same."""
        return prompt

    async def refresh(self) -> None:
        """Nothing."""

    async def run_command(self, name: str, command: "RegisteredCommand", rest: str) -> object:
        """There is none."""
        return None

    async def end(self) -> None:
        """Nothing."""
