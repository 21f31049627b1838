"""Whose tokenizer counts: a server's own where the settings or the catalogue say so, and nobody else's."""

from pathlib import Path
from typing import Any

import pytest

from support.cli import Cli, Outcome, delta, said, stream
from support.servers import FakeServer, Received, Reply, json_reply

CALL = {"index": 0, "id": "c1", "function": {"name": "read", "arguments": '{"path": "a.txt"}'}}


class Model:
    """A model that reads a file and then answers, and a tokenizer that counts words, or fails from its n-th text on."""

    def __init__(self, fails_from: int = 1 << 30) -> None:
        self.texts: list[str] = []
        self.asked = 0
        self._fails_from = fails_from

    def __call__(self, received: Received) -> Reply:
        if received.path == "/tokenize":
            self.texts.append(received.json.get("content", ""))
            if len(self.texts) > self._fails_from:
                return json_reply({}, status=500)
            return json_reply({"tokens": [0] * max(1, len(received.json.get("content", "").split()))})
        if received.path.endswith("/chat/completions"):
            self.asked += 1
            return stream(delta(tool_calls=[CALL]), delta("tool_calls")) if self.asked == 1 else said("done")
        return json_reply({}, status=404)


def run(tmp_path: Path, model: Model, *prompt: str, provider: str = "local", **settings: Any) -> Outcome:
    """One turn with a file to read."""
    cli = Cli.at(tmp_path)
    cli.file("a.txt", "word " * 300)
    with FakeServer(model) as server:
        values = {"base_url": f"{server.url}/v1", "context_window": 32_768, "max_output": 4_096, **settings}
        sets = [part for key, value in values.items() for part in ("--set", f"providers.{provider}.{key}={value}")]
        outcome = cli.inside("-p", *(prompt or ("read it",)), "--mode", "json", "--model", f"{provider}/tiny", *sets)
    assert outcome.code == 0, outcome.err
    return outcome


def test_a_server_that_the_settings_name_counts_what_a_second_request_holds(tmp_path: Path) -> None:
    model = Model()
    outcome = run(tmp_path, model, tokenizer="server")
    assert any("word word" in text for text in model.texts)
    assert len(model.texts) == len(set(model.texts))
    assert [event for event in outcome.of("notice") if "tokenizer" in event["message"]] == []


def test_a_small_first_request_asks_no_tokenizer(tmp_path: Path) -> None:
    model = Model()
    model.asked = 1
    run(tmp_path, model, "hi", tokenizer="server")
    assert model.texts == []


@pytest.mark.parametrize(
    ("provider", "settings", "asked"),
    [
        ("local", {}, False),
        ("llamacpp", {}, True),
        ("vllm", {}, True),
        ("llamacpp", {"tokenizer": "local"}, False),
        ("ollama", {}, False),
    ],
)
def test_by_default_only_a_server_here_that_is_known_to_have_one_is_asked(
    tmp_path: Path, provider: str, settings: dict[str, str], asked: bool
) -> None:
    model = Model()
    run(tmp_path, model, provider=provider, **settings)
    assert bool(model.texts) is asked


def test_one_that_stops_is_told_once_and_the_turn_goes_on(tmp_path: Path) -> None:
    model = Model(fails_from=2)
    notices = [e["message"] for e in run(tmp_path, model, tokenizer="server").of("notice")]
    (told,) = [notice for notice in notices if "tokenizer" in notice]
    assert "it answers 500" in told
    assert len(model.texts) == 3


def test_one_that_never_was_there_is_told_only_where_somebody_named_it(tmp_path: Path) -> None:
    for provider, settings, told in (("llamacpp", {}, 0), ("local", {"tokenizer": "server"}, 1)):
        (tmp_path / provider).mkdir()
        outcome = run(tmp_path / provider, Model(fails_from=0), provider=provider, **settings)
        assert len([e for e in outcome.of("notice") if "tokenizer" in e["message"]]) == told
