"""An authorization server on loopback, and the API that its tokens let in to.

    with AuthServer() as auth:
        auth.settings("office") … as [providers.office]; auth.browse is a browser whose person says yes

Codes and refresh tokens are good once; a refresh token that is used twice ends the whole login, as servers with rotation do. `answers` are taken first, each for one request to the token
address: what a server says that refuses, hangs or lies.
With `gives = "key"` in the flow it speaks as servers do that give keys: `callback_url`, JSON, no state.
"""

import base64
import hashlib
import itertools
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from support.cli import said
from support.servers import FakeServer, Received, Reply, json_reply

HTML = Reply([b"<html><body>Sign in</body></html>"], headers={"content-type": "text/html"}, framing="length")


def form_of(request: Received) -> dict[str, str]:
    """The fields of a form."""
    return {name: values[0] for name, values in parse_qs(request.body.decode()).items()}


def refusal(error: str, *, description: str = "", status: int = 400) -> Reply:
    """An error answer of RFC 6749, 5.2."""
    more = {"error_description": description} if description else {}
    return json_reply({"error": error, **more}, status=status)


@dataclass
class AuthServer:
    """`lifetime_s` is what it says of its tokens; `state` changes what the browser brings back."""

    lifetime_s: Any = 3600
    answers: list[Reply] = field(default_factory=list)
    state: Callable[[str], str] = lambda state: state
    denies: bool = False
    device_answer: dict[str, Any] | Reply | None = None
    good: set[str] = field(default_factory=set)
    """Access tokens that the API takes."""
    pages: list[tuple[int, str]] = field(default_factory=list)
    """What the browser was shown."""
    _refresh: str = ""
    _codes: dict[str, str] = field(default_factory=dict)
    _numbers: Any = field(default_factory=lambda: itertools.count(1))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.server = FakeServer(self._answer)

    def __enter__(self) -> "AuthServer":
        self.server.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.__exit__(kind, value, trace)

    @property
    def url(self) -> str:
        """Its address."""
        return self.server.url

    def settings(self, name: str = "office", **oauth: Any) -> dict[str, Any]:
        """The settings of a provider that one logs in to here."""
        flow = {
            "token_url": f"{self.url}/token",
            "authorize_url": f"{self.url}/authorize",
            "device_url": f"{self.url}/device",
            "client_id": "trimtab-test",
            "scopes": ["models", "offline"],
            **oauth,
        }
        row = {"id": "tiny", "context_window": 32_768, "max_output": 4_096}
        oauth_table = {key: value for key, value in flow.items() if value is not None}
        return {"providers": {name: {"base_url": f"{self.url}/v1", "models": [row], "oauth": oauth_table}}}

    def toml(self, name: str = "office", **oauth: Any) -> str:
        """The same as a file of settings."""
        provider = self.settings(name, **oauth)["providers"][name]
        lines = [f"[providers.{name}]", f'base_url = "{provider["base_url"]}"']
        lines += ['models = [{id = "tiny", context_window = 32768, max_output = 4096}]', f"[providers.{name}.oauth]"]
        lines += [f"{key} = {_toml(value)}" for key, value in provider["oauth"].items()]
        return "\n".join(lines) + "\n"

    def asked(self, grant: str) -> list[dict[str, str]]:
        """The forms of one grant that came to the token address."""
        forms = [form_of(r) for r in self.server.requests if r.path == "/token"]
        return [form for form in forms if form.get("grant_type", "").endswith(grant)]

    def browse(self, url: str) -> bool:
        """Open an address as a browser whose person says yes, or no where the server denies."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        code = f"code-{next(self._numbers)}"
        self._codes[code] = query["code_challenge"]
        if "callback_url" in query:  # what is asked for is a key, and no state comes back
            self.visit(f"{query['callback_url']}?code={code}")
            return True
        back = {"error": "access_denied"} if self.denies else {"code": code}
        self.visit(f"{query['redirect_uri']}?{urlencode({**back, 'state': self.state(query['state'])})}")
        return True

    def visit(self, url: str) -> None:
        """Get a page and remember what it said."""
        try:
            with urllib.request.urlopen(url, timeout=5) as page:
                self.pages.append((page.status, page.read().decode()))
        except urllib.error.HTTPError as e:
            self.pages.append((e.code, e.read().decode()))

    def tokens(self) -> dict[str, Any]:
        """A new pair of tokens; the ones before are good no more."""
        number = next(self._numbers)
        self._refresh = f"refresh-{number}-secret"
        self.good = {f"access-{number}-secret"}
        (token,) = self.good
        answer = {"access_token": token, "token_type": "Bearer", "refresh_token": self._refresh}
        return answer if self.lifetime_s is None else {**answer, "expires_in": self.lifetime_s}

    def _answer(self, request: Received) -> Reply:
        with self._lock:
            path = request.path.partition("?")[0]
            if path == "/keys":
                return self.answers.pop(0) if self.answers else self._key(request.json)
            if path == "/token":
                return self.answers.pop(0) if self.answers else self._token(form_of(request))
            if path == "/device":
                if isinstance(self.device_answer, Reply):
                    return self.device_answer
                usual = {"device_code": "device-secret", "user_code": "WDJB-MJHT", "expires_in": 900, "interval": 5}
                return json_reply({"verification_uri": f"{self.url}/type", **usual, **(self.device_answer or {})})
            token = request.headers.get("authorization", "").removeprefix("Bearer ")
            if token in self.good:
                return said("let in")
            return json_reply({"error": {"message": f"no entry with {token}"}}, status=401)

    def _key(self, sent: dict[str, str]) -> Reply:
        digest = hashlib.sha256(sent.get("code_verifier", "").encode()).digest()
        challenge = self._codes.pop(sent.get("code", ""), None)
        if challenge != base64.urlsafe_b64encode(digest).rstrip(b"=").decode():
            return json_reply({"error": {"code": 403, "message": "Invalid code or code_verifier"}}, status=403)
        self.good = {f"key-{next(self._numbers)}-secret"}
        return json_reply({"key": next(iter(self.good)), "user_id": "u"})

    def _token(self, form: dict[str, str]) -> Reply:
        match form.get("grant_type"):
            case "authorization_code":
                digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
                challenge = self._codes.pop(form.get("code", ""), None)
                if challenge != base64.urlsafe_b64encode(digest).rstrip(b"=").decode():
                    return refusal("invalid_grant")
            case "refresh_token":
                if form.get("refresh_token") != self._refresh:
                    self._refresh, self.good = "", set()  # somebody has a copy
                    return refusal("invalid_grant", description="token reuse")
            case "urn:ietf:params:oauth:grant-type:device_code":
                pass
            case _:
                return refusal("unsupported_grant_type")
        return json_reply(self.tokens())


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return str(value) if isinstance(value, int) else f'"{value}"'
