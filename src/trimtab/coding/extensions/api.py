"""What an extension is, and what it registers: version 1 of the contract.

    API = 1                         the version that it was written for
    def extend(api: Api) -> None    called once, when a session opens

`Api` only collects; nothing acts before all of `extend` succeeded. Names are checked as they come: none of ours can be taken, and none of an earlier extension.
Authors import all of it from `trimtab.extend`. The one rule: within a version names are added, never changed or removed.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as fields_changed
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, get_args, runtime_checkable

import msgspec
from msgspec.structs import replace

from trimtab.agent.events import Event
from trimtab.agent.ports import Provider, Tool, ToolOutput
from trimtab.coding.extensions.here import Here
from trimtab.coding.extensions.match import Match, parse_match
from trimtab.coding.extensions.points import (
    AfterCompaction,
    Ask,
    BeforeCompaction,
    BeforeRequest,
    Cancel,
    Change,
    Deny,
    Handled,
    Input,
    Note,
    Point,
    Replace,
    Rewrite,
    SessionEnd,
    SessionStart,
    Summary,
    ToolCalled,
    ToolReturned,
    Wishes,
)
from trimtab.types.config import ModelConfig
from trimtab.types.errors import UsageError
from trimtab.types.tools import ToolSpec

API_VERSION = 1
"""The version of this contract; an extension says in `API` which one it was written for."""
LIMIT_S = 10.0
"""Seconds that a Python hook has unless it asks for others."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_LONGEST = 64
"""Signs of a tool's name."""
_COMMAND = re.compile(r"[a-z][a-z-]{0,63}")
_NO_PARAMETERS: Mapping[str, Any] = {"type": "object", "properties": {}}


@runtime_checkable
class Extension(Protocol):
    """An extension: a module, or any object, with these two."""

    API: int
    """The version of the contract that it was written for."""

    def extend(self, api: "Api") -> None:
        """Register what there is to register; called once for each session, in a thread, with a time limit."""
        ...


@dataclass(frozen=True, slots=True)
class Say:
    """The answer of a command that goes to the model: a prompt, as if the person had typed it."""

    text: str


T = TypeVar("T")
Soon: TypeAlias = T | Awaitable[T | None] | None
"""What a hook gives: an answer or none, now or, from an async function, later."""
Nothing: TypeAlias = Awaitable[None] | None
"""What a hook gives where nothing is answered."""
ToolAnswer: TypeAlias = str | ToolOutput
ToolRunner: TypeAlias = Callable[[Mapping[str, Any], Here], ToolAnswer | Awaitable[ToolAnswer]]
CommandAnswer: TypeAlias = str | Say | None
CommandRunner: TypeAlias = Callable[[str, Here], CommandAnswer | Awaitable[CommandAnswer]]
PolicyMaker: TypeAlias = Callable[..., Any]
"""Makes a policy (`name`, `decide(observation)`) from the parameters that stand behind its name."""


Body: TypeAlias = Literal["text", "markdown", "diff", "json", "none"]
"""What the output of a tool is: how a frontend may lay it out, colour it, or leave it out."""
BODIES: tuple[Body, ...] = get_args(Body)


@dataclass(frozen=True, slots=True)
class Renderer:
    """How a frontend shows the calls of a tool, as data: each frontend does with it what it can.

    In `title`, `{NAME}` stands for an argument of the call, shortened: `"note {topic}"`. `body` says what the output is.
    """

    tool: str
    title: str
    body: Body = "text"


@dataclass(frozen=True, slots=True)
class PythonHook:
    """A function at a point. `limit_s` in seconds."""

    point: Point
    function: Callable[..., Any]
    match: Match
    limit_s: float


@dataclass(frozen=True, slots=True)
class RegisteredTool:
    """A tool: what the model sees, and what runs, a function or a tool of the loop."""

    spec: ToolSpec
    run: "ToolRunner | Tool"
    snippet: str = ""
    guidelines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RegisteredCommand:
    """A command `/NAME`."""

    name: str
    run: CommandRunner
    help: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class RegisteredProvider:
    """A provider: its models, and what makes the object that streams."""

    name: str
    make: Callable[[], Provider]
    models: tuple[ModelConfig, ...]


@dataclass(frozen=True, slots=True)
class RegisteredSection:
    """A part of the system prompt; a function is asked at the start of each turn."""

    name: str
    text: str | Callable[[], str]


@dataclass(slots=True)
class Taken:
    """The names that are used already, ours and those of the extensions before. Tools need none: theirs begin with the extension's own."""

    commands: set[str] = field(default_factory=set)
    policies: set[str] = field(default_factory=set)
    providers: set[str] = field(default_factory=set)

    def copy(self) -> "Taken":
        """The same names, to be added to."""
        return Taken(set(self.commands), set(self.policies), set(self.providers))


