"""What servers say they have: `trimtab models --usable`, and `/models load` at a server that loads on demand."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.cli import Cli, Outcome
from support.servers import FakeServer, HangUp, Received, Reply, Step, json_reply
from trimtab.coding.models import OpenModel, open_model
from trimtab.coding.project import open_project
from trimtab.providers.probe import Probe, ProbedModel

KEY = "sk-hidden-0123456789abcdef"


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """A home, where no server of this machine is met by chance."""
    names = ("LLAMACPP", "VLLM", "OLLAMA", "LMSTUDIO")
    return Cli.at(tmp_path, **{f"TRIMTAB_PROVIDERS__{n}__BASE_URL": "http://127.0.0.1:1/v1" for n in names})


def lists(*rows: dict[str, Any]) -> FakeServer:
    answer = json_reply({"data": list(rows)})
    return FakeServer(lambda r: answer if r.path == "/v1/models" else json_reply({}, status=404))


def test_usable_models_are_those_that_servers_list_too(cli: Cli) -> None:
    with lists({"id": "known"}, {"id": "new", "max_model_len": 40_960}, {"id": "mystery"}) as server:
        row = '{id = "known", context_window = 9000}'
        cli.config(f'[providers.here]\nbase_url = "{server.url}/v1"\nmodels = [{row}]\n')
        quiet = cli.inside("models", "here/")
        assert server.requests == []
        table = cli.inside("models", "here/", "--usable")
        data = json.loads(cli.inside("models", "here/", "--usable", "--json").out)
    assert [line.split()[0] for line in quiet.out.splitlines()[1:]] == ["here/known"]
    rows = [line.split()[:3] for line in table.out.splitlines()[1:]]
    assert rows == [["here/known", "9,000", "4,096"], ["here/new", "(live)", "40,960"], ["here/mystery", "(live)", "?"]]
    assert [(one["id"], one["live"]) for one in data] == [("known", False), ("new", True), ("mystery", True)]


def test_a_key_goes_to_its_own_server_and_no_other(cli: Cli) -> None:
    with lists({"id": "a"}) as one, lists({"id": "b"}) as two:
        cli.config(
            f'[providers.one]\nbase_url = "{one.url}/v1"\napi_key = "{KEY}"\n'
            f'[providers.two]\nbase_url = "{two.url}/v1"\nheaders = {{"x-team" = "t"}}\n'
        )
        outcome = cli.inside("models", "--usable")
        sent = (
            {r.headers.get("authorization") for r in one.requests},
            {(r.headers.get("authorization"), r.headers.get("x-team")) for r in two.requests},
        )
    assert "one/a" in outcome.out
    assert "two/b" in outcome.out
    assert sent == ({f"Bearer {KEY}"}, {(None, "t")})
    assert KEY not in outcome.out + outcome.err


@pytest.mark.parametrize(
    "reply",
    [
        json_reply({}, status=500),
        json_reply({"data": "no"}),
        json_reply([1, 2]),
        Reply([b"<html>"], framing="length"),
        Reply([HangUp()]),
        json_reply({"data": [{"id": "\x1b[2Jevil\n"}, {"id": "x" * 500}, {"id": None}, {}]}),
    ],
)
def test_a_server_that_lists_nothing_of_use_does_not_hide_the_others(cli: Cli, reply: Reply) -> None:
    with FakeServer(lambda r: reply) as odd, lists({"id": "fine"}) as good:
        cli.config(f'[providers.odd]\nbase_url = "{odd.url}/v1"\n[providers.good]\nbase_url = "{good.url}/v1"\n')
        outcome = cli.inside("models", "--usable")
    assert outcome.code == 0
    assert "good/fine" in outcome.out
    assert "odd: no model of it is listed" in outcome.err or "odd/" in outcome.out
    assert "\x1b" not in outcome.out + outcome.err
    assert "Traceback" not in outcome.err


class Router:
    """A llama.cpp server in router mode: `ends` is how a load ends; without `tells` it is one that has no events."""

    def __init__(self, ends: str = "loaded", *, tells: bool = True) -> None:
        self.ends, self.tells = ends, tells
        self.states = {"big": "unloaded", "small": "loaded"}
        self.asked = threading.Event()
        self.server = FakeServer(self._answer)

    def _answer(self, request: Received) -> Reply:
        match request.path.partition("?")[0]:
            case "/v1/models":
                return json_reply({"data": [{"id": n, "status": {"value": s}} for n, s in self.states.items()]})
            case "/props":
                sized = "model=big" in request.path or "model=small" in request.path
                return json_reply({"default_generation_settings": {"n_ctx": 8192 if sized else 0}})
            case "/models/sse" if self.tells:
                return Reply(list(self._events()))
            case "/models/load":
                name = request.json["model"]
                self.states[name] = self.ends if self.ends == "loaded" else "unloaded"
                self.asked.set()
                return json_reply({"success": True})
            case "/models/unload":
                if self.states[request.json["model"]] != "loaded":
                    return json_reply({"error": {"code": 400, "message": "model is not running"}}, status=400)
                self.states[request.json["model"]] = "unloaded"
                return json_reply({"success": True})
        return json_reply({}, status=404)

    def _events(self) -> Iterator[Step]:
        yield b": hello\n\ndata: not json\n\n"

        def said(model: str, **data: Any) -> bytes:
            return b"data: " + json.dumps({"model": model, "event": "model_status", "data": data}).encode() + b"\n\n"

        yield said("small", status="loaded")
        yield said("big", status="loading")
        yield said("big", status=self.ends, exit_code=1)


def talk(cli: Cli, server: FakeServer, *lines: str) -> Outcome:
    cli.config(f'[providers.box]\nbase_url = "{server.url}/v1"\n')
    model = cli.script({"text": "hi"})
    return cli.inside("chat", "--model", model, stdin="".join(f"{line}\n" for line in lines).encode())


def test_a_model_is_loaded_and_let_go_by_name(cli: Cli) -> None:
    router = Router()
    with router.server as server:
        outcome = talk(cli, server, "/models load box/big", "/models unload box/small", "/models unload box/small")
        posts = [(r.path, r.json) for r in server.requests if r.method == "POST"]
    assert "box/big: its server loads it" in outcome.err
    assert "box/big is loaded, window 8,192 tokens" in outcome.err
    assert "box/small is unloaded" in outcome.err
    assert "box/small isn't unloaded: model is not running" in outcome.err
    assert ("/models/load", {"model": "big"}) in posts
    assert router.states == {"big": "loaded", "small": "unloaded"}


def test_a_model_that_is_loaded_is_not_loaded_again(cli: Cli) -> None:
    with Router().server as server:
        outcome = talk(cli, server, "/models load box/small")
        assert all(r.method == "GET" for r in server.requests)
    assert "box/small is loaded already, window 8,192 tokens" in outcome.err


def test_a_load_that_fails_says_so(cli: Cli) -> None:
    with Router("unloaded").server as server:
        outcome = talk(cli, server, "/models load box/big")
    assert "box/big isn't loaded: it ended while it was loaded (exit code 1)" in outcome.err
    assert "Traceback" not in outcome.err


def test_a_router_that_tells_no_events_is_taken_at_its_word(cli: Cli) -> None:
    with Router(tells=False).server as server:
        outcome = talk(cli, server, "/models load box/big")
    assert "box/big is loaded, window 8,192 tokens" in outcome.err


def test_what_cannot_be_loaded_says_why_and_what_can(cli: Cli) -> None:
    with Router().server as server:
        outcome = talk(cli, server, "/models load box/nosuch", "/models load", "/models load llamacpp/x")
        assert f"{server.url}/v1 has no 'nosuch'" in outcome.err
    assert "It has big, small." in outcome.err
    assert "is on no server that loads models" in outcome.err
    assert "http://127.0.0.1:1/v1 doesn't answer" in outcome.err
    with lists({"id": "one"}) as server:
        plain = talk(cli, server, "/models load box/one")
    assert "isn't told what to load" in plain.err


async def _asked(monkeypatch: pytest.MonkeyPatch, cli: Cli, ref: str) -> tuple[list[tuple[str, bool]], OpenModel]:
    asked: list[tuple[str, bool]] = []

    async def probe(base_url: str, *, list_only: bool = False, **more: Any) -> Probe:
        asked.append((base_url, list_only))
        return Probe(base_url, "openai-compatible", (ProbedModel("maker/m", 70_000, state="unloaded"),))

    monkeypatch.setattr("trimtab.providers.probe.probe", probe)
    return asked, await open_model(open_project(cli.project, env=cli.environment()), ref)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("settings", "ref", "where"),
    [
        ("", "nvidia/maker/m", ("https://integrate.api.nvidia.com/v1", True)),
        ("", "together/maker/m", None),
        ("[providers.nvidia]\nprobe = false", "nvidia/maker/m", None),
        ("[providers.together]\nprobe = true", "together/maker/m", ("https://api.together.xyz/v1", True)),
        ("", "llamacpp/maker/m", None),
        (
            '[providers.mine]\nbase_url = "http://127.0.0.1:1/v1"\nprobe = true',
            "mine/maker/m",
            ("http://127.0.0.1:1/v1", False),
        ),
    ],
)
async def test_a_window_that_nobody_states_is_asked_for_where_no_list_could_say_it(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, settings: str, ref: str, where: tuple[str, bool] | None
) -> None:
    cli.config(f"{settings}\n")
    cli.env.update(NVIDIA_API_KEY=KEY, TOGETHER_API_KEY=KEY)
    asked, opened = await _asked(monkeypatch, cli, ref)
    assert asked == ([where] if where else [])
    assert opened.info.context_window == (70_000 if where else 32_768)
    assert any("/models load" in note for note in opened.notes) == bool(where)
