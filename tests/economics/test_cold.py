"""Whether the cache is cold, by what providers report."""

from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.economics import Warmth, is_break
from trimtab.types.models import CacheRules
from trimtab.types.usage import Usage

RULES = CacheRules("prefix", ttl_s=300)
HIT, MISS = Usage(input=100, cache_read=900), Usage(input=990, cache_read=10)


def learned(*reports: tuple[Usage, float]) -> Warmth:
    warmth = Warmth()
    for usage, idle in reports:
        warmth = warmth.observed(900, usage, idle_s=idle)
    return warmth


def test_without_a_report_the_clock_decides() -> None:
    assert [Warmth().cold(idle, RULES) for idle in (None, 10.0, 320.0, 340.0)] == [False, False, False, True]
    assert Warmth().cold(1e9, CacheRules("prefix")) is False, "a lifetime that nobody knows"


def test_no_cache_is_always_cold() -> None:
    assert Warmth().cold(1.0, CacheRules()) is True


def test_a_hit_after_a_long_pause_stretches_the_lifetime() -> None:
    assert learned((HIT, 900.0)).cold(800.0, RULES) is False


def test_a_miss_after_a_pause_shortens_the_lifetime_but_not_under_a_pause_that_was_survived() -> None:
    warmth = learned((HIT, 100.0), (MISS, 200.0))
    assert [warmth.cold(idle, RULES) for idle in (100.0, 150.0, 250.0)] == [False, False, True]
    assert learned((HIT, 100.0), (MISS, 200.0), (HIT, 250.0)).cold(240.0, RULES) is False


def test_one_miss_without_a_pause_says_nothing_and_three_in_a_row_say_that_nothing_is_cached_here() -> None:
    assert learned((MISS, 2.0), (MISS, 2.0)).cold(2.0, RULES) is False
    assert learned((MISS, 2.0), (MISS, 2.0), (MISS, 2.0)).cold(2.0, RULES) is True
    assert learned((MISS, 2.0), (MISS, 2.0), (MISS, 2.0), (HIT, 2.0)).cold(2.0, RULES) is False


def test_what_was_not_expected_to_be_cached_teaches_nothing() -> None:
    assert Warmth().observed(0, MISS, idle_s=5.0) == Warmth() == Warmth().observed(900, Usage(), idle_s=5.0)


def test_a_break_is_under_half_of_what_should_have_been_read() -> None:
    assert [is_break(100, read) for read in (0, 49, 50, 100)] == [True, True, False, False]


@given(st.lists(st.tuples(st.sampled_from([HIT, MISS]), st.floats(0, 5_000)), max_size=12))
def test_a_pause_that_a_cache_survived_is_never_taken_to_kill_it(reports: list[tuple[Usage, float]]) -> None:
    warmth = learned(*reports)
    assert warmth.off or warmth.cold(warmth.alive_s, RULES) is False
