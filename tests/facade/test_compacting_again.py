"""A compaction over an earlier one: what was kept once isn't thinned out each time, and what it stands for is counted whole."""

import re

import pytest

from support.talks import answer, opening, reading
from trimtab.context import ContextManager

both = pytest.mark.parametrize("name", ["openai", "anthropic"])


def summary_of(cm):
    assert cm.execute({"action": "compact", "params": {"keep_tokens": 1}})["done"]
    (told,) = [entry["summary"] for entry in cm.observe()["summary_index"].values()]
    return told


def decided(name, number):
    """A turn in which something was found out and said in a short answer."""
    return [
        opening(f"And what about part {number}?"),
        *reading(name, number, lines=300),
        answer(name, f"Part {number} takes {number * 1000 + 711} ms."),
    ]


def compacted(name, times, **more):
    cm = ContextManager(lambda _seen: None, max_tokens=60_000, format=name, **more)
    told = ""
    for number in range(times):
        cm.step([*decided(name, number), opening("Fine.")])
        told = summary_of(cm)
    return told


@both
def test_short_answers_of_the_first_turn_outlive_any_number_of_compactions(name):
    told = compacted(name, 8)
    for number in range(8):
        assert f"Part {number} takes {number * 1000 + 711} ms." in told
        assert f"And what about part {number}?" in told


@both
def test_a_summary_says_how_many_messages_it_stands_for_however_often_it_was_renewed(name):
    heads = [re.match(r"\[Record of (\d+) earlier messages", compacted(name, times)) for times in (1, 2, 5)]
    numbers = [int(head[1]) for head in heads if head]
    assert numbers[1] - numbers[0] == 5
    assert numbers[2] - numbers[1] == 15


def test_what_a_model_wrote_of_the_beginning_stays_in_front_of_what_a_digest_tells_of_the_rest():
    answers = iter(["<summary>Part 0 is slow: 711 ms, by src/file_0.py.</summary>"])

    def summarizer(_messages):
        return next(answers)

    told = compacted("openai", 3, summarizer=summarizer)
    assert "Part 0 is slow: 711 ms, by src/file_0.py." in told
    assert "Part 2 takes 2711 ms." in told
    assert told.count("Part 0 takes") == 0


def test_what_a_model_said_of_an_item_that_it_hid_outlives_two_digests():
    cm = ContextManager(lambda _seen: None, max_tokens=60_000)
    cm.step([*decided("openai", 0), *decided("openai", 5), opening("Fine.")])
    assert cm.execute({"action": "elide", "target": "call_0", "params": {"summary": "a table of values, all even"}})[
        "done"
    ]
    summary_of(cm)
    cm.step([*decided("openai", 1), opening("Fine.")])
    assert "a table of values, all even" in summary_of(cm)


def test_a_digest_after_its_earlier_one_was_taken_back_tells_each_message_once():
    cm = ContextManager(lambda _seen: None, max_tokens=60_000)
    cm.step([*decided("openai", 0), opening("Fine.")])
    summary_of(cm)
    (edit,) = cm.observe()["summary_index"]
    assert cm.execute({"action": "reload", "target": edit})["done"]
    cm.step([*decided("openai", 1), opening("Fine.")])
    told = summary_of(cm)
    assert told.count("Part 0 takes 711 ms.") == 1


def test_a_digest_tells_what_lies_beneath_summaries_that_were_taken_back_from_under_the_last_one():
    cm = ContextManager(lambda _seen: None, max_tokens=60_000)
    for number in range(3):
        cm.step([*decided("openai", number), opening("Fine.")])
        summary_of(cm)
        if number == 1:
            (middle,) = cm.observe()["summary_index"]
    inner = cm._inner
    inner.drive(inner.engine.revert(inner.log.view, inner.request, middle, author="user", reason=""))
    cm.step([*decided("openai", 3), opening("Fine.")])
    told = summary_of(cm)
    assert [told.count(f"Part {number} takes {number * 1000 + 711} ms.") for number in range(4)] == [1, 1, 1, 1]
    assert told.count("[Record of") == 1


def test_what_a_person_brought_back_and_pinned_stays_whatever_is_compacted_later():
    cm = ContextManager(lambda _seen: None, max_tokens=60_000)
    cm.step([*decided("openai", 0), *decided("openai", 1), opening("Fine.")])
    summary_of(cm)
    assert cm.execute({"action": "reload", "target": "call_0"})["done"]
    assert cm.execute({"action": "pin", "target": "call_0"})["done"]
    cm.step([*decided("openai", 2), opening("Fine.")])
    told = summary_of(cm)
    assert "line 299 of file 0" in str(cm.messages())
    assert told.startswith("[Record of 11 earlier messages")
    assert "line 0 of file 0" not in told


def test_a_message_brought_back_from_under_a_models_summary_is_told_by_every_digest_after_it():
    answers = iter(["<summary>Part 0 is slow: 711 ms, by src/file_0.py.</summary>"])
    cm = ContextManager(lambda _seen: None, max_tokens=60_000, summarizer=lambda _messages: next(answers))
    cm.step([*decided("openai", 0), opening("Fine.")])
    summary_of(cm)
    assert cm.execute({"action": "reload", "target": "e1"})["done"]
    for number in (1, 2):
        cm.step([*decided("openai", number), opening("Fine.")])
        told = summary_of(cm)
        assert "And what about part 0?" in told


@both
def test_the_names_that_a_compaction_leaves_hold_no_key_of_a_marker(name):
    cm = ContextManager(lambda _seen: None, max_tokens=60_000, format=name)
    cm.step([*decided(name, 0), *decided(name, 5), opening("Fine.")])
    assert cm.execute({"action": "elide", "target": "call_0"})["done"]
    key = re.search(r"~[a-z2-7]{8}", str(cm.messages()))
    assert key is not None
    assert cm.execute({"action": "compact", "params": {"keep_tokens": 1, "names": 400}})["done"]
    assert key[0][1:] not in str(cm.messages())
