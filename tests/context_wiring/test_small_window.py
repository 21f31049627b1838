"""A real session in a window that is too small for it: edits are made, recorded, told, undone, inherited."""

from pathlib import Path

import pytest

from support.cli import Cli
from support.small_window import Heard, Json, SmallRoom, calls, page, reads, results, says, watch
from trimtab.agent.events import BudgetChanged, ContextEdited, StepStarted
from trimtab.coding.choose import AtFile, Ephemeral, Fork, Resume
from trimtab.types.messages import Text, ToolResult

pytestmark = pytest.mark.anyio
READ_ALL = [reads(f"{letter}.txt") for letter in "abcdef"]


async def test_no_request_is_larger_than_the_window_and_the_newest_result_is_always_shown(tmp_path: Path) -> None:
    room, provider = SmallRoom.at(tmp_path), Heard([*READ_ALL, says("done")])
    async with room.open(provider=provider) as session:
        events = watch(session)
        turn = await session.prompt("read all")
        sizes = [e.prompt_tokens for e in events.pending() if isinstance(e, StepStarted)]
    assert (turn.reason, turn.steps) == ("stop", 7)
    assert all(size is not None and size <= 9_884 for size in sizes), sizes
    for letter, request in zip("abcdef", provider.requests[1:], strict=True):
        newest = results(request.messages)[-1]
        assert f"{letter} line 119" in text_of(newest.parts)
    assert "a line 119" not in "".join(text_of(m.parts) for m in provider.requests[-1].messages)


async def test_where_the_policy_does_not_act_by_itself_only_the_ladder_does_and_all_requests_fit(
    tmp_path: Path,
) -> None:
    authors: list[set[str]] = []
    for on in (True, False):
        home = tmp_path / str(on)
        home.mkdir()
        room = SmallRoom.at(home)
        async with room.open(*READ_ALL, says("done")) as session:
            session.context.set_automatic(on=on)
            events = watch(session)
            turn = await session.prompt("read all")
            seen = events.pending()
        assert (turn.reason, turn.steps) == ("stop", 7)
        assert all(e.prompt_tokens is not None and e.prompt_tokens <= 9_884 for e in seen if isinstance(e, StepStarted))
        authors.append({entry["author"] for entry in room.edits()})
    acting, resting = authors
    assert "policy:rules" in acting
    assert resting
    assert "policy:rules" not in resting


def text_of(parts: object) -> str:
    assert isinstance(parts, tuple)
    return "".join(part.text for part in parts if isinstance(part, Text))


def content(file: Path) -> str:
    return file.read_text()


def mode(file: Path) -> int:
    return file.stat().st_mode


def stubs(provider: Heard) -> list[ToolResult]:
    """The results that some request showed by a stub, or folded."""
    shown = (r for request in provider.requests for r in results(request.messages))
    return [r for r in shown if text_of(r.parts).startswith(("[archived", "[folded"))]


async def test_an_edit_is_told_after_it_is_durable_and_before_its_request(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path)
    durable: list[bool] = []

    async with room.open(*READ_ALL, says("done")) as session:
        events = watch(session)
        publish = session.agent.feed.publish

        async def looking(event: object) -> None:
            if isinstance(event, ContextEdited):
                durable.append(event.entry_id in {entry["id"] for entry in room.entries()})
            await publish(event)  # type: ignore[arg-type]

        session.agent.feed.publish = looking  # type: ignore[method-assign]
        await session.prompt("read all")
        seen = events.pending()
    edited = [e for e in seen if isinstance(e, ContextEdited)]
    assert edited
    assert durable == [True] * len(edited)
    recorded = {entry["id"]: entry for entry in room.edits()}
    assert [e.entry_id for e in edited] == list(recorded)
    for event in edited:
        entry = recorded[event.entry_id]
        assert (event.kind, event.author) == (entry["edit"]["kind"], entry["author"])
        assert (event.before_tokens, event.after_tokens) == (entry["before_tokens"], entry["after_tokens"])
        following = seen[seen.index(event) + 1 :]
        names = [type(e).__name__ for e in following]
        assert names.index("BudgetChanged") < names.index("StepStarted")
    assert all(e.window == 12_000 for e in seen if isinstance(e, BudgetChanged))


