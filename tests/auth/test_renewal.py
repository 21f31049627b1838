"""Tokens are renewed before they end and once after a refusal, by one process at a time."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from support.auth_server import HTML, AuthServer, refusal
from support.cli import SOURCES, Cli
from support.servers import Pause, Reply, Stall, json_reply
from trimtab.coding.auth import renewal, token_server
from trimtab.coding.auth.found import origin_of
from trimtab.coding.auth.login import unix_time
from trimtab.coding.auth.renewal import Renewal
from trimtab.coding.models import OpenModel, close_provider, open_model
from trimtab.coding.project import Project
from trimtab.config.auth_file import KeyLogin, TokenLogin, read_auth, remove_login, write_login
from trimtab.types.errors import ConfigError
from trimtab.types.messages import user
from trimtab.types.models import ModelRequest
from trimtab.types.stream import Ended, Retrying

pytestmark = pytest.mark.anyio


ONE_REQUEST = """
import anyio
from pathlib import Path
from trimtab.coding.models import open_model
from trimtab.coding.project import open_project
from trimtab.types.messages import user
from trimtab.types.models import ModelRequest

async def ask():
    opened = await open_model(open_project(Path(".")), "office/tiny")
    request = ModelRequest(model=opened.info, messages=(user("hi"),))
    print([event async for event in opened.provider.stream(request)][-1].error)
    await opened.provider.aclose()

