"""What a policy is told about single items comes true in a running engine: marks that are due, newer copies, what somebody brought back, what can't come back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from support.engine_session import Session, lines, model
from trimtab.context.actions import Action
from trimtab.context.budget import Thresholds
from trimtab.context.engine import Engine
from trimtab.context.policies.base import Manners
from trimtab.context.seeing.observation import ItemFacts, Observation
from trimtab.context.settings import EngineSettings
from trimtab.types.edits import Restore
from trimtab.types.entries import RevertEntry


@dataclass(frozen=True, slots=True)
class Takes:
    """A policy that hides every whole result that is so."""

    so: Callable[[ItemFacts], bool]
    name: str = "takes"
    manners: Manners = field(default=Manners())

    def decide(self, observation: Observation) -> Sequence[Action]:
        ids = [i.id for i in observation.items if i.kind == "result" and i.state == "full" and self.so(i)]
        return [Action("elide", tuple(ids), reason="it is so")] if ids else []


def reading(policy: object = "rules", *, window: int = 20_000, **settings: object) -> Session:
    """A session in a window that is small, with a policy that is asked early."""
    thresholds = Thresholds(soft=0.1, target=0.05) if policy != "rules" else Thresholds()
    behaviour = EngineSettings(thresholds=thresholds, cooldown=0, min_gain=0.0, **settings)  # type: ignore[arg-type]
    session = Session(Engine(model(window), session_id="s", policy=policy, settings=behaviour))  # type: ignore[arg-type]
    session.say("Fix the failing test")
    return session


def read(session: Session, number: int, *, path: str = "", tokens: int = 1_100) -> str:
    """One request and one file; returns the id of the call."""
    session.prepare()
    (call,) = session.work(lines(tokens, seed=number), name="read", arguments={"path": path or f"src/{number}.py"})
    return call


def state(session: Session, call: str) -> str:
    """How the result of a call is shown."""
    address = session.view.find(call)
    assert address is not None
    return session.view.slots[address.index].state


# Marks


@pytest.mark.parametrize("after", [1, 2, 4])
def test_a_mark_is_due_after_its_steps_and_not_before(after: int) -> None:
    session = reading(Takes(lambda item: item.expired))
    for number in range(4):
        read(session, number)
    session.act(Action("expire", ("c2",), {"after_steps": after}))
    shown = []
    for number in range(4, 10):
        session.prepare()
        shown.append(state(session, "c2"))
        session.work(lines(1_100, seed=number))
    assert shown == ["full"] * after + ["stub"] * (6 - after)
    assert {state(session, f"c{n}") for n in (1, 3, 4)} == {"full"}


@pytest.mark.parametrize("marked", [True, False])
def test_rules_take_what_is_marked_though_it_is_young(marked: bool) -> None:
    session = reading()
    young = ""
    for number in range(40):
        if session.edits and session.edits[-1].author == "policy:rules":
            break
        session.prepare()
        if young and not session.edits:
            assert state(session, young) == "full"
        (young,) = session.work(lines(1_100, seed=number), name="read", arguments={"path": f"src/{number}.py"})
        if marked:
            session.act(Action("expire", (young,), {"after_steps": 0}))
    reasons = {entry.reason for entry in session.edits if entry.author == "policy:rules"}
    assert ("it was marked to go by now" in reasons) == marked


def test_a_mark_that_waits_for_a_newer_result_is_due_when_there_is_one() -> None:
    session = reading(Takes(lambda item: item.expired))
    first = read(session, 0, path="src/a.py")
    other = read(session, 1, path="src/b.py")
    session.act(Action("expire", (first, other), {"when_superseded": True}))
    for number in range(2, 6):
        read(session, number)
    session.prepare()
    assert (state(session, first), state(session, other)) == ("full", "full")
    read(session, 6, path="src/a.py")
    session.prepare()
    assert (state(session, first), state(session, other)) == ("stub", "full")


# Newer copies


def test_a_result_that_a_newer_one_replaces_is_known_by_it_and_the_newer_one_stays() -> None:
    session = reading(Takes(lambda item: item.superseded_by is not None))
    first = read(session, 0, path="src/a.py")
    others = [read(session, number) for number in range(1, 5)]
    session.prepare()
    assert session.edits == []
    newer = read(session, 5, path="src/a.py")
    session.prepare()
    assert [state(session, call) for call in (first, *others, newer)] == ["stub", *["full"] * 4, "full"]


def test_rules_take_old_copies_first_and_say_so() -> None:
    session = reading()
    calls: list[str] = []
    while not session.edits:
        calls.append(read(session, len(calls), path="" if len(calls) % 2 else "src/a.py"))
        session.prepare()
    first = session.edits[0]
    assert first.reason == "a newer result replaces it"
    copies = calls[::2]
    taken = {address.index for name in first.edit.targets if (address := session.view.find(name)) is not None}
    known = [address.index for call in copies if (address := session.view.find(call)) is not None]
    assert taken == set(known[:-1]), "all old copies, and nothing else"
    assert state(session, copies[-1]) == "full"


# What somebody brought back


@pytest.mark.parametrize("how", ["reload", "revert"])
@pytest.mark.parametrize("immune", [1, 3, 5])
def test_what_was_brought_back_is_left_alone_for_that_many_requests(immune: int, how: str) -> None:
    session = reading(Takes(lambda item: item.call_id == "c2" and item.age > 1), immune=immune)
    for number in range(5):
        read(session, number)
    session.prepare()
    assert state(session, "c2") == "stub"
    if how == "reload":
        session.act(Action("reload", ("c2",)))
    else:
        address = session.view.find("c2")
        assert address is not None
        hiding = [a.id for a in session.view.applied if address.index in a.slots]
        for edit in hiding:
            assert not isinstance(session.revert(edit), str)
    shown = []
    for number in range(5, 5 + immune + 2):
        session.prepare()
        shown.append(state(session, "c2"))
        session.work(lines(1_100, seed=number))
    assert shown == ["full"] * immune + ["stub"] * 2


@pytest.mark.parametrize("author", ["model", "policy:summary"])
def test_a_compaction_leaves_out_what_was_brought_back_unless_the_user_wants_it(author: str) -> None:
    session = reading("none", window=100_000)
    for number in range(6):
        session.work(lines(1_100, seed=number))
    session.act(Action("elide", ("c2",)))
    session.act(Action("reload", ("c2",)))
    assert any(isinstance(entry.edit, Restore) for entry in session.edits)
    assert session.act(Action("compact", (), {"keep_tokens": 0}), author=author).done
    assert (state(session, "c1"), state(session, "c2")) == ("gone", "full")
    assert session.act(Action("compact", (), {"keep_tokens": 0}), author="user").done
    assert state(session, "c2") == "gone"


# What was fetched again

GREEDY = Takes(lambda item: item.age > 0, manners=Manners(guarded=False))
"""Hides whatever an answer has been given to, whether that pays or not."""


def fetching(session: Session, how: str, *, tokens: int = 1_100) -> str:
    """One request that fetches again what `c2` read; returns the id of the call."""
    asks = {
        "recall": ("recall", {"id": "c2"}),
        "search": ("recall", {"query": "what stood in that file"}),
        "read": ("read", {"path": "src/1.py"}),
    }
    name, arguments = asks[how]
    (call,) = session.work(lines(tokens, seed=900 + session.view.step), name=name, arguments=arguments)
    return call


@pytest.mark.parametrize("how", ["recall", "search", "read"])
@pytest.mark.parametrize("immune", [1, 3, 5])
def test_what_was_fetched_again_is_left_alone_for_that_many_requests(immune: int, how: str) -> None:
    session = reading(GREEDY, immune=immune)
    for number in range(4):
        read(session, number)
    session.prepare()
    assert state(session, "c2") == "stub"
    call = fetching(session, how)
    shown = []
    for number in range(5, 5 + immune + 2):
        session.prepare()
        shown.append(state(session, call))
        session.work(lines(1_100, seed=number))
    assert shown == ["full"] * immune + ["stub"] * 2


@pytest.mark.parametrize("how", ["recall", "read"])
def test_what_is_fetched_twice_is_left_alone_twice(how: str) -> None:
    session = reading(GREEDY, immune=2)
    for number in range(4):
        read(session, number)
    for time in (1, 2):
        call = fetching(session, how)
        shown = []
        for number in range(4):
            session.prepare()
            shown.append(state(session, call))
            read(session, 50 * time + number)
        assert shown == ["full", "full", "stub", "stub"]


def test_a_row_of_fetches_stays_until_its_last_has_been_used() -> None:
    session = reading(GREEDY, window=60_000, immune=2)
    for number in range(10):
        read(session, number)
    session.prepare()
    calls = []
    for number in range(1, 7):
        (call,) = session.work(lines(1_100, seed=70 + number), name="recall", arguments={"id": f"c{number}"})
        calls.append(call)
        session.prepare()
        assert [state(session, one) for one in calls] == ["full"] * len(calls)
    session.work(lines(1_100, seed=90))
    session.prepare()
    assert [state(session, one) for one in calls] == ["full"] * len(calls)
    session.work(lines(1_100, seed=91))
    session.prepare()
    assert [state(session, one) for one in calls] == ["stub"] * len(calls)


def test_a_row_that_goes_on_and_on_is_left_alone_only_so_far_back() -> None:
    session = reading(GREEDY, window=60_000, immune=1)
    for number in range(12):
        read(session, number)
    session.prepare()
    calls = []
    for number in range(1, 11):
        (call,) = session.work(lines(1_100, seed=70 + number), name="recall", arguments={"id": f"c{number}"})
        calls.append(call)
        session.prepare()
    assert [state(session, call) for call in calls] == ["stub"] * 5 + ["full"] * 5


def test_what_is_read_again_although_it_stands_there_is_no_fetch() -> None:
    session = reading(Takes(lambda item: item.call_id == "c3" and item.age > 0), immune=3)
    read(session, 1)
    read(session, 2)
    (call,) = session.work(lines(1_100, seed=1), name="read", arguments={"path": "src/1.py"})
    assert call == "c3"
    session.prepare()
    assert state(session, call) == "full"
    session.work(lines(1_100, seed=5))
    session.prepare()
    assert state(session, call) == "stub"


def test_fetching_more_than_the_window_holds_stops_nothing() -> None:
    session = reading(GREEDY, immune=5)
    for number in range(6):
        read(session, number)
    for _ in range(30):
        prepared = session.prepare()
        look = session.engine.look(prepared.view, session.request)
        assert look.used <= session.engine.budget.hard
        fetching(session, "recall", tokens=2_500)


# What can't come back


@pytest.mark.parametrize(
    "wish", [Action("elide", tuple(f"c{n}" for n in range(1, 11))), Action("compact", (), {"keep_tokens": 0})]
)
def test_an_edit_whose_undoing_would_not_fit_stays_and_the_refusal_has_the_figures(wish: Action) -> None:
    session = reading(Takes(lambda item: False))
    for number in range(11):
        read(session, number)
    (done,) = session.act(wish).done
    for number in range(11, 18):
        read(session, number)
    shown, hard = session.view.messages(), session.engine.budget.hard
    refusal = session.revert(done.entry_id)
    assert isinstance(refusal, str)
    before = f"without edit {done.entry_id!r} the context has "
    assert refusal.startswith(before)
    assert int(refusal.removeprefix(before).split()[0].replace(",", "")) > hard
    assert refusal.endswith(f" tokens, and {hard:,} may be sent")
    assert session.view.messages() == shown
    assert not any(isinstance(entry.value, RevertEntry) for entry in session.log.archive)


def test_what_fits_again_may_come_back() -> None:
    session = reading(window=60_000)
    for number in range(8):
        read(session, number)
    (done,) = session.act(Action("elide", ("c1", "c2", "c3"))).done
    assert not isinstance(session.revert(done.entry_id), str)
    assert {state(session, f"c{n}") for n in (1, 2, 3)} == {"full"}
