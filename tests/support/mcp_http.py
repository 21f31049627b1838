"""A server of the Model Context Protocol over HTTP, and the authorisation server before it, as the answers of a `FakeServer`."""

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from support.servers import FakeServer, Received, Reply, Stall, json_reply


@dataclass
class Site:
    """Answers messages. `token`: what requests must carry, else 401; `fails`: a method that is answered so instead."""

    token: str | None = None
    fails: dict[str, Reply] = field(default_factory=dict)
    base: str = ""
    registered: list[Any] = field(default_factory=list)
    grants: list[dict[str, str]] = field(default_factory=list)
    expires_in: int = 3_600
    calls: int = 0
    methods: tuple[str, ...] = ("none",)
    """How clients may show who they are."""
    registers: bool = True
    """Whether clients may register themselves."""
    rotates: bool = False
    """Whether each refresh token may be used once; who uses one again ends the login."""
    refused: Reply | None = None
    """The answer to whoever wants tokens, instead of some."""
    shown: list[str] = field(default_factory=list)
    """The authorization headers of those who asked for tokens."""
    refresh_token: str = "again"

    def serve(self) -> FakeServer:
        """The server, to be entered; `base` has to be set then."""
        return FakeServer(self)

    def __call__(self, request: Received) -> Reply:
        """Answer one request."""
        path = urlsplit(request.path).path
        if path != "/mcp":
            return self._authorisation(path, request)
        if self.token is not None and request.headers.get("authorization") != f"Bearer {self.token}":
            where = f'Bearer resource_metadata="{self.base}/.well-known/oauth-protected-resource/mcp"'
            return json_reply({}, status=401, headers={"www-authenticate": where})
        if request.method != "POST":
            return json_reply({}, status=405)
        message = request.json
        if message.get("method") in self.fails:
            return self.fails[message["method"]]
        if "id" not in message:
            return Reply(status=202)
        return json_reply({"jsonrpc": "2.0", "id": message["id"], **self._answer(message)})

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        match message["method"]:
            case "initialize":
                about = {"name": "site", "version": "1"}
                has: dict[str, Any] = {"tools": {}}
                return {"result": {"protocolVersion": "2025-06-18", "capabilities": has, "serverInfo": about}}
            case "tools/list":
                schema = {"type": "object", "properties": {}}
                return {"result": {"tools": [{"name": "echo", "inputSchema": schema}]}}
            case "tools/call":
                self.calls += 1
                return {"result": {"content": [{"type": "text", "text": "from afar"}]}}
            case method:
                return {"error": {"code": -32601, "message": f"no method {method}"}}

    def _authorisation(self, path: str, request: Received) -> Reply:
        match path:
            case "/.well-known/oauth-protected-resource/mcp":
                return json_reply({"resource": f"{self.base}/mcp", "authorization_servers": [f"{self.base}/as"]})
            case "/.well-known/oauth-authorization-server/as":
                about = {
                    "issuer": f"{self.base}/as",
                    "authorization_endpoint": f"{self.base}/as/authorize",
                    "token_endpoint": f"{self.base}/as/token",
                    "response_types_supported": ["code"],
                    "code_challenge_methods_supported": ["S256"],
                    "token_endpoint_auth_methods_supported": self.methods,
                }
                more = {"registration_endpoint": f"{self.base}/as/register"} if self.registers else {}
                return json_reply(about | more)
            case "/as/register" if self.registers:
                self.registered.append(request.json)
                return json_reply({**request.json, "client_id": "client-1"}, status=201)
            case "/as/token":
                grant = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
                self.grants.append(grant)
                self.shown.append(request.headers.get("authorization", ""))
                if self.refused is not None:
                    return self.refused
                if grant["grant_type"] == "refresh_token" and self.rotates:
                    if grant["refresh_token"] != self.refresh_token:
                        self.token = "revoked"
                        return json_reply({"error": "invalid_grant"}, status=400)
                    self.refresh_token, self.token = f"again-{len(self.grants)}", f"t-{len(self.grants)}"
                tokens = {"access_token": self.token, "token_type": "Bearer", "refresh_token": self.refresh_token}
                return json_reply({**tokens, "expires_in": self.expires_in})
        return json_reply({}, status=404)


HANGS = Reply([Stall()], headers={"content-type": "application/json"})
TOO_LARGE = Reply([json.dumps({"x": "y" * 1_000_000}).encode()] * 5, headers={"content-type": "application/json"})
