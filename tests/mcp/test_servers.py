"""A server in a session: started when it is needed, asked, left; and what its tools give."""

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import anyio
import anyio.lowlevel
import msgspec
import pytest

from support.mcp_kit import Said, bench, fake, model, needs_sdk, project_of, text_of
from trimtab.coding.mcp.hub import Mcp
from trimtab.coding.mcp.listings import Listings
from trimtab.coding.mcp.values import Listing
from trimtab.coding.permissions import Rules, parse_rule
from trimtab.coding.permissions.verdicts import outcome_of
from trimtab.types.messages import Image, ToolCall

pytestmark = [pytest.mark.anyio, needs_sdk]


def kept(text: str) -> bytes:
    """What lies in the file that a result names."""
    return Path(text.rsplit("kept in ", 1)[1].rstrip("]")).read_bytes()


def heard(path: Path) -> list[str]:
    """The methods that a server was asked for."""
    return [json.loads(line).get("method", "answer") for line in path.read_text().splitlines()] if path.exists() else []


async def test_its_tools_get_names_that_say_where_they_are_from(tmp_path: Path) -> None:
    async with bench(tmp_path, {"files": fake()}) as made:
        assert "mcp__files__echo" in made.names()
        assert made.told == []


async def test_a_call_gives_what_the_server_said(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake()}) as made:
        output = await made.call("a", "echo", text="hello")
        assert (text_of(output), output.is_error) == ("hello", False)


async def test_what_was_listed_once_is_known_without_a_start(tmp_path: Path) -> None:
    log = tmp_path / "heard"
    servers = {"a": fake(env={"MCP_HEARD": str(log)})}
    async with bench(tmp_path, servers) as made:
        before = made.names()
    log.unlink()
    async with bench(tmp_path, servers) as made:
        assert made.names() == before
        assert made.hub.servers[0].state == "idle"
        assert heard(log) == []
        await made.call("a", "echo", text="x")
        assert made.hub.servers[0].state == "ready"
    assert "tools/call" in heard(log)


async def test_another_configuration_is_listed_anew(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake()}) as made:
        assert "mcp__a__echo" in made.names()
    async with bench(tmp_path, {"a": fake("other")}) as made:
        assert made.names() == ["mcp__a__other"]


async def test_no_process_is_left_when_the_session_ends(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake("stays", env={"MARK": str(tmp_path)})}) as made:
        assert made.hub.servers[0].state == "ready"
        assert _with_mark(tmp_path)
    assert _with_mark(tmp_path) == []


def _with_mark(mark: Path) -> list[str]:
    found = []
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        try:
            environ = Path("/proc", pid, "environ").read_bytes()
        except OSError:
            continue
        if f"MARK={mark}".encode() in environ:
            found.append(pid)
    return found


async def test_a_server_gets_no_keys_but_what_its_configuration_gives(tmp_path: Path) -> None:
    server = {"command": "/usr/bin/env", "args": ["sh", "-c", "env >&2"], "env": {"GIVEN": "${OPENAI_API_KEY}"}}
    async with bench(tmp_path, {"a": server}) as made:
        lines = made.hub.servers[0].tail.lines()
    assert "GIVEN=sk-1" in lines  # shorter than what is worth hiding
    assert not any(line.startswith("OPENAI_API_KEY=") for line in lines)


async def test_only_the_tools_that_are_wanted_are_there(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake(tools=["ec*"])}) as made:
        assert [name for name in made.names() if name != "mcp_resource"] == ["mcp__a__echo"]


@pytest.mark.parametrize(
    ("tool", "said", "is_error"),
    [
        ("error", "it can't be done", True),
        ("structured", '{\n "answer": 42\n}', False),
        ("link", "[resource x://y]\ninner", False),
    ],
)
async def test_each_kind_of_result_is_read(tmp_path: Path, tool: str, said: str, is_error: bool) -> None:
    async with bench(tmp_path, {"a": fake()}) as made:
        output = await made.call("a", tool)
        assert (text_of(output), output.is_error) == (said, is_error)


