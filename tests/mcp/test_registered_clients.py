"""Logging in as a client that was registered by hand, and renewing one login from many places at once."""

import base64
import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import anyio
import httpx2
import pytest

from support.mcp_http import Site
from support.mcp_kit import Bench, bench, needs_sdk, project_of, text_of
from support.servers import Reply, json_reply
from trimtab.coding.confine import confiner_of
from trimtab.coding.mcp.config import ServerConfig, expanded
from trimtab.coding.mcp.failures import McpFailure
from trimtab.coding.mcp.login import log_in
from trimtab.coding.mcp.logins import FileLogins
from trimtab.coding.mcp.open import ways_of
from trimtab.coding.mcp.project_file import project_servers
from trimtab.coding.person import NOBODY
from trimtab.coding.project import Project
from trimtab.config.settings import McpOAuth, McpServer

pytestmark = [pytest.mark.anyio, needs_sdk]


def free_port() -> int:
    """A port that nobody uses now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Browser:
    """A person's browser, which comes back at once."""

    def __init__(self) -> None:
        self.asked: dict[str, str] = {}

    async def show(self, address: str) -> None:
        """Open it."""
        self.asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        back = urlencode({"code": "code-1", "state": self.asked["state"]})
        async with httpx2.AsyncClient(trust_env=False) as client:
            assert (await client.get(f"{self.asked['redirect_uri']}?{back}")).status_code == 200


def project_at(root: Path, site: Site, **oauth: Any) -> Project:
    """A project with one server, whose client is registered so."""
    return project_of(root, {"a": {"url": f"{site.base}/mcp", "oauth": oauth}})


async def log_in_to(project: Project, made: Bench) -> Browser:
    """Log in to the one server."""
    browser = Browser()
    assert await log_in(made.hub.servers[0].config, ways_of(project, confiner_of(project), NOBODY), browser.show)
    return browser


def make_old(project: Project, url: str) -> FileLogins:
    """Let the token that is kept have ended."""
    logins = FileLogins(project.home.mcp_logins)
    logins.put(url, {**(logins.get(url) or {}), "expires_at": 1})
    return logins


@pytest.mark.parametrize(
    ("methods", "header", "posted"),
    [
        (("client_secret_post",), "", "hush-hush"),
        (("client_secret_basic", "client_secret_post"), "Basic", None),
        ((), "Basic", None),
    ],
)
async def test_a_client_that_was_registered_logs_in_at_its_port_and_its_secret_is_kept_nowhere(
    tmp_path: Path, methods: tuple[str, ...], header: str, posted: str | None
) -> None:
    site, port = Site(token="t-1", registers=False, methods=methods), free_port()
    with site.serve() as server:
        site.base = server.url
        project = project_at(tmp_path, site, client_id="mine", client_secret="${S:-hush-hush}", callback_port=port)
        async with bench(tmp_path, {}, project=project, met=False) as made:
            browser = await log_in_to(project, made)
        assert browser.asked["client_id"] == "mine"
        assert browser.asked["redirect_uri"] == f"http://localhost:{port}/callback"
        assert site.registered == []
        logins = make_old(project, f"{site.base}/mcp")
        assert "hush-hush" not in logins.file.read_text()
        site.token = "t-2"
        async with bench(tmp_path, {}, project=project) as made:
            assert text_of(await made.call("a", "echo")) == "from afar"
    basic = f"Basic {base64.b64encode(b'mine:hush-hush').decode()}" if header else ""
    assert [(grant["grant_type"], grant.get("client_secret")) for grant in site.grants] == [
        ("authorization_code", posted),
        ("refresh_token", posted),
    ]
    assert site.shown == [basic, basic]


async def test_the_whole_address_to_come_back_to_can_be_given(tmp_path: Path) -> None:
    site, port = Site(token="t-1", registers=False), free_port()
    with site.serve() as server:
        site.base = server.url
        address = f"http://127.0.0.1:{port}/oauth/back"
        project = project_at(tmp_path, site, client_id="mine", redirect_uri=address)
        async with bench(tmp_path, {}, project=project, met=False) as made:
            assert (await log_in_to(project, made)).asked["redirect_uri"] == address
    assert (site.grants[0]["client_id"], "client_secret" in site.grants[0]) == ("mine", False)


async def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        project = project_of(tmp_path, {"a": {"url": "http://127.0.0.1:9/mcp", "oauth": {"callback_port": port}}})
        async with bench(tmp_path, {}, project=project, met=False) as made:
            with pytest.raises(McpFailure, match=f"port {port} of this machine.* another program uses it"):
                await log_in_to(project, made)


async def test_where_no_client_may_register_itself_the_way_to_name_one_is_told(tmp_path: Path) -> None:
    site = Site(token="t-1", registers=False)
    with site.serve() as server:
        site.base = server.url
        project = project_at(tmp_path, site)
        async with bench(tmp_path, {}, project=project, met=False) as made:
            with pytest.raises(McpFailure, match=r"lets no program register itself.*\[mcp\.servers\.a\.oauth\]"):
                await log_in_to(project, made)


async def test_a_login_of_another_client_does_not_count(tmp_path: Path) -> None:
    site = Site(token="t-1", registers=False)
    with site.serve() as server:
        site.base = server.url
        project = project_at(tmp_path, site, client_id="mine")
        async with bench(tmp_path, {}, project=project, met=False) as made:
            await log_in_to(project, made)
        async with bench(tmp_path, {}, project=project_at(tmp_path, site, client_id="other")) as made:
            assert made.hub.servers[0].state == "login"


async def renewed(project: Project, root: Path) -> str:
    """What a session of its own gets from the server."""
    async with bench(root, {}, project=project) as made:
        server = made.hub.servers[0]
        return text_of(await made.call("a", "echo")) if server.state == "ready" else str(server.failure)


