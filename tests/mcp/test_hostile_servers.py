"""No server can take a session down: whatever it does, a call has an end, the others go on, and a person is told."""

import sys
from pathlib import Path

import anyio
import pytest

from support.mcp_kit import FAKE, bench, fake, needs_sdk, text_of
from trimtab.coding.mcp import connection, pipe, server
from trimtab.coding.mcp.failures import McpFailure

pytestmark = [pytest.mark.anyio, needs_sdk]


@pytest.mark.parametrize(
    ("mode", "more", "words"),
    [
        ("hang-at-start", {"start_timeout_s": 0.5}, "it didn't start within 0.5 seconds"),
        ("dead-at-start", {}, "it ended; its last words: no such luck"),
        ("noise", {}, "it prints what isn't of the protocol, and won't stop"),
        ("dies-at-prompts", {}, "it ended; its last words: no such luck"),
        ("no-name", {}, "its answer isn't of the protocol"),
        ("silent", {}, "it ended without a word, with exit code 7"),
    ],
)
async def test_a_server_that_does_not_start_is_told_and_the_others_work(
    tmp_path: Path, mode: str, more: dict[str, float], words: str
) -> None:
    async with bench(tmp_path, {"bad": fake(mode, **more), "good": fake()}) as made:
        command = f"{sys.executable} -I {FAKE} {mode}"
        assert made.told == [f"MCP: bad ({command}) failed: {words} (/mcp bad shows more)"]
        assert text_of(await made.call("good", "echo", text="x")) == "x"


async def test_a_message_without_an_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipe, "LARGEST", 3_000_000)
    async with bench(tmp_path, {"bad": fake("one-line")}) as made:
        assert "it sent a message of more than 3,000,000 bytes" in made.told[0]


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("/not/there", "there is no program /not/there"),
        ("no-such-program", "there is no program no-such-program"),
        ("/etc/passwd", "/etc/passwd: Permission denied"),
        ("/tmp", "/tmp: Permission denied"),
    ],
)
async def test_a_command_that_cannot_be_started_is_told_with_the_reason(tmp_path: Path, command: str, why: str) -> None:
    async with bench(tmp_path, {"bad": {"command": command}}) as made:
        assert made.hub.servers[0].state == "failed"
        assert made.told == [f"MCP: bad ({command}) failed: {why} (/mcp bad shows more)"]


async def test_what_a_server_prints_beside_the_protocol_does_no_harm(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake("chatty")}) as made:
        assert text_of(await made.call("a", "echo", text="x")) == "x"
        assert "loading…" in made.hub.servers[0].tail.lines()


async def test_a_call_that_is_not_answered_ends(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake(timeout_s=0.3)}) as made:
        output = await made.call("a", "hang")
        assert output.is_error
        assert text_of(output) == "The server a failed: it didn't answer within 0.3 seconds."
        assert text_of(await made.call("a", "echo", text="x")) == "x"


async def test_a_server_that_answers_no_more_is_started_anew(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake(timeout_s=0.3)}) as made:
        first = made.hub.servers[0]._connection
        await made.call("a", "hang")
        await made.call("a", "hang")
        assert first is not None
        await first.ended.wait()
        assert text_of(await made.call("a", "echo", text="x")) == "x"


async def test_a_server_that_dies_in_a_call_is_started_again_and_the_call_is_not_repeated(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    async with bench(tmp_path, {"a": fake(env={"MCP_HEARD": str(heard)})}) as made:
        output = await made.call("a", "die")
        assert output.is_error
        assert "its last words: goodbye, cruel world" in text_of(output)
        assert text_of(await made.call("a", "echo", text="back")) == "back"
    assert heard.read_text().count('"die"') == 1


async def test_a_server_that_always_dies_waits_longer_each_time_and_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with bench(tmp_path, {"a": fake()}) as made:
        await made.call("a", "die")
        await made.call("a", "die")
        assert "it may be started again in 1 seconds" in text_of(await made.call("a", "die"))
        monkeypatch.setattr(server, "_FIRST_WAIT_S", 0.0)
        (one,) = made.hub.servers
        one._not_before = 0.0
        for _ in range(server.MOST_FAILURES - 2):
            await made.call("a", "die")
        assert "failed 5 times and isn't started again" in text_of(await made.call("a", "die"))
        await one.restart()
        assert text_of(await made.call("a", "echo", text="x")) == "x"


async def test_calls_that_wait_when_a_server_dies_hear_of_it(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake()}) as made, anyio.create_task_group() as group:
        said: list[str] = []

        async def hang() -> None:
            said.append(text_of(await made.call("a", "hang")))

        group.start_soon(hang)
        await anyio.lowlevel.checkpoint()
        await made.call("a", "die")
        with anyio.fail_after(10):
            while not said:
                await anyio.lowlevel.checkpoint()
        assert " failed: it ended" in said[0]


async def test_a_cancelled_call_leaves_the_server_of_use(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake()}) as made:
        with anyio.move_on_after(0.2):
            await made.call("a", "hang")
        assert text_of(await made.call("a", "echo", text="x")) == "x"


