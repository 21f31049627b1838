"""The bill against recorded sessions."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.sessions.cache_accuracy import CacheAccuracy, CachedCall, accuracy, by_provider, predict_cached, rules_of
from trimtab.sessions.detect import read_recordings
from trimtab.sessions.recorded import Answered, Came, Compacted, Event, Recording
from trimtab.types.messages import Assistant, ToolCall, ToolResult, user
from trimtab.types.models import CacheRules
from trimtab.types.usage import Usage

EXPLICIT = CacheRules("explicit", minimum=100, lookback=20, breakpoints=4, ttl_s=300)
PREFIX = CacheRules("prefix", minimum=128, granularity=64, ttl_s=600)
CALLS = (ToolCall("t", "read", {}, "{}"),)


def answered(usage: Usage, time: float, *, model: str = "m", calls: bool = True) -> Answered:
    return Answered(Assistant(CALLS if calls else (), "tool_use" if calls else "stop", usage, model), time)


def came(time: float, *, prompt: bool = False) -> Came:
    return Came(user("go on") if prompt else ToolResult("t", "read", (), is_error=False), time)


def recording(*events: Event) -> Recording:
    return Recording("f", "test", "m", events)


def predicted(rules: CacheRules, *events: Event) -> list[tuple[int, str]]:
    return [(c.predicted, c.cause) for c in predict_cached(recording(*events), rules=lambda _: rules)]


def test_what_the_last_report_says_was_written_is_read_next() -> None:
    calls = predicted(
        EXPLICIT,
        answered(Usage(input=3, cache_write=1_000), 0.0),
        came(5.0),
        answered(Usage(input=7, cache_read=1_000, cache_write=503), 9.0),
        came(12.0),
        answered(Usage(input=4, cache_read=1_503, cache_write=200), 15.0),
    )
    assert calls == [(0, ""), (1_000, ""), (1_503, "")]


@pytest.mark.parametrize(
    ("hour", "idle", "expected"), [(0, 320.0, 1_000), (0, 340.0, 0), (1_000, 3_500.0, 1_000), (1_000, 4_000.0, 0)]
)
def test_how_long_an_entry_lives_is_what_the_call_asked_for(hour: int, idle: float, expected: int) -> None:
    first = answered(Usage(cache_write=1_000, cache_write_1h=hour), 0.0)
    calls = predicted(EXPLICIT, first, came(idle), answered(Usage(cache_read=1_000, cache_write=10), idle + 30))
    assert calls[1] == (expected, "" if expected else "idle")


def test_an_automatic_cache_reads_whole_steps_of_the_prompt_before() -> None:
    calls = predicted(PREFIX, answered(Usage(input=1_000), 0.0), answered(Usage(input=200, cache_read=960), 1.0))
    assert calls[1] == (960, "")


def test_a_new_prompt_takes_the_thinking_of_the_turn_before_away_and_words_in_a_running_turn_do_not() -> None:
    row = CacheRules("prefix", drops_thinking=True)
    turn = (
        answered(Usage(input=1_000, output=50, reasoning=40), 0.0),
        came(1.0),
        answered(Usage(input=1_100, output=20, reasoning=15), 2.0, calls=False),
    )
    assert predicted(row, *turn, came(3.0, prompt=True), answered(Usage(input=1_090), 4.0))[-1] == (1_000, "thinking")
    running = (*turn[:2], answered(Usage(input=1_100, output=20, reasoning=15), 2.0))
    assert predicted(row, *running, came(3.0, prompt=True), answered(Usage(input=1_150), 4.0))[-1] == (1_100, "")


def test_a_cache_that_keeps_answers_reads_them_too() -> None:
    row = CacheRules("prefix", caches_answer=True)
    assert predicted(row, answered(Usage(input=900, output=60), 0.0), answered(Usage(input=1_000), 1.0))[1] == (960, "")


def test_another_model_reads_nothing_and_the_first_one_is_still_warm_after_it() -> None:
    calls = predicted(
        PREFIX,
        answered(Usage(input=640), 0.0),
        answered(Usage(input=704), 1.0, model="n"),
        answered(Usage(input=768), 2.0),
    )
    assert calls == [(0, ""), (0, "model"), (640, "")]


def test_a_prompt_that_shrank_is_read_up_to_what_other_sessions_keep_warm() -> None:
    calls = predicted(
        EXPLICIT,
        answered(Usage(cache_read=400, cache_write=1_000), 0.0),
        answered(Usage(cache_read=400, cache_write=900), 1.0),
    )
    assert calls[1] == (400, "shrunk")


def test_the_first_calls_and_the_one_after_a_compaction_do_not_count() -> None:
    events: list[Event] = [answered(Usage(input=1_000 + i), float(i)) for i in range(6)]
    events.insert(4, Compacted())
    calls = predict_cached(recording(*events), rules=lambda _: PREFIX)
    assert [c.counts for c in calls] == [False, False, False, True, False, True]


def test_an_answer_without_usage_is_no_call() -> None:
    assert predicted(PREFIX, Answered(Assistant((), "error")), answered(Usage(), 1.0)) == []


def call(predicted: int, reported: int, *, expected: int = 100) -> CachedCall:
    return CachedCall(9, "m", predicted, reported, 120, expected)


def test_errors_are_in_per_cent_of_what_was_reported_and_breaks_are_counted_both_ways() -> None:
    calls = [call(100, 100), call(90, 100), call(0, 0), call(100, 40), call(0, 80), call(100, 0)]
    assert [c.abs_pct for c in calls] == [0.0, 10.0, 0.0, 150.0, 100.0, 100.0]
    assert accuracy(calls) == CacheAccuracy(6, 55.0, 150.0, breaks_found=1, breaks_missed=2, false_breaks=1)
    assert accuracy([]) == CacheAccuracy(0, None, None, 0, 0)


def test_the_row_of_a_model_is_found_by_its_bare_id_whatever_its_date_or_window() -> None:
    assert rules_of("claude-opus-4-5-20251101").minimum == 4_096
    assert rules_of("claude-opus-4-7[1m]") == rules_of("anthropic/claude-opus-4-7")
    assert rules_of("gpt-5.5").granularity == 512
    assert rules_of("nobody-knows-it") == CacheRules()


@given(
    st.lists(
        st.tuples(
            st.integers(0, 3_000),
            st.integers(0, 3_000),
            st.integers(0, 300),
            st.floats(0, 2_000),
            st.booleans(),
            st.booleans(),
        ),
        max_size=12,
    ),
    st.sampled_from([EXPLICIT, PREFIX, CacheRules("prefix", drops_thinking=True, caches_answer=True), CacheRules()]),
)
def test_whatever_was_recorded_no_more_is_predicted_than_was_there(
    steps: list[tuple[int, int, int, float, bool, bool]], rules: CacheRules
) -> None:
    events: list[Event] = []
    for fresh, read, output, time, prompt, calls in steps:
        usage = Usage(input=fresh, output=output, cache_read=read, reasoning=output // 2)
        events += [came(time, prompt=prompt), answered(usage, time, calls=calls)]
    for made in predict_cached(recording(*events), rules=lambda _: rules):
        assert 0 <= made.predicted <= made.prompt


def test_the_bill_predicts_what_providers_reported_in_sessions_that_nothing_was_fitted_on() -> None:
    folder = Path(os.environ.get("TRIMTAB_DATA", ""), "sessions")
    if not os.environ.get("TRIMTAB_DATA") or not (folder / "index.jsonl").is_file():
        pytest.skip("TRIMTAB_DATA names no folder with recorded sessions")
    rows = [json.loads(line) for line in (folder / "index.jsonl").read_text().splitlines()]
    files = [folder / row["file"] for row in rows if row["split"] == "eval"]
    measured = by_provider([r for file in files for r in read_recordings(file)])
    for provider, most in {"anthropic": 0.5, "openai": 5.0}.items():
        found = measured[provider]
        assert found.n > 1_000
        assert found.median_abs_pct is not None
        assert found.median_abs_pct <= 0.1
        assert found.p95_abs_pct is not None
        assert found.p95_abs_pct <= most
        assert found.breaks_found >= found.breaks_missed
