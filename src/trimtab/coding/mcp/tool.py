"""A server's tool as a tool of ours; and the few of ours through which a model reaches the rest.

    mcp__SERVER__TOOL   one that stands among the tools, with its own schema
    mcp_find, mcp_call  for those whose schemas would take too much of the window: looked up, and called by name
    mcp_resource        lists and reads what servers have to read

What a call through `mcp_call` or `mcp_resource` is judged by is what it stands for (`stands_for`): a rule about `mcp__SERVER__TOOL` holds on every way to it.
"""

import json
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
from msgspec.structs import replace

from trimtab.agent.ports import Access, ToolOutput, ToolRun
from trimtab.agent.schema import fit
from trimtab.coding.mcp.connection import Connection
from trimtab.coding.mcp.failures import McpFailure
from trimtab.coding.mcp.finding import Entry, found, nearest_names
from trimtab.coding.mcp.forms import call_of, difference, digest_of
from trimtab.coding.mcp.names import server_part
from trimtab.coding.mcp.results import Reader
from trimtab.coding.mcp.server import Server
from trimtab.coding.mcp.values import Listing, RemoteTool
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import shortened
from trimtab.types.messages import ToolCall
from trimtab.types.tools import ToolSpec

FIND, CALL, RESOURCE = "mcp_find", "mcp_call", "mcp_resource"
_LINE = 300
"""Characters of a line of a server's stderr that a model reads."""
_READ = "read_resource"
"""How reading a resource is called in rules: `mcp__SERVER__read_resource`."""
_LIST = "list_resources"
"""How listing them is: `mcp__SERVER__list_resources`, which changes nothing."""


@dataclass(frozen=True, slots=True)
class McpTool:
    """One tool of a server, under the name that a model calls it by. `reader` makes results of what comes back."""

    name: str
    server: Server
    remote: RemoteTool
    reader: Callable[[], Reader]
    held: MutableMapping[str, str] = field(default_factory=dict)
    """In which form a call was allowed, by `call_of`: it goes to no tool of another form."""

    def now(self) -> RemoteTool:
        """The tool as its server describes it now; as it was where it isn't listed any more."""
        return _listed(self.server.known(), self.remote.name) or self.remote

    @property
    def spec(self) -> ToolSpec:
        """As the server describes it."""
        return ToolSpec(self.name, self.remote.description or f"a tool of {self.server.name}", self.remote.parameters)

    @property
    def snippet(self) -> str:
        """Nothing: the description is the server's, and stands in the spec."""
        return ""

    @property
    def guidelines(self) -> tuple[str, ...]:
        """None."""
        return ()

    def access(self, arguments: Mapping[str, Any]) -> Access:
        """One call at a time for each server, but for what only reads."""
        return access_of(self.server.name, reads=self.remote.reads)

    async def run(self, arguments: Mapping[str, Any], run: ToolRun) -> ToolOutput:
        """Ask the server, unless the tool isn't the one for which the call was allowed: a server may be another one by the time that it is started."""
        agreed = self.held.pop(call_of(run.call_id, self.server.name, self.remote.name), "")

        async def send(connection: Connection) -> Mapping[str, Any] | ToolOutput:
            found = _listed(connection.listing, self.remote.name) if agreed else None
            if agreed and (found is None or digest_of(found) != agreed):
                return _not_sent(self, found)
            return await connection.call(self.remote.name, arguments, run.update)

        try:
            result = await self.server.ask(send)
        except McpFailure as failure:
            return failed(self.server, failure)
        if isinstance(result, ToolOutput):
            return result
        return await anyio.to_thread.run_sync(self.reader().call, result)


def _listed(listing: Listing, name: str) -> RemoteTool | None:
    return next((tool for tool in listing.tools if tool.name == name), None)


def _not_sent(tool: McpTool, now: RemoteTool | None) -> ToolOutput:
    """What the model reads of a call that was allowed for another tool than there is."""
    if now is None:
        text = f"Not sent: the server {one_line(tool.server.name)} doesn't list {tool.name} any more."
    else:
        changed = difference(tool.remote, now) or "its server describes it otherwise"
        shown = _shown(tool.name, now)
        text = f"Not sent: {tool.name} isn't what it was when this call was allowed ({changed}). Call it again if it is still what you want; it is now\n{shown}"
    return ToolOutput.text(text, is_error=True, details={"mcp": "changed", "server": tool.server.name})


