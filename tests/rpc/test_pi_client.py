"""The client that pi publishes drives `trimtab --mode rpc`, every method of it.

It comes from npm (`make pi-client` puts it into the environment's folder) and runs on the Node that comes with it. Without it the test is skipped, and says so; where
NEED_PI_CLIENT is set, as in `make check-rpc`, that is a failure.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.cli import Cli

pytestmark = pytest.mark.timeout(180)  # four processes of two languages start one after the other
HERE = Path(__file__).parent / "pi"
INSTALLED = Path(os.environ.get("PI_CLIENT") or Path(sys.prefix) / "pi") / "node_modules"
NODE = INSTALLED / "node" / "bin"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What the client was told."""
    if not (NODE / "node").exists() or not (INSTALLED / "@earendil-works" / "pi-coding-agent").is_dir():
        why = f"pi's client isn't installed in {INSTALLED.parent}: make pi-client"
        if os.environ.get("NEED_PI_CLIENT"):
            pytest.fail(why)
        pytest.skip(why)
    cli = Cli.at(tmp_path_factory.mktemp("pi"))
    write = {"name": "bash", "arguments": {"command": "touch made"}}
    model = cli.script(
        {"text": "Hello \u2028 you."},
        {"tool_calls": [write]},
        {"text": "Made."},
        {"text": "never", "delay_ms": 60_000},
        {"text": "A summary of what was said."},
        {"text": "Bye."},
        {"text": "Bye."},
    )
    provider, _, name = model.partition("/")
    args = [str(NODE / "node"), str(HERE / "drive.mjs"), str(INSTALLED), str(HERE / "trimtab.cjs"), str(cli.project)]
    env = {**cli.environment(), "TRIMTAB_TEST_PYTHON": sys.executable}
    env["PATH"] = os.pathsep.join((str(NODE), env["PATH"]))
    for n in range(4):
        cli.file(f"f{n}.txt", "\n".join(f"row {n}-{k}: /srv/data/part_{n}_{k}.csv" for k in range(60)))
    reads = [{"tool_calls": [{"name": "read", "arguments": {"path": f"f{n}.txt"}}]} for n in range(4)]
    words = " ".join(f"/srv/data/part_{n % 4}_{n}.csv was read" for n in range(12))
    long = cli.script(*reads, {"text": "done"}, {"text": f"<analysis>a</analysis><summary>{words}</summary>"})
    args += [provider, name, long.partition("/")[2]]
    done = subprocess.run(args, env=env, capture_output=True, text=True, check=False, timeout=170)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    return {**result, "made": (cli.project / "made").exists(), "page_is_there": Path(result["page"]["path"]).is_file()}


def test_every_method_of_the_client_was_used(out: Any) -> None:
    assert out["missed"] == []


def test_a_turn_is_what_the_client_waits_for(out: Any) -> None:
    told = [kind for kind in out["events"] if not kind.startswith("trimtab.")]
    assert (told[0], told[-2:]) == ("agent_start", ["agent_end", "agent_settled"])
    assert [message["role"] for message in out["messages"]] == ["user", "assistant"]
    assert out["messages"][0]["content"] == [{"type": "text", "text": "say hello \u2028 to me"}]
    assert out["text"] == "Hello \u2028 you."


def test_a_question_of_permission_is_a_dialog_that_it_answers(out: Any) -> None:
    assert out["question"]["method"] == "select"
    assert "touch made" in out["question"]["title"]
    assert [end["isError"] for end in out["asked"]] == [False]
    assert out["made"]


def test_steering_queues_and_an_abort_reach_a_running_turn(out: Any) -> None:
    assert (out["disposition"], out["steered"], out["followed"]) == ("started", "queued", "queued")
    assert out["late"].startswith("the agent is busy")
    assert out["streaming"] is True
    assert out["cleared"]["followUp"] == ["one more"]
    assert out["aborted"] is True


def test_sessions_are_named_forked_cloned_left_and_come_back_to(out: Any) -> None:
    assert out["name"] == "a pi talk"
    assert out["said"][:3] == ["say hello \u2028 to me", "make a file", "wait for me"]
    assert out["forked"] == {"text": "make a file", "cancelled": False}
    assert out["afterFork"] == 2
    assert out["cloned"] == out["fresh"] == out["back"] == {"cancelled": False}
    assert out["empty"] == 0
    assert out["same"] is True
    assert "no session" in out["nowhere"].lower()


def test_what_it_looks_at_has_the_shapes_that_it_declares(out: Any) -> None:
    assert out["first"]["model"]["provider"] == "scripted"
    assert (out["first"]["messageCount"], out["first"]["isStreaming"]) == (0, False)
    assert out["stats"]["userMessages"] >= 2
    assert set(out["stats"]["tokens"]) == {"input", "output", "cacheRead", "cacheWrite", "total"}
    assert set(out["stats"]["contextUsage"]) == {"tokens", "contextWindow", "percent"}
    assert "message" in out["entries"]
    assert (out["since"], out["tree"]) == (0, 1)
    assert {"undo", "context"} <= set(out["commands"])
    assert out["levels"] == ["off"]
    assert out["level"] is None
    assert "nobody" in out["noModel"]
    assert out["bash"] == {"output": "from-bash", "exitCode": 0, "cancelled": False, "truncated": False}
    assert out["stopped"] is True
    assert out["page_is_there"]
    assert "error" not in out["compacted"], out["compacted"]
    assert "a summary" in out["small"] or "summed up" in out["small"]
    assert out["compacted"]["estimatedTokensAfter"] < out["compacted"]["tokensBefore"]


def test_it_goes_by_itself_within_the_second_that_the_client_waits(out: Any) -> None:
    assert out["exit"] == 143
