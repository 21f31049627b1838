"""A child session: its answer comes back, its transcript doesn't."""

from pathlib import Path

import anyio
import pytest

from support.sessions import reopened
from support.small_window import Heard, SmallRoom, page, reads, says
from trimtab.coding.subagent import run_subagent

pytestmark = pytest.mark.anyio


async def test_only_the_answer_of_a_child_reaches_its_parent(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path)
    child = Heard([*(reads(f"{letter}.txt") for letter in "abcdef"), says("item_3 of b is 3743")])
    async with room.open(says("hello")) as parent:
        await parent.prompt("hi")
        before = parent.log.view()
        result = await run_subagent(parent, "What is item_3 of b?", provider=child)
        assert parent.log.view() == before
    assert (result.text, result.reason, result.cut) == ("item_3 of b is 3743", "stop", False)
    assert result.session_file is not None
    log = reopened(Path(result.session_file))
    assert len(log.snapshot().applied) > 0, "the child's own engine managed its own window"
    assert log.header.id == result.session_id


async def test_a_long_answer_is_cut_and_kept_whole_where_the_parents_model_can_read_it(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path)
    answer = page("answer")
    async with room.open(says("hello")) as parent:
        result = await run_subagent(parent, "Tell all.", provider=Heard([says(answer)]), max_result_tokens=300)
        assert result.cut
        assert parent.context.engine.tally.text(result.text) < 350
        key = result.text.rpartition("key=")[2].rstrip("]")
        memo = parent.context.host.memos.read(key)
    assert memo is not None
    assert memo.content == answer.strip() or memo.content == answer


async def test_a_parent_without_context_tools_finds_the_whole_answer_in_a_file(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, tools="off")
    answer = page("answer")
    async with room.open(says("hello")) as parent:
        result = await run_subagent(parent, "Tell all.", provider=Heard([says(answer)]), max_result_tokens=300)
        path = anyio.Path(result.text.rpartition("read path=")[2].rstrip("]"))
        assert (await path.read_text("utf-8")).strip() == answer.strip()


async def test_a_child_that_fails_says_so_and_leaves_its_parent_alone(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path)
    async with room.open(says("still here")) as parent:
        result = await run_subagent(parent, "Try.", provider=Heard([]))
        assert (result.text, result.reason) == ("", "error")
        assert (await parent.prompt("and?")).text == "still here"
