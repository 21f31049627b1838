"""What gives way to something else is told, and what makes no sense is an error in words."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.talks import answer, opening, reading, said, talk
from trimtab.context import Context, ContextManager
from trimtab.context.embed.alone import ContextBusy
from trimtab.context.embed.problems import event, problems_in
from trimtab.context.policies.mask import Mask
from trimtab.context.policies.rules import Rules
from trimtab.context.shorten.pieces import Shortened
from trimtab.types.codec import entry_of
from trimtab.types.errors import UsageError

both = pytest.mark.parametrize("name", ["openai", "anthropic"])


def result(name: str, call_id: str, text: str) -> dict[str, Any]:
    if name == "openai":
        return {"role": "tool", "tool_call_id": call_id, "content": text}
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": text}]}


def call_of(name: str, call_id: str) -> dict[str, Any]:
    return json.loads(json.dumps(reading(name, 0)[0]).replace("call_0", call_id))


def kinds(cm: ContextManager) -> list[str]:
    return [problem["kind"] for problem in cm.problems]


def test_what_came_to_nothing_again_and_again_is_told_once():
    entries = [entry_of(event("not_applied", reason)) for reason in ("first", "first", "second", "first")]
    assert [problem["reason"] for problem in problems_in(entries)] == ["first", "second", "first"]


@both
def test_without_problems_there_are_none(name):
    cm = ContextManager(max_tokens=50_000, format=name)
    cm.run(talk(name, 3))
    cm.messages()
    assert cm.problems == []


# Results that nobody asked for


@both
def test_a_result_of_a_call_that_nobody_made_is_sent_as_a_message_and_told(name):
    cm = ContextManager(max_tokens=50_000, format=name)
    cm.run([opening(), result(name, "nowhere", "port = 8080")])
    shown = cm.messages()
    assert [message["role"] for message in shown] in (["user", "user"], ["user"])
    assert "[result of call nowhere, which is not in this conversation]" in said(shown)
    assert "port = 8080" in said(shown)
    assert "tool_result" not in said(shown)
    assert kinds(cm) == ["result_without_call"]
    assert "'nowhere'" in cm.problems[0]["reason"]
    assert "give each call before its result" in cm.problems[0]["reason"]


@both
def test_a_second_result_of_a_call_is_sent_beside_the_first(name):
    cm = ContextManager(max_tokens=50_000, format=name)
    cm.run([opening(), call_of(name, "c1"), result(name, "c1", "still running"), result(name, "c1", "port = 8080")])
    shown = said(cm.messages())
    assert "still running" in shown
    assert "port = 8080" in shown
    assert kinds(cm) == ["result_without_call"]
    assert "was answered before" in cm.problems[0]["reason"]


@both
def test_a_result_that_comes_before_its_call_is_not_lost(name):
    cm = ContextManager(max_tokens=50_000, format=name)
    cm.run([opening(), result(name, "c1", "port = 8080"), call_of(name, "c1")])
    assert "port = 8080" in said(cm.messages())
    assert kinds(cm) == ["result_without_call"]


@both
def test_a_result_that_comes_late_goes_to_its_call_and_is_no_problem(name):
    cm = ContextManager(max_tokens=50_000, format=name)
    cm.run([opening(), call_of(name, "c1"), opening("And?"), result(name, "c1", "port = 8080")])
    assert "port = 8080" in said(cm.messages()[2:3])
    assert cm.problems == []


@both
def test_a_plain_context_loses_no_result_either(name):
    context = Context([opening(), result(name, "nowhere", "port = 8080"), call_of(name, "c1")], format=name)
    context.add_responses([result(name, "c1", "first"), result(name, "c1", "second")])
    shown = said(context.to_model_messages())
    assert all(text in shown for text in ("port = 8080", "first", "second"))
    assert context.get_responses("nowhere") == {"nowhere": "port = 8080"}


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(["a", "b", "c"])), max_size=12), st.sampled_from(["openai", "anthropic"]))  # fmt: skip
def test_no_order_of_calls_and_results_loses_a_text(steps, name):
    cm = ContextManager("none", max_tokens=50_000, format=name)
    cm.step(opening())
    for number, (asks, call_id) in enumerate(steps):
        cm.step(call_of(name, call_id) if asks else result(name, call_id, f"text {number}."))
    shown = said(cm.messages())
    assert [n for n, (asks, _) in enumerate(steps) if not asks and f"text {n}." not in shown] == []
    assert ContextManager(max_tokens=1_000).load(cm.dump()).messages() == cm.messages()


# Functions that fail


def test_a_policy_that_fails_is_told():
    def policy(_seen):
        raise RuntimeError("no idea")

    cm = ContextManager(policy, max_tokens=50_000)
    cm.step(opening())
    assert kinds(cm) == ["policy_failed"]
    assert "RuntimeError: no idea" in cm.problems[0]["reason"]
    assert kinds(ContextManager(policy, max_tokens=50_000).load(cm.dump())) == ["policy_failed"]


def fails(_messages):
    raise RuntimeError("no idea")


@pytest.mark.parametrize("action", ["summarize", "compact"])
@pytest.mark.parametrize("summarizer", [fails, lambda _m: 7, lambda _m: None])
def test_a_summarizer_that_fails_is_told(summarizer, action):
    cm = ContextManager("none", max_tokens=50_000, summarizer=summarizer)
    cm.step([*talk("openai", 2), answer("openai"), opening("And now?")])
    assert cm.execute({"action": action, "target": "call_0", "params": {"keep_tokens": 0}})["done"]
    assert "summarizer_failed" in kinds(cm)


@pytest.mark.parametrize("text", ["", "<summary>cut off", "word " * 9_000])
def test_a_summary_that_is_rejected_is_told(text):
    cm = ContextManager("none", max_tokens=50_000, summarizer=lambda _m: text)
    cm.step([*talk("openai", 2), answer("openai"), opening("And now?")])
    assert cm.execute({"action": "compact", "params": {"keep_tokens": 0}})["done"]
    assert kinds(cm) == ["summary_rejected"]


@pytest.mark.parametrize("estimate", [fails, lambda _t: -1, lambda _t: True, lambda _t: float("nan"), lambda _t: "7"])
def test_a_counter_that_fails_is_told_once(estimate):
    cm = ContextManager(max_tokens=50_000, estimate_tokens=estimate)
    for number in range(3):
        cm.step(opening(f"number {number}"))
    assert kinds(cm) == ["counter_failed"]


class Compressing:
    """A compressor of a program: what `make` of the text is."""

    def __init__(self, make):
        self.make, self.asked = make, 0

    def compress(self, text, *, share, words=(), key=""):
        self.asked += 1
        return self.make(text)


def compressed(compressor):
    """Two results, both compressed."""
    cm = ContextManager(lambda _seen: None, max_tokens=50_000, compressor=compressor)
    cm.step([*talk("openai", 2), answer("openai")])
    for target in ("call_0", "call_1"):
        assert cm.execute({"action": "compress", "target": target, "params": {"share": 0.3}})["done"]
    return cm


def test_a_compressor_of_the_program_does_what_compress_wants():
    cm = compressed(Compressing(lambda text: Shortened(f"short form of {text.splitlines()[0]}")))
    assert "\nshort form of line 0 of file 0: value = 0" in cm.messages()[2]["content"]
    assert cm.problems == []
    assert cm.recall("call_0").endswith("value = 99")


@pytest.mark.parametrize(
    "make",
    [fails, lambda _t: None, lambda text: text[:9], lambda _t: Shortened(" "), lambda _t: Shortened(None)],
)
def test_a_compressor_that_fails_gives_way_to_the_built_in_one_and_is_told_once(make):
    cm = compressed(Compressing(make))
    assert cm.messages() == compressed(None).messages()
    assert kinds(cm) == ["compressor_failed"]
    assert "the built-in one stands in" in cm.problems[0]["reason"]
    assert ContextManager(max_tokens=1_000).load(cm.dump()).problems[-1:] == cm.problems


def test_problems_do_not_grow_without_bound():
    cm = ContextManager(lambda _seen: 7, max_tokens=50_000)
    for number in range(105):
        cm.step(answer("openai") if number else opening())
    assert len(cm.problems) == 100


# Calls from within


@pytest.mark.parametrize(
    "what",
    [
        lambda cm: cm.step(opening()),
        lambda cm: cm.run(opening()),
        lambda cm: cm.execute({"action": "compact"}),
        lambda cm: cm.messages(),
        lambda cm: cm.observe(),
        lambda cm: cm.tools(),
        lambda cm: cm.call("recall", "{}"),
        lambda cm: cm.load("{}"),
        lambda cm: cm.dump(),
    ],
)
def test_a_policy_that_calls_its_context_is_refused_and_told(what):
    raised = []

    def policy(_seen):
        try:
            what(cm)
        except Exception as error:
            raised.append(error)
            raise

    cm = ContextManager(policy, max_tokens=50_000)
    cm.step(opening())
    assert [type(error) for error in raised] == [ContextBusy]
    assert raised[0].hint
    assert kinds(cm) == ["policy_failed"]
    assert cm.messages() == [opening()]


def test_a_summarizer_that_calls_its_context_is_refused_and_told():
    cm = ContextManager("none", max_tokens=50_000, summarizer=lambda _m: str(cm.step(opening())))
    cm.step(talk("openai", 1))
    assert cm.execute({"action": "summarize", "target": "call_0"})["done"]
    assert "ContextBusy" in cm.problems[0]["reason"]
    assert len(cm.messages()) == 3


def test_a_policy_may_read_what_is_hidden():
    texts = []
    cm = ContextManager(lambda _seen: texts.append(cm.recall("call_0")), max_tokens=50_000)
    cm.step(talk("openai", 1))
    assert "line 50 of file 0" in texts[0]


def test_a_context_is_free_again_after_an_error():
    cm = ContextManager(max_tokens=50_000)
    with pytest.raises(UsageError):
        cm.step({"role": "nobody"})
    assert cm.step(opening())["action"] == "keep"


# Settings and dumps


class Nameless:
    def decide(self, _observation):
        return ()


class Misnamed(Nameless):
    name = 7


@pytest.mark.parametrize("policy", [Nameless(), Misnamed(), Rules, None, [], "mask(keep=-1)", "mask(batch=-1)", "mask(keep=2, keep=3)", "mask()()", "mask(keep=True)",
    "rules(act=-0.1)", "rules(act=1e999)", "cooldown(steps=-1):mask", "claude-code(scaled=3)", Mask(keep=-1), Mask(keep=float("nan")), "summary(keep_tokens=-5)", "", "mask("])  # fmt: skip
def test_a_policy_that_makes_no_sense_is_refused_in_words(policy):
    with pytest.raises(UsageError) as error:
        ContextManager(policy, max_tokens=10_000)
    assert error.value.message


@pytest.mark.parametrize(
    "wrong",
    [{"max_tokens": value} for value in (0, -1, True, float("nan"), 8_000.0, 2**60, None)]
    + [{"reserve": value} for value in (-1, True, float("nan"), 1.5, 10_000, "3")]
    + [{"tools": value} for value in (None, 7, "abc", {"name": "f"}, [None])]
    + [{"format": value} for value in (None, [], 7)]
    + [{"summarizer": "gpt"}, {"estimate_tokens": 4}, {"compressor": len}, {"compressor": Compressing}],
    ids=str,
)
def test_a_setting_that_makes_no_sense_is_refused_in_words(wrong):
    with pytest.raises(UsageError) as error:
        ContextManager(**{"max_tokens": 10_000, **wrong})
    assert error.value.hint


class Rude(dict):
    def items(self):
        raise RuntimeError("no")


class Ruder:
    def model_dump(self, **_how):
        raise RuntimeError("no")


@pytest.mark.parametrize("junk", [Ruder(), Ruder, 7, None, b"x", "hi", {1: 2}, object()])
def test_whatever_is_handed_over_only_errors_of_ours_come_back(junk):
    cm = ContextManager(max_tokens=10_000)
    for take in (cm.step, cm.run, lambda given: cm.step(answer("openai"), usage=given)):
        try:
            take(junk)
        except UsageError as error:
            assert error.hint  # noqa: PT017 - None is a usage
    assert not cm.execute(junk)["done"]
    assert cm.recall(junk) is None
    assert cm.call("recall", junk)


def test_a_mapping_of_another_make_is_read_without_its_own_code():
    assert ContextManager(max_tokens=10_000).step(Rude(opening()))["action"] == "keep"


def test_what_a_dump_puts_in_place_of_other_settings_is_told():
    cm = ContextManager(max_tokens=50_000, system="Be brief.", format="anthropic")
    cm.step(opening())
    other = ContextManager(max_tokens=9_000).load(cm.dump())
    assert (other.max_tokens, other.system) == (50_000, "Be brief.")
    assert [problem["reason"] for problem in other.problems] == [
        "max_tokens is the dump's, 50000, not 9000",
        "format is the dump's, 'anthropic', not 'openai'",
        "system is the dump's, 9 characters, not 0 characters",
    ]
    same = ContextManager(max_tokens=50_000, system="Be brief.", format="anthropic").load(cm.dump())
    assert same.problems == []


@both
def test_a_conversation_may_go_on_in_another_window(name):
    cm = ContextManager(max_tokens=50_000, format=name)
    for message in talk(name, 12):
        cm.run(message)
    small = ContextManager(max_tokens=1_000, format=name).load(cm.dump(), max_tokens=6_000)
    assert (small.max_tokens, small.problems) == (6_000, [])
    small.messages()
    seen = small.observe()
    assert seen["used_tokens"] <= seen["budget"]["hard"] < 6_000
    assert small.recall("call_0") == cm.recall("call_0")


def busy_dump() -> dict[str, Any]:
    tool = {"name": "f", "input_schema": {"type": "object"}}
    cm = ContextManager(max_tokens=16_000, system="Be brief.", tools=[tool])
    cm.tools("pilot")
    cm.run(talk("openai", 2))
    cm.messages()
    cm.run(answer("openai"), usage={"prompt_tokens": 3_000, "completion_tokens": 3})
    cm.call("memo", {"action": "write", "key": "k", "content": "text", "summary": "s"})
    cm.execute({"action": "elide", "target": "call_0"})
    return json.loads(cm.dump())


WHOLE = busy_dump()


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in places(item, (*path, key)))]


PLACES = places(WHOLE)[1:]


@given(st.sampled_from(PLACES), st.sampled_from([None, True, -1, 10**30, 1e308, "x", "\ud800", [], {}, [[]], "gone"]))
def test_a_dump_that_was_changed_anywhere_is_refused_and_changes_nothing(place, value):
    data = json.loads(json.dumps(WHOLE))
    inner = data
    for key in place[:-1]:
        inner = inner[key]
    if inner[place[-1]] == value and type(inner[place[-1]]) is type(value):
        return
    inner[place[-1]] = value
    if value == "gone":
        del inner[place[-1]]
    cm = ContextManager(max_tokens=1_000)
    before = cm.dump()
    with pytest.raises(UsageError, match="no dump") as error:
        cm.load(json.dumps(data))
    assert error.value.hint
    assert cm.dump() == before


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, b"{}", None, 7, json.dumps(WHOLE)[:-9]], ids=lambda t: str(t)[:9])  # fmt: skip
def test_what_is_no_json_is_no_dump(text):
    with pytest.raises(UsageError, match="no dump"):
        ContextManager(max_tokens=1_000).load(text)


def test_a_dump_may_be_stored_as_json_in_any_form():
    cm = ContextManager(max_tokens=1_000).load(json.dumps(WHOLE, indent=2, sort_keys=True))
    text = json.dumps(json.loads(cm.dump()))
    as_others_write = text.replace(".0,", ",").replace(".0]", "]")
    assert ContextManager(max_tokens=1_000).load(as_others_write).messages() == cm.messages()


def test_an_async_function_is_refused_with_what_to_do_instead() -> None:
    async def ask(_given: Any) -> Any:
        return "a summary"

    for name in ("summarizer", "estimate_tokens", "policy"):
        with pytest.raises(UsageError) as error:
            ContextManager(**{name: ask}, max_tokens=8_000)
        assert error.value.message == f"{name} is an async function, and nobody here awaits it"
        assert "plain function" in error.value.hint


def test_a_summarizer_that_returns_a_coroutine_is_a_problem_and_a_text_without_a_model_stands_in() -> None:
    async def ask(_messages: Any) -> str:
        return "a summary"

    context = ContextManager("none", max_tokens=8_000, summarizer=lambda messages: ask(messages))  # type: ignore[arg-type,return-value]
    for number in range(4):
        context.run({"role": "user" if number % 2 == 0 else "assistant", "content": f"setting {number} = on\n" * 60})
    assert context.execute({"action": "compact", "params": {"keep_tokens": 0}})["done"]
    first = context.problems[0]
    assert first["kind"] == "summarizer_failed"
    assert first["reason"].startswith("the summarizer is async and returned no text. Give a plain function; ")
