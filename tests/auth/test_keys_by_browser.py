"""Logging in by a browser where a key comes of it: no client, the state in the path, JSON."""

import socket
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from msgspec.structs import replace

from support.auth_server import AuthServer
from support.cli import Cli
from support.logging_in import LoginDesk
from support.servers import Reply, json_reply
from trimtab.coding.auth.code_flow import by_browser
from trimtab.coding.auth.flow import Flow, flow_of
from trimtab.coding.auth.login import choose_provider, flow_for, log_in
from trimtab.coding.project import open_project
from trimtab.config.auth_file import KeyLogin, read_auth
from trimtab.providers.catalogue import Catalogue
from trimtab.types.config import OAuthConfig, ProviderConfig
from trimtab.types.errors import ConfigError, TrimtabError

pytestmark = pytest.mark.anyio
SERVER = "http://127.0.0.1:1"


def flow(auth: AuthServer) -> Flow:
    config = OAuthConfig(gives="key", authorize_url=f"{auth.url}/authorize", token_url=f"{auth.url}/keys")
    return flow_of("office", config, ProviderConfig(), {})


async def login(auth: AuthServer, desk: LoginDesk, *, patience_s: float = 5.0) -> KeyLogin:
    found = await by_browser(flow(auth), desk.means, server=SERVER, now=lambda: 0.0, patience_s=patience_s)
    assert isinstance(found, KeyLogin)
    return found


async def test_a_yes_in_the_browser_brings_a_key(auth: AuthServer, desk: LoginDesk) -> None:
    seen: list[str] = []
    desk.browse = lambda url: seen.append(url) is None and auth.browse(url)
    found = await login(auth, desk)
    assert (found.api_key in auth.good, found.server) == (True, SERVER)
    query = parse_qs(urlsplit(seen[0]).query)
    assert set(query) == {"callback_url", "code_challenge", "code_challenge_method"}
    assert query["callback_url"][0].startswith("http://localhost:")
    (asked,) = [r for r in auth.server.requests if r.path == "/keys"]
    assert asked.headers["content-type"] == "application/json"
    assert set(asked.json) == {"code", "code_verifier", "code_challenge_method"}
    assert found.api_key not in desk.text
    assert auth.pages[-1][0] == 200


async def test_what_comes_back_without_the_state_of_this_login_is_nobodys_answer(
    auth: AuthServer, desk: LoginDesk
) -> None:
    def browse(url: str) -> bool:
        back = parse_qs(urlsplit(url).query)["callback_url"][0]
        for wrong in (back.rpartition("/")[0], f"{back[:-1]}", f"{back.rpartition('/')[0]}/?state={back[-43:]}"):
            auth.visit(f"{wrong}{'&' if '?' in wrong else '?'}code=stolen")
        return auth.browse(url)

    desk.browse = browse
    assert (await login(auth, desk)).api_key in auth.good
    assert [status for status, _ in auth.pages] == [404, 404, 404, 200]
    assert "stolen" not in "".join(r.body.decode() for r in auth.server.requests)


async def test_the_address_of_a_browser_elsewhere_is_pasted(auth: AuthServer, desk: LoginDesk) -> None:
    def browse(url: str) -> bool:
        ended = parse_qs(urlsplit(url).query)["callback_url"][0]
        auth._codes["c"] = parse_qs(urlsplit(url).query)["code_challenge"][0]
        desk.person.given += [f"{ended}x?code=c", f"{ended}?code=c"]
        return False

    desk.browse = browse
    assert (await login(auth, desk)).api_key in auth.good
    assert "that isn't the answer of this login: its state is another one" in desk.text


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (json_reply({"error": {"code": 403, "message": "Invalid code\x1b[2J"}}, status=403), "403 (Invalid code"),
        (json_reply({"error": {"code": 500, "message": "down"}}, status=500), "it answers 500"),
        (json_reply({"key": ["no"]}), "holds no key that can be sent"),
        (json_reply({"key": "with blank"}), "holds no key that can be sent"),
        (json_reply({}, status=302), "it redirects (302)"),
        (Reply([b"<html>"], headers={"content-type": "text/html"}, framing="length"), "is no JSON object"),
    ],
)
async def test_a_server_that_gives_none_is_told_in_words(
    auth: AuthServer, desk: LoginDesk, answer: Reply, words: str
) -> None:
    auth.answers.append(answer)
    with pytest.raises(TrimtabError) as failed:
        await login(auth, desk)
    assert words in str(failed.value)
    assert "\x1b" not in str(failed.value)
    assert "gives no key for office" in str(failed.value)
    assert failed.value.hint == "Try again: trimtab login office. Nothing was changed."


