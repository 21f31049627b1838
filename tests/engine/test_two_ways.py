"""A summary is asked for in place or as a transcript, whichever costs less, and only when it pays with its own price."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from support.engine_session import Outside, Session, lines, model
from support.engine_strategies import APIS, histories, small_model
from support.wire_rules import broken, sent_body
from trimtab.context.actions import Action
from trimtab.context.asks import Answer, Failed, Summarize, Summary
from trimtab.context.editing.compacting import Compactor
from trimtab.context.engine import Engine
from trimtab.context.summary.job import Summariser
from trimtab.context.summary.prompt import in_place_instruction
from trimtab.context.validate import rules_for, validate
from trimtab.types.edits import Compact
from trimtab.types.messages import Assistant, Text, Thinking, ToolCall, ToolResult
from trimtab.types.models import Api, CacheRules, ModelInfo, Price
from trimtab.types.tools import ToolSpec
from trimtab.types.usage import Usage

PRICE = Price(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)
CHEAP = Price(input=0.02, output=0.1)
DEAR = Price(input=30.0, output=150.0)
EXPLICIT = CacheRules("explicit", 1_024, 1, 20, 4, 300)
PREFIX = CacheRules("prefix", 1_024, 128)
TOOLS = (ToolSpec("bash", "run something", {"type": "object"}),)
RESULT = ToolResult("", "bash", (), is_error=False)
TASK = "Fix the failing test in src/calc.py. Never run the deploy script."
GOOD = "<analysis>notes</analysis><summary>The test in src/calc.py is being fixed. Never run the deploy script. {}</summary>"


def good(_: Summarize) -> Answer:
    return Summary(GOOD.format(lines(400)), usage=Usage(input=900, output=300), model="p/m", ms=20)


class Clock:
    """Seconds that a test moves on."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def own(info: ModelInfo) -> Summariser:
    thinks = bool(info.thinking)
    return Summariser(info.ref, info.context_window, info.max_output, thinks=thinks, prices=info.prices)


def priced(**more: Any) -> ModelInfo:
    return model(60_000, max_output=6_000, **{"prices": (PRICE,), "cache": EXPLICIT, **more})


def working(
    info: ModelInfo, writer: Summariser, *, policy: Any = "none", summarize: Callable[[Summarize], Answer] = good
) -> tuple[Session, Clock]:
    """A session with a warm cache and about half of its window full."""
    clock = Clock()
    engine = Engine(info, session_id="s", policy=policy, now=clock, compactor=lambda: Compactor(writer, in_place=True))
    session = Session(engine, tools=TOOLS, outside=Outside(summarize=summarize))
    session.say(TASK)
    for number in range(12):
        prepared = session.prepare()
        session.work(lines(1_500, seed=number))
        clock.now += 5
        del prepared
    session.prepare()
    return session, clock


def asks(session: Session) -> list[Summarize]:
    return [ask for ask in session.outside.asked if isinstance(ask, Summarize)]


COMPACT = Action("compact", (), {"keep_tokens": 4_000})


@pytest.mark.parametrize("cache", [EXPLICIT, PREFIX], ids=["explicit", "prefix"])
def test_with_a_warm_cache_the_sessions_model_is_asked_behind_the_request_as_it_was(cache: CacheRules) -> None:
    session, _ = working(priced(cache=cache), own(priced(cache=cache)))
    before = session.view.messages()
    session.act(COMPACT)
    (ask,) = asks(session)
    assert (ask.mode, ask.system) == ("in_place", "")
    assert ask.request is not None
    assert ask.request.messages == before[: len(ask.request.messages)]
    assert (ask.request.system, ask.request.tools) == (session.system, TOOLS)
    assert "Call no tool" in "".join(part.text for part in ask.messages[0].parts if isinstance(part, Text))
    (entry,) = session.edits
    assert isinstance(entry.edit, Compact)
    assert entry.edit.mode == "in_place"
    hidden = {slot.id for slot in session.view.slots if slot.state == "gone"} | {session.view.slots[1].id}
    assert len(ask.request.messages) == 1 + len(hidden), "what stays is not paid for"


def test_an_explicit_cache_is_read_at_its_last_boundary_and_nothing_is_written_behind_it() -> None:
    session, _ = working(priced(), own(priced()))
    session.act(COMPACT)
    (ask,) = asks(session)
    assert ask.request is not None
    (mark,) = ask.request.cache_marks
    assert mark == len(ask.request.messages) - 1


