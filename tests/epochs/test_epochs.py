"""System prompt and tools stay as they were sent while the cache is worth more than a notice; what changed is told, and folded in at the next break."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from support.changing_front import (
    BASH,
    CHANGES,
    EXPLICIT,
    MONDAY,
    PREFIX,
    READ,
    TUESDAY,
    WEB,
    Clock,
    HidesNotices,
    hide_the_newest_notice,
    notices,
    session,
    tool,
    wait,
)
from support.engine_session import Session, folded_again, lines, model
from trimtab.context.actions import Action
from trimtab.context.asks import Failed
from trimtab.context.cycle.front import LABEL
from trimtab.context.cycle.look import look
from trimtab.context.cycle.notice import AGAIN, HEAD
from trimtab.context.engine import Engine
from trimtab.context.settings import EngineSettings
from trimtab.types.edits import Restate
from trimtab.types.entries import RevertEntry
from trimtab.types.errors import ContextFloor
from trimtab.types.messages import Text
from trimtab.types.models import CacheRules, Price
from trimtab.types.usage import Usage

PIRATE = "".join(f"Speak like a pirate, in way {number} of the hundred ways.\n" for number in range(40))
LAST = PIRATE.splitlines()[-1]


@pytest.mark.parametrize("rules", [PREFIX, EXPLICIT], ids=["prefix", "explicit"])
def test_while_the_cache_is_warm_another_date_is_a_notice_and_the_head_stays_byte_for_byte(rules: CacheRules) -> None:
    made = session(rules)
    made.system = TUESDAY
    made.say("Go on")
    before = made.view.messages()
    request = made.prepare().request
    assert (request.system, request.tools) == (MONDAY, (READ, BASH))
    assert request.messages[: len(before)] == before
    assert notices(made) == [
        f"{HEAD}\nAfter\n> Follow the style of the project.\n"
        "the instructions no longer say\n> Date: 2026-03-02\nbut\n> Date: 2026-03-03"
    ]


def test_the_log_says_who_told_it_and_why() -> None:
    made = session()
    made.system = TUESDAY
    made.prepare()
    (entry,) = made.edits
    assert isinstance(entry.edit, Restate)
    assert (entry.edit.label, entry.author) == (LABEL, "policy:epoch")
    assert "cache" in entry.reason
    assert (entry.before_tokens or 0, (entry.after_tokens or 0) > 10) == (0, True)


def test_a_change_is_told_once() -> None:
    made = session()
    made.system = TUESDAY
    for number in range(5):
        made.prepare()
        made.work(lines(300, seed=number))
    made.prepare()
    assert len(notices(made)) == 1
    assert len(made.edits) == 1


def test_a_tool_that_is_off_stays_in_the_request_and_a_new_one_waits() -> None:
    made = session()
    made.tools = (READ, WEB)
    assert made.prepare().request.tools == (READ, BASH)
    (text,) = notices(made)
    assert "off now, so that a call of one is refused: bash." in text
    assert "can't be called yet; they will be, later in this conversation: web." in text


def test_a_new_tool_waits_for_one_turn_at_most() -> None:
    made = session()
    made.tools = (READ, BASH, WEB)
    made.prepare()
    made.answer(Text("I can't yet"))
    made.say("Now search")
    assert made.prepare().request.tools == (READ, BASH, WEB)
    assert notices(made) == []


def test_a_tool_that_works_otherwise_is_described_anew() -> None:
    made = session()
    made.tools = (READ, tool("bash", "runs a command", command={"type": "string"}))
    made.prepare()
    (text,) = notices(made)
    assert "The tool bash is now described so:\nruns a command" in text
    assert '"command":{"type":"string"}' in text


def test_tools_in_another_order_are_nothing_to_tell() -> None:
    made = session()
    made.tools = (BASH, READ)
    assert made.prepare().request.tools == (READ, BASH)
    assert made.edits == []


def test_a_cold_cache_takes_the_new_head_and_takes_the_notice_back() -> None:
    made = session()
    made.system = TUESDAY
    made.prepare()
    made.answer(Text("noted"))
    assert len(notices(made)) == 1
    wait(made, 3_600)
    made.say("Good morning")
    request = made.prepare().request
    assert request.system == TUESDAY
    assert notices(made) == []
    reverts = [e.value for e in made.log.archive.path() if isinstance(e.value, RevertEntry)]
    assert [(r.author, r.reason) for r in reverts] == [("policy:epoch", "what it told stands at the head now")]


def test_another_order_is_sent_once_the_cache_is_cold() -> None:
    made = session()
    made.tools = (BASH, READ)
    wait(made, 3_600)
    assert made.prepare().request.tools == (BASH, READ)


def test_a_compaction_pays_for_the_new_head() -> None:
    made = session(steps=8)
    made.system = TUESDAY
    made.prepare()
    made.work(lines(1_500, seed=9))
    assert len(notices(made)) == 1
    made.say("Go on")
    made.act(Action("compact", params={"mode": "digest", "keep_tokens": 500}))
    assert made.prepare().request.system == TUESDAY
    assert notices(made) == []


def test_a_compaction_on_the_way_to_a_request_pays_for_it_too() -> None:
    made = session(window=20_000, steps=2)
    made.system = TUESDAY
    seen = []
    for number in range(20):
        prepared = made.prepare()
        seen.append(prepared.request.system == TUESDAY)
        assert prepared.tokens <= made.engine.budget.hard
        made.work(lines(2_500, seed=20 + number))
    assert (seen[0], seen[-1]) == (False, True)
    assert seen == sorted(seen)


def test_another_model_gets_the_new_head() -> None:
    made = session()
    made.system = TUESDAY
    made.prepare()
    made.answer(Text("noted"))
    made.engine.use_model(model(100_000, cache=EXPLICIT))
    assert made.prepare().request.system == TUESDAY
    assert notices(made) == []


def test_a_change_before_anything_is_cached_is_no_notice() -> None:
    made = session(steps=0)
    fresh = Session(Engine(made.engine.model, session_id="s"), system=MONDAY)
    fresh.say("Fix it")
    fresh.prepare()
    fresh.system = TUESDAY
    assert fresh.prepare().request.system == TUESDAY
    assert fresh.edits == []


@pytest.mark.parametrize("prices", [(), (Price(0, 0),)], ids=["unknown", "free"])
def test_a_cache_is_kept_for_its_time_where_nothing_has_a_price(prices: tuple[Price, ...]) -> None:
    made = Session(Engine(model(100_000, prices=prices, cache=PREFIX), session_id="s"), system=MONDAY)
    made.say("Fix it " * 2_000)
    made.prepare()
    made.answer(Text("done"))
    made.system = TUESDAY
    assert made.prepare().request.system == MONDAY
    assert len(notices(made)) == 1


def test_where_nothing_is_cached_a_change_is_no_notice() -> None:
    made = session(CacheRules())
    made.system = TUESDAY
    assert made.prepare().request.system == TUESDAY
    assert made.edits == []


def test_a_change_so_early_that_a_notice_would_cost_more_is_sent_at_once() -> None:
    rules = CacheRules("prefix", 0, 1, ttl_s=300)
    made = Session(Engine(model(100_000, cache=rules), session_id="s", now=Clock()), system="Be brief. Date: 1")
    made.say("Hi")
    made.prepare()
    made.answer(Text("hello"))
    made.system = "Be brief. Date: 2"
    made.say("Go on")
    assert made.prepare().request.system == "Be brief. Date: 2"
    assert made.edits == []


def test_a_session_that_is_opened_again_begins_with_what_it_has_now() -> None:
    made = session()
    made.system = TUESDAY
    made.prepare()
    made.answer(Text("noted"))
    assert len(notices(made)) == 1
    again = Session(Engine(made.engine.model, session_id="s", now=Clock()), system=TUESDAY, tools=made.tools)
    again.log = made.log
    again.say("Go on")
    assert again.prepare().request.system == TUESDAY
    assert notices(again) == []


def test_what_holds_again_is_told_as_such() -> None:
    made = session()
    made.system = TUESDAY
    made.prepare()
    made.work(*[lines(2_000, seed=n) for n in range(4)])
    made.prepare()
    made.answer(Text("noted"))
    made.system = MONDAY
    assert made.prepare().request.system == MONDAY
    assert notices(made)[1:] == [AGAIN]
    made.prepare()
    assert len(notices(made)) == 2


def test_a_notice_that_nothing_stands_behind_is_simply_taken_back() -> None:
    made = session()
    made.system = TUESDAY
    made.prepare()
    made.system = MONDAY
    assert made.prepare().request.system == MONDAY
    assert notices(made) == []


def test_a_second_change_says_all_that_differs_from_the_head() -> None:
    made = session()
    made.system = TUESDAY
    made.prepare()
    made.work(lines(3_000))
    made.tools = (READ,)
    made.prepare()
    assert len(notices(made)) == 2
    assert "03-03" in notices(made)[1]
    assert "bash" in notices(made)[1]


def test_a_notice_that_somebody_took_back_is_told_again() -> None:
    made = session()
    made.system = TUESDAY
    made.prepare()
    made.revert(made.view.applied[0].id)
    made.prepare()
    assert len(notices(made)) == 1


def test_a_notice_that_somebody_hid_is_told_again() -> None:
    made = session()
    made.system = PIRATE
    made.prepare()
    hide_the_newest_notice(made)
    assert LAST not in "".join(notices(made))
    made.prepare()
    assert LAST in notices(made)[-1]


def test_a_notice_that_the_policy_hides_on_the_way_to_the_same_request_is_told_again() -> None:
    made = session(policy=HidesNotices())
    made.system = PIRATE
    made.prepare()
    made.work(lines(300))
    prepared = made.prepare()
    assert any(done.entry.author == "policy:hides-notices" for done in prepared.edits)
    assert prepared.request.system == PIRATE or LAST in notices(made)[-1]


def test_a_notice_that_a_person_brings_back_when_its_change_was_folded_in_no_longer_holds() -> None:
    made = session()
    made.system = TUESDAY
    made.prepare()
    made.answer(Text("noted"))
    wait(made, 3_600)
    made.say("Good morning")
    made.prepare()
    made.answer(Text("noted"))
    made.say("Go on")
    (revert,) = made.view.reverts
    made.revert(revert.id)
    assert len(notices(made)) == 1
    assert made.prepare().request.system == TUESDAY
    assert notices(made)[-1:] in ([], [AGAIN])
    told = notices(made)
    made.prepare()
    assert notices(made) == told


def test_a_whole_new_prompt_is_told_whole() -> None:
    made = session()
    made.system = "Speak like a pirate.\nNothing else."
    made.prepare()
    assert notices(made) == [f"{HEAD}\nThe instructions, as a whole, now read:\nSpeak like a pirate.\nNothing else."]


def test_a_notice_that_can_not_be_written_sends_no_request_with_a_head_that_nobody_was_told_of() -> None:
    made = session()
    made.system = TUESDAY
    made.outside.record = lambda _: Failed("disk full")
    assert made.prepare().request.system == TUESDAY


def test_without_a_policy_and_without_epochs_what_is_wanted_is_sent() -> None:
    plain = session(policy="none")
    plain.system = TUESDAY
    assert plain.prepare().request.system == TUESDAY
    off = session()
    off.engine.settings = EngineSettings(epochs=False)
    off.engine.front = None
    off.system = TUESDAY
    assert off.prepare().request.system == TUESDAY
    assert off.edits == []


def test_the_meter_counts_what_is_sent() -> None:
    made = session()
    small = made.engine.status(made.view, made.request).upper
    made.prepare()
    made.system = MONDAY + "\n" + "word " * 3_000
    made.prepare()
    told = made.engine.status(made.view, made.request).upper
    assert 3_000 <= told - small <= 6_000  # in the notice, and not in the head as well


def test_a_look_at_another_head_leaves_the_meter_as_it_was() -> None:
    made = session()
    made.answer(Text("ok"), usage=Usage(input=made.prepare().tokens, output=20))
    made.say("Go on")
    engine, request = made.engine, made.request
    first = engine.look(made.view, request).estimate
    for system in (TUESDAY, "Other. " * 500, TUESDAY):
        look(made.view, structs.replace(request, system=system), engine.budget, engine.tally)
        assert engine.look(made.view, request).estimate == first


def test_the_head_that_fits_is_sent_where_the_one_of_before_does_not() -> None:
    made = session(window=20_000, steps=1)
    made.system = "word " * 15_000
    with pytest.raises(ContextFloor):
        made.prepare()
    made.system = MONDAY
    assert made.prepare().request.system == MONDAY


@settings(max_examples=30)
@given(st.lists(st.sampled_from(range(len(CHANGES))), max_size=12), st.sampled_from([PREFIX, EXPLICIT]))
def test_whatever_changes_the_model_is_never_left_with_a_head_that_neither_holds_nor_is_corrected(
    chosen: list[int], rules: CacheRules
) -> None:
    made = session(rules, window=30_000, steps=2)
    made.say("Go on")
    for number in chosen:
        CHANGES[number](made)
        request = made.prepare().request
        told = notices(made)
        same = request.system == made.system and set(t.name for t in request.tools) == {t.name for t in made.tools}
        assert (told == [] or told[-1] == AGAIN) if same else (told and told[-1].startswith(HEAD) and told[-1] != AGAIN)
        assert made.view.messages() == folded_again(made.log).messages()
        made.answer(Text("so be it"), usage=Usage(10))