async def test_a_picture_reaches_a_model_that_takes_some_and_is_kept_for_one_that_does_not(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake()}) as made:
        made.hub.tools(model(images=True))
        (picture,) = (await made.call("a", "picture")).parts
        assert isinstance(picture, Image)
        assert (picture.width, picture.media_type) == (1, "image/png")
        made.hub.tools(model())
        text = text_of(await made.call("a", "picture"))
        assert "a picture (image/png, 1 × 1" in text
        assert kept(text).startswith(b"\x89PNG")


async def test_bytes_are_kept_in_a_file_that_the_result_names(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake()}) as made:
        text = text_of(await made.call("a", "bytes"))
        assert kept(text) == b"\0\1\2"


async def test_a_large_result_is_cut_and_the_whole_is_in_a_file(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake()}) as made:
        output = await made.call("a", "large")
        assert output.cut is not None
        assert len(text_of(output)) < 60_000
        assert output.cut.total == 50_000_000
        assert output.cut.where is not None
        assert os.path.getsize(output.cut.where) == 50_000_000  # noqa: ASYNC240 - a test


async def test_progress_is_told_while_a_call_runs(tmp_path: Path) -> None:
    seen: list[str] = []
    async with bench(tmp_path, {"a": fake()}) as made:
        await made.call("a", "progress", update=seen.append)
    assert seen[0] == "1 of 2: step 1\n"


async def test_a_server_learns_which_folder_one_works_in(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake()}) as made:
        text = text_of(await made.call("a", "roots"))
        assert json.loads(text)["roots"][0]["uri"] == (tmp_path / "project").as_uri()


async def test_a_server_that_is_told_of_no_folder_can_not_ask(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake(roots=[])}) as made:
        assert "roots" not in json.loads(text_of(await made.call("a", "roots")))


async def test_a_form_of_a_server_is_filled_in_by_the_person(tmp_path: Path) -> None:
    person = Said(["answer", "Ada", "zero", "36", "2"])
    async with bench(tmp_path, {"a": fake()}, person=person) as made:
        text = text_of(await made.call("a", "ask"))
    assert json.loads(text) == {"action": "accept", "content": {"name": "Ada", "age": 36, "colour": "green"}}
    assert person.asked[0].text == "The server a asks you something:"
    assert person.asked[3].details == ("asked again: a number, please",)


@pytest.mark.parametrize(
    ("answers", "action"), [(["no"], "decline"), ([None], "cancel"), (["answer", "Ada", None], "cancel")]
)
async def test_nothing_is_sent_that_a_person_did_not_say(
    tmp_path: Path, answers: list[str | None], action: str
) -> None:
    async with bench(tmp_path, {"a": fake()}, person=Said(answers)) as made:
        assert json.loads(text_of(await made.call("a", "ask"))) == {"action": action}


async def test_without_a_person_a_form_is_declined(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake()}) as made:
        assert json.loads(text_of(await made.call("a", "ask"))) == {"action": "decline"}


class Thinking:
    """A person who never comes to an answer."""

    def __init__(self) -> None:
        self.asked, self.dropped = anyio.Event(), anyio.Event()

    async def ask(self, question: object) -> str | None:
        self.asked.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.dropped.set()


async def test_a_server_that_asks_while_nobody_waits_for_it_holds_no_person_up(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    async with bench(tmp_path, {"a": fake("nags", env={"MCP_HEARD": str(heard)})}, person=Thinking()) as made:
        await made.call("a", "echo", text="hi")
        with anyio.fail_after(20):
            while '"e1"' not in heard.read_text():  # noqa: ASYNC110 - the server is a program
                await anyio.sleep(0.01)
    (answer,) = [json.loads(line) for line in heard.read_text().splitlines() if '"e1"' in line]
    assert answer["result"] == {"action": "cancel"}


async def test_a_question_of_a_server_ends_with_the_call_that_it_belongs_to(tmp_path: Path) -> None:
    person = Thinking()
    async with bench(tmp_path, {"a": fake()}, person=person) as made:
        with anyio.fail_after(20):
            async with anyio.create_task_group() as group:
                group.start_soon(made.call, "a", "ask")
                await person.asked.wait()
                group.cancel_scope.cancel()
            await person.dropped.wait()
            assert text_of(await made.call("a", "echo", text="still there")) == "still there"


async def test_a_changed_list_reaches_the_next_turn(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake("changing")}) as made:
        server, news = made.hub.servers[0], anyio.Event()
        tell = server.changed
        server.changed = lambda: [tell(), news.set()]
        await made.call("a", "echo", text="x")
        with anyio.fail_after(20):
            await news.wait()
        assert "mcp__a__new_0" in made.names()
        assert await made.hub.arrivals()
        assert not await made.hub.arrivals()