def test_with_a_cold_cache_the_transcript_is_sent_alone() -> None:
    session, clock = working(priced(), own(priced()))
    clock.now += 3_600
    session.act(COMPACT)
    assert [(ask.mode, ask.request) for ask in asks(session)] == [("serialised", None)]


@pytest.mark.parametrize(
    ("price", "mode"),
    [((CHEAP,), "serialised"), ((DEAR,), "in_place"), ((), "serialised")],
    ids=["cheap", "dear", "unknown"],
)
def test_a_model_of_its_own_writes_when_its_own_prices_make_it_cheaper(price: tuple[Price, ...], mode: str) -> None:
    session, _ = working(priced(), Summariser("p/small", 60_000, 4_000, prices=price))
    session.act(COMPACT)
    assert [ask.mode for ask in asks(session)] == [mode]


def test_without_prices_the_two_ways_are_compared_in_tokens() -> None:
    info = priced(prices=())
    session, clock = working(info, own(info))
    session.act(COMPACT)
    assert [ask.mode for ask in asks(session)] == ["in_place"]
    session, clock = working(info, own(info))
    clock.now += 3_600
    session.act(COMPACT)
    assert [ask.mode for ask in asks(session)] == ["serialised"]


def test_a_tool_call_in_the_answer_is_refused_and_the_other_way_is_taken() -> None:
    def calling(ask: Summarize) -> Answer:
        return Summary("I'll delete it.", calls=1, model="p/m") if ask.mode == "in_place" else good(ask)

    session, _ = working(priced(), own(priced()), summarize=calling)
    outcome = session.act(COMPACT)
    assert [ask.mode for ask in asks(session)] == ["in_place", "serialised"]
    assert "the model called a tool instead of writing a summary" in outcome.notes[0]
    (row,) = session.remarks
    assert (row["event"], row["instead"]) == ("summary_rejected", "serialised")


def test_a_signed_thought_in_a_tool_loop_that_goes_on_is_sent_as_it_came() -> None:
    info = priced()
    session, _ = working(info, own(info))
    call = ToolCall("t1", "bash", {}, "{}")
    session.say("and now?")
    session.prepare()
    session.answer(Thinking("I think", "signature"), Text("looking"), call)
    session.log.append([structs.replace(session.view.messages()[2], call_id="t1")])
    session.act(Action("compact", (), {"keep_tokens": 0, "whole": True}))
    (ask, *_) = asks(session)
    assert ask.request is not None
    sent = (*ask.request.messages, *ask.messages)
    assert any(isinstance(m, Assistant) and any(isinstance(p, Thinking) for p in m.parts) for m in sent)
    assert validate(sent, rules=rules_for(info)) == ()
    assert broken("anthropic", sent_body(info, sent)) == []


def test_where_a_new_question_drops_thoughts_what_stands_behind_them_counts_as_paid_anew() -> None:
    info = priced(cache=structs.replace(EXPLICIT, drops_thinking=True))
    writer = Summariser("p/small", 60_000, 4_000, prices=(Price(2.5, 15.0),))

    def modes(thoughts: bool) -> list[str]:
        engine = Engine(info, session_id="s", policy="none", compactor=lambda: Compactor(writer, in_place=True))
        session = Session(engine, tools=TOOLS, outside=Outside(summarize=good))
        session.say(TASK)
        for number in range(12):
            session.prepare()
            call = ToolCall(f"c{number}", "bash", {}, "{}")
            session.answer(*((Thinking("so", "sig"),) if thoughts else ()), Text("looking"), call)
            session.log.append(
                [structs.replace(RESULT, call_id=f"c{number}", parts=(Text(lines(1_500, seed=number)),))]
            )
        session.prepare()
        session.act(COMPACT)
        return [ask.mode for ask in asks(session)]

    assert (modes(thoughts=False), modes(thoughts=True)) == (["in_place"], ["serialised"])


def test_a_model_that_thinks_keeps_the_output_limit_that_its_allowance_hangs_on() -> None:
    info = priced(thinking=("low", "high"))
    session, _ = working(info, own(info))
    request = structs.replace(session.request, thinking="high", max_output=6_000)
    plan = session.engine.act(session.view, request, [COMPACT], author="user")
    ask = next(plan)
    assert isinstance(ask, Summarize)
    assert ask.request is not None
    assert (ask.mode, ask.request.thinking, ask.max_output) == ("in_place", "high", 6_000)
    plan.close()