class Api:
    """What `extend` gets: where the extension is, its settings, and a method for each thing that can be registered.

    All of them raise `UsageError` for what can't be: then the whole extension is left out.
    """

    def __init__(self, name: str, *, folder: Path, cwd: Path, settings: Mapping[str, Any], taken: Taken) -> None:
        self.version = API_VERSION
        self.name = name
        """The extension's own name."""
        self.folder = folder
        """Where its files are."""
        self.cwd = cwd
        """The folder one works in, a real path."""
        self.settings = settings
        """What the person set for it: `[extensions.settings.NAME]`."""
        self.tools: list[RegisteredTool] = []
        self.commands: list[RegisteredCommand] = []
        self.policies: dict[str, PolicyMaker] = {}
        self.providers: list[RegisteredProvider] = []
        self.sections: list[RegisteredSection] = []
        self.renderers: list[Renderer] = []
        self.hooks: list[PythonHook] = []
        self._taken = taken
        self._closed = False

    def tool(
        self,
        name: str,
        description: str,
        run: ToolRunner,
        *,
        parameters: Mapping[str, Any] = _NO_PARAMETERS,
        snippet: str = "",
        guidelines: Sequence[str] = (),
    ) -> None:
        """A tool that is a function of its arguments (checked against `parameters`, a JSON Schema object) and of where it runs.

        The model knows it as `EXTENSION__NAME`, and so do rules. A plain function runs in a thread; what it raises is the model's to read. The permissions ask before each call unless a rule allows it.
        """
        _require_function(f"the tool {name!r}", run)
        _require_text(f"the tool {name!r}", description, snippet, *guidelines)
        spec = _sound(ToolSpec(self._tool_name(name), description, dict(parameters)))
        self.tools.append(RegisteredTool(spec, run, snippet, tuple(guidelines)))

    def add_tool(self, tool: Tool) -> None:
        """A tool as `trimtab.agent` has them: for one that streams, says what it touches, or waits for a person. It is named as others are."""
        spec = _sound(replace(tool.spec, name=self._tool_name(tool.spec.name)))
        _require_function(f"the tool {spec.name!r}", tool.run)
        _require_text(f"the tool {spec.name!r}", spec.description, tool.snippet, *tool.guidelines)
        self.tools.append(RegisteredTool(spec, tool))

    def command(self, name: str, run: CommandRunner, *, help: str = "", arguments: str = "") -> None:
        """A command `/NAME`: what it returns is shown, or, as `Say`, said to the model. `arguments` is how it is written behind the name."""
        _require_function(f"the command {name!r}", run)
        _require_text(f"the command {name!r}", help, arguments)
        self._new("commands", name, _COMMAND, self._taken.commands)
        self.commands.append(RegisteredCommand(name, run, help, arguments))

    def policy(self, name: str, make: PolicyMaker) -> None:
        """A context policy, to be named in `context.policy`; `make` takes its parameters by keyword."""
        _require_function(f"the policy {name!r}", make)
        self.policies[self._new("policies", name, _NAME, self._taken.policies)] = make

    def provider(self, name: str, make: Callable[[], Provider], *, models: Sequence[ModelConfig]) -> None:
        """A provider whose `make()` gives an object with `stream(request)`; its models are named `NAME/ID`."""
        _require_function(f"the provider {name!r}", make)
        self._new("providers", name, _NAME, self._taken.providers)
        if not models or not all(isinstance(model, ModelConfig) for model in models):
            raise UsageError(f"the provider {name!r} has no model", hint="Give models=[ModelConfig(id=…)].")
        self.providers.append(RegisteredProvider(name, make, tuple(models)))

    def section(self, name: str, text: str | Callable[[], str]) -> None:
        """A part of the system prompt. One that changes in a session reaches the model as a notice at the end, so no cache breaks for it."""
        self._require_open()
        _require_text(f"the section {name!r}", name, *(() if callable(text) else (text,)))
        self.sections.append(RegisteredSection(name, text))

    def renderer(self, renderer: Renderer) -> None:
        """How the calls of a tool are shown: one of the extension's own, by the name that it was given here."""
        self._require_open()
        _require_text(f"the renderer of {renderer.tool!r}", renderer.tool, renderer.title)
        if renderer.body not in BODIES:
            raise UsageError(f"no body is {renderer.body!r}", hint=f"Bodies: {', '.join(BODIES)}.")
        self.renderers.append(fields_changed(renderer, tool=f"{self.name}__{renderer.tool}"))

    def on_session_start(self, hook: Callable[[SessionStart, Here], Soon[Note]], *, limit_s: float = LIMIT_S) -> None:
        """When a session opens; a note becomes a part of the system prompt."""
        self._hook("session_start", hook, "", limit_s)

    def on_session_end(self, hook: Callable[[SessionEnd, Here], Nothing], *, limit_s: float = LIMIT_S) -> None:
        """When it closes; a few seconds are all there is."""
        self._hook("session_end", hook, "", limit_s)

    def on_input(
        self, hook: Callable[[Input, Here], Soon[Rewrite | Handled | Note]], *, limit_s: float = LIMIT_S
    ) -> None:
        """When the person says something and no turn runs, before the model reads it. A hook that fails is passed over: what was said goes on as it was."""
        self._hook("input", hook, "", limit_s)

    def before_request(self, hook: Callable[[BeforeRequest, Here], Soon[Note]], *, limit_s: float = LIMIT_S) -> None:
        """Before each request; a note is recorded behind what was said last, so the cached part stays as it was."""
        self._hook("before_request", hook, "", limit_s)

    def on_tool_call(
        self,
        hook: Callable[[ToolCalled, Here], Soon[Deny | Ask | Change | Note]],
        *,
        match: str = "",
        limit_s: float = LIMIT_S,
    ) -> None:
        """Before a call runs, and before the permissions look at it. A hook that fails refuses the call."""
        self._hook("tool_call", hook, match, limit_s)

    def on_tool_result(
        self,
        hook: Callable[[ToolReturned, Here], Soon[Replace | Note]],
        *,
        match: str = "",
        limit_s: float = LIMIT_S,
    ) -> None:
        """After a call ran, before its result is recorded."""
        self._hook("tool_result", hook, match, limit_s)

    def before_compaction(
        self,
        hook: Callable[[BeforeCompaction, Here], Soon[Deny | Cancel | Summary | Wishes]],
        *,
        limit_s: float = LIMIT_S,
    ) -> None:
        """Before a part of the conversation gives way to a summary or digest. `Cancel`: not now; `Deny`: a digest, without a model; `Summary`: this text; `Wishes`: to whoever writes it."""
        self._hook("before_compaction", hook, "", limit_s)

    def after_compaction(self, hook: Callable[[AfterCompaction, Here], Nothing], *, limit_s: float = LIMIT_S) -> None:
        """After a part of the conversation was replaced by a summary or a digest."""
        self._hook("after_compaction", hook, "", limit_s)

    def on_event(self, hook: Callable[[Event, Here], Nothing], *, match: str = "", limit_s: float = LIMIT_S) -> None:
        """Beside the session, for each event whose type `match` names (`"turn_ended | tool_*"`). One that is slow misses events, and is told how many."""
        self._hook("event", hook, match, limit_s)

    def close(self) -> None:
        """`extend` is over: nothing can be registered any more."""
        self._closed = True

    def _hook(self, point: Point, function: Callable[..., Any], match: str, limit_s: float) -> None:
        self._require_open()
        if not callable(function):
            raise UsageError(f"the hook at {point} is no function", hint="Give a function of what is told, and here.")
        if not limit_s > 0:
            raise UsageError(f"the hook at {point} has {limit_s!r} s", hint="Give seconds above 0.")
        self.hooks.append(PythonHook(point, function, parse_match(match, point), limit_s))

    def _new(self, kind: str, name: str, allowed: re.Pattern[str], taken: set[str]) -> str:
        self._require_open()
        if not isinstance(name, str) or not allowed.fullmatch(name):
            raise UsageError(
                f"{name!r} can't be a name among {kind}", hint="Letters, digits, - and _; commands: a to z and -."
            )
        if name in taken:
            raise UsageError(
                f"{name!r} is taken among {kind}", hint="Names of Trimtab, and of earlier extensions, stay theirs."
            )
        taken.add(name)
        return name

    def _tool_name(self, name: str) -> str:
        full = f"{self.name}__{name}"
        used = {tool.spec.name for tool in self.tools}
        self._new("tools", name, _NAME, {tool.removeprefix(f"{self.name}__") for tool in used})
        if len(full) > _LONGEST:
            raise UsageError(f"{full} is longer than {_LONGEST} signs", hint="Servers take no longer names of tools.")
        return full

    def _require_open(self) -> None:
        if self._closed:
            raise UsageError("extend() is over", hint="Register everything before it returns.")


def _require_function(what: str, run: object) -> None:
    """Raise `UsageError` for what is no function: it would fail later, in the middle of a turn."""
    if not callable(run):
        raise UsageError(f"{what} has no function", hint="Give a function, plain or async.")


def _require_text(what: str, *texts: object) -> None:
    """Raise `UsageError` for what is no text."""
    if wrong := next((type(text).__name__ for text in texts if not isinstance(text, str)), ""):
        raise UsageError(f"{what} has a {wrong} where a text belongs", hint="Give a str.")


def _sound(spec: ToolSpec) -> ToolSpec:
    """The spec, with its parameters as JSON has them. Raises `UsageError` where they are no JSON Schema of an object."""
    try:
        parameters = msgspec.json.decode(msgspec.json.encode(spec.parameters))
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as problem:
        raise UsageError(f"the parameters of {spec.name} are no JSON: {problem}", hint="Give a JSON Schema.") from None
    if not isinstance(parameters, dict) or parameters.get("type", "object") != "object":
        raise UsageError(f"the parameters of {spec.name} are no object", hint='Give {"type": "object", …}.')
    return replace(spec, parameters=parameters)
