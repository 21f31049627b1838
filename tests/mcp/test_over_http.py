"""Servers that are asked by their address: good ones, broken ones, and those that want to know who asks."""

from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import anyio
import httpx2
import pytest

from support.mcp_http import HANGS, TOO_LARGE, Site
from support.mcp_kit import Bench, bench, needs_sdk, project_of, text_of
from support.servers import Reply, json_reply
from trimtab.coding.confine import confiner_of
from trimtab.coding.mcp import web
from trimtab.coding.mcp.failures import McpFailure
from trimtab.coding.mcp.login import log_in
from trimtab.coding.mcp.open import ways_of
from trimtab.coding.person import NOBODY, Question
from trimtab.coding.project import Project

pytestmark = [pytest.mark.anyio, needs_sdk]


async def test_a_call_goes_to_its_address_with_its_headers(tmp_path: Path) -> None:
    site = Site(token="secret")
    with site.serve() as server:
        headers = {"Authorization": "Bearer ${TOKEN:-secret}"}
        async with bench(tmp_path, {"a": {"url": f"{server.url}/mcp", "headers": headers}}) as made:
            assert text_of(await made.call("a", "echo")) == "from afar"
        assert made.told == []


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (json_reply({}, status=500), "it answered with HTTP status 500"),
        (json_reply({}, status=401), "it answered 401: it wants to know who asks"),
        (HANGS, "it didn't start within 1 seconds"),
        (
            Reply([b"{"], headers={"content-type": "application/json"}),
            "Failed to parse JSON response: it isn't of the protocol (",
        ),
        (Reply([b"hi"], headers={"content-type": "text/html"}), "Unexpected content type"),
        (
            Reply(status=302, headers={"location": "http://127.0.0.2/mcp"}),
            "Redirect to http://127.0.0.2/mcp not followed",
        ),
        (Reply(status=0), "it can't be reached"),
    ],
)
async def test_a_server_that_fails_is_told_and_has_no_tools(tmp_path: Path, reply: Reply, words: str) -> None:
    site = Site(fails={"initialize": reply, "server/discover": reply})
    with site.serve() as server:
        async with bench(tmp_path, {"a": {"url": f"{server.url}/mcp", "start_timeout_s": 1}}) as made:
            assert made.names() == []
            (told,) = made.told
            assert words in told


async def test_an_address_where_nobody_is_is_a_failure(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": {"url": "http://127.0.0.1:9/mcp"}}) as made:
        assert "it can't be reached" in made.told[0]


async def test_an_answer_without_an_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "LARGEST", 2_000_000)
    with Site(fails={"tools/call": TOO_LARGE}).serve() as server:
        async with bench(tmp_path, {"a": {"url": f"{server.url}/mcp"}}) as made:
            assert "it sent an answer of more than 2,000,000 bytes" in text_of(await made.call("a", "echo"))


@pytest.mark.parametrize("reply", [json_reply({}, status=500), json_reply({}, status=404), Reply(status=0)])
async def test_after_a_call_that_failed_the_next_one_works(tmp_path: Path, reply: Reply) -> None:
    site = Site(fails={"tools/call": reply})
    with site.serve() as server:
        async with bench(tmp_path, {"a": {"url": f"{server.url}/mcp"}}) as made:
            assert (await made.call("a", "echo")).is_error
            site.fails.clear()
            assert text_of(await made.call("a", "echo")) == "from afar"


def browser(answers: list[dict[str, str]] | None = None) -> "object":
    """A person's browser: comes back with a code, or with what is given."""

    async def show(address: str) -> None:
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        came = answers.pop(0) if answers else {"code": "code-1", "state": asked["state"]}
        async with httpx2.AsyncClient(trust_env=False) as client:
            forged = await client.get(f"{asked['redirect_uri']}?{urlencode({**came, 'state': 'another'})}")
            back = await client.get(f"{asked['redirect_uri']}?{urlencode({'state': asked['state'], **came})}")
        assert (forged.status_code, back.status_code) == (404, 200)

    return show


async def logged_in(project: Project, made: Bench, show: object) -> bool:
    """Log in to the one server."""
    ways = ways_of(project, confiner_of(project), NOBODY)
    return await log_in(made.hub.servers[0].config, ways, show)  # type: ignore[arg-type]


