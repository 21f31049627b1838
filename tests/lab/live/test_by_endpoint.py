"""Tier T3: a model by endpoint works in the same repositories. The endpoint here is a server on loopback."""

import json
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from support.cli import delta
from support.servers import FakeServer, Received, Reply, Stall, sse
from trimtab.coding.project import open_project
from trimtab.lab.arms.playing import Conditions
from trimtab.lab.bench.row import Row
from trimtab.lab.live.assignment import filled
from trimtab.lab.live.noise import Size
from trimtab.lab.live.play import LiveModel, live_model, play_live
from trimtab.lab.live.registry import make_assignment
from trimtab.lab.live.workshop import command_env
from trimtab.types.errors import ConfigError, UsageError

SHORT = Size(steps=(2, 3), tokens=(200, 300))
FAMILY = "superseded-limit"
USAGE = {
    "prompt_tokens": 2_000,
    "completion_tokens": 50,
    "total_tokens": 2_050,
    "prompt_tokens_details": {"cached_tokens": 1_024},
}
PRICE = {"id": "tiny", "price_input": 100.0, "price_output": 100.0, "price_cache_read": 10.0}


Opens: TypeAlias = "Callable[..., LiveModel]"


@pytest.fixture
def live(tmp_path: Path) -> Opens:
    """Finds the model that a server plays."""

    def find(server: FakeServer, **limits: float) -> LiveModel:
        table = {
            "base_url": f"{server.url}/v1",
            "context_window": 60_000,
            "max_output": 1_000,
            "models": [PRICE],
            "max_retries": 0,
        }
        settings = {"model": "local/tiny", "providers": {"local": table}}
        project = open_project(tmp_path, overrides=settings, env={"TRIMTAB_HOME": str(tmp_path)})
        return live_model(project, **limits)  # type: ignore[arg-type]

    return find


def played(model: LiveModel, spec: str = "rules") -> Row:
    """One short assignment."""
    return play_live(spec, FAMILY, 1, Conditions(20_000), live=model, size=SHORT)


def knowing() -> Iterator[Reply]:
    """A model that knows the values, makes every edit in one answer and says that it is done."""
    made = make_assignment(FAMILY, 1, SHORT)
    edits = [move for move in made.moves if move.tool == "edit"]
    calls = [
        {
            "index": n,
            "id": f"call_{n}",
            "function": {"name": move.tool, "arguments": json.dumps(filled(move.arguments, made.truth.__getitem__))},
        }
        for n, move in enumerate(edits)
    ]
    ended = {"id": "c1", "choices": [], "usage": USAGE}
    yield Reply(sse(delta(tool_calls=calls), delta("tool_calls"), ended, done=True))
    yield Reply(sse(delta(content="Done."), delta("stop"), ended, done=True))


def test_a_model_that_repairs_it_passes_and_its_own_figures_stand_beside_ours(live: Opens):
    with FakeServer(*knowing()) as server:
        row = played(live(server))
    assert (row.tier, row.steps, row.judged["expected"].success) == ("T3", 2, 1.0)
    told = {name: row.extra[name] for name in ("reported_prompt", "reported_cached", "reported_output")}
    assert told == {"reported_prompt": 4_000.0, "reported_cached": 2_048.0, "reported_output": 100.0}
    assert row.extra["spent_usd"] == pytest.approx(2 * (976 * 100 + 50 * 100 + 1_024 * 10) / 1e6)
    assert row.judged["expected"].usd != row.extra["spent_usd"], "ours are the prices of the conditions"
    assert row.prompt > 3_000
    assert "chance" not in row.extra
    assert (row.needs.visible, row.needs.stub, row.needs.lost) == (0, 0, 0)


def test_the_model_gets_the_task_and_the_tools_but_no_plan(live: Opens):
    with FakeServer(*knowing()) as server:
        played(live(server))
    first = server.requests[0].json
    made = make_assignment(FAMILY, 1, SHORT)
    assert first["messages"][-1]["content"] == made.prompt
    assert {"read", "edit", "bash", "recall"} <= {tool["function"]["name"] for tool in first["tools"]}
    # As words of their own: the name of a temporary folder holds any three letters now and then.
    said = json.dumps(first["messages"])
    assert not any(re.search(rf"(?<!\w){re.escape(value)}(?!\w)", said) for value in made.truth.values())


def test_once_the_money_is_spent_nothing_more_is_asked(live: Opens):
    with FakeServer(*knowing()) as server:
        row = played(live(server, most_usd=0.05))
    assert len(server.requests) == row.steps == 1
    assert row.judged["expected"].success == 1.0, "what was done by then counts"


def test_steps_and_time_are_limited(live: Opens):
    def again(_: Received) -> Reply:
        call = {"index": 0, "id": "call_1", "function": {"name": "ls", "arguments": "{}"}}
        return Reply(sse(delta(tool_calls=[call]), delta("tool_calls"), done=True))

    with FakeServer(again) as server:
        assert played(live(server, most_steps=3)).steps == 3
    with FakeServer(Reply([*sse(delta(content="Well")), Stall()])) as server:
        row = played(live(server, most_seconds=1.0))
    assert (row.steps, row.judged["expected"].success) == (1, 0.0)
    assert row.judged["expected"].usd > 0, "what came before the time was over is paid"


def test_a_server_that_fails_is_a_row_without_success(live: Opens):
    with FakeServer(Reply([b"{}"], status=400)) as server:
        row = played(live(server))
    assert (row.steps, row.judged["expected"].success, row.judged["expected"].usd) == (0, 0.0, 0.0)


def test_a_model_that_there_is_not_or_that_has_no_key_is_refused(tmp_path: Path):
    project = open_project(tmp_path, env={"TRIMTAB_HOME": str(tmp_path)})
    with pytest.raises(UsageError):
        live_model(project, "nobody/nothing")
    with pytest.raises(ConfigError, match=r"no key for openai.*OPENAI_API_KEY"):
        live_model(project, "openai/gpt-5.1")


def test_a_key_is_in_no_environment_that_a_command_gets_and_in_no_text(tmp_path: Path):
    env = {"TRIMTAB_HOME": str(tmp_path), "OPENAI_API_KEY": "sk-x1"}
    found = live_model(open_project(tmp_path, env=env), "openai/gpt-5.1")
    assert found.found.endpoint.api_key == "sk-x1"
    assert "sk-x1" not in repr(found)
    assert "sk-x1" not in str(command_env(tmp_path))
    assert pickle.loads(pickle.dumps(found)) == found, "an executor can pass it on"