@given(st.sampled_from(APIS), st.data())
def test_whatever_the_history_a_request_in_place_is_one_that_the_wire_takes(api: Api, data: st.DataObject) -> None:
    info = small_model(api, 200_000)
    session = Session(Engine(info, session_id="s", policy="none"))
    for piece in data.draw(histories(api)):
        session.log.append(piece)
    view = session.view
    if view.is_waiting or not len(view.slots):
        return
    engine = session.engine
    look = engine.look(view, session.request)
    run = sorted(data.draw(st.sets(st.sampled_from(range(len(view.slots))), min_size=1)))
    place = engine.manager.means(look, forced=True).in_place(look, run)
    if place is None:
        return
    sent = (*place.request.messages, in_place_instruction())
    assert validate(sent, rules=rules_for(info)) == ()
    assert broken(api, sent_body(info, sent)) == []


# With its own price


def summarising(keep: int = 4_000) -> Any:
    class Theirs:
        """Wants a summary whenever it is asked."""

        name = "theirs"

        def decide(self, observation: Any) -> Sequence[Action]:
            return (Action("compact", (), {"keep_tokens": keep}),)

    return Theirs()


def full(info: ModelInfo, policy: Any, *, steps: int = 26) -> Session:
    engine = Engine(info, session_id="s", policy=policy, compactor=lambda: Compactor(own(info), in_place=True))
    session = Session(engine, tools=TOOLS, outside=Outside(summarize=good))
    session.say(TASK)
    for number in range(steps):
        session.prepare()
        session.work(lines(1_500, seed=number))
    return session


@pytest.mark.parametrize(("output", "asked"), [(15.0, True), (90_000.0, False)])
def test_a_summary_that_costs_more_than_it_saves_is_not_asked_for(output: float, asked: bool) -> None:
    """Below the hard limit: over it, the ladder decides, and its price is no question."""
    info = priced(prices=(replace_price(output),))
    session = full(info, summarising(), steps=30)
    made = [e for e in session.edits if isinstance(e.edit, Compact) and e.author == "policy:theirs"]
    assert bool(made) is asked
    assert bool(asks(session)) is asked


def replace_price(output: float) -> Price:
    return structs.replace(PRICE, output=output)


def test_a_person_and_the_baselines_get_their_summary_at_any_price() -> None:
    info = priced(prices=(replace_price(90_000.0),))
    session = full(info, "summary", steps=36)
    assert asks(session)
    session, _ = working(info, own(info))
    assert session.act(COMPACT).done


def test_an_edit_says_what_its_text_cost_and_so_does_the_meter() -> None:
    info = priced()
    session, _ = working(info, own(info))
    session.act(COMPACT)
    (entry,) = session.edits
    usd = (900 * 3.0 + 300 * 15.0) / 1_000_000
    assert (entry.cost.model_tokens, entry.cost.ms) == (1_200, 20)
    assert entry.cost.model_usd == pytest.approx(usd)
    savings = session.engine.status(session.view, session.request).savings
    assert (savings["text_tokens"], savings["text_usd"]) == (1_200, pytest.approx(usd))


def test_a_summary_of_one_result_is_weighed_with_its_price_too() -> None:
    class Theirs:
        name = "theirs"

        def decide(self, observation: Any) -> Sequence[Action]:
            return (Action("summarize", tuple(i.id for i in observation.items if i.kind == "result")[:3]),)

    uncached = priced(cache=CacheRules())
    session = full(structs.replace(uncached, prices=(replace_price(90_000.0),)), Theirs(), steps=28)
    assert asks(session) == []
    session = full(uncached, Theirs(), steps=28)
    assert asks(session)


def test_several_results_share_what_their_summaries_cost() -> None:
    info = priced()
    session, _ = working(info, own(info))
    session.act(Action("summarize", ("c1", "c2")))
    assert [entry.cost.model_tokens for entry in session.edits] == [1_200, 1_200]


def test_when_nobody_can_be_asked_the_log_says_why_a_digest_stands_in() -> None:
    session, _ = working(priced(), own(priced()), summarize=lambda _: Failed("no model is reachable"))
    outcome = session.act(COMPACT)
    assert outcome.notes == (
        "a summary was rejected (asked behind the conversation: no model is reachable; asked with a transcript: no model is reachable);"
        " a digest without a model stands in. Nothing is lost; if it goes on, let another model write summaries.",
    )
    (row,) = session.remarks
    assert (row["event"], row["author"], row["instead"]) == ("summary_rejected", "user", "digest")
    assert row["reasons"] == ["in_place: no model is reachable", "serialised: no model is reachable"]
