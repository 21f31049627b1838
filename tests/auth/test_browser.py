"""Logging in by a browser: authorization code, PKCE, and a way back to this machine."""

import errno
import os
import socket
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import pytest

from support.auth_server import HTML, AuthServer, refusal
from support.logging_in import LoginDesk
from support.servers import HangUp, Reply, Stall, json_reply
from trimtab.coding.auth import code_flow, token_server
from trimtab.coding.auth.code_flow import by_browser, challenge_of
from trimtab.coding.auth.flow import Flow, flow_of
from trimtab.config.auth_file import TokenLogin
from trimtab.types.config import OAuthConfig, ProviderConfig
from trimtab.types.errors import ConfigError, TrimtabError

pytestmark = pytest.mark.anyio
SERVER = "http://127.0.0.1:1"


def flow(auth: AuthServer, **oauth: Any) -> Flow:
    config = OAuthConfig(**auth.settings(**oauth)["providers"]["office"]["oauth"])
    return flow_of("office", config, ProviderConfig(), {})


async def login(auth: AuthServer, desk: LoginDesk, *, patience_s: float = 5.0, **oauth: Any) -> TokenLogin:
    return await by_browser(flow(auth, **oauth), desk.means, server=SERVER, now=lambda: 1000.0, patience_s=patience_s)


async def refused(auth: AuthServer, desk: LoginDesk, *words: str, patience_s: float = 5.0) -> TrimtabError:
    with pytest.raises(TrimtabError) as failed:
        await login(auth, desk, patience_s=patience_s)
    text = str(failed.value)
    assert all(word in text for word in words), text
    assert "trimtab login office" in failed.value.hint
    return failed.value


def test_a_challenge_is_that_of_the_standard() -> None:
    """The example of RFC 7636, appendix B."""
    verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    assert challenge_of(verifier) == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


async def test_a_yes_in_the_browser_brings_a_token(auth: AuthServer, desk: LoginDesk) -> None:
    token = await login(auth, desk)
    assert token.access_token in auth.good
    assert token.refresh_token
    assert token.expires_at == 1000.0 + 3600
    assert token.server == SERVER
    assert auth.pages[-1][0] == 200


async def test_the_address_asks_for_what_the_settings_say(auth: AuthServer, desk: LoginDesk) -> None:
    seen: list[str] = []

    def browse(url: str) -> bool:
        seen.append(url)
        return auth.browse(url)

    desk.browse = browse
    await login(auth, desk, authorize_params={"audience": "models"}, redirect_path="/back")
    query = {name: values[0] for name, values in parse_qs(urlsplit(seen[0]).query).items()}
    assert query["scope"] == "models offline"
    assert query["audience"] == "models"
    assert query["code_challenge_method"] == "S256"
    assert urlsplit(query["redirect_uri"]).hostname == "127.0.0.1"
    assert urlsplit(query["redirect_uri"]).path == "/back"
    (form,) = auth.asked("authorization_code")
    assert form["redirect_uri"] == query["redirect_uri"]
    assert challenge_of(form["code_verifier"]) == query["code_challenge"]
    assert form["code_verifier"] not in seen[0]


async def test_a_no_in_the_browser_is_said(auth: AuthServer, desk: LoginDesk) -> None:
    auth.denies = True
    await refused(auth, desk, "denied")
    assert auth.asked("authorization_code") == []


async def test_an_answer_with_another_state_is_refused_and_the_right_one_still_counts(
    auth: AuthServer, desk: LoginDesk
) -> None:
    def browse(url: str) -> bool:
        auth.state = lambda state: "of somebody else"
        auth.browse(url)
        auth.state = lambda state: ""
        auth.browse(url)
        auth.state = lambda state: state
        return auth.browse(url)

    desk.browse = browse
    token = await login(auth, desk)
    assert token.access_token in auth.good
    assert [status for status, _ in auth.pages] == [400, 400, 200]
    assert "its state is another one" in desk.text
    assert len(auth.asked("authorization_code")) == 1


