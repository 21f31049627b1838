"""All servers of a session: which tools they give it, what they say in its prompt, what their failures say to its person.

    known listings ──▶ names ──▶ tools that fit into their share of the window, or two that find and call the rest
    a turn begins ──arrivals──▶ servers that nobody knows yet are started, and waited for a while; changed lists become the turn's tools
    a tool is called ──▶ its server is started, if it isn't running

The tools of a turn stay what they are until it ends, so that a provider's cache holds. The one rule: whatever a server does, the turn goes on.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

import anyio
import msgspec

from trimtab.agent.ports import Hooks, Tool
from trimtab.coding.instructions.section import Section
from trimtab.coding.mcp.carried import CarriedHooks
from trimtab.coding.mcp.failures import McpFailure
from trimtab.coding.mcp.forms import ToolForm, difference
from trimtab.coding.mcp.harmless import described
from trimtab.coding.mcp.names import tool_names
from trimtab.coding.mcp.results import Reader
from trimtab.coding.mcp.server import Server
from trimtab.coding.mcp.tool import CallTool, FindTool, McpTool, ResourceTool, list_name, read_name, stands_for
from trimtab.coding.mcp.values import Listing
from trimtab.coding.permissions.hooks import PermissionHooks
from trimtab.coding.services import Services
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import shortened
from trimtab.coding.tools.caps import Caps
from trimtab.coding.tools.capture import PrivateFolder
from trimtab.config.settings import McpSettings
from trimtab.types.messages import ToolCall
from trimtab.types.models import ModelInfo

_BYTES_A_TOKEN = 4
_NAMED = 3
_SAID = 12_000
"""Characters of all servers' instructions together."""


