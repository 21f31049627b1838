"""The unit of cost and the budget: prices drawn for a group, keeping everything cut off hard, and shares of the window."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.requests_made import segment
from trimtab.context.economics import shape_of
from trimtab.lab.rewards.keep_all import keep_all_usd
from trimtab.lab.rewards.outcome import Excess
from trimtab.lab.rewards.plays import TENTH, yardstick
from trimtab.lab.rewards.prices import REGIMES, draw, draw_between, regime
from trimtab.lab.rewards.shares import PARTS, Filled, Shares, excesses, filled_by, left
from trimtab.types.errors import ConfigError
from trimtab.types.models import ModelInfo

UNCACHED = REGIMES[0]


def test_the_usual_prices_are_those_of_real_providers():
    assert [(r.name, r.read, r.write, r.output, r.cache.kind) for r in REGIMES] == [
        ("uncached", 1.0, 1.0, 5.0, "none"),
        ("quarter", 0.25, 1.0, 5.0, "prefix"),
        ("tenth", pytest.approx(0.1), 1.0, 5.0, "prefix"),
        ("tenth-written", pytest.approx(0.1), 1.25, 5.0, "explicit"),
    ]


def test_a_group_has_the_same_prices_every_time_and_groups_differ():
    drawn = [draw("chain", seed) for seed in range(40)]
    assert drawn == [draw("chain", seed) for seed in range(40)]
    assert {regime.name for regime in drawn} == {regime.name for regime in REGIMES}


@given(task=st.text(max_size=8), seed=st.integers(0, 99))
def test_prices_between_the_usual_ones_stay_between_them(task, seed):
    drawn = draw_between(task, seed)
    assert drawn == draw_between(task, seed)
    assert 0.05 <= drawn.read <= 1.0
    assert drawn.write in (1.0, 1.25)
    assert 3.0 <= drawn.output <= 6.0


def test_a_model_takes_on_prices_and_cache():
    model = TENTH.of(ModelInfo("local", "m", "openai-chat", prices=(UNCACHED.price,)))
    assert (model.prices, model.cache, model.id) == ((TENTH.price,), TENTH.cache, "m")


def requests(*sizes: int, answer: int = 10):
    """Requests that each have one message more, behind a system prompt of 100 tokens."""
    parts = [segment("system"), *(segment(f"m{n}", size) for n, size in enumerate(sizes))]
    return [(shape_of(parts[: n + 2], fixed=1), answer) for n in range(len(sizes))]


def test_keeping_everything_costs_every_request_in_full_without_a_cache():
    # prompts of 200 and 300 tokens at 3, answers of 10 at 15
    assert keep_all_usd(requests(100, 100), 1_000, UNCACHED) * 1e6 == pytest.approx(500 * 3 + 20 * 15)


def test_what_is_over_is_cut_off_at_the_front():
    # room for 300: the third request (400) loses m0, the fourth m1 too
    assert keep_all_usd(requests(100, 100, 100, 100, answer=0), 300, UNCACHED) * 1e6 == pytest.approx(
        3 * (200 + 300 + 300 + 300)
    )


def test_a_cut_may_go_further_than_it_must():
    # the third request is cut down to 200, so the fourth fits with 300
    usd = keep_all_usd(requests(100, 100, 100, 100, answer=0), 300, UNCACHED, down_to=200)
    assert usd * 1e6 == pytest.approx(3 * (200 + 300 + 200 + 300))


def test_the_newest_message_stays_however_large():
    assert keep_all_usd(requests(100, 900, answer=0), 300, UNCACHED) * 1e6 == pytest.approx(3 * (200 + 1_000))


def test_cutting_hard_breaks_the_cache_at_every_request():
    cached = regime("exact", read=0.1)
    sizes = [2_000] * 20
    whole = keep_all_usd(requests(*sizes), 1_000_000, cached)
    cut = keep_all_usd(requests(*sizes), 12_000, cached)
    # half of the tokens, and yet dearer
    assert cut > whole
    assert keep_all_usd(requests(*sizes), 12_000, cached, down_to=4_000) < cut


def test_the_yardstick_of_a_small_window_is_another():
    assert yardstick(room=20_000).keep_all_usd != yardstick().keep_all_usd


SHARES = Shares(system=0.2, history=0.4, results=0.29, reply=0.1)


def test_each_part_has_its_share_of_the_window():
    assert SHARES.limits(100) == Filled(20, 40, 29, 10)


def test_a_request_fills_its_parts_in_order():
    shape = requests(100, 30, 7)[-1][0]
    # boundaries: 1 behind the system prompt, 3 in front of the newest message
    assert filled_by(shape, current=3, reply=10) == Filled(100, 130, 7, 10)
    assert filled_by(shape, current=0, reply=10) == Filled(100, 0, 137, 10)


def test_a_part_at_its_limit_is_within_it():
    assert excesses(Filled(20, 40, 29, 10), 100, SHARES) == ()


def test_parts_over_their_limit_are_named_with_both_figures():
    assert excesses(Filled(21, 40, 35, 10), 100, SHARES) == (Excess("system", 21, 20), Excess("results", 35, 29))


def test_what_is_left_may_be_less_than_nothing():
    assert left(Filled(21, 0, 29, 4), 100, SHARES) == Filled(-1, 40, 0, 6)


@pytest.mark.parametrize("wrong", [{"system": 0.0}, {"reply": 1.5}, {"history": -0.1}, {"history": 0.6}])
def test_shares_that_are_none_are_refused(wrong):
    with pytest.raises(ConfigError):
        Shares(**wrong)


@given(st.lists(st.integers(0, 1_000), min_size=4, max_size=4), st.integers(1, 2_000))
def test_a_request_within_its_shares_fits_the_window(sizes, window):
    filled = Filled(*sizes)
    if not excesses(filled, window):
        assert sum(sizes) <= window
    assert {e.part for e in excesses(filled, window)} == {
        part for part in PARTS if getattr(left(filled, window), part) < 0
    }