def access_of(server: str, *, reads: bool) -> Access:
    """What a call to a server touches: nobody knows, so nothing that writes runs beside it."""
    return Access(reads="*") if reads else Access(reads="*", writes=frozenset({f"mcp:{server}"}))


def failed(server: Server, failure: McpFailure) -> ToolOutput:
    """What the model reads of a failure."""
    gone = server.state == "failed"
    text = f"The server {server.named if gone else one_line(server.name)} failed: {failure.text}."
    if failure.login:
        text += f" The person can log in with /mcp login {one_line(server.name)}."
    elif gone and len(last := server.tail.last()) > 1:
        text += "\nThe last that it printed:\n" + "\n".join(f"  {shortened(line, _LINE)}" for line in last)
    return ToolOutput.text(text, is_error=True, details={"mcp": "failed", "server": server.name})


@dataclass(frozen=True, slots=True)
class FindTool:
    """Looks up tools whose schemas aren't shown."""

    deferred: Sequence[McpTool]

    @property
    def spec(self) -> ToolSpec:
        """Names the servers: the rest is found."""
        names = sorted({tool.server.name for tool in self.deferred})
        servers = ", ".join(f"{one_line(name)} ({sum(t.server.name == name for t in self.deferred)})" for name in names)
        return ToolSpec(
            FIND,
            f"Look up tools of connected servers, whose descriptions are not listed here: {servers}. "
            f"Returns names, descriptions and argument schemas; call one with {CALL}.",
            {
                "type": "object",
                "properties": {
                    "query": {
                        "type": "string",
                        "description": "What the tool should do, in a few words; or its exact name.",
                    },
                    "limit": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 20,
                        "description": "At most so many; 5 when not given.",
                    },
                },
                "required": ["query"],
                "additionalProperties": False,
            },
        )

    @property
    def snippet(self) -> str:
        """One line."""
        return "look up tools of connected servers"

    @property
    def guidelines(self) -> tuple[str, ...]:
        """None."""
        return ()

    def access(self, arguments: Mapping[str, Any]) -> Access:
        """Nothing."""
        return Access()

    async def run(self, arguments: Mapping[str, Any], run: ToolRun) -> ToolOutput:
        """Look."""
        entries = [
            Entry(t.name, t.remote.description, tuple(t.remote.parameters.get("properties", ()))) for t in self.deferred
        ]
        names = found(entries, arguments["query"], arguments.get("limit", 5))
        if not names:
            return ToolOutput.text(f"No tool fits {arguments['query']!r}. Use other words, or the name of a server.")
        by_name = {tool.name: tool for tool in self.deferred}
        return ToolOutput.text("\n\n".join(_described(by_name[name]) for name in names))


def _described(tool: McpTool) -> str:
    return _shown(tool.name, tool.remote)


def _shown(name: str, remote: RemoteTool) -> str:
    schema = json.dumps(remote.parameters, ensure_ascii=False, separators=(",", ":"))
    return f"{name}: {remote.description}\narguments: {schema}"


