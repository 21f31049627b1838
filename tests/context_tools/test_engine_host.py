"""The host that an engine's tools have: names, markers, and many tools at once."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from support.engine_session import NOW, Session, call_of, host_of, lines, model, run
from support.interleaving import doing
from trimtab.context.actions import Action
from trimtab.context.embed.log_in_memory import MemoryLog
from trimtab.context.engine import Engine
from trimtab.context.markers import hides
from trimtab.context.stores.memories import Memories
from trimtab.context.stores.notes import MemoDict
from trimtab.context.tools import engine_host
from trimtab.context.tools.engine_host import EngineHost
from trimtab.context.window.view import View
from trimtab.types.edits import Elide, Offload
from trimtab.types.messages import Assistant, Text, ToolResult, user
from trimtab.types.models import ModelRequest


def host_over(view: Callable[[], View], **more: object) -> EngineHost:
    engine = Engine(model(), session_id="s")
    log = MemoryLog()
    memories = Memories(None, now=lambda: NOW, redact=lambda text: text)
    request = ModelRequest(engine.model, ())
    drive = more.pop("drive", lambda plan: run(plan, log))
    return EngineHost(engine, view, lambda: request, drive, MemoDict(now=lambda: NOW), memories, **more)


def read(view: View, entry_id: str, call_id: str, text: str, *, handle: str | None = None) -> View:
    view = view.with_message(f"a-{call_id}", Assistant((call_of(call_id, "read", {"path": call_id}),), "tool_use"))
    return view.with_message(entry_id, ToolResult(call_id, "read", (Text(text),), is_error=False, handle=handle))


# Names


def doubled() -> View:
    """Two entries of one id: an archive names the second one with its line."""
    view = View().with_message("u", user("begin"))
    return read(read(view, "e7", "c1", "first"), "e7~9", "c2", "second", handle="r2")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("e7", "first"),
        ("e7~9", "second"),
        ("[e7~9]", "second"),
        ("e7~4kq2m7xa", "first"),
        ("e7~9~4kq2m7xa", "second"),
        ("e7~9#0", "second"),
        (" [r2~4kq2m7xa: read, 4 tokens", "second"),
        ("the long one", "second"),
        ("a~b", "first"),
        ("[a~b~4kq2m7xa]", "first"),
        ("", None),
        ("~", None),
        ("nothing~9", None),
    ],
)
def test_a_name_is_found_with_whatever_a_model_copies_along(name: str, text: str | None) -> None:
    host = host_over(doubled, labels=lambda: {"e7~9": "the long one", "e7": "a~b"})
    assert host.text_of(name) == text
    assert (host.resolve(name) is None) == (text is None)


# Markers


def stubbed(name: str) -> tuple[View, str]:
    """A conversation with one result, and the stub that an edit put in its place."""
    view = read(View().with_message("u", user("begin")), f"e-{name}", name, "body " * 400, handle=name)
    stub = f"[archived {name}~aaaaaaa{name[-1]}: read, 400 tokens; to read it: recall id={name}]"
    assert hides(stub) is not None
    return view.with_edit(f"x-{name}", Elide(targets=(name,), texts={name: stub})), stub


def test_stubs_of_the_branch_in_use_are_known_though_it_has_as_many_edits_as_the_last_one() -> None:
    (first, one), (second, two) = stubbed("ra"), stubbed("rb")
    now = [first]
    host = host_over(lambda: now[0])
    assert host.refuse({"content": one}) is not None
    assert host.refuse({"content": f"see\n{two}"}) is None
    now[0] = second
    assert host.refuse({"content": f"see\n{two}"}) is not None


@pytest.mark.parametrize(
    "shown", ['{"path": "f"}', "}}}", "", "[]", '["x", "y"]', '{"a": "f", "b": "y"}', "[" * 100_000]
)
def test_an_offload_that_does_not_fit_its_call_stops_no_tool(shown: str) -> None:
    call = Assistant((call_of("c", "write", {"path": "f", "content": "y"}),), "tool_use")
    view = View().with_message("u", user("begin")).with_message("a", call)
    view = view.with_edit("x", Offload(targets=("a#0",), arguments={"a#0": shown}))
    assert host_over(lambda: view).refuse({"content": "hi"}) is None


# Many at once


@contextmanager
def switching() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def together(*doing: Callable[[], object]) -> None:
    start = threading.Barrier(len(doing))
    failed: list[BaseException] = []

    def go(do: Callable[[], object]) -> None:
        start.wait()
        try:
            do()
        except BaseException as problem:
            failed.append(problem)

    threads = [threading.Thread(target=go, args=(do,)) for do in doing]
    with switching():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failed == []


def test_a_search_between_any_two_lines_of_another_leaves_nothing_out() -> None:
    line, came = 0, True
    while came:
        short = read(read(View().with_message("u", user("begin")), "e1", "c1", "needle_1"), "e2", "c2", "needle_2")
        long = read(short, "e3", "c3", "needle_3")
        now = [short]
        host = host_over(lambda now=now: now[0])
        _, came = doing(
            lambda host=host: host.search("needle_1", 1),
            lambda host=host: host.search("needle_2", 1),
            code=engine_host,
            locked=host._guard.locked,
            line=line,
        )
        now[0] = long
        assert [[hit.id for hit in host.search(f"needle_{n}", 1)] for n in (1, 2, 3)] == [["c1"], ["c2"], ["c3"]]
        line += 1
    assert line > 3


def test_whatever_asks_the_engine_takes_the_view_in_its_own_turn() -> None:
    session = Session(Engine(model(), session_id="s"))
    session.say("begin")
    calls = session.work(lines(1_500), lines(1_500, seed=1))
    driving = False

    def view() -> View:
        assert driving, "the view was taken before the turn"
        return session.view

    def drive(plan):
        nonlocal driving
        assert not driving
        driving = True
        try:
            return run(plan, session.log)
        finally:
            driving = False

    host = host_over(view, drive=drive)
    assert [outcome.done for outcome in host.act([Action("elide", (call,)) for call in calls])] == [True, True]
    assert host.status().step == 1


def test_of_two_wishes_for_one_item_that_come_together_the_second_is_told_that_it_is_done_already() -> None:
    session = Session(Engine(model(), session_id="s"))
    session.say("begin")
    (call,) = session.work(lines(1_500))
    host = host_of(session)
    turn, outcomes, waiting = threading.Lock(), [], threading.Semaphore(0)
    inner = host.drive

    def drive(plan):
        waiting.release()  # both have come before either has its turn
        with turn:
            return inner(plan)

    host.drive = drive
    turn.acquire()
    threads = [threading.Thread(target=lambda: outcomes.extend(host.act([Action("elide", (call,))]))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in threads:
        waiting.acquire()
    turn.release()
    for thread in threads:
        thread.join()
    assert sorted(outcome.done for outcome in outcomes) == [False, True]
    assert len(session.edits) == 1


def test_memos_without_a_folder_lose_no_version_to_another_thread() -> None:
    memos = MemoDict(now=lambda: NOW)

    def write(name: str) -> None:
        for number in range(200):
            memos.write("shared", f"{name} {number}")
            memos.write(f"{name} {number}", "own")
            memos.infos()
            memos.history()

    together(*(lambda name=name: write(name) for name in "ab"))
    versions = [memo.info.version for memo in memos.history() if memo.info.key == "shared"]
    assert versions == list(range(1, 401))
    assert len(memos.infos()) == 401


def test_a_search_does_not_find_the_searches_before_it() -> None:
    view = read(View().with_message("u", user("begin")), "e1", "c1", "order 20417 charged 0")
    asked = Assistant((Text("Which one?"), call_of("c2", "recall", {"query": "charged 0"})), "tool_use")
    view = view.with_message("a2", asked)
    view = view.with_message("e2", ToolResult("c2", "recall", (Text("hits for 'charged 0'"),), is_error=False))
    assert [hit.id for hit in host_over(lambda: view).search("charged 0", 9)] == ["c1"]
    assert [hit.id for hit in host_over(lambda: view).search("Which one", 9)] == ["a2"]
