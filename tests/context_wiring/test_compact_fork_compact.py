"""Compact, fork, compact again: what a fork inherits is whole, nothing in it needs the parent, it fits, and the parent stays as it was."""

from pathlib import Path

import pytest

from support.small_window import Heard, SmallRoom, page, reads, says
from trimtab.coding.choose import Choice, Fork, New, Resume
from trimtab.context.actions import Action
from trimtab.types.messages import Assistant, Message, Text, ToolResult

pytestmark = pytest.mark.anyio
RULE = "You must never write into the folder vendor, whatever happens."
FIRST, SECOND, THIRD = "abc", "def", "ace"


def shown(messages: tuple[Message, ...]) -> str:
    return "\n".join(part.text for m in messages for part in m.parts if isinstance(part, Text))


async def lived(room: SmallRoom, choice: Choice, letters: str, *, prompt: str) -> tuple[str, Path, Heard]:
    """Read these files in one turn, then compact as a person does; returns the session's id, its file, and what the model was asked."""
    provider = Heard([*(reads(f"{letter}.txt") for letter in letters), says(f"read {letters}")])
    async with room.open(provider=provider, choice=choice) as session:
        await session.prompt(prompt)
        context = session.context
        wish = Action("compact", (), {"keep_tokens": 200, "mode": "digest"})
        plan = context.engine.act(session.log.snapshot(), context.request(), [wish], author="user")
        outcome = await context.transcript.run(plan)
        assert outcome.done, outcome
        assert context.engine.look(session.log.snapshot(), context.request()).used < context.engine.budget.soft
        assert session.log.path is not None
        return session.log.header.id, session.log.path, provider


async def generations(room: SmallRoom) -> tuple[list[str], list[Path], list[Heard]]:
    """A session, a fork of it, and a fork of that, each compacted at its end."""
    made = [await lived(room, New(), FIRST, prompt=f"Read them all. {RULE}")]
    for letters, prompt in ((SECOND, "And these."), (THIRD, "Now again.")):
        before = made[-1][1].read_bytes()
        made.append(await lived(room, Fork(made[-1][0]), letters, prompt=prompt))
        assert made[-2][1].read_bytes() == before, "the parent is as it was"
    return [one[0] for one in made], [one[1] for one in made], [one[2] for one in made]


async def test_a_fork_of_a_compacted_session_compacts_again_and_each_request_is_whole(tmp_path: Path) -> None:
    ids, files, heard = await generations(SmallRoom.at(tmp_path, window=24_000))
    assert len(set(ids)) == len(set(files)) == 3
    for provider in heard:
        for request in provider.requests:
            assert RULE in shown(request.messages)
            calls = [c.id for m in request.messages if isinstance(m, Assistant) for c in m.tool_calls]
            assert [m.call_id for m in request.messages if isinstance(m, ToolResult)] == calls
    largest = [max(len(shown(request.messages)) for request in provider.requests) for provider in heard]
    assert largest[2] < 1.5 * largest[0], "a fork carries the summary on, not what stands behind it"


async def test_a_fork_is_complete_without_its_parent(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, window=24_000)
    ids, files, _ = await generations(room)
    for parent in files[:2]:
        parent.unlink()
    async with room.open(says("hello"), choice=Resume(ids[2])) as session:
        assert (await session.prompt("are you there?")).text == "hello"
        view = session.log.snapshot()
        compactions = [a.id for a in view.applied if a.id not in view.reverted]
        texts = [part.text for slot in view.slots for part in slot.base.parts if isinstance(part, Text)]
    assert len(compactions) == 3
    for letter in FIRST + SECOND:
        assert any(page(letter).splitlines()[60] in text for text in texts)


async def test_every_edit_of_a_fork_speaks_of_entries_that_it_has(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, window=24_000)
    ids, _, _ = await generations(room)
    async with room.open(says("hello"), choice=Resume(ids[2])) as session:
        view = session.log.snapshot()
        assert len(view.applied) == 3
        for applied in view.applied:
            for name in applied.edit.targets:
                assert view.find(name) is not None or view.edit(name) is not None
            first_kept = getattr(applied.edit, "first_kept", None)
            assert first_kept is None or view.find(first_kept) is not None
