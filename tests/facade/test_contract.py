"""What a program may rely on, sentence by sentence, in both formats."""

import json

import pytest

from support.talks import answer, opening, reading, said, talk
from trimtab.context import ContextManager
from trimtab.context.vendor.errors import VendorMessageError
from trimtab.types.errors import ContextFloor, UsageError
from trimtab.types.usage import Usage

pytestmark = pytest.mark.parametrize("name", ["openai", "anthropic"])


def nothing(_seen):
    return None


def fold_first(seen):
    """Wants every result that is whole out of view, one by one."""
    return [{"action": "elide", "target": i["id"]} for i in seen["active_context"] if i["kind"] == "result" and i["state"] == "full"]  # fmt: skip


def test_what_fits_goes_out_as_it_came(name):
    cm = ContextManager(max_tokens=50_000, format=name)
    cm.step(talk(name, 3))
    assert cm.messages() == talk(name, 3)


def test_a_step_returns_keep_when_nothing_is_wanted(name):
    cm = ContextManager(nothing, max_tokens=50_000, format=name)
    assert cm.step(opening()) == {"action": "keep", "targets": [], "reason": "nothing has to be done", "params": {}}


def test_a_step_does_not_do_what_it_returns(name):
    cm = ContextManager(fold_first, max_tokens=50_000, format=name)
    action = cm.step(talk(name, 2))
    assert (action["action"], len(action["targets"])) == ("elide", 1)
    assert cm.messages() == talk(name, 2)


def test_the_rest_is_proposed_again_at_the_next_step(name):
    wanted = [[{"action": "elide", "target": "call_0"}, {"action": "fold", "target": "call_1"}], []]
    cm = ContextManager(lambda _seen: wanted.pop(0), max_tokens=50_000, format=name)
    assert cm.step(talk(name, 2))["targets"] == ["call_0"]
    assert cm.step(answer(name))["targets"] == ["call_1"]


def test_what_was_done_gives_way_to_the_rest(name):
    both = [{"action": "elide", "target": "call_0"}, {"action": "elide", "target": "call_1"}]
    cm = ContextManager(lambda _seen: both, max_tokens=50_000, format=name)
    assert cm.execute(cm.step(talk(name, 2)))["done"]
    assert cm.step(answer(name))["targets"] == ["call_1"]


def test_what_can_no_longer_be_done_is_not_proposed_again(name):
    wanted = [
        [{"action": "keep"}, {"action": "elide", "target": "call_0"}, {"action": "elide", "target": "call_1"}],
        [],
    ]
    cm = ContextManager(lambda _seen: wanted.pop(0), max_tokens=50_000, format=name)
    assert cm.step(talk(name, 2))["targets"] == ["call_0"]
    cm.execute({"action": "drop", "target": "call_1"})
    assert cm.step(answer(name))["action"] == "keep"


def test_each_step_is_logged_with_what_was_seen(name):
    cm = ContextManager(fold_first, max_tokens=50_000, format=name)
    first = cm.step(talk(name, 1))
    cm.step(answer(name))
    assert [sorted(step) for step in cm.log] == [["action", "obs"], ["action", "obs"]]
    assert cm.log[0]["action"] == first
    assert [len(step["obs"]["active_context"]) for step in cm.log] == [3, 4]


def test_a_policy_gets_what_observe_gives(name):
    seen = []
    cm = ContextManager(lambda obs: seen.append(obs), max_tokens=50_000, format=name)
    cm.step(talk(name, 2))
    assert seen == [cm.observe()]


def test_an_observation_has_the_pinned_fields_and_is_json(name):
    cm = ContextManager(fold_first, max_tokens=50_000, format=name)
    for number in range(7):
        cm.execute(cm.step([opening(), *reading(name, number)] if not number else reading(name, number)))
    seen = cm.observe()
    assert list(seen) == [
        "active_context",
        "summary_index",
        "archive",
        "used_tokens",
        "max_tokens",
        "budget",
        "last_actions",
    ]
    assert json.loads(json.dumps(seen)) == seen
    assert seen["max_tokens"] == 50_000
    assert 0 < seen["used_tokens"] < seen["budget"]["hard"] <= 50_000
    assert len(seen["last_actions"]) == 5


