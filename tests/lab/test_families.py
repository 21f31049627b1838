"""What every generated task keeps, whatever its family, seed and level."""

import os
import subprocess
import sys
from functools import cache
from hashlib import sha256
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.context.counting.tokenizers import guess
from trimtab.context.policies.registry import find_policy
from trimtab.context.strings import arguments_text, distinctive_strings
from trimtab.lab.tasks.plot import lag_of
from trimtab.lab.tasks.registry import FAMILIES, make_task
from trimtab.lab.tasks.score import needs_in, own_answers, verdict_of
from trimtab.lab.tasks.task import Level, chain
from trimtab.sessions.recorded import Answered
from trimtab.sessions.replay.models import Terms, model_of
from trimtab.sessions.replay.needs import texts_of
from trimtab.sessions.replay.run import Plan, prepare, replay
from trimtab.types.messages import Assistant, ToolResult
from trimtab.types.models import Price

LINKS = {"tool-chain": 2, "dependency": 3}
levels = st.builds(
    Level,
    steps=st.integers(10, 70),
    lag=st.integers(1, 40),
    distractors=st.integers(1, 8),
    tokens=st.integers(200, 1_500),
)
tasks = st.builds(make_task, st.sampled_from(sorted(FAMILIES)), st.integers(0, 10_000), levels)
some = settings(max_examples=40)


def digest(task):
    return sha256(repr(task).encode()).hexdigest()


def messages(task):
    return list(chain(task.recording))


def text_of(message):
    return "\n".join(texts_of(message))


def answers(task):
    return [event.message for event in task.recording.events if isinstance(event, Answered)]


@given(name=st.sampled_from(sorted(FAMILIES)), seed=st.integers(0, 10_000), level=levels)
@some
def test_the_same_family_seed_and_level_give_the_same_task(name, seed, level):
    assert digest(make_task(name, seed, level)) == digest(make_task(name, seed, level))


