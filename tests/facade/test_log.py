"""The log of the steps: what was seen and decided, in a size that a long run can afford."""

import json

import pytest

from support.talks import answer, opening, reading, said, talk
from trimtab.context import ContextManager
from trimtab.context.embed import step_log

pytestmark = pytest.mark.parametrize("name", ["openai", "anthropic"])


def first_result(seen):
    return [{"action": "elide", "target": i["id"]} for i in seen["active_context"] if i["kind"] == "result" and i["state"] == "full"][:1]  # fmt: skip


def test_a_record_holds_sizes_budget_and_the_state_of_each_item_but_no_text(name):
    cm = ContextManager(first_result, max_tokens=50_000, format=name)
    cm.execute(cm.step(talk(name, 2)))
    cm.step(answer(name))
    seen = cm.observe()
    obs = cm.log[-1]["obs"]
    assert list(obs) == ["used_tokens", "max_tokens", "budget", "active_context"]
    assert all(obs[field] == seen[field] for field in ("used_tokens", "max_tokens", "budget"))
    assert obs["active_context"] == [{f: i[f] for f in ("id", "kind", "state")} for i in seen["active_context"]]
    assert "stub" in {row["state"] for row in obs["active_context"]}
    assert "line 50 of file" not in json.dumps(cm.log)


def test_a_summary_in_view_is_a_row_of_the_log_too(name):
    cm = ContextManager(lambda _seen: None, max_tokens=50_000, format=name)
    cm.step([*talk(name, 4), answer(name)])
    outcome = cm.execute({"action": "compact", "params": {"keep_tokens": 0}})
    assert outcome["done"], outcome
    cm.step(answer(name))
    rows = [{f: i[f] for f in ("id", "kind", "state")} for i in cm.observe()["active_context"]]
    assert cm.log[-1]["obs"]["active_context"] == rows
    assert "summary" in {row["kind"] for row in rows}


def test_an_item_that_does_not_change_is_written_once_however_many_steps_see_it(name):
    cm = ContextManager("none", max_tokens=200_000, format=name)
    sizes = []
    for number in range(60):
        cm.step([opening(), *reading(name, number)] if not number else reading(name, number))
        if number in (19, 39, 59):
            sizes.append(len(json.dumps(json.loads(cm.dump())["log"])))
    assert sizes[2] - sizes[1] < 1.2 * (sizes[1] - sizes[0])
    rows = {id(row) for record in cm.log for row in record["obs"]["active_context"]}
    assert len(rows) == len(cm.log[-1]["obs"]["active_context"])


def test_the_log_keeps_the_last_steps_and_counts_the_rest(name, monkeypatch):
    monkeypatch.setattr(step_log, "KEPT", 5)
    cm = ContextManager("none", max_tokens=50_000, format=name)
    for number in range(8):
        cm.step(opening() if not number else answer(name))
    assert (len(cm.log), cm.logged) == (5, 8)
    assert [len(record["obs"]["active_context"]) for record in cm.log] == [4, 5, 6, 7, 8]


def test_a_log_comes_back_as_it_was(name):
    cm = ContextManager(first_result, max_tokens=50_000, format=name)
    for message in talk(name, 4):
        cm.run(message)
    cm.execute({"action": "drop", "target": "call_1"})
    cm.step(answer(name))
    other = ContextManager(first_result, max_tokens=1_000).load(cm.dump())
    assert (other.log, other.logged) == (cm.log, cm.logged)
    assert other.step(answer(name)) == cm.step(answer(name))
    assert other.log == cm.log


def test_an_emptied_log_changes_nothing_but_the_log(name):
    cm = ContextManager(first_result, max_tokens=50_000, format=name)
    wanted = cm.step(talk(name, 2))
    cm.log.clear()
    assert cm.execute(wanted)["done"]
    assert "policy:first_result" in cm.dump()
    cm.step(answer(name))
    assert (len(cm.log), cm.logged) == (1, 2)
    assert "line 50 of file 0" not in said(cm.messages())
    assert ContextManager(first_result, max_tokens=1_000).load(cm.dump()).log == cm.log
