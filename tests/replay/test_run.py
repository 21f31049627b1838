"""What a replay charges and finds, step by step."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.recordings import answered, call, compacted, long_session, recording, result, said
from trimtab.context.policies.peer_table import PEERS
from trimtab.context.policies.registry import find_policy
from trimtab.sessions.recorded import Answered
from trimtab.sessions.replay.dump import dumped
from trimtab.sessions.replay.models import Terms, model_of
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
    cheap, again = run(long_session(60), policy), run(long_session(60), policy, price=dear)
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