async def test_what_else_comes_to_the_port_changes_nothing(auth: AuthServer, desk: LoginDesk) -> None:
    def browse(url: str) -> bool:
        back = parse_qs(urlsplit(url).query)["redirect_uri"][0]
        port = urlsplit(back).port
        for junk in (b"", b"\x16\x03\x01\x00", b"POST /callback HTTP/1.1\r\n\r\n", b"GET " + b"a" * 40_000):
            with socket.create_connection(("127.0.0.1", port or 0), timeout=5) as client:
                client.sendall(junk)
        auth.visit(back.replace("/callback", "/favicon.ico"))
        auth.visit(f"{back}?state=a&state=b&code=c")
        return auth.browse(url)

    desk.browse = browse
    token = await login(auth, desk)
    assert token.access_token in auth.good
    assert [status for status, _ in auth.pages] == [404, 400, 200]


async def test_strangers_are_told_of_a_few_times_and_no_more(auth: AuthServer, desk: LoginDesk) -> None:
    def browse(url: str) -> bool:
        back = parse_qs(urlsplit(url).query)["redirect_uri"][0]
        for number in range(30):
            auth.visit(f"{back}?code={number}&state=guess")
        return auth.browse(url)

    desk.browse = browse
    assert (await login(auth, desk)).access_token in auth.good
    assert desk.text.count("its state is another one") == 5
    assert desk.text.count("more of that kind isn't told") == 1


async def test_more_connections_than_files_may_be_open_end_no_login(
    auth: AuthServer, desk: LoginDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = anyio.create_tcp_listener
    failed: list[OSError] = []

    class Exhausted:
        def __init__(self, inner: Any) -> None:
            self.inner = inner

        def __getattr__(self, name: str) -> Any:
            return getattr(self.inner, name)

        async def __aenter__(self) -> "Exhausted":
            return self

        async def __aexit__(self, *ended: object) -> None:
            await self.inner.aclose()

        async def serve(self, *args: Any) -> None:
            if not failed:
                failed.append(OSError(errno.EMFILE, os.strerror(errno.EMFILE)))
                raise ExceptionGroup("as anyio raises it", failed)
            await self.inner.serve(*args)

    async def listener(**where: Any) -> Exhausted:
        return Exhausted(await real(**where))

    monkeypatch.setattr(anyio, "create_tcp_listener", listener)
    assert (await login(auth, desk)).access_token in auth.good
    assert failed


async def test_a_code_that_was_used_already_brings_nothing(auth: AuthServer, desk: LoginDesk) -> None:
    def browse(url: str) -> bool:
        opened = auth.browse(url)
        auth._codes.clear()  # somebody was faster
        return opened

    desk.browse = browse
    await refused(auth, desk, "invalid_grant")


async def test_a_second_answer_finds_nobody(auth: AuthServer, desk: LoginDesk) -> None:
    urls: list[str] = []

    def browse(url: str) -> bool:
        urls.append(url)
        return auth.browse(url)

    desk.browse = browse
    await login(auth, desk)
    back = parse_qs(urlsplit(urls[0]).query)["redirect_uri"][0]
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", urlsplit(back).port or 0), timeout=5)


async def test_without_a_browser_here_the_address_can_be_pasted(auth: AuthServer, desk: LoginDesk) -> None:
    def elsewhere(url: str) -> bool:
        query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        auth._codes["pasted"] = query["code_challenge"]
        desk.person.given = [
            "http://127.0.0.1/callback?code=pasted&state=wrong",
            "nonsense",
            f"  {query['redirect_uri']}?code=pasted&state={query['state']} \n",
        ]
        return False

    desk.browse = elsewhere
    token = await login(auth, desk)
    assert token.access_token in auth.good
    assert "its state is another one" in desk.text
    assert "it has no state" in desk.text


async def test_nobody_who_logs_in_ends_the_wait(auth: AuthServer, desk: LoginDesk) -> None:
    desk.browse = lambda url: True
    await refused(auth, desk, "nobody logged in", patience_s=0.1)


async def test_a_port_that_is_taken_is_named(auth: AuthServer, desk: LoginDesk) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"port {port} on 127.0.0.1"):
            await login(auth, desk, redirect_port=port)


