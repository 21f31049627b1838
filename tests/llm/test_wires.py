"""The same talk with a real server over Chat Completions, Responses and Anthropic Messages."""

from contextlib import aclosing

import anyio
import msgspec
import pytest

from support.small_model import WINDOW, SmallModel, call_server, count_tokens, open_model
from trimtab.coding.local_model import MODEL
from trimtab.types.messages import Assistant, Image, Message, Text, ToolResult, User, user
from trimtab.types.stream import Ended, PartDelta, PartEnded, PartStarted, make_call
from trimtab.types.tools import ToolSpec

pytestmark = [pytest.mark.llm, pytest.mark.anyio]

QUESTION = user("The capital of France is")
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
STORY = user("Write a long story about the sea.")
WEATHER = ToolSpec(
    "get_weather",
    "Weather of a city",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


def asked_before(number: int, city: str) -> tuple[Message, ...]:
    """A question about the weather as it was answered with the tool. Three of them teach the model to call it."""
    call = make_call(f"call_{number}", "get_weather", f'{{"city": "{city}"}}')
    return (
        user(f"What is the weather in {city}?"),
        Assistant((call,), "tool_use", model=MODEL, provider="local"),
        ToolResult(call.id, "get_weather", (Text("sunny"),), is_error=False),
        Assistant((Text(f"It is sunny in {city}."),), "stop", model=MODEL, provider="local"),
    )


LESSONS = (*asked_before(1, "Rome"), *asked_before(2, "Oslo"), *asked_before(3, "Madrid"))


async def test_an_answer_streams_in_pieces_and_stops(model: SmallModel) -> None:
    answer = await model.ask(QUESTION)
    assert answer.text == "The capital of France is Paris."
    assert (answer.stop_reason, answer.error, answer.model, len(answer.parts)) == ("stop", None, MODEL, 1)
    pieces = [e.text for e in model.events if type(e) is PartDelta]
    assert len(pieces) == 7, "one for each token"
    assert "".join(pieces) == answer.text
    kinds = [type(e) for e in model.events if type(e) is not PartDelta]
    assert kinds in ([PartStarted, PartEnded, Ended], [PartStarted, Ended])


async def test_an_answer_cut_at_the_limit_says_length(model: SmallModel) -> None:
    answer = await model.ask(STORY, max_output=5)
    assert answer.stop_reason == "length"
    assert answer.usage is not None
    assert answer.usage.output == 5


async def test_a_prefix_asked_again_is_read_from_the_cache_and_counted_once(model: SmallModel) -> None:
    system = f"You are asked over {model.api}. " + "The sea is wide and the wind is cold. " * 10
    first = await model.ask(QUESTION, system=system, max_output=4)
    second = await model.ask(QUESTION, first, user("And of Italy?"), system=system, max_output=4)
    assert first.usage is not None
    assert second.usage is not None
    assert second.usage.cache_read >= count_tokens(model.base_url, system)
    assert second.usage.cache_read < second.usage.prompt
    rendered = [{"role": "system", "content": system}, {"role": "user", "content": "The capital of France is"}]
    prompt = call_server(model.base_url, "/apply-template", {"messages": rendered})["prompt"]
    assert first.usage.prompt == count_tokens(model.base_url, prompt), "cached and uncached tokens add up to the prompt"


async def test_a_prompt_over_the_window_is_an_overflow_with_both_numbers(model: SmallModel) -> None:
    answer = await model.ask(user("word " * 1_000))
    assert answer.error is not None
    assert (answer.stop_reason, answer.error.kind, answer.error.status) == ("error", "overflow", 400)
    assert answer.error.limit == WINDOW
    assert answer.error.actual is not None
    assert 1_000 < answer.error.actual < 1_050
    assert [type(e) for e in model.events] == [Ended]


async def test_an_answer_that_meets_the_end_of_the_window_says_length(model: SmallModel) -> None:
    filled = (user("The sea is blue. " * ((WINDOW - 80) // 5)), Assistant((Text("Yes."),), "stop"))
    answer = await model.ask(*filled, STORY, max_output=WINDOW)
    assert (answer.stop_reason, answer.error) == ("length", None)
    assert answer.usage is not None
    assert answer.usage.prompt + answer.usage.output == WINDOW


async def test_a_picture_is_refused_as_a_picture_and_not_tried_again(model: SmallModel) -> None:
    model.info = msgspec.structs.replace(model.info, input=("text", "image"))
    answer = await model.ask(User((Image("image/png", DOT), Text("What is this?"))))
    assert answer.error is not None
    assert (answer.error.kind, answer.error.retryable) == ("media", False)


async def test_one_request_right_after_another_needs_no_retry(model: SmallModel) -> None:
    for _ in range(12):
        await model.ask(QUESTION, max_output=2)
        assert type(model.events[0]) is PartStarted
        assert type(model.events[-1]) is Ended
        assert model.events[-1].error is None


async def test_leaving_in_the_middle_of_an_answer_frees_the_server(model: SmallModel) -> None:
    def busy() -> bool:
        return any(slot["is_processing"] for slot in call_server(model.base_url, "/slots"))

    async with aclosing(model.provider.stream(model.request(STORY, max_output=3_000))) as stream:
        async for event in stream:
            if type(event) is PartDelta:
                break
        assert await anyio.to_thread.run_sync(busy)
    with anyio.fail_after(20):
        answer = await model.ask(QUESTION)
    assert answer.text == "The capital of France is Paris."
    assert not await anyio.to_thread.run_sync(busy)


async def test_a_cancelled_request_ends_at_once(model: SmallModel) -> None:
    started = anyio.Event()

    async def listen() -> None:
        async with aclosing(model.provider.stream(model.request(STORY, max_output=3_000))) as stream:
            async for _ in stream:
                started.set()

    async with anyio.create_task_group() as group:
        group.start_soon(listen)
        await started.wait()
        before = anyio.current_time()
        group.cancel_scope.cancel()
    assert anyio.current_time() - before < 2
    assert (await model.ask(QUESTION)).stop_reason == "stop"


async def test_a_tool_is_called_and_its_result_understood(model: SmallModel) -> None:
    question = user("What is the weather in Paris?")
    answer = await model.ask(*LESSONS, question, tools=(WEATHER,), max_output=60)
    (call,) = answer.tool_calls
    assert answer.stop_reason == "tool_use"
    assert (call.name, call.arguments) == ("get_weather", {"city": "Paris"})
    assert call.id
    result = ToolResult(call.id, call.name, (Text("sunny"),), is_error=False)
    last = await model.ask(*LESSONS, question, answer, result, tools=(WEATHER,))
    assert (last.text, last.stop_reason) == ("It is sunny in Paris.", "stop")


async def test_a_request_waits_its_turn_behind_another(model: SmallModel) -> None:
    answers: list[Assistant] = []

    async def ask(text: str) -> None:
        async with open_model(model.base_url, model.api) as own:
            answers.append(await own.ask(user(text), max_output=12))

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(ask, "The capital of France is")
    assert [a.text for a in answers] == ["The capital of France is Paris."] * 3


async def test_comments_keep_a_stream_alive_while_a_prompt_is_read(base_url: str) -> None:
    numbers = " ".join(str(n) for n in range(120))
    async with open_model(base_url, "openai-chat", idle_timeout_s=2.5) as model:
        answer = await model.ask(user(f"Count on: {numbers}"), max_output=3)
    assert (answer.stop_reason, answer.error) == ("length", None)
