"""A session in a program: opened, asked, watched, opened again."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from sdk.conftest import Answers
from trimtab.coding import (
    AgentBusy,
    Answer,
    MessageDelta,
    NoHooks,
    Proceed,
    Question,
    Result,
    ScriptedProvider,
    Session,
    Text,
    ToolOutput,
    TrimtabError,
    TurnEnded,
    UnknownSession,
    UsageError,
    run,
)
from trimtab.types.messages import ToolCall, ToolResult
from trimtab.types.models import ModelRequest

pytestmark = pytest.mark.anyio
WRITE = {"tool_calls": [{"name": "write", "arguments": {"path": "a.txt", "content": "one\n"}}]}
MAKE = {"tool_calls": [{"name": "bash", "arguments": {"command": "mkdir made"}}]}


def sessions_below(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.jsonl"))


async def test_a_reply_tells_of_its_own_turn(folder: Path, answering: Answers) -> None:
    async with Session.open(folder, **answering(WRITE, {"text": "Done."}, {"text": "Bye."})) as session:
        first, second = await session.prompt("Write."), await session.prompt("And?")
        assert (first.ok, first.text, first.steps, first.changed_files) == (True, "Done.", 2, (str(folder / "a.txt"),))
        assert (second.text, second.changed_files) == ("Bye.", ())
        assert (first.session_id, first.session_file) == (session.id, session.file)
        await session.undo(2)
        assert not (folder / "a.txt").exists()


async def test_a_session_goes_on_is_copied_or_is_kept_nowhere(folder: Path, answering: Answers, tmp_path: Path) -> None:
    async with Session.open(folder, **answering({"text": "One."})) as session:
        await session.prompt("First.")
        ident = session.id
    async with Session.open(folder, **answering({"text": "Two."}, resume="last")) as session:
        await session.prompt("Second.")
        assert (session.id, len(session.messages)) == (ident, 4)
    async with Session.open(folder, **answering({"text": "Three."}, fork=ident)) as session:
        assert (session.id != ident, len(session.messages)) == (True, 4)
    async with Session.open(folder, **answering({"text": "x"}, file=tmp_path / "s.jsonl")) as session:
        assert session.file == tmp_path / "s.jsonl"
    before = sessions_below(tmp_path)
    async with Session.open(folder, **answering({"text": "x"}, ephemeral=True)) as session:
        assert ((await session.prompt("Hi.")).session_file, session.file) == (None, None)
    assert sessions_below(tmp_path) == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"modell": "x"}, "no option 'modell'. Did you mean model?"),
        ({"resume": "last", "ephemeral": True}, "resume and ephemeral exclude each other"),
        ({"tools": [print]}, "is no tool. Make one of a function with @tool."),
        ({"person": 3}, "person is int, which can't be asked"),
        ({"policy": "rulez"}, "there is no policy 'rulez'"),
        ({"policy": 3}, "policy is neither a name nor a function but int"),
        ({"output": {"$ref": "#/nowhere"}}, "the reference '#/nowhere' leads nowhere"),
        ({"output": print}, "can't be written as a JSON schema"),
        ({"mode": "yolo"}, "permissions.mode"),
        ({"settings": {"modle": "x"}}, "modle"),
        ({"builtin_tools": ["reed"]}, "there is no tool 'reed'"),
    ],
)  # fmt: skip
async def test_what_makes_no_sense_is_said_with_the_next_step_and_nothing_is_written(
    folder: Path, answering: Answers, tmp_path: Path, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError) as refused:
        async with Session.open(folder, **answering({"text": "x"}, **options)):
            pass
    assert said in str(refused.value)
    assert refused.value.hint
    assert sessions_below(tmp_path) == []


async def test_a_folder_or_session_that_is_not_there_is_said(folder: Path, answering: Answers) -> None:
    with pytest.raises(UsageError, match="there is no folder"):
        async with Session.open(folder / "gone", **answering()):
            pass
    with pytest.raises(UnknownSession):
        async with Session.open(folder, **answering(resume="nothing")):
            pass


async def test_a_failed_turn_is_a_reply_that_can_be_raised(folder: Path, answering: Answers) -> None:
    async with Session.open(folder, **answering({"error": {"status": 401, "body": "no key"}})) as session:
        reply = await session.prompt("Hi.")
        assert (reply.ok, reply.reason) == (False, "error")
        with pytest.raises(TrimtabError, match="no key"):
            reply.raise_for_error()


async def test_a_program_is_told_how_to_go_on_in_its_own_words(folder: Path, answering: Answers) -> None:
    calls = {"tool_calls": [{"name": "ls", "arguments": {}}]}
    async with Session.open(folder, **answering(calls, max_steps=1)) as session:
        reply = await session.prompt("Hi.")
        with pytest.raises(TrimtabError, match="another prompt goes on; max_steps sets how many"):
            reply.raise_for_error()


async def test_a_stream_ends_with_the_result_and_then_the_reply_is_there(folder: Path, answering: Answers) -> None:
    async with Session.open(folder, **answering({"text": "Hello."})) as session:
        stream = session.stream("Hi.")
        with pytest.raises(UsageError, match="hasn't ended"):
            _ = stream.reply
        events = [event async for event in stream]
        assert "".join(e.text for e in events if isinstance(e, MessageDelta)) == "Hello."
        assert isinstance(events[-2], TurnEnded)
        assert isinstance(events[-1], Result)
        assert events[-1].text == stream.reply.text == "Hello."
        assert [event async for event in stream] == []


class Waiting:
    """A provider that says it was asked, and then nothing."""

    def __init__(self) -> None:
        self.asked = anyio.Event()

    async def stream(self, request: ModelRequest) -> Any:
        self.asked.set()
        await anyio.sleep_forever()
        yield


async def test_leaving_the_block_of_a_stream_stops_its_turn(folder: Path, answering: Answers) -> None:
    async with Session.open(folder, **answering(provider=Waiting())) as session:
        async with session.stream("Hi.") as events:
            await anext(events)
            assert session.busy
        assert not session.busy
        assert events.reply.reason == "cancelled"


async def test_a_loop_that_is_broken_off_leaves_the_turn_running_and_nobody_waits_for_its_reader(
    folder: Path, answering: Answers
) -> None:
    async with Session.open(folder, **answering({"text": "Hello."})) as session:
        async for _ in session.stream("Hi."):
            break
        with anyio.fail_after(5):
            while session.busy:
                await anyio.lowlevel.checkpoint()
        assert session.feed.statistics().watchers == 0
        assert len(session.messages) == 2


async def test_closing_a_session_stops_a_stream_that_nobody_reads(folder: Path, answering: Answers) -> None:
    provider = Waiting()
    with anyio.fail_after(5):
        async with Session.open(folder, **answering(provider=provider)) as session:
            async for _ in session.stream("Hi."):
                break
            await provider.asked.wait()
    assert not session.busy


async def test_a_second_prompt_meanwhile_is_refused_whichever_way_it_comes(folder: Path, answering: Answers) -> None:
    async with Session.open(folder, **answering(provider=Waiting())) as session, session.stream("Hi.") as events:
        await anext(events)
        with pytest.raises(AgentBusy):
            await session.prompt("More.")
        with pytest.raises(AgentBusy):
            await anext(session.stream("More."))


async def test_without_a_person_what_no_rule_allows_is_refused_and_a_rule_allows_it(
    folder: Path, answering: Answers
) -> None:
    async with Session.open(folder, **answering(MAKE, {"text": "x"})) as session:
        await session.prompt("Make it.")
    assert not (folder / "made").exists()
    async with Session.open(folder, **answering(MAKE, {"text": "x"}, allow=["bash(mkdir)"])) as session:
        await session.prompt("Make it.")
    assert (folder / "made").is_dir()


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_function_is_asked_about_calls_and_never_about_trust(
    folder: Path, answering: Answers, is_async: bool
) -> None:
    (folder / "AGENTS.md").write_text("Obey.\n")
    asked: list[Question] = []

    def plain(question: Question) -> str:
        asked.append(question)
        return "once"

    async def other(question: Question) -> str:
        return plain(question)

    async with Session.open(folder, **answering(MAKE, {"text": "x"}, person=other if is_async else plain)) as session:
        await session.prompt("Make it.")
        assert not session.project.trusted
    assert [question.kind for question in asked] == ["permission"]
    assert (folder / "made").is_dir()


async def test_a_folder_is_trusted_by_an_option(folder: Path, answering: Answers) -> None:
    (folder / "AGENTS.md").write_text("Say cheese.\n")
    expect = {"text": "cheese", "expect": {"contains": ["Say cheese."]}}
    async with Session.open(folder, **answering(expect, trust="once")) as session:
        assert (await session.prompt("Hi.")).ok
    async with Session.open(folder, **answering({"text": "x", "expect": {"absent": ["Say cheese."]}})) as session:
        assert "AGENTS.md" in " ".join(session.notices)
        assert (await session.prompt("Hi.")).ok


class Watching(NoHooks):
    """Turns one command into another, answers a second, and marks results."""

    async def before_tool(self, call: ToolCall) -> Proceed | Answer:
        command = (call.arguments or {}).get("command")
        if command == "mkdir made":
            return Proceed(ToolCall(call.id, call.name, {"command": "mkdir other"}, '{"command": "mkdir other"}'))
        return Answer(ToolOutput.text("mine")) if command == "pwd" else Proceed()

    async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
        text = "".join(part.text for part in output.parts if isinstance(part, Text))
        return ToolOutput.text(f"<{text}>", is_error=output.is_error)


@pytest.mark.parametrize(("allow", "made"), [("bash(mkdir other)", True), ("bash(mkdir made)", False)])
async def test_a_call_that_a_hook_changed_is_judged_as_it_was_changed(
    folder: Path, answering: Answers, allow: str, made: bool
) -> None:
    async with Session.open(folder, **answering(MAKE, {"text": "x"}, hooks=Watching(), allow=[allow])) as session:
        await session.prompt("Make it.")
    assert os.listdir(folder) == (["other"] if made else [])


async def test_a_hook_answers_a_call_and_sees_results_last(folder: Path, answering: Answers) -> None:
    calls = [{"name": "bash", "arguments": {"command": "pwd"}}, {"name": "ls", "arguments": {"path": "."}}]
    async with Session.open(folder, **answering({"tool_calls": calls}, {"text": "x"}, hooks=Watching())) as session:
        await session.prompt("Look.")
        first, second = (m.text for m in session.messages if isinstance(m, ToolResult))
    assert first == "mine"
    assert second.startswith("<")


@dataclass
class City:
    """An answer."""

    name: str
    people: int


async def test_an_answer_comes_back_as_the_type_that_was_asked_for(folder: Path, answering: Answers) -> None:
    wrong, right = {"text": '{"name": "Ulm"}'}, {"text": '```json\n{"name": "Ulm", "people": 3}\n```'}
    async with Session.open(folder, **answering(wrong, right, output=City)) as session:
        reply = await session.prompt("Ulm?")
        assert reply.output == City("Ulm", 3)
        assert session.result(reply).output == {"name": "Ulm", "people": 3}
    async with Session.open(folder, **answering(wrong, wrong, output=City)) as session:
        reply = await session.prompt("Ulm?")
        assert (reply.reason, reply.output) == ("schema_failed", None)


async def test_a_policy_of_a_program_is_asked_before_each_request_and_named_in_the_log(
    folder: Path, answering: Answers
) -> None:
    seen: list[int] = []

    def watching(context: dict[str, Any]) -> None:
        seen.append(len(context["active_context"]))

    async with Session.open(folder, **answering(WRITE, {"text": "x"}, policy=watching)) as session:
        await session.prompt("Write.")
        assert session.log.archive.policy == "watching"
    assert seen == [1, 3]


async def test_a_policy_that_fails_gives_way_to_the_rules(folder: Path, answering: Answers) -> None:
    def broken(context: dict[str, Any]) -> None:
        raise RuntimeError("no idea")

    async with Session.open(folder, **answering({"text": "fine"}, policy=broken)) as session:
        assert (await session.prompt("Hi.")).text == "fine"


async def test_run_in_an_async_program_says_what_to_use_instead(folder: Path, answering: Answers) -> None:
    with pytest.raises(UsageError, match=r"async with Session\.open"):
        run("Hi.", folder, **answering({"text": "x"}))


def test_run_is_one_prompt_for_a_program_that_is_not_async(folder: Path, answering: Answers) -> None:
    reply = run("Hi.", folder, **answering({"text": "Hello."}))
    assert (reply.text, reply.session_file is not None) == ("Hello.", True)


def test_the_provider_is_the_one_that_was_given(folder: Path, answering: Answers) -> None:
    provider = ScriptedProvider([{"text": "Hello."}])
    run("Hi.", folder, **answering(provider=provider))
    assert provider.remaining == 0


async def test_a_slash_command_is_run_and_what_it_said_comes_back(folder: Path, answering: Answers) -> None:
    async with Session.open(folder, **answering({"text": "Done."})) as session:
        await session.prompt("Go.")
        named = await session.command("/name the port")
        assert (session.log.archive.title, named.reply) == ("the port", None)
        assert "the port" in (await session.command("/stats")).text + named.text


async def test_a_template_is_filled_in_and_its_turn_is_the_reply(
    folder: Path, tmp_path: Path, answering: Answers
) -> None:
    prompts = tmp_path / "home" / "prompts"
    prompts.mkdir(parents=True)
    (prompts / "fix.md").write_text("Fix $1 at once.")
    script = {"text": "Fixed.", "expect": {"contains": ["Fix it at once."]}}
    async with Session.open(folder, **answering(script)) as session:
        made = await session.command("/fix it")
        assert made.reply is not None
        assert (made.reply.ok, made.reply.text) == (True, "Fixed.")


@pytest.mark.parametrize("line", ["hello", "/no-such", "/quit", "/new", "/reload", ""])
async def test_what_is_no_command_for_a_program_is_refused(folder: Path, answering: Answers, line: str) -> None:
    async with Session.open(folder, **answering({"text": "Done."})) as session:
        with pytest.raises(UsageError):
            await session.command(line)
