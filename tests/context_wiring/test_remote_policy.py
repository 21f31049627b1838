"""A policy behind a URL: asked over HTTP, obeyed where it makes sense, and never able to take a session down."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.cli import Cli
from support.servers import FakeServer, Pause, Received, Reply, Stall, json_reply
from support.small_window import Json, SmallRoom, reads, says, watch
from trimtab.context.seeing.observation import Observation

LINES = (*(reads(f"{letter}.txt") for letter in "abcdef"), says("done"))


def elides_the_first(received: Received) -> Reply:
    """A policy that hides the oldest result in sight."""
    shown = [i["id"] for i in received.json["items"] if i["kind"] == "result" and i["state"] == "full"]
    wanted = [{"action": "elide", "targets": shown[:1], "reason": "the server says so"}] if shown else []
    return json_reply({"actions": wanted})


async def run(
    tmp_path: Path, server: FakeServer, *, window: int = 16_000, **context: Any
) -> tuple[SmallRoom, list[str]]:
    """One turn that fills the window; the room, and the notices of it."""
    settings = {
        "policy": "remote",
        "remote_url": f"{server.url}/decide",
        "soft": 0.3,
        "remote_timeout_s": 2.0,
        **context,
    }
    room = SmallRoom.at(tmp_path, window, **settings)
    async with room.open(*LINES) as session:
        watcher = watch(session)
        turn = await session.prompt("read all of them; the key is sk-proj-Zx81kq0Pw3vLm5Tn7Rb2")
        assert turn.reason == "stop", turn.error
        notices = [getattr(e, "message", "") for e in watcher.pending() if type(e).__name__ == "Notice"]
    return room, notices


def failures(room: SmallRoom) -> list[str]:
    """What the log says went wrong with the policy."""
    notes = [e["data"] for e in room.entries() if e["type"] == "custom" and e["kind"] == "context"]
    return [note["reason"] for note in notes if note["event"] == "policy_failed"]


@pytest.mark.anyio
async def test_the_server_gets_the_observation_and_its_actions_are_done(tmp_path: Path) -> None:
    with FakeServer(elides_the_first) as server:
        room, notices = await run(tmp_path, server)
    (first, *_) = server.requests
    assert (first.method, first.path) == ("POST", "/decide")
    seen = json.loads(first.body)
    assert {"used", "room", "soft", "hard", "items"} <= set(seen) <= set(Observation.__struct_fields__)
    assert "read all of them" in seen["goal"]
    assert "Zx81kq0Pw3vLm5Tn7Rb2" not in first.body.decode()
    assert "the value of item_7" not in first.body.decode()
    edits = [e for e in room.edits() if e["author"] == "policy:remote"]
    assert edits
    assert {e["reason"] for e in edits} == {"the server says so"}
    assert failures(room) == []
    assert [notice for notice in notices if "'remote'" in notice] == []


WRONG: dict[str, tuple[Reply, str]] = {
    "down": (Reply([], status=0), "the connection broke"),
    "error": (json_reply({"error": "no"}, status=503), "it answers 503"),
    "elsewhere": (json_reply({}, status=307, headers={"location": "http://127.0.0.1:9/"}), "it redirects (307)"),
    "html": (Reply([b"<html>hello</html>"], framing="length"), "the answer is not"),
    "other-json": (json_reply(["elide"]), "the answer is not"),
    "no-list": (json_reply({"actions": "elide"}), "the answer is not"),
    "deep": (Reply([b'{"actions":' + b"[" * 100_000], framing="length"), "the answer is not"),
    "large": (Reply([b'{"actions":[' + b" " * 300_000 + b"]}"], framing="length"), "more than 262,144 bytes"),
    "endless": (Reply([b" " * 100_000] * 50), "more than 262,144 bytes"),
    "packed": (Reply([b'{"actions":[]}'], encoding="gzip"), "the answer is packed"),
    "lying": (json_reply({"actions": [{"action": "elide", "targets": ["r999"]}]}), "names nothing that is there"),
    "nonsense": (json_reply({"actions": [{"action": "rm -rf"}, 7]}), "there is no action"),
    "hung": (Reply([Stall()]), "no answer within 0.2 s"),
    "dripping": (Reply([b"{", *([Pause(0.05), b" "] * 40)]), "no answer within 0.2 s"),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.anyio
async def test_whatever_a_server_does_the_rules_go_on_and_it_is_said_once_why(tmp_path: Path, kind: str) -> None:
    reply, why = WRONG[kind]
    with FakeServer(lambda _received: reply) as server:
        room, notices = await run(tmp_path, server, remote_timeout_s=0.2)
        asked = len(server.requests)
    assert 1 <= asked <= 3
    assert len(failures(room)) == asked
    assert all(why in reason and "the rules decide instead" in reason for reason in failures(room)), failures(room)
    told = [notice for notice in notices if "policy 'remote'" in notice]
    assert len(told) == 1
    assert why in told[0]
    assert {e["author"] for e in room.edits()} <= {"policy:rules", "policy:housekeeping", "recovery"}
    assert room.edits()


@pytest.mark.anyio
async def test_a_server_that_fails_three_times_in_a_row_is_not_asked_again(tmp_path: Path) -> None:
    with FakeServer(lambda _received: json_reply({}, status=500)) as server:
        room, notices = await run(tmp_path, server, soft=0.1)
        assert len(server.requests) == 3
    assert failures(room)[-1].endswith("it isn't asked any more")
    (told,) = (notice for notice in notices if "policy 'remote'" in notice)
    assert told == f"{failures(room)[0]} (after 3 failures in a row it isn't asked again)"


def test_the_key_goes_to_the_server_and_nowhere_else(tmp_path: Path) -> None:
    answers: list[Json] = []

    def refuse(received: Received) -> Reply:
        answers.append(dict(received.headers))
        return json_reply({"error": received.headers["authorization"]}, status=401)

    cli = Cli.at(tmp_path, ADVICE_KEY="s3cr3t-of-the-policy", HTTP_PROXY="http://192.0.2.1:3128")
    for letter in "abcdef":
        cli.file(f"{letter}.txt", "".join(f"{letter} line {n} holds item_{n}\n" for n in range(200)))
    with FakeServer(refuse) as server:
        flags = {
            "context.policy": "remote",
            "context.remote_url": f"{server.url}/decide?token=hidden",
            "context.remote_key_env": "ADVICE_KEY",
            "context.soft": 0.1,
            "providers.scripted.context_window": 16_000,
        }
        sets = [part for key, value in flags.items() for part in ("--set", f"{key}={value}")]
        script = cli.script(
            *LINES[:-1], {"tool_calls": [{"name": "bash", "arguments": {"command": "env"}}]}, says("done")
        )
        outcome = cli.inside("-p", "go", "--mode", "json", "--permission", "full", "--model", script, *sets)
    assert outcome.code == 0, outcome.err
    assert answers[0]["authorization"] == "Bearer s3cr3t-of-the-policy"
    everything = outcome.out + outcome.err + "".join(p.read_text() for p in cli.sessions)
    assert "it answers 401" in everything
    assert "s3cr3t" not in everything
    assert "token=hidden" not in everything


@pytest.mark.parametrize(
    ("context", "hint"),
    [
        ({}, "context.remote_url"),
        ({"remote_url": "file:///etc/passwd"}, "http://127.0.0.1:9000/decide"),
        ({"remote_url": "http://"}, "http://127.0.0.1:9000/decide"),
        ({"remote_url": "http://127.0.0.1:9/", "remote_key_env": "NOT_SET"}, "NOT_SET"),
    ],
    ids=["none", "file", "no-host", "no-key"],
)
@pytest.mark.parametrize("policy", ["remote", "dry-run:remote"])
def test_a_remote_policy_that_cant_be_asked_is_refused_before_anything_happens(
    tmp_path: Path, context: dict[str, str], hint: str, policy: str
) -> None:
    cli = Cli.at(tmp_path)
    sets = [part for key, value in context.items() for part in ("--set", f"context.{key}={value}")]
    outcome = cli.inside("-p", "hi", "--policy", policy, "--model", cli.script(says("hello")), *sets)
    assert outcome.code == 2
    assert hint in outcome.err
    assert cli.sessions == []
    assert cli.inside("doctor", "--set", f"context.policy={policy}", *sets).code == 1


@pytest.mark.anyio
async def test_a_url_in_the_policys_own_parameters_beats_the_setting(tmp_path: Path) -> None:
    with FakeServer(elides_the_first) as named, FakeServer(elides_the_first) as other:
        await run(tmp_path, other, policy=f'remote(url="{named.url}/x", timeout_s=2)')
        assert named.requests
        assert other.requests == []


@pytest.mark.anyio
async def test_a_dry_run_asks_the_server_and_does_nothing_of_it(tmp_path: Path) -> None:
    with FakeServer(elides_the_first) as server:
        room, _ = await run(tmp_path, server, policy="dry-run:remote", window=60_000, soft=0.1)
        assert server.requests
    assert room.edits() == []
    notes = [e["data"] for e in room.entries() if e["type"] == "custom"]
    assert {note["event"] for note in notes} == {"dry_run"}


@pytest.mark.parametrize(("trust", "asked"), [("never", False), ("once", True)])
def test_a_project_names_a_server_only_once_it_is_trusted(tmp_path: Path, trust: str, asked: bool) -> None:
    cli = Cli.at(tmp_path)
    for letter in "abcdef":
        cli.file(f"{letter}.txt", "".join(f"{letter} line {n} holds item_{n}\n" for n in range(200)))
    with FakeServer(elides_the_first) as server:
        table = f'[context]\npolicy = "remote"\nremote_url = "{server.url}"\nsoft = 0.2\n'
        cli.file(".trimtab/config.toml", table)
        script = cli.script(*LINES)
        sets = ["--set", "providers.scripted.context_window=16000"]
        outcome = cli.inside("-p", "go", "--permission", "full", "--trust", trust, "--model", script, *sets)
        assert outcome.code == 0, outcome.err
        assert bool(server.requests) is asked