async def test_results_of_four_hundred_tokens_get_numbers_that_a_later_run_and_a_fork_continue(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path)
    (tmp_path / "work" / "small.txt").write_text("little\n")
    async with room.open(reads("a.txt", "small.txt"), reads("b.txt"), says("done")) as session:
        await session.prompt("read")
    assert room.handles() == ["r1", None, "r2"]
    async with room.open(reads("c.txt"), says("done")) as session:
        await session.prompt("more")
    assert room.handles()[-1] == "r3"
    async with room.open(reads("d.txt"), says("done"), choice=Fork(str(room.file))) as session:
        await session.prompt("elsewhere")
        assert results(session.log.view())[-1].text.startswith("[r4]\n")


def heads(shown: list[ToolResult]) -> list[str]:
    return [result.text.partition("\n")[0] for result in shown]


async def test_the_handle_stands_at_the_head_of_the_result_and_never_moves(tmp_path: Path) -> None:
    room, provider = SmallRoom.at(tmp_path, window=32_000), Heard([reads("a.txt"), reads("b.txt"), says("done")])
    async with room.open(provider=provider) as session:
        await session.prompt("read")
    first, second = (results(provider.requests[n].messages) for n in (1, 2))
    assert first[0] == second[0]
    assert (heads(first), heads(second)) == (["[r1]"], ["[r1]", "[r2]"])


async def test_without_context_tools_no_result_gets_a_handle_and_hidden_ones_are_read_from_files(
    tmp_path: Path,
) -> None:
    room = SmallRoom.at(tmp_path, tools="off", policy="rules(left=0.35, compact_from=1.0)")
    provider = Heard([*READ_ALL, says("done")])
    async with room.open(provider=provider) as session:
        turn = await session.prompt("read all")
        assert turn.reason == "stop"
        assert {r.handle for r in results(session.log.view())} == {None}
    edit = room.edits()[0]["edit"]
    ((target, text),) = edit["texts"].items()
    file = Path(text.partition("read path=")[2].split("]")[0])
    (entry,) = (e for e in room.entries() if e["id"] == target)
    assert (content(file), mode(file) & 0o077) == (entry["message"]["parts"][0]["text"], 0)


async def test_a_model_without_any_tool_never_gets_a_stub(tmp_path: Path) -> None:
    """What it could never read again is at most summarised."""
    room = SmallRoom.at(tmp_path, window=32_000)
    async with room.open(*READ_ALL[:3], says("done")) as session:
        await session.prompt("read three")
    small = SmallRoom(tmp_path, 8_000)
    provider = Heard([says("ok")])
    async with small.open(provider=provider, settings={"tools": {"enabled": []}}) as session:
        turn = await session.prompt("and now?")
        assert turn.reason == "stop", turn.error
    assert provider.requests[0].tools == ()
    said = "".join(text_of(m.parts) for m in provider.requests[0].messages)
    assert "recall" not in said
    assert "read path=" not in said
    assert {e["edit"]["kind"] for e in room.edits()} == {"compact"}


async def test_a_resumed_session_shows_the_same_stubs(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path)
    first, second = Heard([*READ_ALL, says("done")]), Heard([says("still here")])
    async with room.open(provider=first) as session:
        await session.prompt("read all")
    async with room.open(provider=second, choice=Resume(str(room.file))) as session:
        await session.prompt("and?")
    before, after = first.requests[-1].messages, second.requests[0].messages
    assert after[: len(before)] == before


@pytest.mark.parametrize("tools", [["read"], []], ids=["files", "nothing"])
async def test_a_session_goes_on_with_other_tools_than_its_stubs_name(tmp_path: Path, tools: list[str]) -> None:
    """What is hidden behind `recall` is shown again to a model that has no `recall`, and hidden anew only by a way that it has."""
    room, later = SmallRoom.at(tmp_path, window=32_000), Heard([says("ok")])
    archive = calls(("archive", {"action": "archive", "ids": ["r1"]}))
    async with room.open(reads("a.txt"), archive, says("done")) as session:
        await session.prompt("read a")
    async with room.open(provider=later, settings={"tools": {"enabled": tools}}) as session:
        turn = await session.prompt("and now?")
    assert turn.reason == "stop", turn.error
    assert "a line 119" in text_of(results(later.requests[0].messages)[0].parts)
    assert [(e["edit"]["kind"], e["author"]) for e in room.edits()] == [("elide", "model"), ("restore", "recovery")]