LIES: list[tuple[Reply, str]] = [
    (HTML, "no JSON object with text/html"),
    (
        Reply([b"<h1>Bad gateway</h1>"], status=502, headers={"content-type": "text/html"}),
        "it answers 502 with text/html",
    ),
    (json_reply({}, status=302, headers={"location": "http://127.0.0.1:9/token"}), "it redirects (302)"),
    (json_reply(["token"]), "no JSON object"),
    (json_reply({}), "holds no token"),
    (json_reply({"access_token": ""}), "holds no token"),
    (json_reply({"access_token": ["a"]}), "holds no token"),
    (json_reply({"access_token": "a\r\nx-admin: 1"}), "holds no token"),
    (json_reply({"access_token": "a" * 100_000}), "holds no token"),
    (json_reply({"access_token": "abc", "token_type": "mac"}), "isn't of the type bearer"),
    (Reply([b"{" * 200_000], headers={"content-type": "application/json"}, framing="length"), "no JSON object"),
    (Reply([b" " * 300_000], framing="length"), "more than 262,144 bytes"),
    (Reply([b'{"access_'], framing="chunked"), "no JSON object"),
    (Reply([HangUp()], headers={"content-length": "10"}, framing="close"), "the connection broke"),
    (Reply(status=0), "the connection broke"),
    (refusal("invalid_client"), "invalid_client"),
    (refusal("bad\x1b[2J\u202ething", description="line\nline"), "badthing (line\\nline)"),
]


@pytest.mark.parametrize(("reply", "words"), LIES, ids=[words for _, words in LIES])
async def test_a_server_that_lies_or_breaks_off_is_told_in_one_line(
    reply: Reply, words: str, auth: AuthServer, desk: LoginDesk
) -> None:
    auth.answers = [reply]
    error = await refused(auth, desk, words)
    assert "\n" not in error.message
    assert "\x1b" not in error.message


async def test_a_server_that_hangs_is_left_after_a_while(
    auth: AuthServer, desk: LoginDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = token_server.ask

    async def hasty(place: Any, form: Any) -> Any:
        return await real(place, form, timeout_s=0.2)

    monkeypatch.setattr(code_flow, "ask", hasty)
    auth.answers = [Reply([b"{", Stall()])]
    await refused(auth, desk, "no answer within 0.2 s")


async def test_what_was_sent_is_in_no_error(auth: AuthServer, desk: LoginDesk) -> None:
    codes: list[str] = []

    def browse(url: str) -> bool:
        opened = auth.browse(url)
        codes.extend(auth._codes)
        auth.answers = [refusal("invalid_grant", description=f"the code {codes[0]} of trimtab-test is old")]
        return opened

    desk.browse = browse
    error = await refused(auth, desk, "invalid_grant", "[hidden]")
    assert codes[0] not in str(error) + desk.text


@pytest.mark.parametrize(
    ("life", "end"),
    [
        (60, 1060.0),
        ("60", 1060.0),
        (0, None),
        (-5, None),
        (None, None),
        (True, None),
        ("soon", None),
        ([], None),
        (1e300, 1000.0 + 315_360_000),
    ],
)
async def test_a_life_that_makes_no_sense_counts_as_none(
    life: Any, end: float | None, auth: AuthServer, desk: LoginDesk
) -> None:
    auth.lifetime_s = life
    assert (await login(auth, desk)).expires_at == end


@pytest.mark.parametrize(
    ("oauth", "words"),
    [
        ({"token_url": None}, "token_url is missing"),
        ({"client_id": None}, "client_id is missing"),
        ({"authorize_url": None, "device_url": None}, "authorize_url (or device_url) is missing"),
        ({"token_url": "ftp://x/y"}, "no http(s) URL"),
        ({"authorize_url": "http://auth.example.com/a"}, "isn't encrypted"),
        ({"redirect_port": 70_000}, "no port and path"),
        ({"redirect_path": "back"}, "no port and path"),
    ],
)
def test_a_flow_that_cannot_be_is_named_by_its_key(auth: AuthServer, oauth: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as failed:
        flow(auth, **oauth)
    assert words in str(failed.value)
    assert "providers.office.oauth" in str(failed.value)


def test_a_flow_shows_no_secret(auth: AuthServer) -> None:
    assert "hush-hush" not in repr(flow(auth, client_secret="hush-hush"))
