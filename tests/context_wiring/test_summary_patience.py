"""A summary that takes too long is not waited for: the next way is taken. A model that says nothing has a third of the time of one that goes on. The clock jumps, so nobody waits here either."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from support.jumping_clock import JumpingLoop
from support.small_window import Heard, says
from trimtab.coding.context.summariser import LONGEST, QUIET_S, Summarisers
from trimtab.context.asks import Failed, Summarize, Summary
from trimtab.types.messages import user
from trimtab.types.models import ModelInfo, ModelRequest
from trimtab.types.stream import Retrying

pytestmark = pytest.mark.anyio
LARGE, SMALL = ModelInfo("p", "large", "openai-chat"), ModelInfo("p", "small", "openai-chat")
ASK = Summarize((user("sum up"),), "serialised", 1_000)


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, Any]]:
    return ("asyncio", {"loop_factory": JumpingLoop})


class After:
    """Answers like `Heard`, each event only after so many seconds."""

    def __init__(self, seconds: float, *lines: Any) -> None:
        self.seconds = seconds
        self.ended = False
        self._inner = Heard(lines)

    async def stream(self, request: ModelRequest) -> AsyncIterator[Any]:
        try:
            async for event in self._inner.stream(request):
                await anyio.sleep(self.seconds)
                yield event
        finally:
            self.ended = True


async def test_a_model_that_says_nothing_is_waited_for_a_minute() -> None:
    began = anyio.current_time()
    answer = await Summarisers(lambda: (After(1e9, says("late")), LARGE)).ask(ASK)
    assert answer == Failed("p/large said nothing for 60 s")
    assert anyio.current_time() - began == pytest.approx(QUIET_S, abs=1)
    assert (QUIET_S, LONGEST) == (60, 3)


async def test_one_that_goes_on_saying_something_has_three_times_as_long() -> None:
    provider = After(50, says("one word and another and one more " * 40))
    began = anyio.current_time()
    answer = await Summarisers(lambda: (provider, LARGE)).ask(ASK)
    assert answer == Failed("p/large wrote no whole summary within 180 s")
    assert anyio.current_time() - began == pytest.approx(180, abs=1)
    assert provider.ended


async def test_a_retry_of_the_client_is_no_word_of_the_model() -> None:
    class Retries:
        async def stream(self, request: ModelRequest) -> AsyncIterator[Any]:
            for attempt in range(100):
                yield Retrying(attempt, 20.0, "network")
                await anyio.sleep(20)

    assert await Summarisers(lambda: (Retries(), LARGE)).ask(ASK) == Failed("p/large said nothing for 60 s")


async def test_who_wants_to_wait_longer_says_so() -> None:
    answer = await Summarisers(lambda: (After(100, says("in time")), LARGE), quiet_s=200).ask(ASK)
    assert isinstance(answer, Summary)


async def test_what_comes_in_time_is_taken_and_says_how_long_it_took() -> None:
    answer = await Summarisers(lambda: (After(20, says("in time")), LARGE)).ask(ASK)
    assert isinstance(answer, Summary)
    assert answer.text == "in time"
    assert answer.ms == pytest.approx(20_000 * round(answer.ms / 20_000), abs=1_000)
    assert 20_000 <= answer.ms < 180_000


async def test_each_of_two_models_has_its_own_time() -> None:
    async def small() -> Any:
        return After(1e9, says("late")), SMALL

    began = anyio.current_time()
    summarisers = Summarisers(lambda: (After(1e9, says("late")), LARGE), small=small)
    assert await summarisers.ask(ASK) == Failed("p/large said nothing for 60 s")
    assert anyio.current_time() - began == pytest.approx(120, abs=1)
    assert "p/small said nothing for 60 s" in summarisers.take_notes()[0]


async def test_one_that_was_waited_for_in_vain_is_asked_again_only_for_the_next_request() -> None:
    provider = After(1e9, says("late"))
    summarisers = Summarisers(lambda: (provider, LARGE))
    began = anyio.current_time()
    for _ in range(3):
        assert isinstance(await summarisers.ask(ASK), Failed)
    assert anyio.current_time() - began == pytest.approx(60, abs=1)
    summarisers.begin()
    assert await summarisers.ask(ASK) == Failed("p/large said nothing for 60 s")
