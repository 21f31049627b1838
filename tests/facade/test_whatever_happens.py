"""Random conversations, actions and policies: what is sent is valid and fits, nothing is lost, nothing raises."""

from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.vendor_dicts import anthropic_conversation, chat_conversation
from trimtab.context import ContextManager
from trimtab.context.actions import ACTIONS
from trimtab.context.vendor.formats import format_named
from trimtab.types.errors import ContextFloor
from trimtab.types.messages import Text

CONVERSATIONS = {"openai": chat_conversation(), "anthropic": anthropic_conversation()}
NAMES = st.one_of(
    st.integers(1, 30).map("e{}".format),
    st.integers(1, 9).map("r{}".format),
    st.sampled_from(["call_0_0", "toolu_0_0", "nobody", "", "e1#0", "[r1]", "e3#99999"]),
)
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5000), st.text(max_size=20), st.lists(st.text(max_size=5), max_size=2)
)
PARAMS = st.dictionaries(
    st.sampled_from(
        ["summary", "max_tokens", "keep_first", "keep_last", "keep_fields", "keep", "head", "tail", "matches", "first", "last", "share", "page",
         "after_steps", "when_superseded", "text", "label", "keep_tokens", "mode", "instructions"]
    ),
    VALUES,
    max_size=3,
)  # fmt: skip
ACTION = st.fixed_dictionaries(
    {"action": st.sampled_from([*ACTIONS, "archive", "fly"])},
    optional={
        "targets": st.lists(NAMES, max_size=3),
        "target": NAMES,
        "params": PARAMS,
        "reason": st.text(max_size=10),
    },
)
JUNK: st.SearchStrategy[Any] = st.one_of(
    VALUES, st.dictionaries(st.sampled_from(["action", "target", "targets", "params"]), VALUES | PARAMS, max_size=4)
)


def larger(messages: list[dict[str, Any]], factor: int) -> list[dict[str, Any]]:
    """The same with long results, so that there is something to manage."""
    out = []
    for message in messages:
        if message["role"] == "tool" and isinstance(message["content"], str):
            message = {**message, "content": "\n".join(f"{n} {message['content']}" for n in range(factor))}
        elif message["role"] == "user" and isinstance(message["content"], list):
            blocks = [
                {**b, "content": "\n".join(f"{n} {b['content']}" for n in range(factor))}
                if b["type"] == "tool_result" and isinstance(b.get("content"), str)
                else b
                for b in message["content"]
            ]
            message = {**message, "content": blocks}
        out.append(message)
    return out


def recorded_texts(messages: list[dict[str, Any]], name: str) -> list[str]:
    form = format_named(name)
    read = [m for n, given in enumerate(messages) for m in form.decode(given, index=n)]
    return [p.text for m in read for p in m.parts if isinstance(p, Text) and p.text]


def archived_texts(cm: ContextManager) -> str:
    ids = [item["id"] for item in cm.observe()["active_context"]] + list(cm.observe()["archive"].values())
    return "\n\0".join(cm.recall(one) or "" for one in ids)


def valid(messages: list[dict[str, Any]], name: str) -> None:
    """What the API asks of any conversation, read off the dicts alone."""
    open_calls: list[str] = []
    roles = []
    for message in messages:
        roles.append(message["role"])
        if name == "openai":
            if message["role"] == "tool":
                assert message["tool_call_id"] in open_calls
                open_calls.remove(message["tool_call_id"])
            else:
                assert open_calls == []
                open_calls = [c["id"] for c in message.get("tool_calls", ())]
        else:
            blocks = message["content"] if isinstance(message["content"], list) else []
            if message["role"] == "user":
                answers = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
                assert sorted(answers) == sorted(open_calls)
                open_calls = []
            else:
                open_calls = [b["id"] for b in blocks if b["type"] == "tool_use"]
            assert message["content"]
    assert open_calls == []
    if name == "anthropic":
        said = [role for role in roles if role != "system"]
        assert all(a != b for a, b in pairwise(said))
        assert said[:1] in ([], ["user"])


@pytest.mark.parametrize("name", ["openai", "anthropic"])
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=15)
@given(data=st.data())
def test_what_is_sent_is_valid_and_fits_and_everything_said_can_be_recalled(name, data):
    messages = larger(data.draw(CONVERSATIONS[name]), data.draw(st.sampled_from([1, 20, 80])))
    cm = ContextManager(
        data.draw(st.sampled_from(["rules", "mask(keep=1)", "none", lambda _seen: {"action": "compact"}])),
        max_tokens=data.draw(st.sampled_from([600, 2_000, 20_000])),
        format=name,
    )
    for message in messages:
        proposed = cm.step(message)
        if data.draw(st.booleans()):
            cm.execute(proposed)
        for action in data.draw(st.lists(ACTION, max_size=2)):
            outcome = cm.execute(action)
            assert outcome["done"] or outcome["problems"] or outcome["action"] == "keep", outcome
            assert outcome["done"] or outcome["next"], outcome
    with suppress(ContextFloor):
        valid(cm.messages(), name)
        seen = cm.observe()
        assert seen["used_tokens"] <= seen["budget"]["hard"]
    everything = archived_texts(cm)
    assert [text for text in recorded_texts(messages, name) if text not in everything] == []
    again = ContextManager(max_tokens=1_000).load(cm.dump())
    assert (again.dump(), again.observe()) == (cm.dump(), cm.observe())


@given(JUNK)
def test_no_action_raises(junk):
    cm = ContextManager(max_tokens=2_000)
    cm.step({"role": "user", "content": "hello"})
    outcome = cm.execute(junk)
    assert outcome["done"] or outcome["next"]