class FirstSlowly(Listings):
    """Takes its time for the first."""

    def write(self, key: str, listing: Listing) -> None:
        if listing.instructions == "first":
            time.sleep(0.2)
        super().write(key, listing)


async def test_of_two_lists_in_a_row_the_later_one_is_kept(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake("changing")}) as made:
        server = made.hub.servers[0]
        server.listings = FirstSlowly(server.listings.folder)
        lists = [msgspec.structs.replace(server.known(), instructions=words) for words in ("first", "second")]
        async with anyio.create_task_group() as group:
            for listing in lists:
                group.start_soon(server._keep, listing)
                await anyio.lowlevel.checkpoint()
        kept = server.listings.read(server.config.key)
    assert kept == lists[1]


async def test_resources_are_listed_and_read_by_one_tool(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake(), "b": fake("other")}) as made:
        tool = next(tool for tool in made.hub.tools(model()) if tool.spec.name == "mcp_resource")
        assert tool.spec.parameters["properties"]["server"]["enum"] == ["a"]
        listed = await tool.run({"server": "a"}, None)  # type: ignore[arg-type]
        read = await tool.run({"server": "a", "uri": "note://1"}, None)  # type: ignore[arg-type]
    assert text_of(listed) == "note://1  a note"
    assert text_of(read) == "[resource note://1]\nthe note"


async def test_what_a_server_says_about_itself_is_a_section(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake()}) as made:
        (section,) = made.hub.sections()
    assert (section.name, section.source) == ("mcp a", "your settings")
    assert section.text.endswith("\n\nUse echo.\n")


async def test_a_tool_that_only_reads_runs_unasked_only_where_the_person_believes_it(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake(), "b": fake(read_only_unasked=True)}) as made:
        await made.hub.arrivals()
        reading = made.hub.permissions.policy.reading
    assert "mcp__b__echo" in reading
    assert not {"mcp__a__echo", "mcp__b__die"} & reading


async def test_listing_resources_is_asked_about_nowhere_and_reading_them_where_the_server_is_not_believed(
    tmp_path: Path,
) -> None:
    async with bench(tmp_path, {"a": fake(), "b": fake(read_only_unasked=True)}) as made:
        await made.hub.arrivals()
        permissions = made.hub.permissions
        permissions.set_mode("plan")
        told = [
            outcome_of(permissions.judge(ToolCall("id", "mcp_resource", {"server": server, **uri}, "")).decision)
            for server in ("a", "b")
            for uri in ({}, {"uri": "note://1"})
        ]
        permissions.policy = replace(permissions.policy, rules=Rules(deny=(parse_rule("mcp__b__*"),)))
        denied = permissions.judge(ToolCall("id", "mcp_resource", {"server": "b"}, "")).decision
    assert told == ["allow", "deny", "allow", "allow"]
    assert outcome_of(denied) == "deny"


async def test_a_disabled_server_is_not_started(tmp_path: Path) -> None:
    async with bench(tmp_path, {"a": fake(disabled=True)}) as made:
        assert made.names() == []
        assert made.hub.servers[0].state == "off"


async def test_nothing_is_configured_and_nothing_happens(tmp_path: Path) -> None:
    async with bench(tmp_path, {}) as made:
        assert isinstance(made.hub, Mcp)
        assert (made.names(), made.hub.sections()) == ([], ())


async def test_a_variable_that_is_missing_is_named(tmp_path: Path) -> None:
    async with bench(tmp_path, {}, project=project_of(tmp_path, {"a": fake(env={"X": "${NOT_THERE}"})})) as made:
        assert made.hub.servers[0].off == "the variable NOT_THERE isn't set"
