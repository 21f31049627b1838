"""The meter: reports as anchors, estimates for what changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counting.kit import GPT, LOCAL, MODELS, OPUS, SONNET, answer, counter, messages, result, words
from trimtab.context.budget import budget_for
from trimtab.context.counting.anchor import Meter
from trimtab.context.counting.estimate import Estimate
from trimtab.types.messages import Assistant, Message, Text, Thinking, user
from trimtab.types.models import ModelInfo
from trimtab.types.tools import ToolSpec
from trimtab.types.usage import Usage


def meter(model: ModelInfo = GPT, *shown: Message, complete: bool = True) -> Meter:
    found = Meter(counter(model), complete=complete)
    found.sync(shown)
    return found


def test_an_empty_request_is_known_to_be_empty():
    assert meter().estimate() == Estimate(0, 0, known=True, anchored=False)


def test_without_a_report_of_a_request_that_is_partly_hidden_the_size_is_unknown():
    assert meter(GPT, user(words(50)), complete=False).estimate().known is False


def test_a_report_makes_the_size_known_and_exact():
    found = meter(GPT, user(words(50)), complete=False)
    assert found.observe(answer(prompt=12_345, output=10))
    assert found.estimate() == Estimate(12_345, 12_345, known=True, anchored=True)


def test_the_answer_adds_the_output_that_was_reported():
    found = meter(GPT, user(words(50)))
    said = answer(words(20), prompt=1_000, output=300, reasoning=250)
    found.observe(said)
    found.append(said)
    assert found.estimate().tokens == pytest.approx(1_300, abs=5)


@pytest.mark.parametrize(
    "usage",
    [
        Usage(input=10, cache_read=90),
        Usage(input=100),
        Usage(input=5, cache_read=60, cache_write=35, cache_write_1h=35),
    ],
    ids=["beside", "uncached", "written"],
)
def test_cached_tokens_are_counted_once_whatever_convention_they_came_in(usage):
    found = meter(GPT, user(words(60)))
    found.observe(Assistant((), "stop", usage))
    assert found.estimate().tokens == 100


@pytest.mark.parametrize("usage", [None, Usage(), Usage(output=50)], ids=["none", "zero", "output only"])
def test_without_reported_usage_the_estimate_still_grows_with_the_conversation(usage):
    """A count of 0 never compacts."""
    found = meter(LOCAL, user(words(50)))
    said = Assistant((Text(words(50)),), "stop", usage)
    assert found.observe(said) is False
    found.append(said)
    found.append(result(words(5_000)))
    assert 5_000 < found.estimate().tokens < 8_000


def test_a_report_under_half_of_what_is_visible_is_a_placeholder():
    found = meter(GPT, user(words(4_000)))
    assert found.observe(answer(prompt=1_500, output=5)) is False
    assert found.estimate().tokens > 3_900


@pytest.mark.parametrize("stop", ["error", "cancelled"])
def test_an_answer_that_failed_is_no_anchor(stop):
    found = meter(GPT, user(words(50)))
    assert found.observe(answer("x", prompt=9_000, output=1, stop=stop)) is False
    assert found.estimate().anchored is False


def test_an_answer_that_was_asked_for_again_is_no_anchor():
    found = meter(GPT, user(words(50)))
    assert found.observe(Assistant((), "stop", Usage(input=9_000), superseded=True)) is False


def test_usage_that_adds_up_all_requests_is_not_taken_for_the_size_of_one():
    """Three requests of about 5, 6 and 7 thousand tokens, reported as 5, 11 and 18."""
    found = meter(GPT, user(words(5_000)))
    believed, reported = [], 0
    for _ in range(3):
        reported += found.estimate().tokens
        believed.append(found.observe(answer(prompt=reported)))
        found.append(result(words(1_000)))
    assert believed == [True, False, False]
    assert found.estimate().tokens == pytest.approx(8_030, rel=0.02)


def test_the_sum_of_all_requests_is_never_shown_as_the_window():
    found = meter(GPT, user(words(20_000)))
    for step in range(12):
        found.observe(answer("ok", prompt=20_010 + 20 * step, output=6))
        found.append(answer("ok", prompt=20_010 + 20 * step, output=6))
        found.append(user(words(10)))
    assert found.estimate().tokens < 21_000


def conversation(model: ModelInfo = GPT, steps: int = 6, *, hidden: int = 10_000) -> tuple[Meter, list[Message]]:
    """A meter that saw `steps` reports, each exactly hidden + what is visible."""
    found = Meter(counter(model))
    shown: list[Message] = []
    for step in range(steps):
        shown.append(user(words(20)) if step == 0 else result(words(800), f"c{step}"))
        found.sync(shown)
        prompt = hidden + found.counter.tokens(found.total)
        said = answer(words(30), prompt=prompt, output=35)
        found.observe(said)
        shown.append(said)
    found.sync(shown)
    return found, shown


def test_what_an_edit_took_out_is_subtracted_and_what_it_put_in_is_added():
    found, shown = conversation()
    before = found.estimate()
    edited = [*shown[:4], result("[r2 elided, 800 tokens]"), *shown[5:]]
    found.sync(edited)
    after = found.estimate()
    assert before.tokens - after.tokens == pytest.approx(800, abs=15)
    assert (after.anchored, after.known) == (True, True)
    assert after.upper - after.tokens > before.upper - before.tokens


def test_a_reverted_edit_brings_the_old_estimate_back():
    found, shown = conversation()
    before = found.estimate().tokens
    found.sync([*shown[:4], result("[r2 elided]"), *shown[5:]])
    found.sync(shown)
    assert found.estimate().tokens == pytest.approx(before, abs=2)


def test_a_fork_finds_the_report_of_its_own_prefix():
    found, shown = conversation()
    found.sync(shown[:4])
    assert found.estimate().tokens == pytest.approx(10_000 + found.counter.tokens(found.total), abs=2)
    assert found.estimate().upper - found.estimate().tokens < 120


def test_an_edit_in_front_of_every_report_leaves_an_anchor_that_is_less_sure():
    found, shown = conversation()
    sure = found.estimate()
    found.sync([user(words(500)), *shown[1:]])
    less = found.estimate()
    assert less.tokens - sure.tokens == pytest.approx(480, abs=15)
    assert less.upper - less.tokens > sure.upper - sure.tokens


def test_a_message_that_only_moved_is_not_counted_again(monkeypatch):
    found, shown = conversation()
    asked = []
    monkeypatch.setattr(found.counter, "_count", lambda texts: asked.extend(texts) or [1.0 for _ in texts])
    found.sync([*shown[:3], *shown[4:]])
    assert asked == []


def test_added_tools_and_a_changed_prompt_are_a_change_like_any_other():
    found, _ = conversation()
    before = found.estimate().tokens
    found.fixed(words(400), (ToolSpec("t", words(100), {}),))
    assert found.estimate().tokens - before == pytest.approx(515, abs=25)


def test_another_model_counts_the_conversation_anew_and_keeps_what_is_hidden():
    found, _ = conversation()
    other = found.switched(counter(OPUS)).estimate()
    assert other.anchored is False
    assert other.tokens > found.estimate().tokens
    assert other.tokens > 10_000


def test_another_model_is_told_the_same_system_prompt_and_tools():
    found = meter(GPT, user("hi"))
    found.fixed(words(900))
    assert found.switched(counter(LOCAL)).estimate().tokens > 900


def test_thinking_leaves_the_estimate_when_a_person_speaks_where_the_provider_drops_it():
    def grown(model: ModelInfo) -> int:
        found = meter(model, user("a"))
        said = Assistant(
            (Thinking(words(2_000)), Text("Done.")), "stop", Usage(input=5_000, output=2_010, reasoning=2_000)
        )
        found.observe(said)
        found.append(said)
        before = found.estimate().tokens
        found.append(user("b"))
        return found.estimate().tokens - before

    assert grown(OPUS) > 0
    assert grown(SONNET) == pytest.approx(-2_000, abs=20)


def test_reports_that_are_always_a_fifth_above_the_estimate_are_learned():
    found = Meter(counter(LOCAL))
    prompt, errors = 3_000.0, []
    for step in range(12):
        found.append(result(words(1_000 + 50 * step)))
        prompt += 1.2 * found.counter.family.scale * (1_010 + 50 * step)
        errors.append(abs(found.estimate().tokens - prompt) / prompt)
        found.observe(answer(prompt=int(prompt)))
    assert max(errors[3:]) < 0.01


def test_the_declared_window_beats_the_catalogue():
    """The size is compared with the window that a person declared, not with a larger one."""
    declared = ModelInfo("local", "gpt-5.4", "openai-chat", context_window=32_000, max_output=4_000, source="config")
    found = meter(declared, user(words(30_000)))
    assert found.estimate().upper > budget_for(declared).room


edits = st.lists(
    st.tuples(st.integers(0, 7), st.sampled_from(["drop", "stub", "cut", "report", "zero", "add"])), max_size=8
)


@given(messages, edits, st.sampled_from(MODELS))
def test_whatever_happens_the_estimate_is_no_less_than_nothing_and_within_its_band(found, steps, model):
    shown = list(found)
    live = meter(model, *shown)
    for position, step in steps:
        if step == "drop":
            shown = shown[:position] + shown[position + 1 :]
        elif step == "stub":
            shown = [*shown[:position], user("[stub]"), *shown[position + 1 :]]
        elif step == "cut":
            shown = shown[:position]
        elif step == "add":
            shown = [*shown, result(words(position * 40))]
        else:
            live.observe(
                answer(prompt=live.estimate().tokens + 500 * position if step == "report" else 0, output=position)
            )
        live.sync(shown)
        estimate = live.estimate()
        assert 0 <= estimate.tokens <= estimate.upper


@given(messages, messages, st.sampled_from(MODELS))
def test_a_meter_that_followed_edits_has_the_total_of_one_that_starts_fresh(first, second, model):
    used = meter(model, *first)
    used.sync(second)
    used.sync([*second, *first])
    new = meter(model, *second, *first)
    assert used.total.vector == pytest.approx(new.total.vector, abs=1e-6)


@given(messages, st.lists(st.sampled_from(["a", "日本語", "x" * 300]), max_size=4))
def test_appended_content_never_shrinks_the_estimate_where_thinking_is_kept(found, tail):
    live = meter(OPUS, *found)
    live.observe(answer(prompt=live.estimate().tokens + 5_000))
    for text in tail:
        before = live.estimate()
        live.append(user(text))
        assert live.estimate().tokens >= before.tokens


fronts = st.sampled_from(["", words(7), words(700)])


@given(messages, messages, st.lists(st.tuples(fronts, st.integers(0, 8), st.integers(0, 8), st.booleans()), max_size=5))
def test_a_look_at_other_messages_or_another_front_changes_nothing_that_is_said_of_these(reported, more, others):
    live = meter(OPUS, *reported)
    live.observe(answer(prompt=live.estimate().tokens + 500))
    shown = [*reported[1:], *more]

    def look() -> Estimate:
        live.fixed("Be brief.")
        live.sync(shown)
        return live.estimate()

    first, learned = look(), live.state
    for front, start, end, anew in others:
        live.fixed(front)
        live.sync([*([user("[stub]")] if anew else []), *shown[start:], *reported[:end]])
        live.estimate()
    assert (look(), live.state) == (first, learned)


def test_the_band_of_an_edit_is_gone_when_the_edit_is():
    found, shown = conversation()
    sure = found.estimate()
    found.sync([*shown[:4], result("[r2 elided]"), *shown[5:]])
    found.fixed(words(400))
    found.fixed("")
    found.sync(shown)
    assert found.estimate() == sure


@given(messages, messages, messages, st.integers(0, 8), st.booleans())
def test_a_meter_that_was_restored_says_of_all_that_comes_what_the_other_one_says(first, second, third, cut, edited):
    live = meter(OPUS, *first)
    live.observe(answer(prompt=live.estimate().tokens + 500))
    shown = [*first[cut:], *second] if edited else [*first, *second]
    live.sync(shown)
    other = meter(OPUS, *shown)
    other.restore(live.state)
    assert (other.estimate(), other.state) == (live.estimate(), live.state)
    for following in ([*shown, *third], shown[1:], [user("[stub]"), *shown[1:], *third]):
        live.sync(following)
        other.sync(following)
        assert (other.estimate(), other.state) == (live.estimate(), live.state)