def test_run_does_all_that_the_policy_wants(name):
    cm = ContextManager(fold_first, max_tokens=50_000, format=name)
    outcomes = cm.run(talk(name, 3))
    assert [o["done"] for o in outcomes] == [True, True, True]
    assert "line 50 of file" not in said(cm.messages())
    assert [step["action"]["action"] for step in cm.log] == ["elide", "elide", "elide"]


def test_rules_keep_a_long_run_within_the_budget(name):
    cm = ContextManager(max_tokens=8_000, format=name)
    for message in talk(name, 20):
        cm.run(message)
        cm.messages()
        seen = cm.observe()
        assert seen["used_tokens"] <= seen["budget"]["hard"]
    assert seen["archive"]


def test_messages_fit_even_if_nobody_did_anything(name):
    cm = ContextManager(max_tokens=8_000, format=name)
    cm.step(talk(name, 20))
    assert cm.observe()["budget"]["over"]
    assert len(said(cm.messages())) < 30_000
    assert not cm.observe()["budget"]["over"]


def test_messages_that_cannot_fit_are_an_error_with_a_hint(name):
    cm = ContextManager(max_tokens=1_000, format=name)
    cm.step(opening("word " * 5_000))
    with pytest.raises(ContextFloor, match="your last message") as error:
        cm.messages()
    assert error.value.hint


def test_a_call_that_nobody_has_answered_yet_does_not_make_the_messages_invalid(name):
    cm = ContextManager(max_tokens=8_000, format=name)
    cm.step(talk(name, 1)[:2])
    assert "call_0" in said(cm.messages()[-1:])


@pytest.mark.parametrize("action", ["elide", "fold", "summarize", "drop", "compress"])
def test_what_an_action_takes_out_of_view_can_be_recalled_and_reloaded(name, action):
    cm = ContextManager(nothing, max_tokens=50_000, format=name)
    cm.step([*talk(name, 2), answer(name)])
    before = cm.messages()
    outcome = cm.execute({"action": action, "target": "call_0", "reason": "long"})
    assert (outcome["done"], outcome["problems"], outcome["edits"][0]["kind"]) == (True, [], action)
    assert outcome["edits"][0]["after_tokens"] < outcome["edits"][0]["before_tokens"]
    assert "line 50 of file 0" not in said(cm.messages())
    assert "line 50 of file 0: value = 50\n" in cm.recall("call_0")
    assert cm.execute({"action": "reload", "targets": ["call_0"]})["done"]
    assert cm.messages() == before


def test_every_archive_value_is_a_handle_that_recall_accepts(name):
    cm = ContextManager(max_tokens=8_000, format=name)
    for message in talk(name, 20):
        cm.run(message)
    cm.execute({"action": "compact"})
    handles = cm.observe()["archive"]
    assert handles
    for handle in handles.values():
        assert cm.recall(handle)
        assert cm.call("recall", {"id": handle}).startswith("[")


def test_the_summary_index_says_what_stands_for_what(name):
    cm = ContextManager(nothing, max_tokens=50_000, format=name)
    cm.step(talk(name, 2))
    cm.execute({"action": "summarize", "target": "call_0", "params": {"summary": "nothing but values"}})
    item = cm.observe()["active_context"][2]["id"]
    row = cm.observe()["summary_index"][item]
    assert "nothing but values" in row["summary"]
    assert cm.recall(row["sources"][0]).startswith("line 0 of file 0")


def test_expire_and_pin_change_no_byte(name):
    cm = ContextManager(nothing, max_tokens=50_000, format=name)
    cm.step(talk(name, 2))
    assert cm.execute({"action": "pin", "target": "call_0"})["done"]
    assert cm.execute({"action": "expire", "target": "call_1", "params": {"after_steps": 2}})["done"]
    assert cm.messages() == talk(name, 2)