def test_another_process_with_another_order_of_hashes_makes_the_same_tasks():
    code = (
        "import sys; from hashlib import sha256; from trimtab.lab.tasks.registry import FAMILIES, make_task\n"
        "from trimtab.lab.tasks.task import Level\n"
        "print(sha256(''.join(repr(make_task(n, 1, Level())) for n in FAMILIES).encode()).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "77", "PYTHONPATH": os.pathsep.join(sys.path)}
    told = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    here = "".join(repr(make_task(name, 1, Level())) for name in FAMILIES)
    assert told.stdout.strip() == sha256(here.encode()).hexdigest()


def test_tasks_are_the_same_on_every_python():
    """Pinned: who changes what stories are made of changes all tasks, and pins this anew. Figures of the lab then have to be made anew too."""
    made = [make_task(name, 7, Level(steps=12, lag=4, tokens=300)) for name in FAMILIES]
    said = "\0".join(text_of(message) for task in made for message in messages(task))
    needed = repr([(point.text, point.message, point.needed, point.stale) for task in made for point in task.points])
    assert sha256((said + needed).encode()).hexdigest()[:16] == "5120846d96d3e36f"


@pytest.mark.parametrize("name", FAMILIES)
def test_another_seed_gives_another_task(name):
    assert digest(make_task(name, 1, Level())) != digest(make_task(name, 2, Level()))


@given(tasks)
@some
def test_the_text_of_a_key_point_stands_in_its_message(task):
    told = messages(task)
    assert [p for p in task.points if p.text not in text_of(told[p.message])] == []


@given(tasks)
@some
def test_the_text_of_a_key_point_stands_nowhere_else_before_its_first_need(task):
    told = [text_of(message) for message in messages(task)]
    places = [i for i, message in enumerate(messages(task)) if isinstance(message, Assistant)]
    for point in task.points:
        end = places[point.needed[0] - 1] if point.needed else point.message
        assert [i for i, text in enumerate(told[:end]) if point.text in text and i != point.message] == []
        assert point.text not in task.recording.system


@given(tasks)
@some
def test_a_need_is_behind_the_message_and_uses_the_text(task):
    told = messages(task)
    places = [i for i, message in enumerate(told) if isinstance(message, Assistant)]
    for number, step in needs_in(task):
        point = task.points[number]
        assert places[step - 1] > point.message
        assert point.text in text_of(told[places[step - 1]])


@given(tasks)
@some
def test_every_key_point_that_holds_is_needed_and_asked_about_once(task):
    holding = [i for i, point in enumerate(task.points) if not point.stale]
    assert all(task.points[i].needed for i in holding)
    assert sorted(i for question in task.questions for i in question.points) == holding
    assert len({question.text for question in task.questions}) == len(task.questions)


@given(tasks)
@some
def test_what_the_story_answers_is_right(task):
    own = own_answers(task)
    assert [q for q in task.questions if verdict_of(q, own[q.text]) != "right"] == []


@given(tasks)
@some
def test_a_story_has_as_many_requests_as_its_level_has_steps(task):
    assert len(answers(task)) == task.level.steps


@given(tasks)
@some
def test_needs_come_after_the_lag_that_there_is_room_for(task):
    places = [i for i, message in enumerate(messages(task)) if isinstance(message, Assistant)]
    wanted = lag_of(task.level, LINKS.get(task.family, 1))
    lags = [p.needed[0] - sum(place < p.message for place in places) for p in task.points if not p.stale]
    assert all(abs(lag - wanted) <= max(1, wanted * 0.2) for lag in lags)


@given(tasks)
@some
def test_large_results_have_about_the_tokens_of_the_level(task):
    sizes = [guess(m.text, "o200k_base") for m in messages(task) if isinstance(m, ToolResult)]
    large = [size for size in sizes if size > task.level.tokens * 0.6]
    if len(large) >= 5:
        assert abs(median(large) - task.level.tokens) <= task.level.tokens * 0.2


@given(tasks)
@some
def test_every_call_is_answered_once_before_the_next_request(task):
    open_calls = []
    for message in messages(task):
        if isinstance(message, Assistant):
            assert open_calls == []
            open_calls = [call.id for call in message.tool_calls]
            assert message.stop_reason == ("tool_use" if open_calls else "stop")
        elif isinstance(message, ToolResult):
            open_calls.remove(message.call_id)
    assert open_calls == []
    ids = [call.id for message in answers(task) for call in message.tool_calls]
    assert len(set(ids)) == len(ids)


@given(tasks)
@some
def test_a_replay_finds_the_needs_of_names_that_later_calls_use(task):
    needs = prepare(task.recording).needs
    told = messages(task)
    for point in task.points:
        if not (point.field and point.needed and isinstance(told[point.message], ToolResult)):
            continue
        step = point.needed[0]
        called = "\n".join(arguments_text(call) for call in answers(task)[step - 1].tool_calls)
        if distinctive_strings(point.text) == (point.text,) and point.text in called:
            assert any(n.result == point.message and point.text in n.strings for n in needs.get(step, ())), point


@pytest.mark.parametrize("name", FAMILIES)
def test_a_story_is_replayed_by_the_engine_without_an_invalid_request(name):
    task = make_task(name, 4, Level(steps=45, tokens=1_500))
    model = model_of(task.recording, Terms(12_000, Price(input=1.0, output=5.0, cache_read=0.1)))
    run = replay(prepare(task.recording), Plan(find_policy("rules"), model))
    assert len(run.steps) == 45
    assert run.edits
    assert [step.step for step in run.steps if step.invalid] == []


@pytest.mark.parametrize("name", FAMILIES)
def test_most_needed_results_are_outnumbered_by_results_that_nothing_needs(name):
    task = make_task(name, 2, Level(steps=80, distractors=3))
    shown = {p.message for p in task.points if p.needed and not p.stale}
    results = [i for i, m in enumerate(messages(task)) if i and not isinstance(m, Assistant)]
    assert 2 <= (len(results) - len(shown)) / len(shown) <= 9


@cache
def placed(where, seed):
    task = make_task(f"root-cause-{where}", seed, Level(steps=60, lag=20))
    calls = {c.id: c.name for m in answers(task) for c in m.tool_calls}
    pages = [i for i, m in enumerate(messages(task)) if isinstance(m, ToolResult) and calls[m.call_id] == "read_log"]
    return pages.index(task.points[0].message) / (len(pages) - 1)


@pytest.mark.parametrize("seed", range(8))
def test_the_root_cause_stands_where_its_family_says(seed):
    assert placed("first", seed) < 0.2
    assert 0.3 < placed("middle", seed) < 0.7
    assert placed("last", seed) > 0.75


@given(seed=st.integers(0, 10_000), level=levels)
@some
def test_what_is_replaced_is_stale_and_needed_by_nothing_behind_its_replacement(seed, level):
    task = make_task("superseded", seed, level)
    told = [i for i, message in enumerate(messages(task)) if isinstance(message, Assistant)]
    for question in task.questions:
        current = task.points[question.points[0]]
        older = [p for p in task.points if p.text in question.wrong]
        assert older
        assert all(p.stale and p.message < current.message for p in older)
        assert all(told[step - 1] < current.message for p in older for step in p.needed)


@given(seed=st.integers(0, 10_000), level=levels)
@some
def test_a_misleading_word_of_the_user_comes_before_its_correction(seed, level):
    task = make_task("misleading-turn", seed, level)
    for question in task.questions:
        right = task.points[question.points[0]]
        (wrong,) = [p for p in task.points if p.text in question.wrong]
        assert (wrong.stale, wrong.needed, wrong.message < right.message) == (True, (), True)


@given(seed=st.integers(0, 10_000), level=levels)
@some
def test_a_continued_workflow_needs_on_the_second_day_what_the_first_one_showed(seed, level):
    task = make_task("continuation", seed, level)
    times = [event.time for event in task.recording.events]
    night = max(range(1, len(times)), key=lambda i: times[i] - times[i - 1])
    assert times[night] - times[night - 1] > 12 * 3_600
    places = [i for i, message in enumerate(messages(task)) if isinstance(message, Assistant)]
    assert all(p.message < night < places[p.needed[0] - 1] for p in task.points)


@pytest.mark.parametrize("name", ["sql-charts"])
def test_the_longest_stories_can_be_made(name):
    task = make_task(name, 1, Level(steps=400, lag=120, distractors=5, tokens=20_000))
    assert len(answers(task)) == 400


def test_a_story_that_has_no_room_is_refused():
    with pytest.raises(ValueError, match="choose a longer one"):
        make_task("sales", 1, Level(steps=3))


def test_a_family_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(ValueError, match=r"'sale'; there are document-qa"):
        make_task("sale", 1, Level())