async def test_a_call_to_a_server_that_reads_nothing_is_let_go_of_at_once(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake("deaf")}) as made:
        await made.hub.servers[0].start()
        before = anyio.current_time()
        with anyio.move_on_after(0.3) as scope:
            await made.call("a", "echo", text="x" * 2_000_000)
        assert scope.cancelled_caught
        assert anyio.current_time() - before < 4  # the SDK waits for five seconds to say that it gave up


async def test_hundreds_of_tools_are_looked_up_instead_of_listed(tmp_path: Path) -> None:
    async with bench(tmp_path, {"big": fake("many"), "small": fake("other")}) as made:
        assert made.names() == ["mcp__small__other", "mcp_find", "mcp_call"]
        assert len(made.names(window=10_000_000)) == 501


async def test_hidden_text_and_control_never_reach_a_description(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake("tricks")}) as made:
        text = repr([(t.spec.description, t.spec.parameters) for t in made.hub.every_tool()]) + repr(
            made.hub.sections()
        )
        for sign in ("\\x1b", "\\u202e", "\\U000e0041", "title"):
            assert sign not in text
        assert any("held hidden text" in line and "read 'AB'" in line for line in made.told)


async def test_a_schema_that_a_provider_would_refuse_costs_its_tool_only(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake("schemas")}) as made:
        tools = {tool.remote.name: tool.remote for tool in made.hub.every_tool()}
        assert sorted(tools) == ["sound", "union"]
        assert "anyOf" not in tools["union"].parameters
        assert any("'bad_type' is left out" in line for line in made.told)


async def test_an_entry_that_is_not_of_the_protocol_costs_nothing_but_itself(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake("invalid")}) as made:
        assert made.names() == ["mcp__a__echo"]
        assert "left out, since its arguments have no schema" in made.hub.servers[0].tail.lines()[0]


@pytest.mark.parametrize(("mode", "why"), [("no-prompts", "no prompts"), ("odd-prompts", "isn't of the protocol")])
async def test_prompts_that_cannot_be_listed_cost_themselves_and_are_told(tmp_path: Path, mode: str, why: str) -> None:
    async with bench(tmp_path, {"a": fake(mode)}) as made:
        (told,) = made.told
        assert "its prompts are left out, since it can't list them: " in told
        assert why in told
        assert told.isprintable()
        assert made.hub.servers[0].known().prompts == ()
        assert text_of(await made.call("a", "echo", text="x")) == "x"


async def test_names_that_would_be_one_are_told_apart(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake("collide")}) as made:
        names = [tool.name for tool in made.hub.every_tool()]
        assert len(set(names)) == 5
        assert "mcp__a__a_b" in names
        assert all(len(name) <= 64 for name in names)


async def test_a_storm_of_changes_is_heard_as_few(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    async with bench(tmp_path, {"a": fake("storm", env={"MCP_HEARD": str(heard)})}) as made:
        server, news = made.hub.servers[0], anyio.Event()
        server.changed = news.set
        await made.call("a", "echo", text="x")
        with anyio.fail_after(30):
            await news.wait()
    assert heard.read_text().count("tools/list") <= 4


async def test_a_session_that_closes_does_not_wait_for_a_start(tmp_path: Path) -> None:
    with anyio.fail_after(10):
        async with bench(tmp_path, {"a": fake("hang-at-start")}, first_wait_s=0.2) as made:
            assert made.told == ["MCP: a is still starting; its tools come with a later turn"]


async def test_nothing_but_a_failure_comes_out_of_a_server(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake("dead-at-start")}, met=False) as made:
        with pytest.raises(McpFailure, match="no such luck"):
            await made.hub.servers[0].start()


@pytest.mark.parametrize(
    ("tool", "said", "wrong"),
    [
        ("half", "half \ufffd of it", False),
        ("number", "The server a failed: its answer isn't of the protocol.", True),
        ("nothing", "The server a failed: its answer isn't of the protocol.", True),
        ("words", "The server a failed: its answer isn't of the protocol.", True),
        ("deep", "The server a failed: its answer isn't of the protocol.", True),
        ("busy", "The server a failed: too busy.", True),
    ],
)
async def test_an_answer_that_is_odd_is_read_as_far_as_it_can_be_and_nobody_waits_for_another(
    tmp_path: Path, tool: str, said: str, wrong: bool
) -> None:
    async with bench(tmp_path, {"a": fake("odd")}) as made:
        with anyio.fail_after(4):  # a request whose connection ends waits longer for the reason
            output = await made.call("a", tool)
        assert (text_of(output), output.is_error) == (said, wrong)
        assert text_of(await made.call("a", "echo", text="x")) == "x"


async def test_a_list_without_measure_in_a_result_is_cut(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake("odd")}) as made:
        assert text_of(await made.call("a", "parts")).endswith("4999\n[and 1,000 more, which are left out]")


async def test_a_server_that_asks_without_end_is_given_up(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake("odd")}) as made:
        assert "it asked for more than 500 things in a second" in text_of(await made.call("a", "nosy"))
        assert text_of(await made.call("a", "echo", text="x")) == "x"


async def test_signs_of_life_without_an_end_are_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_LONGEST_CALL_S", 0.3)
    async with bench(tmp_path, {"a": fake(timeout_s=30)}) as made:
        said = text_of(await made.call("a", "hang"))
        assert said == "The server a failed: it gave signs of life for 0.3 seconds, and no answer."
