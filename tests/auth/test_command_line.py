"""`trimtab login`, `logout`, and the first start in an empty home."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.auth_server import AuthServer
from support.cli import Cli, Outcome
from support.servers import FakeServer, Reply, sse
from support.terminal import Terminal
from trimtab.coding.auth.login import require_provider
from trimtab.coding.confine import confiner_of
from trimtab.coding.first_model import first_model
from trimtab.coding.models import resolve_model
from trimtab.coding.project import open_project
from trimtab.config.auth_file import KeyLogin, TokenLogin, read_auth, write_login
from trimtab.providers.catalogue import Catalogue
from trimtab.types.errors import UsageError

KEY = "sk-hidden-0123456789abcdef"


def answer() -> Reply:
    """A whole answer of the Messages API."""
    start = {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 5, "output_tokens": 1}}}
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    text = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hello there"}}
    stop = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}}
    events = (start, block, text, {"type": "content_block_stop", "index": 0}, stop, {"type": "message_stop"})
    return Reply(sse(*events, named=True))


@pytest.fixture
def api() -> Iterator[FakeServer]:
    with FakeServer(answer()) as server:
        yield server


def at(server: FakeServer) -> dict[str, str]:
    """The variables that put a well-known provider on this machine, where its own variable holds its key."""
    return {
        "TRIMTAB_PROVIDERS__ANTHROPIC__BASE_URL": f"{server.url}/v1",
        "TRIMTAB_PROVIDERS__ANTHROPIC__API_KEY_ENV": "ANTHROPIC_API_KEY",
    }


# The first start


def test_a_new_user_with_one_key_gets_an_answer_from_one_command(tmp_path: Path, api: FakeServer) -> None:
    cli = Cli.at(tmp_path, ANTHROPIC_API_KEY=KEY, **at(api))
    assert not cli.home.exists()
    outcome = cli.inside("-p", "hi")
    assert outcome.code == 0, outcome.err
    assert outcome.out == "hello there\n"
    default = Catalogue.load().provider("anthropic").default
    assert f"anthropic/{default}" in outcome.err
    assert "ANTHROPIC_API_KEY is set" in outcome.err
    assert "--model" in outcome.err
    assert "trimtab config set model" in outcome.err
    (request,) = api.requests
    assert request.headers["x-api-key"] == KEY
    assert request.json["model"] == default
    assert KEY not in outcome.err


def test_a_new_user_who_logs_in_gets_an_answer_from_the_next_command(tmp_path: Path, api: FakeServer) -> None:
    cli = Cli.at(tmp_path, **at(api))
    assert cli.inside("login", "anthropic", stdin=KEY.encode()).code == 0
    outcome = cli.inside("-p", "hi")
    assert (outcome.code, outcome.out) == (0, "hello there\n"), outcome.err
    assert "you logged in to anthropic" in outcome.err
    assert api.requests[0].headers["x-api-key"] == KEY


def test_the_suggestion_to_set_a_model_for_good_works(cli: Cli) -> None:
    assert cli.inside("config", "set", "model", "anthropic/claude-sonnet-5-5").code == 0
    assert "claude-sonnet-5-5" in cli.inside("config", "get", "model").out


def test_a_provider_of_which_no_model_answers_by_itself_says_so_when_one_logs_in(tmp_path: Path) -> None:
    without = {p.name for p in Catalogue.load().providers() if p.api_key_env and not p.default}
    assert without == {"huggingface", "vercel-ai-gateway", "nvidia", "opencode"}
    cli = Cli.at(tmp_path)
    outcome = cli.inside("login", "nvidia", stdin=KEY.encode())
    assert outcome.code == 0, outcome.err
    assert "trimtab models nvidia --usable lists them" in outcome.err
    assert "lists them" not in cli.inside("login", "groq", stdin=KEY.encode()).err


@pytest.mark.parametrize(
    ("env", "logins", "config", "first"),
    [
        (["GROQ_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"], [], "", "openai"),
        (["OPENAI_API_KEY"], ["groq", "anthropic"], "", "anthropic"),
        (
            ["OPENAI_API_KEY"],
            ["groq"],
            '[providers.mine]\nbase_url = "http://127.0.0.1:9/v1"\nmodels = [{id = "m"}]',
            "mine",
        ),
        (
            ["OPENAI_API_KEY"],
            [],
            '[providers.far]\nbase_url = "https://far.example/v1"\nmodels = [{id = "m"}]',
            "openai",
        ),
        (["OPENAI_API_KEY"], [], '[providers.groq]\napi_key = "in-the-settings"', "groq"),
    ],
    ids=["catalogue-order", "login-first", "own-model-first", "own-without-a-key", "own-settings-first"],
)
def test_of_several_keys_the_documented_order_picks_one(
    tmp_path: Path, env: list[str], logins: list[str], config: str, first: str
) -> None:
    cli = Cli.at(tmp_path, **dict.fromkeys(env, KEY))
    cli.config(config)
    for name in logins:
        assert cli.inside("login", name, stdin=KEY.encode()).code == 0
    found = first_model(open_project(cli.project, env=cli.environment()))
    assert found is not None
    assert found.ref.partition("/")[0] == first


def test_without_any_key_the_next_step_is_named(cli: Cli) -> None:
    outcome = cli.inside("-p", "hi")
    assert outcome.code == 2
    assert "trimtab login" in outcome.err
    assert "ANTHROPIC_API_KEY" in outcome.err


def test_the_list_and_the_run_say_which_variable_is_held_back(tmp_path: Path) -> None:
    base = {
        "TRIMTAB_PROVIDERS__OPENAI__BASE_URL": "http://127.0.0.1:1/v1",
        "TRIMTAB_PROVIDERS__OPENAI__MAX_RETRIES": "0",
    }
    cli = Cli.at(tmp_path, OPENAI_API_KEY=KEY, **base)
    held = "OPENAI_API_KEY is for api.openai.com alone; set providers.openai.api_key_env to use it there"
    assert held in " ".join(cli.inside("login", "--list").out.split())
    assert f"no key was sent: {held}" in " ".join(cli.inside("-p", "hi", "--model", "openai/gpt-5.1").err.split())


def test_a_session_that_names_its_model_keeps_it(tmp_path: Path) -> None:
    cli = Cli.at(tmp_path, ANTHROPIC_API_KEY=KEY)
    script = cli.script({"text": "one"}, {"text": "two"})
    assert cli.inside("-p", "hi", "--model", script).code == 0
    outcome = cli.inside("-p", "again", "--continue")
    assert outcome.code in (0, 1)
    assert "claude" not in outcome.err


# Keys


def test_a_key_from_a_pipe_is_kept_and_shown_nowhere(cli: Cli) -> None:
    outcome = cli.inside("login", "anthropic", stdin=f"  {KEY}\n".encode())
    assert outcome.code == 0
    assert str(cli.home / "auth.json") in outcome.err
    assert json.loads((cli.home / "auth.json").read_text())["providers"]["anthropic"]["api_key"] == KEY
    told = [outcome]
    for args in (["login", "--list"], ["login", "--list", "--json"], ["doctor"], ["doctor", "--json"]):
        told.append(cli.inside(*args))
    for args in (["config", "show", "--all", "--origin"], ["login", "anthropic", "--list"], ["models", "--usable"]):
        told.append(cli.inside(*args))
    told.append(cli.inside("logout", "anthropic"))
    for one in told:
        assert one.code in (0, 1), one
        assert KEY not in one.out + one.err
        assert KEY[3:12] not in one.out + one.err
    assert read_auth(cli.home / "auth.json").logins == {}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (b"", "no key came"),
        (b" \n", "no key came"),
        (b"one two", "that is no key"),
        (b"one\ntwo", "that is no key"),
        (b"k\x00ey", "that is no key"),
        (b"\xff\xfe", "that is no key"),
        (b"a" * 70_000, "that is no key"),
        ("\u202eabc".encode(), "that is no key"),
    ],
)
def test_what_cannot_be_a_key_is_refused_and_nothing_is_written(cli: Cli, given: bytes, words: str) -> None:
    outcome = cli.inside("login", "anthropic", stdin=given)
    assert outcome.code == 2
    assert words in outcome.err
    assert not (cli.home / "auth.json").exists()


@pytest.mark.parametrize("args", [["anthropic", KEY], [KEY], ["f" * 40], ["anthropic", "--", KEY]])
def test_a_key_on_the_command_line_is_refused_and_not_repeated(cli: Cli, args: list[str]) -> None:
    outcome = cli.inside("login", *args)
    assert outcome.code == 2
    assert args[-1] not in outcome.err
    assert "isn't given as an argument" in outcome.err


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["openia"], "Did you mean openai?"),
        (["scripted"], "takes no key"),
        (["anthropic", "--device"], "no login by a device"),
        (["anthropic", "--device", "--with-key"], "exclude each other"),
        ([], "no provider was named"),
    ],
)
def test_what_cannot_be_logged_in_to_is_said(cli: Cli, args: list[str], words: str) -> None:
    outcome = cli.inside("login", *args)
    assert outcome.code == 2
    assert words in outcome.err


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("a/b", "in the name of a model its provider ends at the first /"),
        (" a", "it is empty, or begins or ends with a blank"),
        ("", "it is empty, or begins or ends with a blank"),
        ("a\u202eb", "it holds characters that nobody sees"),
        ("a\x1b[31m", "it holds characters that nobody sees"),
    ],
)
def test_a_provider_that_no_model_could_be_asked_of_cannot_be_logged_in_to(tmp_path: Path, name: str, why: str) -> None:
    settings = {"providers": {name: {"base_url": "http://127.0.0.1:9/v1"}}}
    project = open_project(tmp_path, overrides=settings, env={"TRIMTAB_HOME": str(tmp_path / "home")})
    with pytest.raises(UsageError, match=f"can't be called .*: {why}"):
        require_provider(project, name)


def test_a_provider_may_have_blanks_in_its_name(tmp_path: Path) -> None:
    model = {"id": "m", "context_window": 1_000, "max_output": 100}
    settings = {"providers": {"my own": {"base_url": "http://127.0.0.1:9/v1", "api_key": KEY, "models": [model]}}}
    project = open_project(tmp_path, overrides=settings, env={"TRIMTAB_HOME": str(tmp_path / "home")})
    assert require_provider(project, "my own")
    assert resolve_model(project, "my own/m").endpoint.api_key == KEY


def test_a_variable_that_comes_first_is_named_when_a_key_is_kept(tmp_path: Path) -> None:
    cli = Cli.at(tmp_path, ANTHROPIC_API_KEY="another-key-0123456789")
    outcome = cli.inside("login", "anthropic", stdin=KEY.encode())
    assert outcome.code == 0
    assert "variable ANTHROPIC_API_KEY comes first" in outcome.err
    listed = cli.inside("login", "--list").out
    assert "not used: variable ANTHROPIC_API_KEY comes first" in listed
    assert "What counts first" in listed


def test_logging_out_of_the_only_login_needs_no_name(cli: Cli) -> None:
    assert cli.inside("logout").code == 2
    cli.inside("login", "anthropic", stdin=KEY.encode())
    outcome = cli.inside("logout")
    assert outcome.code == 0
    assert "logged out of anthropic" in outcome.err
    again = cli.inside("logout", "anthropic")
    assert again.code == 2
    assert "nothing is kept for anthropic" in again.err


def test_a_tool_command_finds_no_key(tmp_path: Path) -> None:
    """Neither in its environment, nor, where there is a sandbox, in the file."""
    cli = Cli.at(
        tmp_path, OFFICE_SECRET_NAME="variable-hidden", TRIMTAB_PROVIDERS__OFFICE__OAUTH__CLIENT_SECRET="client-hidden"
    )
    cli.inside("login", "anthropic", stdin=KEY.encode())
    ended = cli.call("bash", command=f"env; cat {cli.home}/auth.json")
    text = json.dumps(ended)
    assert "hidden" not in text


def test_a_login_in_the_middle_of_a_session_is_hidden_from_later_commands_and_its_end_stops_none(
    cli: Cli,
) -> None:
    confiner = confiner_of(open_project(cli.project, env=cli.environment()))
    _, choice = confiner.examine()
    if choice.sandbox is None or "mount namespace" not in choice.sandbox.describe().name:
        pytest.skip("no sandbox with mounts here")
    file = cli.home / "auth.json"

    def ran(script: str) -> tuple[str, int]:
        started = confiner.wrap(("/bin/sh", "-c", script), {"PATH": os.environ["PATH"]}, cli.project)
        assert not isinstance(started, str)
        done = subprocess.run(
            started[0], env=dict(started[1]), cwd=cli.project, capture_output=True, timeout=30, text=True
        )
        return done.stdout + done.stderr, done.returncode

    assert ran("echo before") == ("before\n", 0)
    write_login(file, "p", KeyLogin(api_key=KEY))
    assert ran(f"cat {file}; echo seen") == ("seen\n", 0)
    write_login(file, "q", KeyLogin(api_key=KEY))
    assert ran(f"cat {file}; echo seen") == ("seen\n", 0)
    file.unlink()
    assert ran("echo after") == ("after\n", 0)


def test_the_tools_read_no_login(cli: Cli) -> None:
    cli.inside("login", "anthropic", stdin=KEY.encode())
    for name, arguments in (
        ("read", {"path": str(cli.home / "auth.json")}),
        ("grep", {"pattern": "sk-", "path": str(cli.home)}),
    ):
        assert KEY not in json.dumps(cli.call(name, **arguments))


# Logging in by OAuth


def test_a_login_by_device_lets_in_and_is_listed(cli: Cli, auth: AuthServer) -> None:
    auth.device_answer = {"interval": 1}
    cli.config(auth.toml())
    outcome = cli.inside("login", "office", "--device")
    assert outcome.code == 0, outcome.err
    assert "WDJB-MJHT" in outcome.err
    assert "logged in to office" in outcome.err
    listed = cli.inside("login", "--list").out
    assert "ends in 59 min, is renewed by itself" in listed
    assert cli.inside("-p", "hi").out == "let in\n"
    (row,) = json.loads(cli.inside("login", "--json").out)
    assert (row["provider"], row["kind"], row["used"], row["renews"]) == ("office", "oauth", True, True)
    assert not any(token in listed for token in auth.good)


def test_where_a_login_has_ended_list_and_doctor_say_so(cli: Cli, auth: AuthServer) -> None:
    cli.config(auth.toml())
    write_login(
        cli.home / "auth.json",
        "office",
        TokenLogin(access_token="old-token-hidden", expires_at=1.0, server=auth.url),
    )
    assert "has ended: log in again" in cli.inside("login", "--list").out
    outcome = cli.inside("doctor")
    assert "MISSING  logins: office" in outcome.out
    assert "trimtab login office" in outcome.out
    assert "hidden" not in outcome.out


def test_a_flow_that_isnt_whole_is_named_before_anything_is_asked(cli: Cli, auth: AuthServer) -> None:
    cli.config(auth.toml(token_url=None))
    outcome = cli.inside("login", "office")
    assert outcome.code == 2
    assert "providers.office.oauth" in outcome.err
    assert "token_url is missing" in outcome.err
    assert auth.server.requests == []


def test_a_key_can_be_kept_where_one_could_log_in(cli: Cli, auth: AuthServer) -> None:
    cli.config(auth.toml())
    assert cli.inside("login", "office", "--with-key", stdin=KEY.encode()).code == 0
    assert auth.server.requests == []


def test_sessions_and_exports_hold_no_token(cli: Cli, auth: AuthServer) -> None:
    auth.device_answer = {"interval": 1}
    cli.config(auth.toml(client_secret="client-hidden"))
    assert cli.inside("login", "office", "--device").code == 0
    auth.good.clear()  # it is renewed in the middle
    run = cli.inside("-p", "hi", "--mode", "json")
    assert run.code == 0, run.err
    kept = read_auth(cli.home / "auth.json").logins["office"]
    assert isinstance(kept, TokenLogin)
    texts = [path.read_text() for path in cli.sessions]
    texts += [run.out, run.err, cli.inside("sessions", "export", "last", "--format", "html").out]
    texts += [cli.inside("config", "show", "--all").out, cli.inside("doctor").out]
    for secret in (kept.access_token, kept.refresh_token, "client-hidden"):
        assert not any(secret in text for text in texts)


# At a terminal


def test_at_a_terminal_the_providers_are_a_choice_and_the_key_isnt_shown(cli: Cli) -> None:
    with Terminal(cli, "login") as screen:
        screen.until("answer with a word")
        assert "openrouter" in screen.screen
        screen.type("2\n")
        screen.until("press Enter")
        assert not screen.echoes
        screen.type(f"{KEY}\n")
        assert screen.end().code == 0
        assert screen.echoes
        assert "the key of anthropic is kept" in screen.screen
        assert KEY not in screen.screen


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_a_key_is_typed_leaves_the_terminal_as_it_was(cli: Cli, number: int, code: int) -> None:
    with Terminal(cli, "login", "anthropic") as screen:
        screen.until("press Enter")
        assert not screen.echoes
        screen.type("half a k")
        screen.interrupt(number)
        assert screen.end().code == code
        assert screen.echoes
        assert not (cli.home / "auth.json").exists()


def test_a_talk_logs_in_unseen_and_goes_on_with_the_new_key(tmp_path: Path) -> None:
    with FakeServer(answer()) as server:
        cli = Cli.at(tmp_path, **at(server))
        with Terminal(cli, "chat", "--model", "anthropic/claude-sonnet-5-5") as screen:
            screen.wait_for(r"/help\s+lists")
            screen.type("/login anthropic\n")
            screen.until("press Enter")
            assert not screen.echoes
            screen.type(f"{KEY}\n")
            screen.until("auth.json\n> ")
            assert screen.echoes
            screen.type("hi\n")
            screen.until("hello there")
            screen.type("/logout anthropic\n")
            screen.until("logged out of anthropic")
            screen.type("/quit\n")
            assert screen.end().code == 0
            assert KEY not in screen.screen
        assert server.requests[-1].headers["x-api-key"] == KEY
        assert all(KEY not in path.read_text() for path in cli.sessions)


def test_the_first_talk_without_any_key_offers_a_login_and_goes_on(tmp_path: Path) -> None:
    with FakeServer(answer()) as server:
        cli = Cli.at(tmp_path, **at(server))
        with Terminal(cli) as screen:
            screen.until("Log in to a provider now?")
            screen.type("yes\n")
            screen.until("Which provider?")
            screen.type("anthropic\n")
            screen.until("isn't shown")
            screen.type("a key with blanks\n")
            screen.until("that is no key")
            screen.forget()
            screen.until("answer with a word")  # it is offered again
            screen.type("y\n")
            screen.until("Which provider?")
            screen.type("anthropic\n")
            screen.until("press Enter")
            assert not screen.echoes
            screen.type(f"{KEY}\n")
            screen.wait_for(r"/help\s+lists")
            assert screen.echoes
            screen.type("hi\n")
            screen.until("hello there\n> ")
            screen.interrupt(signal.SIGINT)
            screen.until("again leaves")  # signals mean what they mean in any talk
            screen.type("/quit\n")
            assert screen.end().code == 0
            assert KEY not in screen.screen
        assert server.requests[-1].headers["x-api-key"] == KEY


@pytest.mark.parametrize("no", ["no\n", "q\n", "\x04"])
def test_who_would_rather_not_log_in_gets_what_else_can_be_done(cli: Cli, no: str) -> None:
    with Terminal(cli) as screen:
        screen.until("answer with a word")
        screen.type(no)
        assert screen.end().code == 2
        assert "no model is configured" in screen.screen
        assert "trimtab models lists them" in screen.screen
        assert not (cli.home / "auth.json").exists()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_the_first_key_is_typed_leaves_the_terminal_as_it_was(cli: Cli, number: int, code: int) -> None:
    with Terminal(cli) as screen:
        screen.until("answer with a word")
        screen.type("yes\n")
        screen.until("Which provider?")
        screen.type("anthropic\n")
        screen.until("press Enter")
        assert not screen.echoes
        screen.interrupt(number)
        assert screen.end().code == code
        assert screen.echoes


def test_a_key_behind_the_command_of_a_talk_is_refused_unrepeated(cli: Cli) -> None:
    outcome = talk(cli, f"/login anthropic {KEY}", "/login")
    assert "isn't written there" in outcome.err + outcome.out
    assert KEY not in outcome.err + outcome.out
    assert all(KEY not in path.read_text() for path in cli.sessions)


def test_where_nobody_types_a_talk_says_where_to_log_in(cli: Cli) -> None:
    outcome = talk(cli, "/login anthropic", "/login --list", "/logout anthropic")
    text = outcome.err + outcome.out
    assert "trimtab login anthropic" in text
    assert "nothing lets you in yet" in text
    assert "nothing is kept for anthropic" in text


def talk(cli: Cli, *lines: str) -> Outcome:
    script = cli.script({"text": "hello"})
    return cli.inside("chat", "--model", script, stdin="".join(f"{line}\n" for line in lines).encode())
