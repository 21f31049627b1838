"""Code of the program that embeds the engine may do what it likes; the conversation goes on."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from support.talks import answer, opening, reading, said, talk
from trimtab.context import ContextManager
from trimtab.context.actions import Action
from trimtab.context.policies.rules import Rules
from trimtab.types.errors import ConfigError


def broken(_seen):
    raise RuntimeError("no idea")


@pytest.mark.parametrize(
    "policy",
    [
        broken,
        lambda _seen: 7,
        lambda _seen: "drop everything",
        lambda _seen: [{"action": "fly"}] * 10_000,
        lambda _seen: {"action": "drop", "targets": [f"e{n}" for n in range(10_000)]},
        lambda _seen: iter(lambda: {"action": "drop", "target": "e1"}, None),
        lambda _seen: [None, [], {"action": []}, {"action": "drop", "target": {}}],
        lambda seen: seen.clear(),
        lambda seen: seen["active_context"].clear() or {"action": "compact"},
    ],
    ids=["raises", "number", "text", "nonsense", "huge", "endless", "odd", "clears", "empties"],
)
@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_whatever_a_policy_does_the_messages_fit(policy, name):
    cm = ContextManager(policy, max_tokens=4_000, format=name)
    for number in range(6):
        cm.run([opening(), *reading(name, number)] if not number else reading(name, number))
        assert "Find out why the build fails." in said(cm.messages())
        assert not cm.observe()["budget"]["over"]


def test_a_policy_that_fails_is_asked_again_and_the_log_of_the_conversation_says_why():
    asked = []

    def policy(_seen):
        asked.append(1)
        raise RuntimeError("no idea")

    cm = ContextManager(policy, max_tokens=50_000)
    for number in range(6):
        assert cm.step(opening(f"number {number}"))["action"] == "keep"
    assert len(asked) == 6
    assert "RuntimeError: no idea" in cm.dump()


def test_rules_decide_for_a_policy_that_fails_once_the_window_fills():
    cm = ContextManager(broken, max_tokens=8_000)
    assert cm.step(talk("openai", 20))["action"] != "keep"


@pytest.mark.parametrize("given", [{"action": "fold", "target": "call_0"}, Action("fold", ("call_0",)), [{"action": "fold", "targets": ["call_0"]}], ({"action": "fold", "target": "call_0"} for _ in range(1))])  # fmt: skip
def test_a_policy_may_answer_in_any_of_these_shapes(given):
    cm = ContextManager(lambda _seen: given, max_tokens=50_000)
    assert cm.step(talk("openai", 1)) == {"action": "fold", "targets": ["call_0"], "reason": "", "params": {}}


def test_a_policy_object_and_a_policy_by_name_decide_alike():
    first, second = (ContextManager(policy, max_tokens=8_000) for policy in (Rules(), "rules"))
    assert first.step(talk("openai", 20)) == second.step(talk("openai", 20))


def test_policy_none_changes_nothing():
    cm = ContextManager("none", max_tokens=50_000)
    assert cm.step(talk("openai", 5))["action"] == "keep"
    assert cm.messages() == talk("openai", 5)


def test_a_policy_whose_weights_are_not_there_is_refused_when_it_is_named(tmp_path):
    with pytest.raises(ConfigError, match="can't be read"):
        ContextManager(f"learned(weights={str(tmp_path / 'none.json')!r})", max_tokens=50_000)


@pytest.mark.parametrize(
    ("name", "roles"), [("openai", ["system", "user"]), ("anthropic", ["user"])], ids=["openai", "anthropic"]
)
def test_a_summarizer_gets_plain_messages_and_its_text_is_shown(name, roles):
    asked: list[Any] = []

    def summarizer(messages):
        asked.append(json.loads(json.dumps(messages)))
        return "<analysis>notes</analysis><summary>Only values stand in it.</summary>"

    cm = ContextManager(lambda _seen: None, max_tokens=50_000, format=name, summarizer=summarizer)
    cm.step([*talk(name, 2), answer(name), opening("And now?")])
    assert cm.execute({"action": "summarize", "target": "call_0"})["done"]
    assert [[m["role"] for m in messages] for messages in asked] == [roles]
    assert "line 50 of file 0" in said(asked[0])
    shown = said(cm.messages())
    assert "Only values stand in it." in shown
    assert "notes" not in shown
    assert cm.execute({"action": "compact", "params": {"keep_tokens": 0}})["done"]
    assert len(asked) == 2


def repeat(messages):
    return json.dumps(messages)


@pytest.mark.parametrize(
    "summarizer",
    [broken, lambda _m: None, lambda _m: "", lambda _m: 7, lambda _m: "<summary>cut off", repeat, lambda _m: "\ud800" * 50],
    ids=["raises", "nothing", "empty", "number", "unclosed", "larger", "surrogates"],
)  # fmt: skip
@pytest.mark.parametrize(
    "action", [{"action": "summarize", "target": "call_0"}, {"action": "compact", "params": {"keep_tokens": 0}}]
)
def test_a_summarizer_that_fails_gives_way_and_the_original_stays(summarizer, action):
    cm = ContextManager(lambda _seen: None, max_tokens=50_000, summarizer=summarizer)
    cm.step([*talk("openai", 2), answer("openai"), opening("And now?")])
    outcome = cm.execute(action)
    assert outcome["done"]
    assert "line 50 of file 0: value = 50\n" in cm.recall("call_0")
    assert "line 50 of file 0: value = 50\\n" not in said(cm.messages())


def test_without_a_summarizer_rows_keep_the_fields_that_are_asked_for():
    rows = [{"sku": f"S-{n}", "stock": n, "text": "word " * 40} for n in range(100)]
    call = {"id": "c", "type": "function", "function": {"name": "list", "arguments": "{}"}}
    cm = ContextManager(lambda _seen: None, max_tokens=50_000)
    cm.step([opening(), {"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c", "content": json.dumps(rows)}])  # fmt: skip
    params = {"max_tokens": 2_000, "keep_fields": ["sku", "stock"], "keep_last": 1}
    assert cm.execute({"action": "summarize", "target": "c", "params": params})["done"]
    shown = cm.messages()[-1]["content"]
    assert all(f'"sku":"S-{n}"' in shown for n in range(100))
    assert cm.recall("c") == json.dumps(rows)


@pytest.mark.parametrize(
    "estimate", [broken, lambda _t: -1, lambda _t: "many", lambda _t: None, lambda _t: float("nan"), lambda _t: 10**30]
)
def test_a_counter_that_fails_gives_way_to_ours(estimate):
    cm = ContextManager(max_tokens=50_000, estimate_tokens=estimate)
    cm.step(talk("openai", 2))
    assert 1_000 < cm.observe()["used_tokens"] < 20_000
    assert cm.messages() == talk("openai", 2)


@dataclass
class Model:
    """What the objects of official SDKs and of pydantic have in common."""

    fields: dict[str, Any]

    def model_dump(self, *, mode: str = "python", exclude_unset: bool = False) -> dict[str, Any]:
        """Return the fields."""
        return self.fields


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_objects_of_other_frameworks_are_taken_wherever_dicts_are(name):
    seen = []

    def policy(obs):
        seen.append(obs)
        return Model({"action": "elide", "targets": ["call_0"]})

    cm = ContextManager(policy, max_tokens=50_000, format=name)
    cm.step(Model(opening()))
    cm.step([Model(message) for message in reading(name, 0)])
    cm.messages()
    usage = Model({"input_tokens": 9_000, "output_tokens": 5})
    action = cm.step(Model(answer(name)), usage=usage)
    assert cm.observe()["used_tokens"] > 9_000
    assert cm.execute(Model(action))["done"]


@pytest.mark.oracle
@pytest.mark.slow
def test_answers_of_the_official_sdks_go_in_as_they_are():
    from anthropic.types import Message
    from openai.types.chat import ChatCompletion

    chat = ChatCompletion.model_validate(
        {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hi."}}], "usage": {"prompt_tokens": 7_000, "completion_tokens": 2, "total_tokens": 7_002}}
    )  # fmt: skip
    message = Message.model_validate(
        {"id": "x", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "Hi."}], "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 7_000, "output_tokens": 2}}
    )  # fmt: skip
    for name, given, usage in (("openai", chat.choices[0].message, chat.usage), ("anthropic", message, message.usage)):
        cm = ContextManager(max_tokens=50_000, format=name)
        cm.step(talk(name, 2))
        cm.messages()
        cm.step(given, usage=usage)
        assert cm.observe()["used_tokens"] > 7_000
        assert said(cm.messages()[-1:]).count("Hi.") == 1


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


class Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    "value",
    [object(), [object()], nested(5_000), float("nan"), 10**400, b"a", {1}, {1: 2}, Unspeakable()],
    ids=["object", "in a list", "deep", "nan", "huge", "bytes", "set", "key", "unspeakable"],
)
@pytest.mark.parametrize("wrap", [dict, lambda fields: Action(**fields)], ids=["dict", "action"])
def test_params_that_no_log_can_hold_are_a_problem_of_the_policy_not_of_the_program(wrap, value):
    cm = ContextManager(
        lambda _seen: wrap({"action": "elide", "targets": ("e1",), "params": {"x": value}}), max_tokens=4_000
    )
    cm.run(opening())
    cm.execute(cm.step(reading("openai", 1)))
    assert "params" in cm.problems[0]["reason"]
    assert {problem["kind"] for problem in cm.problems} == {"policy_failed"}
    assert ContextManager(max_tokens=4_000).load(cm.dump()).messages() == cm.messages()


@pytest.mark.parametrize("name", [Unspeakable(), ["keep"], "\ud800" * 1_000, None])
def test_an_action_without_a_name_is_a_problem_in_few_words(name):
    cm = ContextManager(lambda _seen: {"action": name}, max_tokens=4_000)
    cm.run(opening())
    assert len(cm.problems[0]["reason"]) < 500


@pytest.mark.parametrize(
    "fields",
    [
        {"action": "restate", "params": {"text": "go\ud800", "label": "\ud800"}},
        {"action": "compact", "params": {"\ud800": 1}},
        {"action": "keep", "reason": "\ud800"},
        {"action": "elide", "targets": ("\ud800",)},
    ],
    ids=["text", "key", "reason", "target"],
)
@pytest.mark.parametrize("wrap", [dict, lambda fields: Action(**fields)], ids=["dict", "action"])
def test_half_a_character_from_a_policy_or_in_the_instructions_breaks_no_dump(wrap, fields):
    cm = ContextManager(lambda _seen: wrap(fields), max_tokens=4_000, system="Be brief.\ud800")
    cm.run(opening())
    cm.execute(cm.step(reading("openai", 1)))
    json.dumps(cm.messages(), ensure_ascii=False).encode()
    assert ContextManager(max_tokens=4_000).load(cm.dump()).messages() == cm.messages()


def test_a_policy_unpins_neither_instructions_nor_what_the_program_pinned():
    def policy(seen):
        ids = [item["id"] for item in seen["active_context"]]
        return [{"action": "unpin", "targets": [one]} for one in ids] + [{"action": "elide", "targets": ids}]

    cm = ContextManager(policy, max_tokens=4_000)
    cm.run([{"role": "developer", "content": "Never push."}, opening()])
    cm.run(reading("openai", 1))
    pinned = cm.observe()["active_context"][-1]["id"]
    cm.execute({"action": "pin", "target": pinned})
    for number in range(2, 8):
        cm.run(reading("openai", number))
    items = {item["id"]: item for item in cm.observe()["active_context"]}
    assert items[pinned]["pinned"]
    assert "Never push." in said(cm.messages())