def test_a_pinned_item_stays_whoever_asks(name):
    cm = ContextManager(nothing, max_tokens=50_000, format=name)
    cm.step(talk(name, 2))
    cm.execute({"action": "pin", "target": "call_0"})
    outcome = cm.execute({"action": "drop", "target": "call_0"})
    assert (outcome["done"], outcome["problems"], outcome["next"]) == (
        False,
        ["'call_0' is pinned"],
        "unpin it first, or choose another target",
    )
    assert cm.execute({"action": "unpin", "target": "call_0"})["done"]
    assert cm.execute({"action": "drop", "target": "call_0"})["done"]


def test_restate_says_something_at_the_end(name):
    cm = ContextManager(nothing, max_tokens=50_000, format=name)
    cm.step(talk(name, 1))
    assert cm.execute({"action": "restate", "params": {"text": "The schema must stay."}})["done"]
    assert "The schema must stay." in said(cm.messages()[-1:])


def test_what_would_not_fit_is_not_brought_into_view(name):
    cm = ContextManager(nothing, max_tokens=3_000, format=name)
    cm.step(talk(name, 1))
    outcome = cm.execute({"action": "restate", "params": {"text": "word " * 5_000}})
    assert (outcome["done"], bool(outcome["problems"])) == (False, True)
    cm.messages()
    outcome = cm.execute({"action": "pin", "target": "call_0"})
    assert outcome["done"] or outcome["next"]
    assert not cm.observe()["budget"]["over"]


def test_a_reload_keeps_to_the_budget(name):
    cm = ContextManager(max_tokens=6_000, format=name)
    for message in talk(name, 10):
        cm.run(message)
    for number in range(10):
        outcome = cm.execute({"action": "reload", "target": f"call_{number}"})
        assert outcome["done"] or outcome["next"]
        seen = cm.observe()
        assert seen["used_tokens"] <= seen["budget"]["hard"]


@pytest.mark.parametrize(
    ("action", "problem", "step"),
    [
        ({"action": "fly"}, "there is no action 'fly'", "use one of: keep, elide"),
        ({"action": "fold", "target": "r99"}, "there is no item 'r99'", "observe()['active_context']"),
        ({"action": "fold"}, "fold needs targets", "name what it is about"),
        ({"action": "restate"}, "restate needs params.text", "give what the problem names"),
        ({"targets": ["call_0"]}, "'action' is missing, which says what is wanted", "use one of"),
        (
            {"actoin": "pin", "target": "call_0"},
            "there is no field 'actoin'; did you mean 'action'?",
            "as the problem says",
        ),
        ({"action": "pin", "target": "call_0", "reson": "x"}, "did you mean 'reason'?", "as the problem says"),
        ({"action": "pin", "tragets": ["call_0"]}, "did you mean 'targets'?", "as the problem says"),
        ({"action": "compact", "params": {"instrctions": "x"}}, "did you mean 'instructions'?", "as the problem says"),
        (
            {"action": "summarize", "target": "call_0", "params": {"max_token": 9}},
            "did you mean 'max_tokens'?",
            "as the",
        ),
        (
            {"action": "summarize", "target": "call_0", "params": {"max_tokens": 1}},
            "call_0: no summary of 1 tokens or fewer",
            "allow more",
        ),
        ({"action": "fold", "targets": {"a": 1}}, "bad action 'fold'", "give {'action'"),
        ("fold everything", "an action is an object", "give {'action'"),
        (None, "an action is an object", "give {'action'"),
    ],
)
def test_a_bad_action_is_answered_with_what_is_wrong_and_what_to_do(name, action, problem, step):
    cm = ContextManager(nothing, max_tokens=50_000, format=name)
    cm.step(talk(name, 1))
    outcome = cm.execute(action)
    assert (outcome["done"], outcome["edits"]) == (False, [])
    assert problem in outcome["problems"][0]
    assert "message 0" not in outcome["problems"][0]
    assert step in outcome["next"]


