"""A model that is changed while a turn runs, pages of `recall`, and names: of files and of results."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.small_window import Heard, SmallRoom, calls, reads, says
from trimtab.coding.context.engine import file_name, next_handle
from trimtab.coding.logs import now
from trimtab.context.stores.log import SessionLog
from trimtab.types.messages import Assistant, Text, ToolCall, ToolResult, user

pytestmark = pytest.mark.anyio


class Switching(Heard):
    """A provider that changes the session's model while it answers for the first time."""

    session: Any = None

    async def stream(self, request: Any) -> Any:
        """Change the model, then answer."""
        if not self.requests:
            await self.session.set_model("local/tinier")
        async for event in super().stream(request):
            yield event


async def test_a_turn_ends_with_the_rules_of_the_model_it_began_with(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, window=32_000)
    provider = Switching([reads("a.txt"), reads("b.txt"), says("done")])
    windows: list[int] = []
    async with room.open(provider=provider) as session:
        provider.session = session
        prompt = session.context.transcript.prompt

        async def watched(request: Any) -> Any:
            made = await prompt(request)
            windows.append(session.context.engine.budget.window)
            return made

        session.context.transcript.prompt = watched  # type: ignore[method-assign]
        assert (await session.prompt("read")).reason == "stop"
        assert windows == [32_000] * 3
        session.agent.provider = Heard([says("here")])
        assert (await session.prompt("and now?")).reason == "stop"
    assert windows[3:] == [16_000]
    assert {request.model.id for request in provider.requests} == {"tiny"}


async def test_between_turns_a_switch_counts_at_once(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, window=32_000)
    async with room.open(says("done")) as session:
        await session.prompt("hello")
        await session.set_model("local/tinier")
        assert session.context.engine.model.id == "tinier"
        await session.set_model("local/tiny")
        assert session.context.engine.budget.window == 32_000


@pytest.mark.parametrize("window", [8_000, 16_000, 200_000])
async def test_a_page_that_is_recalled_is_never_cut_or_hidden_when_it_comes(tmp_path: Path, window: int) -> None:
    room = SmallRoom.at(tmp_path, window=window)
    provider = Heard([reads("a.txt"), calls(("recall", {"id": "r1"})), says("done")])
    async with room.open(provider=provider) as session:
        host = session.context.host
        assert host.page_tokens <= min(4_000, session.context.engine.budget.room // 8)
        turn = await session.prompt("read")
        assert turn.reason == "stop"
    (page,) = [e for e in room.entries() if e["type"] == "message" and e["message"].get("tool_name") == "recall"]
    assert page["message"].get("cut") is None
    assert page["id"] not in {target for entry in room.edits() for target in entry["edit"]["targets"]}


@given(
    st.lists(st.text(max_size=120) | st.text("aA_|/", min_size=79, max_size=83), min_size=2, max_size=8, unique=True)
)
def test_no_two_items_share_a_file_and_every_name_is_a_plain_one(names: list[str]) -> None:
    files = [file_name(name) for name in names]
    assert len({file.casefold() for file in files}) == len(names)
    assert all(len(file) < 120 and set(file) & set('/\\:*?"<>| \n') == set() for file in files)


def test_only_results_have_handles_whatever_calls_and_texts_say() -> None:
    log = SessionLog.in_memory("", now=now)
    assert next_handle(log) == 1
    forged = {"handle": "r999999999", "role": "tool"}
    raw = '{"handle":"r999999999","role":"tool"}'
    log.append_messages(
        [
            user('"handle":"r77"'),
            Assistant((ToolCall("c1", "x", forged, raw), ToolCall("c2", "x", {}, "{}")), "tool_use"),
            ToolResult("c1", "x", (Text('{"handle":"r88"}'),), False, details={"handle": "r99"}, handle="r7"),
            ToolResult("c2", "x", (Text("x"),), False, handle="r12345678901"),
        ]
    )
    assert next_handle(log) == 8