async def test_one_of_many_who_need_it_renews_a_login_and_all_have_it(tmp_path: Path) -> None:
    site = Site(token="t-1", rotates=True)
    with site.serve() as server:
        site.base = server.url
        project = project_at(tmp_path, site)
        async with bench(tmp_path, {}, project=project, met=False) as made:
            await log_in_to(project, made)
        logins = make_old(project, f"{site.base}/mcp")
        said: list[str] = []

        async def one() -> None:
            said.append(await renewed(project, tmp_path))

        async with anyio.create_task_group() as group:
            for _ in range(12):
                group.start_soon(one)
        kept = logins.get(f"{site.base}/mcp") or {}
    assert said == ["from afar"] * 12
    assert [grant["grant_type"] for grant in site.grants] == ["authorization_code", "refresh_token"]
    assert (kept["tokens"]["refresh_token"], kept["tokens"]["access_token"]) == ("again-2", "t-2")


async def test_a_token_that_ends_while_a_session_runs_is_renewed(tmp_path: Path) -> None:
    site = Site(token="t-1", rotates=True)
    with site.serve() as server:
        site.base = server.url
        project = project_at(tmp_path, site)
        async with bench(tmp_path, {}, project=project, met=False) as made:
            await log_in_to(project, made)
        site.expires_in = 20  # ends so soon that the next call renews it
        make_old(project, f"{site.base}/mcp")
        async with bench(tmp_path, {}, project=project) as made:
            assert text_of(await made.call("a", "echo")) == "from afar"
            before = len(site.grants)
            assert text_of(await made.call("a", "echo")) == "from afar"
            assert len(site.grants) > before
            assert made.hub.servers[0].state == "ready"


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (json_reply({}, status=503), "its login can't be renewed: the authorisation server answered 503"),
        (Reply(status=0), "its login can't be renewed: "),
        (json_reply({"error": "invalid_grant"}, status=400), "it wants to know who asks"),
    ],
)
async def test_a_renewal_that_fails_says_so_and_keeps_the_login(tmp_path: Path, reply: Reply, words: str) -> None:
    site = Site(token="t-1", rotates=True)
    with site.serve() as server:
        site.base = server.url
        project = project_at(tmp_path, site)
        async with bench(tmp_path, {}, project=project, met=False) as made:
            await log_in_to(project, made)
        make_old(project, f"{site.base}/mcp")
        site.refused = reply
        assert words in await renewed(project, tmp_path)
        site.refused = None
        assert await renewed(project, tmp_path) == "from afar"


async def test_a_login_that_cannot_be_kept_is_not_renewed(tmp_path: Path) -> None:
    site = Site(token="t-1", rotates=True)
    with site.serve() as server:
        site.base = server.url
        project = project_at(tmp_path, site)
        async with bench(tmp_path, {}, project=project, met=False) as made:
            await log_in_to(project, made)
        logins = make_old(project, f"{site.base}/mcp")
        lock = logins.file.with_name(f".{logins.file.name}.lock")
        lock.unlink()
        lock.mkdir()
        assert "the login can't be kept" in await renewed(project, tmp_path)
        lock.rmdir()
        assert await renewed(project, tmp_path) == "from afar"
    assert len(site.grants) == 2


@pytest.mark.parametrize(
    ("oauth", "problem"),
    [
        ({"client_secret": "x"}, "its oauth.client_secret needs a client_id"),
        ({"callback_port": 65_536}, "its oauth.callback_port is no port"),
        (
            {"callback_port": 1, "redirect_uri": "http://localhost:2/x"},
            "its oauth has a callback_port and a redirect_uri",
        ),
        *(
            ({"redirect_uri": uri}, "its oauth.redirect_uri is no http address of this machine with a port")
            for uri in (
                "https://localhost:1/",
                "http://localhost/x",
                "http://example.com:1/x",
                "http://localhost:1",
                "http://localhost:1/x?y=1",
                "http://me@localhost:1/x",
                "http://localhost:1/\x1b",
                "http://localhost:99999/x",
                "http://[::1/x",
                "x",
            )
        ),
    ],
)
def test_a_client_that_cannot_be_used_says_why(tmp_path: Path, oauth: Mapping[str, Any], problem: str) -> None:
    server = McpServer(url="http://h/mcp", oauth=McpOAuth(**oauth))
    assert expanded(ServerConfig("n", server, tmp_path), {}).problem.startswith(problem)


@pytest.mark.parametrize(
    ("oauth", "problem"),
    [
        ({"clientId": "mine", "clientSecret": "${S}", "callbackPort": 8080}, ""),
        ({"clientId": "mine", "clientSecret": "plain"}, "its oauth.clientSecret stands there for everybody to read"),
        ({"clientId": "mine", "clientSecret": "${S:-plain}"}, "its oauth.clientSecret stands there for everybody"),
        ({"clientId": 7}, "its oauth is no table of clientId"),
        ({"callbackPort": "8080"}, "its oauth is no table of clientId"),
        ({"callbackPort": True}, "its oauth is no table of clientId"),
        ([], "its oauth is no table of clientId"),
    ],
)
def test_a_project_names_a_client_and_no_secret(tmp_path: Path, oauth: Any, problem: str) -> None:
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"a": {"url": "http://h/mcp", "oauth": oauth}}}))
    (config,) = project_servers(tmp_path, tmp_path, tmp_path / "store").servers
    assert config.problem.startswith(problem)
    assert bool(config.problem) == bool(problem)
    if not problem:
        assert config.server.oauth == McpOAuth(client_id="mine", client_secret="${S}", callback_port=8080)
        full = expanded(config, {"S": "hush-hush"})
        assert full.secrets == ("hush-hush",)
        assert "hush-hush" not in repr(full.where)
