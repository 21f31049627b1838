"""What a session took is one sum, wherever it is shown: the results of its turns, the events that end them, the list of sessions. Summaries are part of it, and named."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from support.small_window import Heard, Json, SmallRoom, reads, says, watch
from trimtab.agent.events import TurnEnded
from trimtab.coding.choose import New
from trimtab.coding.session_list import Row, list_sessions
from trimtab.types.models import ModelRequest
from trimtab.types.stream import Ended
from trimtab.types.usage import Usage

pytestmark = pytest.mark.anyio
PRICES = {"price_input": 1.0, "price_output": 10.0, "price_cache_read": 0.1}
GOOD = "The files are read one after the other. " * 40


class Metered(Heard):
    """Reports about what each request has, and answers requests for summaries from a list of texts of its own."""

    def __init__(self, lines: list[Json], *summaries: Json) -> None:
        super().__init__(lines)
        self._writer = Heard(summaries)

    async def stream(self, request: ModelRequest) -> Any:
        """Answer from one script or the other."""
        asked = "<analysis>" in str(request.messages[-1].parts)
        async for event in (self._writer.stream if asked else super().stream)(request):
            if isinstance(event, Ended) and event.error is None:
                size = len(request.system) + sum(len(str(message.parts)) for message in request.messages)
                event = replace(event, usage=Usage(size // 3, 40 + len(self.requests), cache_read=size // 7))
            yield event


def room_at(root: Path, *, priced: bool, **context: object) -> tuple[SmallRoom, Json]:
    room = SmallRoom.at(root, policy="summary", **context)
    rows = [{"id": "tiny", "context_window": room.window, "max_output": 1_000, **(PRICES if priced else {})}]
    return room, {"providers": {"local": {"base_url": "http://127.0.0.1:9/v1", "models": rows}}}


def listed(room: SmallRoom, settings: Json) -> Row:
    (row,) = list_sessions(room.project(**settings), everywhere=False)[0]
    return row


SCRIPTS = {
    "accepted": [says(GOOD)] * 4,
    "rejected, then accepted": [says(""), says(GOOD)] * 3,
    "rejected": [says("")] * 8,
    "failing": [{"error": {"status": 500, "body": {}}}] * 8,
}


@pytest.mark.parametrize("priced", [True, False], ids=["priced", "no prices"])
@pytest.mark.parametrize("summaries", SCRIPTS.values(), ids=SCRIPTS)
async def test_the_results_of_all_turns_add_up_to_what_the_list_of_sessions_says(
    tmp_path: Path, summaries: list[Json], priced: bool
) -> None:
    room, settings = room_at(tmp_path, priced=priced)
    lines = [
        *(reads(f"{letter}.txt") for letter in "abcdef"),
        says("done"),
        *(reads(f"{x}.txt") for x in "abc"),
        says("done"),
    ]
    total, cost, summed = Usage(), 0.0, Usage()
    async with room.open(provider=Metered(lines, *summaries), choice=New(), settings=settings) as session:
        for prompt in ("read them all", "and again"):
            events = watch(session)
            turn = await session.prompt(prompt)
            assert turn.reason == "stop", turn.error
            result = session.result(turn)
            (ended,) = [event for event in events.pending() if isinstance(event, TurnEnded)]
            assert (ended.usage, ended.summary_usage) == (result.usage, result.summary_usage)
            total, summed = total + result.usage, summed + result.summary_usage
            cost += result.cost_usd or 0.0
            row = listed(room, settings)
            assert (row.summary.usage, row.summary.tokens) == (total, total.prompt + total.output)
            if priced:
                assert row.cost_usd == pytest.approx(cost)
            else:
                assert (row.cost_usd, result.cost_usd) == (None, None)
    assert sum((written.usage for written in row.summary.summaries), Usage()) == summed
    answers = sum((u for usages in row.summary.answers.values() for u in usages), Usage())
    assert answers == total - summed
    if summaries is not SCRIPTS["failing"]:
        assert summed.output > 0