async def test_a_result_is_numbered_once_while_results_come_side_by_side_and_one_is_archived(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, window=32_000)
    archive = ("archive", {"action": "archive", "ids": ["r1"], "summary": "numbers of a"})
    both = calls(archive, ("read", {"path": "b.txt"}), ("read", {"path": "c.txt"}))
    async with room.open(reads("a.txt"), both, says("done")) as session:
        turn = await session.prompt("read")
        assert turn.reason == "stop"
    assert room.handles() == ["r1", None, "r2", "r3"]
    (edit,) = [e for e in room.edits() if e["author"] == "model"]
    assert edit["edit"]["kind"] == "elide"
    assert "numbers of a" in next(iter(edit["edit"]["texts"].values()))


async def test_recall_finds_the_exact_line_that_left_the_window(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path)
    pages = [calls(("recall", {"id": "r1", "page": number})) for number in (1, 2)]
    async with room.open(*READ_ALL, *pages, says("done")) as session:
        turn = await session.prompt("read all")
        assert turn.reason == "stop"
    found = [
        e["message"] for e in room.entries() if e["type"] == "message" and e["message"].get("tool_name") == "recall"
    ]
    assert all(message.get("cut") is None for message in found)
    recalled = "".join(part["text"] for message in found for part in message["parts"])
    for line in page("a").splitlines():
        assert line in recalled


async def test_a_stub_is_not_written_to_a_file(tmp_path: Path) -> None:
    archive = calls(("archive", {"action": "archive", "ids": ["r1"]}))
    room, first = SmallRoom.at(tmp_path), Heard([reads("a.txt"), archive, says("done")])
    async with room.open(provider=first) as session:
        await session.prompt("read a")
    stub = text_of(stubs(first)[0].parts).splitlines()[0]
    write = calls(("write", {"path": "copy.txt", "content": f"{stub}\n"}))
    async with room.open(write, says("sorry")) as session:
        await session.prompt("copy a")
        refused = results(session.log.view())[-1]
    assert refused.is_error
    assert "recall" in text_of(refused.parts)
    assert not (tmp_path / "work" / "copy.txt").exists()


async def test_an_ephemeral_session_is_managed_too(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path)
    async with room.open(*READ_ALL, says("done"), choice=Ephemeral()) as session:
        events = watch(session)
        assert (await session.prompt("read all")).reason == "stop"
        assert any(isinstance(e, ContextEdited) for e in events.pending())
    assert not room.file.exists()


async def test_policy_none_ends_the_turn_at_the_limit_by_name(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, policy="none")
    async with room.open(*READ_ALL, says("done")) as session:
        turn = await session.prompt("read all")
    assert turn.reason == "floor"
    assert turn.error is not None
    assert room.edits() == []


def test_json_mode_tells_edits_whose_entries_are_in_the_file(tmp_path: Path) -> None:
    cli = Cli.at(tmp_path)
    for letter in "abcdef":
        cli.file(f"{letter}.txt", page(letter))
    script: list[Json] = [*READ_ALL, says("done")]
    flags = ["--set", "providers.scripted.context_window=8000", "--set", "providers.scripted.max_output=1000"]
    outcome = cli.inside("-p", "read", "--mode", "json", "--model", cli.script(*script), *flags)
    assert outcome.code == 0, outcome.err
    edited = outcome.of("context_edited")
    assert edited
    assert set(edited[0]) >= {"entry_id", "kind", "targets", "reason", "author", "before_tokens", "after_tokens"}
    assert all(e["after_tokens"] < e["before_tokens"] for e in edited)
    assert {e["window"] for e in outcome.of("budget_changed")} == {8_000}
    (session,) = cli.sessions
    text = session.read_text()
    assert all(f'"id":"{e["entry_id"]}"' in text for e in edited)


async def test_choice_of_file_does_not_matter_for_the_numbers(tmp_path: Path) -> None:
    """A session file that a person names is numbered like any other."""
    room = SmallRoom.at(tmp_path)
    async with room.open(reads("a.txt"), says("x"), choice=AtFile(tmp_path / "named.jsonl")) as session:
        await session.prompt("read")
        assert heads(results(session.log.view())) == ["[r1]"]
