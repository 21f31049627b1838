"""A call that nobody will answer: what comes behind it is counted, checked, found and followed as if it weren't there."""

from collections.abc import Callable
from typing import Any

import pytest

from support.engine_session import NOW, call_of, model, run
from trimtab.context.counting.anchor import Meter
from trimtab.context.cycle import faults
from trimtab.context.embed.log_in_memory import MemoryLog
from trimtab.context.engine import Engine
from trimtab.context.seeing.references import References
from trimtab.context.stores.memories import Memories
from trimtab.context.stores.notes import MemoDict
from trimtab.context.tools.engine_host import EngineHost
from trimtab.context.window.view import View
from trimtab.types.messages import Assistant, Text, ToolResult, user
from trimtab.types.models import ModelRequest


def asking(call_id: str, command: str = "ls") -> Assistant:
    return Assistant((call_of(call_id, "bash", {"command": command}),), "tool_use")


def answer(call_id: str, text: str) -> ToolResult:
    return ToolResult(call_id, "bash", (Text(text),), is_error=False)


def opening(*calls: str) -> View:
    view = View().with_message("u0", user("begin"))
    said = Assistant(tuple(call_of(call, "bash", {"command": call}) for call in calls), "tool_use")
    return view.with_message("a0", said)


def passed() -> View:
    return opening("gone").with_message("u1", user("never mind"))


def parked() -> View:
    return opening("gone").with_parked("gone").with_message("u1", user("meanwhile"))


def answered_late() -> View:
    return parked().with_message("t0", answer("gone", "at last: late_needle_77"))


def one_of_two() -> View:
    return opening("there", "gone").with_message("t0", answer("there", "early")).with_message("u1", user("go on"))


WAYS = pytest.mark.parametrize("way", [passed, parked, answered_late, one_of_two])


def worked(view: View, number: int) -> View:
    view = view.with_message(f"a{number}", asking(f"c{number}", f"cat file_{number}.txt"))
    return view.with_message(f"t{number}", answer(f"c{number}", f"the needle is needle_{number:04d}"))


@WAYS
def test_a_later_step_counts_and_checks_only_what_is_new(
    way: Callable[[], View], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, log = Engine(model(200_000), session_id="s"), MemoryLog()
    request = ModelRequest(engine.model, ())
    view = worked(way(), 1)
    run(engine.prepare(view, request), log)
    engine.account.shape(engine.look(view, request))
    checked: list[int] = []
    validate, key = faults.validate, type(engine.account)._key
    monkeypatch.setattr(faults, "validate", lambda *a, **k: checked.append(1) or validate(*a, **k))
    monkeypatch.setattr(Meter, "sync", lambda *_: pytest.fail("everything was counted again"))
    keyed: list[Any] = []
    monkeypatch.setattr(type(engine.account), "_key", lambda self, m: keyed.append(m) or key(self, m))
    for number in range(2, 6):
        view = worked(view, number)
        run(engine.prepare(view, request), log)
        engine.account.shape(engine.look(view, request))
    assert checked == []
    assert keyed == list(view.messages()[-8:])


@WAYS
def test_what_comes_behind_it_is_found_and_its_use_is_followed(way: Callable[[], View]) -> None:
    view = worked(way(), 1)
    host, references = host_over(lambda: view), References()
    assert results(host, "needle_0001") == ["c1"]
    references.update(view)
    view = worked(view.with_message("a2", asking("c2", "grep needle_0001")).with_message("t2", answer("c2", "ok")), 3)
    references.update(view)
    assert references.uses["t1"].count == 1
    assert results(host, "needle_0003") == ["c3"]


@pytest.mark.parametrize("way", [passed, one_of_two])
def test_an_answer_that_comes_all_the_same_is_found_and_followed(way: Callable[[], View]) -> None:
    view = worked(way(), 1)
    host, references = host_over(lambda: view), References()
    references.update(view)
    assert results(host, "late_needle_77") == []
    view = view.with_message("t", answer("gone", "at last: late_needle_77"))
    assert results(host, "late_needle_77") == ["gone"]
    references.update(view)
    view = view.with_message("a2", asking("c2", "grep late_needle_77")).with_message("t2", answer("c2", "ok"))
    references.update(view)
    assert references.uses["t"].count == 1


def test_an_answer_that_is_still_expected_is_waited_for() -> None:
    view = opening("slow", "quick").with_message("t0", answer("quick", "quick_needle_1"))
    host, references = host_over(lambda: view), References()
    references.update(view)
    assert results(host, "interrupted") == []
    view = view.with_message("t1", answer("slow", "slow_needle_22"))
    assert results(host, "slow_needle_22") == ["slow"]
    references.update(view)
    view = view.with_message("a2", asking("c2", "grep slow_needle_22")).with_message("t2", answer("c2", "ok"))
    references.update(view)
    assert references.uses["t1"].count == 1


@pytest.mark.parametrize(
    ("view", "waits"),
    [
        (View(), False),
        (opening("gone"), True),
        (opening("gone").with_parked("gone"), True),
        (passed(), False),
        (parked(), False),
        (answered_late(), False),
        (one_of_two(), False),
        (passed().with_message("a1", asking("c1")), True),
        (passed().with_message("a1", asking("c1")).with_message("t1", answer("c1", "ok")), False),
    ],
)
def test_a_view_waits_only_for_its_newest_answer(view: View, waits: bool) -> None:
    assert view.is_waiting is waits


def results(host: EngineHost, query: str) -> list[str]:
    return [hit.id for hit in host.search(query, 5) if hit.exact and hit.kind == "result"]


def host_over(view: Callable[[], View]) -> EngineHost:
    engine = Engine(model(), session_id="s")
    log = MemoryLog()
    memories = Memories(None, now=lambda: NOW, redact=lambda text: text)
    request = ModelRequest(engine.model, ())
    return EngineHost(engine, view, lambda: request, lambda plan: run(plan, log), MemoDict(now=lambda: NOW), memories)