async def test_a_port_that_another_program_has_leads_to_the_key(auth: AuthServer, desk: LoginDesk) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        config = replace(flow(auth).config, redirect_port=other.getsockname()[1])
        taken = flow_of("office", config, ProviderConfig(), {})
        with pytest.raises(ConfigError) as failed:
            await by_browser(taken, desk.means, server=SERVER, now=lambda: 0.0)
    assert failed.value.hint.endswith("or use --with-key.")


def test_a_flow_that_gives_keys_needs_both_addresses_and_no_client(auth: AuthServer) -> None:
    assert flow(auth).ways == ("browser",)
    with pytest.raises(ConfigError, match="authorize_url is missing"):
        flow_of("office", OAuthConfig(gives="key", token_url=f"{auth.url}/keys"), ProviderConfig(), {})


async def test_openrouter_is_logged_in_to_by_a_browser_and_the_key_counts_there(
    tmp_path: Path, auth: AuthServer, desk: LoginDesk
) -> None:
    listed = Catalogue.load().provider("openrouter")
    assert listed is not None
    assert listed.oauth == OAuthConfig(
        gives="key",
        authorize_url="https://openrouter.ai/auth",
        token_url="https://openrouter.ai/api/v1/auth/keys",
        redirect_port=3000,
    )
    cli = Cli.at(tmp_path)
    here = {"gives": "key", "authorize_url": f"{auth.url}/authorize", "token_url": f"{auth.url}/keys"}
    project = open_project(cli.project, overrides={"providers": {"openrouter": {"oauth": here}}}, env=cli.environment())
    told = await log_in(project, "openrouter", desk.means)
    kept = read_auth(project.home.auth_file).logins["openrouter"]
    assert isinstance(kept, KeyLogin)
    assert kept.server == "https://openrouter.ai:443"
    assert "the key of openrouter is kept" in told[0]


def test_a_key_from_a_pipe_is_kept_where_a_browser_would_bring_one(tmp_path: Path) -> None:
    cli = Cli.at(tmp_path)
    outcome = cli.inside("login", "openrouter", stdin=b"sk-or-0123456789abcdef")
    assert outcome.code == 0, outcome.err
    assert "the key of openrouter is kept" in outcome.err
    assert "sk-or" not in outcome.err


async def test_what_one_can_log_in_to_is_listed_with_how(tmp_path: Path, desk: LoginDesk) -> None:
    cli = Cli.at(tmp_path)
    project = open_project(cli.project, env=cli.environment())
    assert flow_for(project, "anthropic") is None
    await choose_provider(project, desk.person)
    options = {option.key: option.label for option in desk.person.asked[0].options}
    assert options["openrouter"] == "openrouter.ai, by a browser, or a key"
    assert options["cerebras"] == "api.cerebras.ai, a key"


def test_who_names_no_provider_and_cannot_be_asked_is_told_the_names(tmp_path: Path) -> None:
    outcome = Cli.at(tmp_path).inside("login")
    assert outcome.code == 2
    assert "Known: openai, anthropic," in outcome.err
    assert "openrouter" in outcome.err
