"""What a person should know of what was done, and what a program reports that can't be true."""

import pytest

from support.talks import answer, opening, talk
from trimtab.context import ContextManager
from trimtab.types.usage import Usage


def long_talk(**settings):
    cm = ContextManager("none", max_tokens=50_000, **settings)
    cm.step([*talk("openai", 2), answer("openai"), opening("And now?")])
    return cm


def test_a_rejected_summary_is_a_note_of_its_action_and_of_the_conversation():
    cm = long_talk(summarizer=lambda _messages: "")
    came = cm.execute({"action": "compact", "params": {"keep_tokens": 0}})
    (note,) = came["notes"]
    assert (came["done"], came["problems"], cm.notes) == (True, [], [note])
    assert note.startswith("a summary was rejected (")
    assert "; a digest without a model stands in." in note


def test_a_pin_of_what_is_hidden_says_that_it_keeps_the_line_alone():
    cm = long_talk()
    cm.execute({"action": "elide", "target": "call_0"})
    (note,) = cm.execute({"action": "pin", "target": "call_0"})["notes"]
    assert note.startswith("call_0 is pinned as it stands, a line in place of its text;")


def test_without_anything_to_say_there_are_no_notes():
    cm = long_talk()
    assert cm.execute({"action": "pin", "target": "call_0"})["notes"] == []
    assert cm.execute({"action": "keep"})["notes"] == []
    cm.messages()
    assert cm.notes == []


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 10**18, "completion_tokens": 5},
        {"prompt_tokens": 900, "completion_tokens": 10**18},
        {"prompt_tokens": 900, "completion_tokens": 5_000_000},
        Usage(input=-5, output=5),
        Usage(input=10**30, output=5),
    ],
    ids=["input", "output", "output beyond every window", "below zero", "no number of this world"],
)
def test_a_usage_that_can_not_be_true_is_told_and_teaches_nothing(usage):
    told, untold = (ContextManager("none", max_tokens=50_000) for _ in range(2))
    for cm, reported in ((told, usage), (untold, None)):
        cm.step(talk("openai", 2))
        cm.messages()
        cm.step(answer("openai"), usage=reported)
        cm.step(opening("And now?"))
    assert [problem["kind"] for problem in told.problems] == ["usage_not_believed"]
    assert told.observe()["used_tokens"] == untold.observe()["used_tokens"]
    assert ContextManager(max_tokens=1_000).load(told.dump()).observe() == told.observe()


@pytest.mark.parametrize("usage", [{"prompt_tokens": float("nan")}, {"prompt_tokens": "many"}, {"prompt_tokens": -1}])
def test_a_count_that_is_none_counts_as_none(usage):
    told, untold = (ContextManager("none", max_tokens=50_000) for _ in range(2))
    for cm, reported in ((told, usage), (untold, None)):
        cm.step(talk("openai", 2))
        cm.messages()
        cm.step(answer("openai"), usage=reported)
        cm.step(opening("And now?"))
    assert told.observe()["used_tokens"] == untold.observe()["used_tokens"]