def test_a_name_that_is_no_slip_is_passed_over_and_told(name):
    cm = ContextManager(nothing, max_tokens=50_000, format=name)
    cm.step(talk(name, 1))
    outcome = cm.execute({"action": "expire", "target": "call_0", "params": {"colour": 3}, "confidence": 0.9})
    assert outcome["done"]
    assert outcome["notes"] == [
        "an action has no field 'confidence', so it was passed over; there are action, target, targets, params, reason",
        "expire has no parameter 'colour', so it was passed over; there are after_steps, when_superseded",
    ]
    assert cm.notes == outcome["notes"]


def test_a_field_that_a_policy_function_misspells_is_a_problem_with_what_was_meant(name):
    cm = ContextManager(lambda _seen: {"action": "elide", "tragets": ["call_0"]}, max_tokens=50_000, format=name)
    cm.run(talk(name, 2))
    (problem,) = cm.problems
    assert problem["kind"] == "policy_failed"
    assert "there is no field 'tragets'; did you mean 'targets'?" in problem["reason"]


def test_a_field_that_no_action_has_is_passed_over_and_told_of_a_policy_function_once(name):
    cm = ContextManager(lambda _seen: {"action": "keep", "confidence": 0.9}, max_tokens=50_000, format=name)
    for message in talk(name, 2):
        cm.run(message)
    assert cm.problems == []
    assert cm.notes == [
        "an action has no field 'confidence', so it was passed over; there are action, target, targets, params, reason"
    ]


def test_messages_of_the_other_format_are_refused_with_its_name(name):
    cm = ContextManager(nothing, max_tokens=50_000, format="openai" if name == "anthropic" else "anthropic")
    with pytest.raises(VendorMessageError) as caught:
        cm.step(talk(name, 1))
    assert f"format='{name}'" in (caught.value.hint or "")
    assert cm.observe()["active_context"] == []


def test_names_may_be_written_as_a_model_writes_them(name):
    cm = ContextManager(nothing, max_tokens=50_000, format=name)
    cm.step(talk(name, 1))
    assert cm.execute({"action": "archive", "target": "[call_0]"})["done"]


def test_results_get_a_handle_once_the_model_has_tools_that_take_it(name):
    cm = ContextManager(nothing, max_tokens=50_000, format=name)
    cm.tools()
    cm.step(talk(name, 2))
    assert said(cm.messages()).count("[r1]") == 1
    assert cm.execute({"action": "elide", "target": "r2"})["done"]
    assert list(cm.observe()["archive"].values()) == ["r2"]


def test_usage_moves_the_count_to_what_was_reported(name):
    cm = ContextManager(nothing, max_tokens=50_000, format=name)
    cm.step(talk(name, 2))
    cm.messages()
    counted = cm.observe()["used_tokens"]
    cm.step(answer(name), usage={"prompt_tokens": counted + 1_000, "completion_tokens": 10})
    assert abs(cm.observe()["used_tokens"] - counted - 1_010) < 100


def test_usage_may_be_what_the_api_of_the_format_gives(name):
    counts = {"openai": {"prompt_tokens": 6_000, "completion_tokens": 9}, "anthropic": {"input_tokens": 6_000, "output_tokens": 9}}  # fmt: skip
    for usage in (counts[name], Usage(input=6_000, output=9), None):
        cm = ContextManager(nothing, max_tokens=50_000, format=name)
        cm.step(talk(name, 2))
        cm.messages()
        cm.step(answer(name), usage=usage)
        assert (cm.observe()["used_tokens"] > 6_000) == (usage is not None)


def test_the_programs_own_counter_counts(name):
    cm = ContextManager(nothing, max_tokens=50_000, format=name, estimate_tokens=lambda text: 1_000 * len(text.split()))
    cm.step(opening("two words"))
    assert 2_000 <= cm.observe()["used_tokens"] < 2_020


