"""What a compaction tells of items that were hidden before it, and which of their facts outlive it."""

import json
import re

import pytest

from support.talks import answer, opening, reading, said, talk
from trimtab.context import ContextManager
from trimtab.context.markers import live_markers

MARKER = re.compile(
    r"\[(?:archived|summarized|folded|truncated|compressed|not the content)|~[a-z2-7]{8}|kept outside this"
)
both = pytest.mark.parametrize("name", ["openai", "anthropic"])


def hidden(name, **more):
    """Four readings, of which edits hid or shortened three."""
    cm = ContextManager(lambda _seen: None, max_tokens=20_000, format=name, **more)
    cm.step([*talk(name, 4), answer(name)])
    for action, target, params in (
        ("summarize", "call_0", {"max_tokens": 100}),
        ("elide", "call_1", {"summary": "a table of values"}),
        ("fold", "call_2", {"head": 3, "tail": 3}),
        ("elide", "call_3", {}),
    ):
        assert cm.execute({"action": action, "target": target, "params": params})["done"]
    return cm


def summary_of(cm):
    assert cm.execute({"action": "compact", "params": {"keep_tokens": 1}})["done"]
    (told,) = [entry["summary"] for entry in cm.observe()["summary_index"].values()]
    return told.rpartition("\n\n[")[0]


@both
def test_a_digest_tells_of_hidden_items_in_words_and_without_any_marker(name):
    told = summary_of(hidden(name))
    assert MARKER.search(told) is None
    assert "(result of read call_1, hidden)\na table of values" in told
    assert "(result of read call_2, shortened)\nline 0 of file 2" in told
    assert "(result of read call_3, hidden)" in told


@both
def test_a_transcript_for_a_model_tells_of_hidden_items_in_words_too(name):
    asked = []
    cm = hidden(
        name, summarizer=lambda messages: asked.append(said(messages)) or "<summary>Values, many of them.</summary>"
    )
    asked.clear()
    summary_of(cm)
    transcript = asked[0].partition("<conversation>")[2].partition("</conversation>")[0]
    assert MARKER.search(transcript) is None
    assert "(result of read call_1, hidden)" in transcript
    assert "a table of values" in transcript


def test_facts_of_a_hidden_result_that_a_later_call_used_outlive_the_compaction():
    cm = ContextManager(
        lambda _seen: None, max_tokens=20_000, summarizer=lambda _m: "<summary>Files were read.</summary>"
    )
    (call, result), (later, its) = reading("openai", 0), reading("openai", 1)
    result["content"] += "\nsee config/ports/main.toml and config/ports/other.toml\n" + "word " * 50
    later["tool_calls"][0]["function"]["arguments"] = json.dumps({"near": "config/ports/main.toml"})
    cm.step([opening(), call, result, later, its, answer("openai"), *reading("openai", 2), answer("openai")])
    assert cm.execute({"action": "elide", "target": "call_0"})["done"]
    told = summary_of(cm)
    assert told.partition("Files were read.")[2].endswith("- path: config/ports/main.toml [call_0]")


def test_what_the_user_demanded_in_a_hidden_message_outlives_every_compaction():
    cm = ContextManager(lambda _seen: None, max_tokens=20_000)
    long = "Some background. " * 200 + "Never touch the file db/schema.sql. " + "More background. " * 200
    cm.step([opening(long), answer("openai"), opening("Go on."), *reading("openai", 0), answer("openai")])
    assert cm.execute({"action": "elide", "target": "e1"})["done"]
    assert "schema" not in said(cm.messages())
    assert summary_of(cm).count("Never touch the file db/schema.sql.") == 1
    cm.step([opening("And then?"), *reading("openai", 1), answer("openai")])
    again = summary_of(cm)
    assert "Never touch the file db/schema.sql." in again
    assert MARKER.search(again) is None


def test_arguments_that_were_put_aside_are_told_in_words():
    cm = ContextManager(lambda _seen: None, max_tokens=20_000)
    call, result = reading("openai", 0, lines=3)
    body = "\n".join(f'line {n} says "yes"' for n in range(300))
    call["tool_calls"][0]["function"] = {"name": "save", "arguments": json.dumps({"to": "a.txt", "text": body})}
    cm.step([opening(), call, result, answer("openai"), *reading("openai", 1), answer("openai")])
    assert cm.execute({"action": "offload", "target": "call_0"})["done"]
    assert "[not the content: archived" in said(cm.messages())
    told = summary_of(cm)
    assert MARKER.search(told) is None
    (arguments,) = re.findall(r"^→ save: (.*)$", told, re.M)
    assert arguments.startswith("to=a.txt text=(hidden, e2#0: ")
    assert live_markers(told, lambda _key: True) == ()


@both
def test_a_second_compaction_over_a_summary_of_hidden_items_tells_of_both(name):
    cm = hidden(name)
    first = summary_of(cm)
    cm.step(
        [opening("Go on."), *reading(name, 7), answer(name, "Seven it is."), opening("And?"), answer(name, "Done.")]
    )
    assert cm.execute({"action": "elide", "target": "call_7"})["done"]
    second = summary_of(cm)
    assert first.splitlines()[-1] in second
    assert "(result of read call_7, hidden)" in second
    assert MARKER.search(second) is None


def test_a_summary_that_stands_before_a_hidden_message_is_told_as_a_summary():
    cm = hidden("openai")
    assert cm.execute({"action": "compact", "targets": ["call_0"], "params": {"summary": "SHORT"}})["done"]
    assert "SHORT" in summary_of(cm)