@dataclass(frozen=True, slots=True)
class CallTool:
    """Calls a tool that was looked up."""

    deferred: Sequence[McpTool]

    @property
    def spec(self) -> ToolSpec:
        """The same whatever servers there are."""
        return ToolSpec(
            CALL,
            f"Call a tool that {FIND} found.",
            {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "The tool's whole name."},
                    "arguments": {"type": "object", "description": "Its arguments, as its schema says."},
                },
                "required": ["name"],
                "additionalProperties": False,
            },
        )

    @property
    def snippet(self) -> str:
        """One line."""
        return f"call a tool that {FIND} found"

    @property
    def guidelines(self) -> tuple[str, ...]:
        """None."""
        return ()

    def access(self, arguments: Mapping[str, Any]) -> Access:
        """That of the tool."""
        tool = self._tool(arguments)
        return tool.access({}) if tool else Access()

    async def run(self, arguments: Mapping[str, Any], run: ToolRun) -> ToolOutput:
        """Check the arguments as those of any tool are, and ask the server."""
        tool = self._tool(arguments)
        if tool is None:
            near = nearest_names([t.name for t in self.deferred], str(arguments.get("name")))
            text = f"There is no tool named {arguments.get('name')!r}. " + (
                f"Nearest: {', '.join(near)}." if near else f"{FIND} looks them up."
            )
            return ToolOutput.text(text, is_error=True)
        fitted, problems = fit(tool.remote.parameters, arguments.get("arguments") or {})
        if problems:
            told = "\n".join(f"- {problem}" for problem in problems)
            return ToolOutput.text(
                f"Not run: the arguments of {tool.name} don't fit.\n{told}\n{_described(tool)}", is_error=True
            )
        return await tool.run(fitted, run)

    def _tool(self, arguments: Mapping[str, Any]) -> McpTool | None:
        return next((tool for tool in self.deferred if tool.name == arguments.get("name")), None)


@dataclass(frozen=True, slots=True)
class ResourceTool:
    """Lists and reads resources of servers."""

    servers: Sequence[Server]
    reader: Callable[[], Reader]

    @property
    def spec(self) -> ToolSpec:
        """Names the servers."""
        return ToolSpec(
            RESOURCE,
            "List what a connected server has to read, or read one of its resources.",
            {
                "type": "object",
                "properties": {
                    "server": {"type": "string", "enum": sorted(server.name for server in self.servers)},
                    "uri": {"type": "string", "description": "The resource to read; left out, they are listed."},
                },
                "required": ["server"],
                "additionalProperties": False,
            },
        )

    @property
    def snippet(self) -> str:
        """One line."""
        return "list and read resources of connected servers"

    @property
    def guidelines(self) -> tuple[str, ...]:
        """None."""
        return ()

    def access(self, arguments: Mapping[str, Any]) -> Access:
        """It reads."""
        return Access(reads="*")

    async def run(self, arguments: Mapping[str, Any], run: ToolRun) -> ToolOutput:
        """Ask the server."""
        server = next((one for one in self.servers if one.name == arguments["server"]), None)
        if server is None:
            return ToolOutput.text(f"There is no server named {arguments['server']!r}.", is_error=True)
        uri = arguments.get("uri")
        try:
            if uri:
                read = await server.ask(lambda connection: connection.read(uri))
                return await anyio.to_thread.run_sync(self.reader().resource, read)
            listed = await server.ask(lambda connection: connection.resources())
        except McpFailure as failure:
            return failed(server, failure)
        return await anyio.to_thread.run_sync(
            self.reader().text, "\n".join(map(resource_line, listed)) or "it has none now"
        )


def resource_line(resource: Mapping[str, Any]) -> str:
    """One resource, in a line."""
    uri = one_line(str(resource.get("uri") or resource.get("uriTemplate") or ""))
    about = [resource.get("title") or resource.get("name"), resource.get("mimeType"), resource.get("description")]
    return f"{uri}  " + "; ".join(one_line(str(part))[:300] for part in about if part)


def read_name(server: str) -> str:
    """What rules call the reading of a server's resources."""
    return f"mcp__{server_part(server)}__{_READ}"


def list_name(server: str) -> str:
    """What rules call the listing of a server's resources."""
    return f"mcp__{server_part(server)}__{_LIST}"


def stands_for(call: ToolCall) -> ToolCall:
    """The call as rules and people judge it: what `mcp_call` and `mcp_resource` are about, under its own name."""
    arguments = call.arguments or {}
    if call.name == CALL and isinstance(name := arguments.get("name"), str):
        inner = arguments.get("arguments")
        return replace(call, name=name, arguments=inner if isinstance(inner, dict) else {})
    if call.name == RESOURCE and isinstance(server := arguments.get("server"), str):
        return replace(call, name=read_name(server) if arguments.get("uri") else list_name(server))
    return call