def test_a_reserve_is_kept_free(name):
    small, large = (ContextManager(max_tokens=10_000, format=name, reserve=n).observe()["budget"] for n in (0, 5_000))
    assert small["room"] - large["room"] == 5_000
    assert (small["reserve"], large["reserve"]) == (0, 5_000)


def test_system_and_tools_are_counted(name):
    plain = ContextManager(max_tokens=10_000, format=name)
    tool = {"name": "f", "description": "word " * 100, "input_schema": {"type": "object"}}
    if name == "openai":
        tool = {"type": "function", "function": {"name": "f", "description": "word " * 100, "parameters": {}}}
    full = ContextManager(max_tokens=10_000, format=name, system="word " * 100, tools=[tool])
    for cm in (plain, full):
        cm.step(opening())
    assert full.observe()["used_tokens"] - plain.observe()["used_tokens"] > 200


def test_the_system_prompt_stands_where_the_format_has_it(name):
    cm = ContextManager(max_tokens=10_000, format=name, system="Be brief.")
    cm.step(opening())
    head = [{"role": "system", "content": "Be brief."}] if name == "openai" else []
    assert cm.messages() == [*head, opening()]
    assert cm.system == "Be brief."


def test_instructions_among_the_messages_outlive_a_full_window(name):
    cm = ContextManager(max_tokens=2_000, format=name)
    cm.run([{"role": "system", "content": "Never touch the schema."}, opening()])
    for number in range(15):
        cm.run(reading(name, number))
        assert "Never touch the schema." in said(cm.messages())


def test_a_message_that_cannot_be_read_leaves_everything_as_it_was(name):
    cm = ContextManager(max_tokens=10_000, format=name)
    cm.step(opening())
    before = cm.dump()
    with pytest.raises(UsageError, match="message 1"):
        cm.step([answer(name), {"role": "nobody", "content": "x"}])
    assert cm.dump() == before


@pytest.mark.parametrize(
    ("settings", "least"),
    [
        ({"max_tokens": 100}, 342),
        ({"max_tokens": 1_000, "reserve": 900}, 1_157),
        ({"max_tokens": 50_000, "reserve": 49_900}, 50_919),
    ],
)
def test_a_window_that_its_margins_take_whole_is_refused_with_the_least_that_will_do(name, settings, least):
    with pytest.raises(UsageError, match="leaves no room for messages") as caught:
        ContextManager(format=name, **settings)
    assert f"the least that leaves any is {least:,}," in (caught.value.hint or "")
    assert ContextManager(format=name, **{**settings, "max_tokens": least}).observe()["budget"]["room"] >= 1
    with pytest.raises(UsageError):
        ContextManager(format=name, **{**settings, "max_tokens": least - 1})


def test_a_dump_goes_on_in_no_window_without_room(name):
    cm = ContextManager(max_tokens=10_000, format=name)
    with pytest.raises(UsageError, match="max_tokens=100 leaves no room"):
        cm.load(cm.dump(), max_tokens=100)


@pytest.mark.parametrize(
    "wrong",
    [{"max_tokens": 0}, {"max_tokens": "8k"}, {"reserve": -1}, {"reserve": 10_000}, {"system": ["a"]}, {"policy": 7}, {"policy": "no such policy"}, {"policy": "remote"}, {"tools": [7]}],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused_in_words(name, wrong):
    with pytest.raises(UsageError) as error:
        ContextManager(**{"max_tokens": 10_000, "format": name, **wrong})
    assert error.value.hint


def test_an_unknown_format_is_refused(name):
    with pytest.raises(UsageError, match="no message format 'gemini'"):
        ContextManager(max_tokens=10_000, format="gemini")


@pytest.mark.parametrize(("window", "safety"), [(1_000, 256), (2_000, 256), (12_800, 256), (50_000, 1_000)])
def test_the_margin_of_a_window_is_two_percent_and_never_under_256_tokens(name, window, safety):
    budget = ContextManager(max_tokens=window, format=name).observe()["budget"]
    assert (budget["safety"], budget["room"]) == (safety, window - window // 4 - safety)