anyio.run(ask)
"""


@pytest.fixture
def logged_in(auth: AuthServer, project: Callable[..., Project]) -> Callable[..., Project]:
    """A project whose login at the server ends in `ends_in` seconds from now."""

    def make(ends_in: float | None = 3600, *, refresh: bool = True, **oauth: Any) -> Project:
        here = project(auth.settings(**oauth))
        pair = auth.tokens()
        login = TokenLogin(
            access_token=pair["access_token"],
            refresh_token=pair["refresh_token"] if refresh else "",
            expires_at=None if ends_in is None else unix_time() + ends_in,
            server=origin_of(auth.url),
        )
        write_login(here.home.auth_file, "office", login)
        return here

    return make


async def said_by(opened: OpenModel) -> list[Any]:
    request = ModelRequest(model=opened.info, messages=(user("hi"),))
    return [event async for event in opened.provider.stream(request)]


async def asked(project: Project) -> Ended:
    opened = await open_model(project, "office/tiny")
    try:
        events = await said_by(opened)
    finally:
        await close_provider(opened.provider)
    assert isinstance(events[-1], Ended)
    return events[-1]


def kept(project: Project) -> TokenLogin:
    login = read_auth(project.home.auth_file).logins["office"]
    assert isinstance(login, TokenLogin)
    return login


async def test_a_token_that_is_good_is_used_as_it_is(logged_in: Callable[..., Project], auth: AuthServer) -> None:
    assert (await asked(logged_in())).error is None
    assert auth.asked("refresh_token") == []


@pytest.mark.parametrize("ends_in", [30, -1000])
async def test_a_token_that_ends_soon_is_renewed_before_it_is_used(
    logged_in: Callable[..., Project], auth: AuthServer, ends_in: float
) -> None:
    project = logged_in(ends_in)
    before = kept(project)
    assert (await asked(project)).error is None
    (form,) = auth.asked("refresh_token")
    assert form["refresh_token"] == before.refresh_token
    assert form["client_id"] == "trimtab-test"
    assert kept(project).access_token in auth.good
    assert kept(project).refresh_token != before.refresh_token
    assert kept(project).server == before.server
    paths = [r.path for r in auth.server.requests]
    assert paths == ["/token", "/v1/chat/completions"]


async def test_a_token_that_is_refused_is_renewed_once_and_the_request_goes_out_again(
    logged_in: Callable[..., Project], auth: AuthServer
) -> None:
    project = logged_in(None)
    auth.good.clear()
    assert (await asked(project)).error is None
    assert [r.path for r in auth.server.requests] == ["/v1/chat/completions", "/token", "/v1/chat/completions"]


async def test_a_server_that_refuses_every_token_is_asked_twice_and_no_more(
    logged_in: Callable[..., Project], auth: AuthServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = logged_in()
    auth.answers = [json_reply({"access_token": "unknown-there", "refresh_token": "another-refresh"})]
    auth.good.clear()
    ended = await asked(project)
    assert ended.error is not None
    assert ended.error.kind == "auth"
    assert [r.path for r in auth.server.requests].count("/v1/chat/completions") == 2
    assert "unknown-there" not in ended.error.message
    assert "[key]" in ended.error.message


async def test_a_token_in_a_header_is_shown_by_no_error_either(
    logged_in: Callable[..., Project], auth: AuthServer
) -> None:
    project = logged_in(refresh=False, header="authorization")
    token = kept(project).access_token
    auth.good.clear()
    ended = await asked(project)
    assert ended.error is not None
    assert token not in repr(ended)


async def test_where_an_answer_brings_no_new_refresh_token_the_old_one_stays(
    logged_in: Callable[..., Project], auth: AuthServer
) -> None:
    project = logged_in(-1)
    before = kept(project)
    auth.good = {"plain"}
    auth.answers = [json_reply({"access_token": "plain"})]
    assert (await asked(project)).error is None
    assert kept(project).refresh_token == before.refresh_token
    assert kept(project).expires_at is None


async def test_a_refused_renewal_says_to_log_in_again_and_isnt_tried_twice(
    logged_in: Callable[..., Project], auth: AuthServer
) -> None:
    project = logged_in(-1)
    secret = kept(project).refresh_token
    auth.answers = [refusal("invalid_grant", description=f"{secret} is revoked")]
    opened = await open_model(project, "office/tiny")
    first, second = (await said_by(opened))[-1], (await said_by(opened))[-1]
    await close_provider(opened.provider)
    for ended in (first, second):
        assert ended.error.kind == "auth"
        assert "trimtab login office" in ended.error.hint
        assert secret not in repr(ended)
    assert "invalid_grant" in first.error.message
    assert len(auth.asked("refresh_token")) == 1
    assert kept(project).refresh_token == secret


@pytest.mark.parametrize("reply", [HTML, Reply(status=503), Reply(status=0), json_reply({"token": 1})])
async def test_a_token_that_still_counts_is_used_on_when_its_renewal_fails(
    logged_in: Callable[..., Project], auth: AuthServer, reply: Reply
) -> None:
    auth.answers = [reply]
    assert (await asked(logged_in(30))).error is None


async def test_a_renewal_that_cannot_be_had_is_tried_again_as_any_broken_connection(
    logged_in: Callable[..., Project], auth: AuthServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = logged_in(-1)
    auth.answers = [HTML, Reply(status=503)]
    opened = await open_model(project, "office/tiny")

    async def at_once(seconds: float) -> None:
        return

    monkeypatch.setattr(opened.provider, "_sleep", at_once)
    events = await said_by(opened)
    await close_provider(opened.provider)
    assert [e.message.partition(": ")[0] for e in events if isinstance(e, Retrying)] == [
        "the login of office can't be renewed"
    ] * 2
    assert events[-1].error is None


@pytest.mark.parametrize(
    "reply",
    [
        refusal("rate_limited", status=429),
        refusal("temporarily_unavailable"),
        refusal("server_error", description="later"),
        refusal("too_soon", status=425),
    ],
)
async def test_a_server_that_cannot_answer_just_now_ends_no_login(
    logged_in: Callable[..., Project], auth: AuthServer, monkeypatch: pytest.MonkeyPatch, reply: Reply
) -> None:
    project = logged_in(-1)
    auth.answers = [reply]
    opened = await open_model(project, "office/tiny")

    async def at_once(seconds: float) -> None:
        return

    monkeypatch.setattr(opened.provider, "_sleep", at_once)
    events = await said_by(opened)
    await close_provider(opened.provider)
    assert [e.kind for e in events if isinstance(e, Retrying)] == ["network"]
    assert events[-1].error is None
    assert len(auth.asked("refresh_token")) == 2


async def test_words_of_a_refusal_that_are_no_text_can_still_be_kept(
    logged_in: Callable[..., Project], auth: AuthServer
) -> None:
    body = rb'{"error": "invalid_grant", "error_description": "\ud800\u001b[31mgone"}'
    auth.answers = [Reply([body], status=400, framing="length")]
    ended = await asked(logged_in(-1))
    assert ended.error.kind == "auth"
    assert "gone" in ended.error.message.encode().decode()
    assert "\x1b" not in ended.error.message


async def test_a_token_server_that_hangs_is_left_after_a_while(
    logged_in: Callable[..., Project], auth: AuthServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = token_server.ask

    async def hasty(place: Any, form: Any) -> Any:
        return await real(place, form, timeout_s=0.2)

    monkeypatch.setattr(token_server, "ask", hasty)
    auth.answers = [Reply([Stall()])]
    assert (await asked(logged_in(30))).error is None
    assert auth.asked("refresh_token")


async def test_without_a_refresh_token_the_end_is_the_end(logged_in: Callable[..., Project], auth: AuthServer) -> None:
    ended = await asked(logged_in(-1, refresh=False))
    assert ended.error is not None
    assert "has ended" in ended.error.message
    assert auth.server.requests == []


async def test_a_login_that_is_gone_or_another_one_is_told(logged_in: Callable[..., Project], auth: AuthServer) -> None:
    project = logged_in(-1)
    opened = await open_model(project, "office/tiny")
    remove_login(project.home.auth_file, "office")
    gone = (await said_by(opened))[-1]
    write_login(project.home.auth_file, "office", KeyLogin(api_key="k", server=origin_of(auth.url)))
    other = (await said_by(opened))[-1]
    await close_provider(opened.provider)
    assert "no longer there" in gone.error.message
    assert "another one now" in other.error.message
    assert auth.server.requests == []


async def test_where_nothing_can_be_kept_no_refresh_token_is_spent(
    logged_in: Callable[..., Project], auth: AuthServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = logged_in(-1)
    opened = await open_model(project, "office/tiny")
    monkeypatch.setattr(renewal, "require_writable", _refuse)
    ended = (await said_by(opened))[-1]
    await close_provider(opened.provider)
    assert "isn't renewed" in ended.error.message
    assert auth.server.requests == []


async def test_a_new_token_that_cannot_be_kept_is_said_once_and_used_by_this_run(
    logged_in: Callable[..., Project], auth: AuthServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = logged_in(-1)
    opened = await open_model(project, "office/tiny")
    monkeypatch.setattr(renewal, "keep_login", lambda file, provider, login, *, store: _refuse(file))
    first, second = (await said_by(opened))[-1], (await said_by(opened))[-1]
    await close_provider(opened.provider)
    assert "the new token of office is lost" in first.error.message
    assert "Free some space" in first.error.hint
    assert second.error is None
    assert len(auth.asked("refresh_token")) == 1


def _refuse(file: Path) -> None:
    raise ConfigError("nothing can be kept: the disk is full", hint="Free some space.")


async def test_what_another_process_renewed_is_taken_over_without_asking(
    logged_in: Callable[..., Project], auth: AuthServer
) -> None:
    project = logged_in(30)
    opened = await open_model(project, "office/tiny")
    fresh = auth.tokens()
    newer = TokenLogin(
        access_token=fresh["access_token"],
        refresh_token=fresh["refresh_token"],
        expires_at=unix_time() + 3600,
        server=origin_of(auth.url),
    )
    write_login(project.home.auth_file, "office", newer)
    ended = (await said_by(opened))[-1]
    await close_provider(opened.provider)
    assert ended.error is None
    assert auth.asked("refresh_token") == []


async def test_a_cancel_in_the_middle_of_a_renewal_loses_no_token(
    logged_in: Callable[..., Project], auth: AuthServer
) -> None:
    project = logged_in(-1)
    opened = await open_model(project, "office/tiny")
    fresh = auth.tokens()
    write_login(project.home.auth_file, "office", _with(kept(project), refresh_token=fresh["refresh_token"]))
    auth.answers = [Reply([Pause(0.2), b'{"access_token": "late", "refresh_token": "next"}'], framing="close")]
    with anyio.move_on_after(10) as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(said_by, opened)
            while not auth.asked("refresh_token"):  # noqa: ASYNC110 - a server of threads announces nothing
                await anyio.sleep(0.005)
            group.cancel_scope.cancel()
    await close_provider(opened.provider)
    assert not scope.cancelled_caught
    assert kept(project).refresh_token == "next"


async def test_who_logs_out_while_a_token_is_renewed_stays_logged_out(
    logged_in: Callable[..., Project], auth: AuthServer
) -> None:
    project = logged_in(-1)
    opened = await open_model(project, "office/tiny")
    late = b'{"access_token": "late", "refresh_token": "next"}'
    auth.answers = [Reply([Pause(0.3), late], framing="close")]
    auth.good = {"late"}
    async with anyio.create_task_group() as group:
        group.start_soon(said_by, opened)
        while not auth.asked("refresh_token"):  # noqa: ASYNC110 - a server of threads announces nothing
            await anyio.sleep(0.005)
        remove_login(project.home.auth_file, "office")
    await close_provider(opened.provider)
    assert read_auth(project.home.auth_file).logins == {}


def _with(login: TokenLogin, **fields: Any) -> TokenLogin:
    return msgspec.structs.replace(login, **fields)


async def test_tasks_side_by_side_renew_once(logged_in: Callable[..., Project], auth: AuthServer) -> None:
    project = logged_in(-1)
    opened = [await open_model(project, "office/tiny") for _ in range(3)]
    ends: list[Any] = []

    async def one(model: OpenModel) -> None:
        ends.append((await said_by(model))[-1])

    async with anyio.create_task_group() as group:
        for model in (*opened, *opened):
            group.start_soon(one, model)
    for model in opened:
        await close_provider(model.provider)
    assert [end.error for end in ends] == [None] * 6
    assert len(auth.asked("refresh_token")) == 1


async def test_a_login_shows_no_token_when_it_is_printed(logged_in: Callable[..., Project]) -> None:
    project = logged_in()
    assert "secret" not in repr(Renewal(project.home.auth_file, "office", kept(project), None, None, unix_time))


def test_processes_at_once_use_a_refresh_token_once(
    logged_in: Callable[..., Project], auth: AuthServer, cli: Cli
) -> None:
    """Four real processes whose token has ended: one renews it, the others take what it got. The server ends the login of whoever uses a refresh token twice."""
    project = logged_in(-1)
    cli.config(auth.toml())
    command = [sys.executable, "-c", ONE_REQUEST]
    running = [
        subprocess.Popen(
            command,
            cwd=cli.project,
            env={**cli.environment(), "PYTHONPATH": SOURCES},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(4)
    ]
    ended = [(*process.communicate(timeout=50), process.returncode) for process in running]
    assert [(out.decode().strip(), code) for out, _, code in ended] == [("None", 0)] * 4, ended
    assert len(auth.asked("refresh_token")) == 1
    assert kept(project).access_token in auth.good