async def test_a_login_gives_tokens_that_later_sessions_use_and_renew(tmp_path: Path) -> None:
    site = Site(token="t-1")
    with site.serve() as server:
        site.base = server.url
        project = project_of(tmp_path, {"a": {"url": f"{server.url}/mcp"}})
        async with bench(tmp_path, {}, project=project) as made:
            assert made.told == [
                f"MCP: a ({server.url}/mcp) failed: it answered 401: it wants to know who asks (/mcp login a)"
            ]
            assert made.hub.servers[0].state == "login"
            assert await logged_in(project, made, browser())
            await made.hub.servers[0].restart()
            assert text_of(await made.call("a", "echo")) == "from afar"
        file = tmp_path / "home" / "mcp-logins.json"
        assert file.stat().st_mode & 0o777 == 0o600
        assert site.registered[0]["token_endpoint_auth_method"] == "none"
        assert site.grants[0]["grant_type"] == "authorization_code"
        async with bench(tmp_path, {}, project=project) as made:
            assert text_of(await made.call("a", "echo")) == "from afar"
        assert len(site.grants) == 1
        # It ends soon: the next session renews it, at the authorisation server that it came from.
        logins = made.hub.servers[0].connect.__self__.login.store  # type: ignore[attr-defined]
        kept = logins.get(f"{server.url}/mcp")
        logins.put(f"{server.url}/mcp", {**kept, "expires_at": 1})
        site.token = "t-2"
        async with bench(tmp_path, {}, project=project) as made:
            assert text_of(await made.call("a", "echo")) == "from afar"
        assert site.grants[1]["grant_type"] == "refresh_token"
        assert logins.get(f"{server.url}/mcp")["tokens"]["access_token"] == "t-2"


@pytest.mark.parametrize(
    ("came", "words"),
    [
        ({"error": "access_denied", "error_description": "no\x1b[31m"}, "the login was refused"),
        ({"error": "server_error"}, "the login was refused: server_error"),
    ],
)
async def test_a_login_that_is_refused_keeps_nothing_and_a_forged_answer_is_none(
    tmp_path: Path, came: dict[str, str], words: str
) -> None:
    site = Site(token="t-1")
    with site.serve() as server:
        site.base = server.url
        project = project_of(tmp_path, {"a": {"url": f"{server.url}/mcp"}})
        async with bench(tmp_path, {}, project=project, met=False) as made:
            with pytest.raises(McpFailure, match=words):
                await logged_in(project, made, browser([came]))
    assert not await anyio.Path(tmp_path / "home" / "mcp-logins.json").exists()


async def test_a_login_that_is_refused_later_says_so_and_nobody_is_asked(tmp_path: Path) -> None:
    site = Site(token="t-1")
    with site.serve() as server:
        site.base = server.url
        project = project_of(tmp_path, {"a": {"url": f"{server.url}/mcp"}})
        async with bench(tmp_path, {}, project=project) as made:
            await logged_in(project, made, browser())
            await made.hub.servers[0].restart()
            site.token = "revoked"
            output = await made.call("a", "echo")
            assert "The person can log in with /mcp login a." in text_of(output)


async def test_without_a_browser_here_the_address_at_which_one_ended_is_pasted(tmp_path: Path) -> None:
    site, asked, told = Site(token="t-1"), dict[str, str](), list[str]()

    async def show(address: str) -> None:
        asked.update({name: values[0] for name, values in parse_qs(urlsplit(address).query).items()})

    class Elsewhere:
        """Whose browser is on another machine."""

        given = 0

        async def ask(self, question: Question) -> str:
            """First a wrong answer, then the right one."""
            assert "paste the address" in question.text
            self.given += 1
            state = asked["state"] if self.given > 1 else "another"
            return f" {asked['redirect_uri']}?{urlencode({'code': 'code-1', 'state': state})}\n"

    with site.serve() as server:
        site.base = server.url
        project = project_of(tmp_path, {"a": {"url": f"{server.url}/mcp"}})
        async with bench(tmp_path, {}, project=project, met=False) as made:
            ways = ways_of(project, confiner_of(project), NOBODY)
            assert await log_in(made.hub.servers[0].config, ways, show, Elsewhere(), told.append)
            await made.hub.servers[0].restart()
            assert text_of(await made.call("a", "echo")) == "from afar"
    assert told == ["that isn't the answer of this login: its state is another one"]


async def test_a_server_that_wants_no_login_gets_none(tmp_path: Path) -> None:
    with Site().serve() as server:
        project = project_of(tmp_path, {"a": {"url": f"{server.url}/mcp"}})
        async with bench(tmp_path, {}, project=project) as made:
            assert not await logged_in(project, made, browser())
