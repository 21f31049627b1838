"""What a replay charges and finds, step by step."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.recordings import answered, call, compacted, long_session, paid, recording, result, said
from trimtab.context.policies.base import Manners
from trimtab.context.policies.peer_table import PEERS
from trimtab.context.policies.registry import find_policy
from trimtab.sessions.recorded import Answered
from trimtab.sessions.replay.dump import dumped
from trimtab.sessions.replay.models import Terms, Window, model_of, window_of
from trimtab.sessions.replay.report import figures_of, total_of
from trimtab.sessions.replay.run import Plan, prepare, replay
from trimtab.types.models import Price, cost_usd

PRICE = Price(input=10.0, output=50.0, cache_read=1.0, cache_write=12.5)
WINDOW = 20_000


def run(session, policy="rules", *, window=WINDOW, price=PRICE, items=False):
    model = model_of(session, Terms(window, price))
    return replay(prepare(session), Plan(find_policy(policy), model, items=items))


def usd(usages, price=PRICE):
    return sum(cost_usd(usage, (price,)) for usage in usages)


def test_a_step_is_one_api_message():
    session = recording(
        said("go"), answered(call("Bash", "c1", command="ls")), result("c1", "a"), answered(text="done")
    )
    assert [(s.step, s.calls) for s in run(session).steps] == [(1, ("c1",)), (2, ())]


def test_recorded_summaries_are_skipped_and_what_they_replaced_stays():
    plain = (said("go"), answered(call("Bash", "c1", command="ls")), result("c1", "a" * 400))
    end = (said("more"), answered(text="done"))
    short = run(recording(*plain, compacted("all is well"), *end), "none")
    assert short.steps == run(recording(*plain, *end), "none").steps


def test_the_hidden_prefix_is_what_the_first_report_has_beyond_what_is_visible():
    session = recording(said("go"), answered(text="hello", prompt=5_000), said("on"), answered(text="done"))
    first, second = run(session, "none").steps
    assert first.prompt == 5_000
    assert 5_000 < second.prompt < 5_050


def test_the_hidden_prefix_is_cached_from_the_first_request_on():
    session = recording(said("go"), answered(text="hello", prompt=9_000), said("on"), answered(text="done"))
    first, second = run(session, "none").steps
    assert first.prompt - first.cached < 50
    assert second.cached == first.prompt


def test_after_a_gap_longer_than_entries_live_nothing_is_cached():
    session = recording(
        said("go", at=0.0),
        answered(text="hello", prompt=9_000, at=1.0),
        said("on", at=4_000.0),
        answered(text="done", at=4_001.0),
    )
    assert [step.cached > 0 for step in run(session, "none").steps] == [True, False]


def test_output_is_the_larger_of_reported_and_counted():
    session = recording(
        said("go"),
        answered(text="word " * 100, prompt=9_000, output=2),
        said("on"),
        answered(text="x", prompt=9_200, output=700),
    )
    first, second = (step.output for step in run(session, "none").steps)
    assert first > 50
    assert second == 700


def test_a_request_costs_what_the_bill_and_its_output_come_to():
    session = recording(said("go"), answered(text="hello", prompt=9_000, output=100))
    (step,) = run(session, "none").steps
    written = step.prompt - step.cached
    assert usd(step.paid) == pytest.approx((step.cached * 1.0 + written * 12.5 + 100 * 50.0) / 1e6, rel=1e-3)


def test_none_ignores_the_window_and_counts_overflows():
    figures = figures_of(run(long_session(40), "none"))
    assert figures.edits == 0
    assert figures.peak_tokens > WINDOW
    assert 0 < figures.overflows < figures.steps


def test_none_is_keep_all():
    session = long_session(10)
    steps = run(session, "none", window=10**7).steps
    sizes = [step.prompt for step in steps]
    assert sizes == sorted(sizes)
    assert figures_of(run(session, "none")).prompt_tokens == sum(sizes)
    assert all(state == "visible" for step in steps for state in step.states)


def test_a_managed_session_stays_in_the_window():
    figures = figures_of(run(long_session(40)))
    assert figures.overflows == 0
    assert figures.peak_tokens < WINDOW
    assert figures.edits >= figures.edit_batches > 0
    assert figures.invalid_requests == 0


def test_what_a_stub_names_is_visible_and_what_it_only_leads_to_is_stub():
    named = figures_of(run(long_session(40), "rules"))
    bare = figures_of(run(long_session(40), "rules(names=0, keep_names=0.0)"))
    assert (named.needed, named.needed_visible) == (1, 1)
    assert (bare.needed_visible, bare.needed_stub, bare.reloads) == (0, 1, 1)


def test_what_was_dropped_without_a_way_back_is_lost():
    figures = figures_of(run(long_session(40), "truncate"))
    assert (figures.needed_lost, figures.reloads) == (1, 1)


def test_a_need_that_is_not_visible_costs_one_reload_and_its_text_is_in_view_from_then_on():
    *events, _, _ = long_session(40).events
    again = [
        result("last", "found", tool="Bash", at=401),
        answered(call("Bash", "more", command="grep handler_0_4 .")),
        answered(text="done"),
    ]
    *_, step, following, _ = run(recording(*events, *again), "truncate").steps
    reload = (step.prompt * 1.0 + 60 * 50.0) / 1e6
    assert step.states == ("lost",)
    assert usd(step.paid) > reload
    assert following.states == ("visible",)


def test_the_dump_lists_recorded_calls_and_nothing_that_was_fetched_again():
    session = long_session(40)
    made = run(session, "truncate", items=True)
    assert figures_of(made).reloads == 1
    recorded = {call.id for event in session.events if isinstance(event, Answered) for call in event.message.tool_calls}
    assert {item.call_id for step in made.steps for item in step.items} <= recorded


def test_the_dump_calls_a_result_by_the_way_back_that_its_summary_gives():
    covered = {item.state for step in run(long_session(60), "summary", items=True).steps for item in step.items}
    dropped = {item.state for step in run(long_session(60), "truncate", items=True).steps for item in step.items}
    assert ("summary" in covered, "gone" in covered) == (True, False)
    assert ("summary" in dropped, "gone" in dropped) == (False, True)


def test_pessimistically_each_hidden_need_repeats_its_call_too():
    step = run(long_session(40), "truncate").steps[-2]
    assert usd(step.repeated) > (step.prompt * 1.0 + 60 * 50.0) / 1e6


@pytest.mark.parametrize("policy", ["none", "truncate", "mask", "summary", *sorted(row.name for row in PEERS)])
def test_who_weighs_no_prices_does_the_same_at_any_so_one_replay_can_be_priced_at_each(policy):
    dear = Price(input=10.0, output=50.0, cache_read=5.0, cache_write=12.5)
    cheap, again = run(long_session(30), policy), run(long_session(30), policy, price=dear)
    assert again.steps == cheap.steps
    assert figures_of(cheap, (dear,)) == figures_of(again)
    assert figures_of(cheap).cost_usd == pytest.approx(usd(usage for step in cheap.steps for usage in step.paid))


def test_a_model_without_a_known_price_costs_null():
    session = recording(said("go"), answered(text="hello"), model="nobody-knows-1")
    model = model_of(session, Terms())
    figures = figures_of(replay(prepare(session), Plan(find_policy("none"), model)))
    assert figures.cost_usd is None
    assert total_of([figures, figures]).cost_usd_pessimistic is None


def test_the_window_is_the_recorded_one_else_the_catalogue_s_else_the_default():
    assert model_of(recording(window=12_345), Terms()).context_window == 12_345
    assert model_of(recording(window=12_345), Terms(window=5)).context_window == 5
    assert model_of(recording(), Terms()).context_window == 200_000
    assert model_of(recording(model="nobody-knows-1"), Terms()).context_window == 200_000


def test_a_session_that_was_compacted_lived_in_the_smallest_window_of_its_provider_that_holds_what_stood_there():
    wide = {"model": "claude-opus-4-6"}
    session = recording(said("go"), compacted("so far", before=167_371), answered(text="done"), **wide)
    assert window_of(session, Terms()) == Window(200_000, "compacted", 167_371)
    assert model_of(session, Terms()).context_window == 200_000
    assert window_of(session, Terms(window=50_000)) == Window(50_000, "given")


@pytest.mark.parametrize(
    "events",
    [
        (),
        (compacted("so far", before=167_371, trigger="manual"),),
        (compacted("so far", before=930_000),),
        (compacted("so far", before=167_371), answered(text="much", prompt=400_000)),
        (compacted("so far"),),
    ],
    ids=["never compacted", "by a person", "where a wide window ends", "larger before or after", "size unknown"],
)
def test_what_tells_nothing_of_a_smaller_window_leaves_the_model_s(events):
    session = recording(said("go"), *events, answered(text="done"), model="claude-opus-4-6")
    assert window_of(session, Terms()) == Window(1_000_000, "catalogue")


def test_a_recorded_window_says_more_than_a_compaction():
    session = recording(said("go"), compacted("so far", before=167_371), window=258_400)
    assert window_of(session, Terms()) == Window(258_400, "recorded")


HOUR = Price(input=10.0, output=50.0, cache_read=1.0, cache_write=12.5, cache_write_1h=20.0)


def visits(*, hour, pause):
    """Two prompts with a pause between them, in a session that writes to the cache for an hour, or for five minutes."""
    return recording(
        said("go " * 4_000, at=0.0),
        paid(5_000, hour=5_000 * hour, at=1.0),
        said("and on " * 2_000, at=1.0 + pause),
        paid(4_000, hour=4_000 * hour, at=2.0 + pause),
    )


@pytest.mark.parametrize("policy", ["none", "rules", "mask", "pi"])
def test_what_was_written_for_an_hour_is_paid_at_its_price_and_lives_for_an_hour(policy):
    long, short = (run(visits(hour=hour, pause=1_200), policy, price=HOUR).steps for hour in (True, False))
    assert [step.prompt for step in long] == [step.prompt for step in short]
    assert long[1].cached > 0.9 * long[0].prompt
    assert short[1].cached == 0
    (written,) = long[0].paid
    assert 0 < written.cache_write == written.cache_write_1h
    assert all(usage.cache_write_1h == 0 for step in short for usage in step.paid)
    assert cost_usd(written, (HOUR,)) - cost_usd(short[0].paid[0], (HOUR,)) == pytest.approx(
        written.cache_write * (20.0 - 12.5) / 1e6
    )


def test_after_more_than_the_hour_nothing_of_it_is_cached():
    assert run(visits(hour=True, pause=4_000), "none").steps[1].cached == 0


def test_the_lifetime_is_the_one_that_most_was_written_for_and_the_catalogue_s_where_nothing_says():
    mostly = recording(said("go"), paid(8_000, hour=8_000), paid(500))
    hardly = recording(said("go"), paid(500, hour=500), paid(8_000))
    untold = recording(said("go"), answered(text="hello", prompt=9_000))
    assert [model_of(s, Terms()).cache.ttl_s for s in (mostly, hardly, untold)] == [3_600, 300, 300]


def test_a_policy_is_told_the_price_of_the_writes_that_the_session_makes():
    seen = []

    class Watcher:
        name = "watcher"
        manners = Manners(guarded=False, early=True)

        def decide(self, observation):
            seen.append(observation.prices.cache_write)
            return ()

    session = visits(hour=True, pause=5)
    replay(prepare(session), Plan(Watcher(), model_of(session, Terms(WINDOW, HOUR))))
    assert set(seen) == {20.0}


def test_a_model_would_have_been_asked_for_each_summary_and_that_is_paid():
    figures = figures_of(run(long_session(60), "summary"))
    assert figures.summary_calls > 0


sessions = st.builds(long_session, st.integers(1, 16), lines=st.sampled_from([1, 20, 60, 120]))
policies = st.sampled_from(["none", "rules", "mask", "truncate", "summary", "codex"])


@settings(max_examples=20)
@given(sessions, policies)
def test_needs_reloads_and_the_dump_agree_with_the_totals(session, policy):
    made = run(session, policy, items=True)
    figures = figures_of(made)
    lines = [msgspec.json.decode(line) for line in dumped("f", made)]
    assert figures.needed == figures.needed_visible + figures.needed_stub + figures.needed_lost
    assert figures.reloads == figures.needed_stub + figures.needed_lost
    assert sum(line["prompt_tokens"] for line in lines) == figures.prompt_tokens
    assert sum(line["cached_tokens"] for line in lines) == figures.cached_tokens
    assert max(line["prompt_tokens"] for line in lines) == figures.peak_tokens
    assert all(sum(i["tokens"] for i in line["items"]) < line["prompt_tokens"] for line in lines)
    assert all(i["call_id"] not in line["calls"] for line in lines for i in line["items"])
    assert figures.cost_usd <= figures.cost_usd_pessimistic


@settings(max_examples=20)
@given(sessions, policies)
def test_the_same_recording_gives_the_same_bytes(session, policy):
    first, second = (b"".join(dumped("f", run(session, policy, items=True))) for _ in range(2))
    assert first == second