@dataclass(slots=True)
class Mcp:
    """The servers of one session. `tell` says something to its person."""

    settings: McpSettings
    servers: tuple[Server, ...]
    services: Services
    permissions: PermissionHooks
    outputs: PrivateFolder
    caps: Caps = field(default_factory=Caps)
    enabled: tuple[str, ...] | None = None
    """Names or globs of the tools that are on; None: all."""
    tell: Callable[[str], Awaitable[None]] | None = None
    held: dict[str, str] = field(default_factory=dict)
    """In which form of a tool a call was allowed (`forms.py`)."""
    _named: Mapping[str, McpTool] = field(default_factory=dict)
    """The tools of this turn."""
    _met_as: dict[str, Listing] = field(default_factory=dict)
    """What servers offered as the last turn began."""
    _images: bool = False
    _changed: bool = False
    _told: set[str] = field(default_factory=set)
    _waited: bool = False

    def __post_init__(self) -> None:
        """Hear of changes, and let what the person believes run unasked."""
        for server in self.servers:
            server.changed = self._note_change
        if self.servers:
            self.permissions.stands_for = stands_for
            self.permissions.form_of = self.form_of
        self._let_read()

    def carried(self, hooks: Hooks) -> Hooks:
        """`hooks`, asked about the tools that calls are about."""
        return CarriedHooks(hooks) if self.servers else hooks

    def server(self, name: str) -> Server | None:
        """The server of that name."""
        return next((server for server in self.servers if server.name == name), None)

    def tools(self, info: ModelInfo) -> tuple[Tool, ...]:
        """The tools that a model gets now: a source of the kit."""
        self._images = "image" in info.input
        shown, deferred = self.shared_out(info.context_window)
        self._named = {tool.name: tool for tool in (*shown, *deferred)}
        found: list[Tool] = [*shown]
        if deferred:
            found += [FindTool(deferred), CallTool(deferred)]
        readable = [server for server in self.servers if not server.off and server.known().resources]
        return (*found, *([ResourceTool(readable, self.reader)] if readable else []))

    def form_of(self, call: ToolCall) -> ToolForm | None:
        """How the tool that `call` is about is described now; None for what is no tool of a server."""
        tool = self._named.get(call.name)
        return ToolForm(tool.server.name, tool.now(), tool.server.allowed, self.held) if tool else None

    def shared_out(self, window: int) -> tuple[tuple[McpTool, ...], tuple[McpTool, ...]]:
        """The tools that are shown, and those that are looked up: of the costliest servers, until the rest fits into its share of the window."""
        every = self.every_tool()
        cost = {server.name: cost_of([tool for tool in every if tool.server is server]) for server in self.servers}
        room, kept = int(self.settings.defer_share * window), set[str]()
        for name, tokens in sorted(cost.items(), key=lambda pair: (pair[1], pair[0])):
            room -= tokens
            if room >= 0:
                kept.add(name)
        shown = tuple(tool for tool in every if tool.server.name in kept)
        return shown, tuple(tool for tool in every if tool.server.name not in kept)

    def every_tool(self) -> tuple[McpTool, ...]:
        """Every tool that is known and wanted, by name."""
        wanted = [
            (server, tool)
            for server in self.servers
            if not server.off
            for tool in server.known().tools
            if _wanted(server, tool.name)
        ]
        names = tool_names((server.name, tool.name) for server, tool in wanted)
        tools = [
            McpTool(names[server.name, tool.name], server, tool, self.reader, self.held) for server, tool in wanted
        ]
        return tuple(sorted((tool for tool in tools if self._is_on(tool.name)), key=lambda tool: tool.name))

    def sections(self) -> tuple[Section, ...]:
        """What servers say about how they are used: sections of the system prompt."""
        return tuple(self._sections())

    async def arrivals(self) -> bool:
        """A turn begins: whether there are other tools now. The first time, servers that nobody knows yet are waited for."""
        if not self._waited:
            self._waited = True
            await self._meet([server for server in self.servers if not server.off and server.listing is None])
        for server in self.servers:
            await self._tell_of(server)
        changed, self._changed = self._changed, False
        if changed:
            self._let_read()
        return changed

    async def meet_all(self) -> None:
        """Start every server that isn't off, side by side; failures stay with each."""
        async with anyio.create_task_group() as group:
            for server in self.servers:
                if not server.off:
                    group.start_soon(_met, server)

    async def _meet(self, unknown: Sequence[Server]) -> None:
        if not unknown:
            return
        done = {server.name: anyio.Event() for server in unknown}

        async def meet(server: Server) -> None:
            try:
                await _met(server)
            finally:
                done[server.name].set()

        for server in unknown:
            self.services.run(lambda server=server: meet(server))  # type: ignore[misc]
        with anyio.move_on_after(self.settings.first_wait_s):
            for event in done.values():
                await event.wait()
        late = [one_line(server.name) for server in unknown if not done[server.name].is_set()]
        if late:
            await self._say(f"MCP: {', '.join(late)} is still starting; its tools come with a later turn")

    async def _tell_of(self, server: Server) -> None:
        """A failure, and what was left out of a listing, once each."""
        name = one_line(server.name)
        if server.failure is not None and server.state in ("failed", "login"):
            way = f"/mcp login {name}" if server.state == "login" else f"/mcp {name} shows more"
            await self._say(f"MCP: {server.named} failed: {server.failure.text} ({way})")
        for remark in server.known().remarks if server.fresh else ():
            await self._say(f"MCP: {name}: {remark}")
        before = self._met_as.get(server.name, server.kept)
        if server.listing is not None and server.listing is not before:
            self._met_as[server.name] = server.listing
            if before is not None and before.instructions != server.listing.instructions:
                await self._say(f"MCP: {name} has other instructions for the model than before; /system shows them")
            for change in _changes(before, server.listing) if before else ():
                await self._say(f"MCP: {name} describes tools otherwise than before: {change}; /mcp {name} shows them")

    async def _say(self, text: str) -> None:
        if text not in self._told and self.tell is not None:
            self._told.add(text)
            await self.tell(text)

    def _sections(self) -> Iterator[Section]:
        room = _SAID
        for server in self.servers:
            text = server.known().instructions
            if server.off or not text or len(text) > room:
                continue
            room -= len(text)
            name = one_line(server.name)
            head = f"The connected server {name} ({described(server.known())}) says about its use:"
            yield Section(
                f"mcp {name}", server.config.origin or "your settings", f"# Server {name}\n\n{head}\n\n{text}\n"
            )

    def _let_read(self) -> None:
        """Resources are listed unasked; tools that a server says only read run so, and resources are read so, where the person believes it."""
        tools = self.every_tool()
        reading = {t.name for t in tools if t.remote.reads and t.server.config.server.read_only_unasked}
        resources = {list_name(server.name) for server in self.servers}
        resources |= {read_name(server.name) for server in self.servers if server.config.server.read_only_unasked}
        reading |= resources - {t.name for t in tools}  # a tool with such a name is no listing
        policy = self.permissions.policy
        others = {name for name in policy.reading if not name.startswith("mcp__")}
        self.permissions.policy = replace(policy, reading=frozenset(others | reading))

    def _is_on(self, name: str) -> bool:
        return self.enabled is None or any(fnmatchcase(name, glob) for glob in self.enabled)

    def _note_change(self) -> None:
        self._changed = True

    def reader(self) -> Reader:
        """What makes results of what servers give."""
        return Reader(self.outputs, self.caps, images=self._images)


def cost_of(tools: Sequence[McpTool]) -> int:
    """About how many tokens the specs of `tools` take."""
    return sum(len(msgspec.json.encode(tool.spec)) for tool in tools) // _BYTES_A_TOKEN


def _changes(before: Listing, now: Listing) -> Iterator[str]:
    """The tools that there were before in another form, in one line; none where there are none."""
    old = {tool.name: tool for tool in before.tools}
    pairs = [(old[tool.name], tool) for tool in now.tools if tool.name in old and old[tool.name] != tool]
    told = [f"{shortened(one_line(new.name), 60)} ({shortened(difference(was, new), 120)})" for was, new in pairs]
    if told:
        yield ", ".join(told[:_NAMED]) + (f" and {len(told) - _NAMED:,} more" if len(told) > _NAMED else "")


async def _met(server: Server) -> None:
    try:
        await server.start()
    except McpFailure as failure:
        server.failure = failure


def _wanted(server: Server, tool: str) -> bool:
    globs = server.config.server.tools
    return globs is None or any(fnmatchcase(tool, glob) for glob in globs)
