"""Arguments against schemas: what is mended, and how a problem reads."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.agent import ToolOutput
from trimtab.agent.calls import QUOTE_CHARS, Runnable, resolve, with_unique_ids
from trimtab.agent.schema import fit
from trimtab.types import Assistant, Text, ToolCall
from trimtab.types.stream import make_call

EDIT = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "edits": {
            "type": "array",
            "minItems": 1,
            "maxItems": 2,
            "items": {
                "type": "object",
                "properties": {"old": {"type": "string", "minLength": 1}, "new": {"type": "string", "maxLength": 3}},
                "required": ["old", "new"],
                "additionalProperties": False,
            },
        },
        "mode": {"enum": ["fast", "slow"]},
        "kind": {"const": "edit"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 9},
        "ratio": {"type": "number"},
        "force": {"type": "boolean"},
        "lines": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]},
        "maybe": {"type": ["string", "null"]},
        "either": {"oneOf": [{"type": "null"}, {"type": "string"}]},
        "meta": {"type": "object", "additionalProperties": {"type": "integer"}},
        "any": True,
        "odd": {"type": "nonsense"},
    },
    "required": ["path"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("sent", "used"),
    [
        ({"edits": '[{"old": "a", "new": "b"}]'}, {"edits": [{"old": "a", "new": "b"}]}),
        ({"edits": {"old": "a", "new": "b"}}, {"edits": [{"old": "a", "new": "b"}]}),
        ({"edits": '{"old": "a", "new": "b"}'}, {"edits": [{"old": "a", "new": "b"}]}),
        ({"meta": '{"a": 1}'}, {"meta": {"a": 1}}),
        ({"limit": "3"}, {"limit": 3}),
        ({"limit": 3.0}, {"limit": 3}),
        ({"ratio": "0.5"}, {"ratio": 0.5}),
        ({"force": "true"}, {"force": True}),
        ({"path": 7}, {"path": "7"}),
        ({"limit": None, "mode": None, "lines": None}, {}),
        (
            {"maybe": None, "either": None, "any": None, "odd": None},
            {"maybe": None, "either": None, "any": None, "odd": None},
        ),
        ({"lines": "4"}, {"lines": 4}),
        ({"lines": [1, "2"]}, {"lines": [1, 2]}),
        ({"meta": {"a": "1"}}, {"meta": {"a": 1}}),
        (
            {"odd": 1, "any": [1], "mode": "fast", "kind": "edit"},
            {"odd": 1, "any": [1], "mode": "fast", "kind": "edit"},
        ),
    ],
)
def test_what_a_model_plainly_meant_is_mended(sent, used):
    assert fit(EDIT, {"path": "p", **sent}) == ({"path": "p", **used}, ())


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        ({"edits": [{"new": "b"}]}, "edits[0].old: missing"),
        (
            {"edits": [{"old": "a", "new": "b"}, {"old": "a", "nwe": "b", "new": "c"}]},
            "edits[1].nwe: unknown argument (did you mean new?)",
        ),
        ({"zzz": 1}, "zzz: unknown argument"),
        ({"edits": "x"}, "edits: expected array, got string"),
        ({"edits": '{"old": 1}'}, "edits[0].new: missing"),
        ({"edits": "7"}, "edits: expected array, got string"),
        ({"edits": []}, "edits: must have at least 1 items"),
        ({"edits": [{"old": "", "new": "b"}]}, "edits[0].old: must have at least 1 characters"),
        ({"edits": [{"old": "a", "new": "long"}]}, "edits[0].new: must have at most 3 characters"),
        ({"edits": [{"old": "a", "new": "b"}] * 3}, "edits: must have at most 2 items"),
        ({"mode": "fsat"}, 'mode: must be one of "fast", "slow"; got "fsat"'),
        ({"kind": "x" * 99}, f'kind: must be "edit", got "{"x" * 76}…'),
        ({"limit": 0}, "limit: must be at least 1"),
        ({"limit": 10}, "limit: must be at most 9"),
        ({"limit": 1.5}, "limit: expected integer, got number"),
        ({"limit": True}, "limit: expected integer, got boolean"),
        ({"path": None}, "path: expected string, got null"),
        ({"path": {}}, "path: expected string, got object"),
        ({"maybe": ["x"]}, "maybe: expected string or null, got array"),
        ({"lines": {}}, "lines: expected integer, got object"),
        ({"lines": [[1], ["x"]]}, "lines: expected integer, got array"),
        ({"meta": {"a": "x"}}, "meta.a: expected integer, got string"),
    ],
)
def test_a_problem_names_its_path_and_what_was_expected(sent, problem):
    assert fit(EDIT, {"path": "p", **sent})[1] == (problem,)


def test_a_missing_argument_is_named():
    assert fit(EDIT, {})[1] == ("path: missing",)


@given(st.dictionaries(st.text(max_size=3), st.none() | st.booleans() | st.integers() | st.lists(st.text(max_size=3))))
@settings(deadline=None)
def test_a_schema_that_says_nothing_changes_nothing(arguments):
    assert fit({}, arguments) == (arguments, ())


@given(
    st.dictionaries(
        st.sampled_from(sorted(EDIT["properties"])),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
            lambda inner: (
                st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["old", "new", "x"]), inner, max_size=3)
            ),
            max_leaves=8,
        ),
    )
)
@settings(deadline=None)
def test_what_was_mended_fits_without_mending(arguments):
    fitted, problems = fit(EDIT, arguments)
    if not problems:
        assert fit(EDIT, fitted) == (fitted, ())


LOOK = {"look": type("Look", (), {"spec": type("Spec", (), {"parameters": EDIT})})()}


def explain(raw):
    outcome = resolve(make_call("a", "look", raw), LOOK)
    assert isinstance(outcome, ToolOutput)
    assert outcome.is_error
    return outcome.parts[0].text


def test_arguments_that_do_not_fit_are_listed_one_a_line():
    assert explain('{"edits": [{"old": "a"}], "limit": "x"}') == (
        "Not run: the arguments of look don't fit.\n- path: missing\n- edits[0].new: missing\n"
        "- limit: expected integer, got string"
    )


def test_json_that_is_no_object_is_told_apart_from_broken_json():
    assert "they are JSON, but not an object" in explain("[1]")
    assert "Expecting value at line 1, column 1 (character 0)" in explain("nope")


def test_long_unparsable_arguments_are_quoted_only_to_a_point():
    text = explain("x" * 10_000)
    assert text.endswith("x… (10000 characters in all)")
    assert len(text) < QUOTE_CHARS + 300


def test_nesting_too_deep_to_parse_is_an_explained_error():
    assert "Not run" in explain("[" * 100_000)


def test_arguments_encoded_twice_are_read():
    outcome = resolve(make_call("a", "look", json.dumps('{"path": "p"}')), LOOK)
    assert isinstance(outcome, Runnable)
    assert outcome.arguments == {"path": "p"}
    assert "not an object" in explain('""')


def test_a_tool_list_that_is_empty_says_so():
    outcome = resolve(make_call("a", "look", "{}"), {})
    assert outcome == ToolOutput.text("There is no tool named 'look'. No tool is on.", is_error=True)


@given(st.lists(st.lists(st.sampled_from(["a", "a_2", "b", "call_0"]), max_size=5), max_size=5))
@settings(deadline=None)
def test_call_ids_are_unique_over_all_answers_and_only_changed_when_they_clash(answers):
    seen: set[str] = set()
    used: list[str] = []
    for ids in answers:
        message = Assistant((Text("x"), *(ToolCall(i, "look", {}, "{}") for i in ids)), "tool_use")
        fresh = [c.id for c in with_unique_ids(message, seen).tool_calls]
        for old, new in zip(ids, fresh, strict=True):
            assert (new == old) == (old not in used)
            used.append(new)
    assert len(set(used)) == len(used)
    assert seen == set(used)
