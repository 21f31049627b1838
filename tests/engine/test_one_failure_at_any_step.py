"""One thing fails once, at any step: the session goes on, every request is valid, what was recorded is intact, and the log or a note says why.

    kind of failure × the 1st, 2nd, 3rd or 5th ask of its kind × policy × family of APIs

Of these combinations every second one is lived, chosen so that any three of the four meet in every way: a failure that takes a kind, an ask and a policy to
show is met in one family or the other.

What fails again and again is in `test_what_fails`. Here the world is well but for one answer, so that what came before and what comes after are
both there: a summary that is refused stands between two that were taken, a write that fails between two that didn't.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import pytest

from support.bad_summaries import TASK, bad_summaries, good_summary
from support.engine_session import Outside, Session, folded_again, host_of, lines, model, shown_texts
from support.wire_rules import broken, sent_body
from trimtab.context.actions import Action
from trimtab.context.asks import Advice, Answer, Failed, Kept
from trimtab.context.editing.compacting import Compactor
from trimtab.context.engine import Engine
from trimtab.context.naming import body_of
from trimtab.context.policies.base import Manners, manners_of
from trimtab.context.policies.fallback import Fallback
from trimtab.context.policies.registry import find_policy
from trimtab.context.policies.remote import Remote
from trimtab.context.seeing.observation import Observation
from trimtab.context.settings import EngineSettings
from trimtab.context.summary.job import Summariser
from trimtab.context.validate import rules_for, validate
from trimtab.types.edits import Compact
from trimtab.types.entries import MessageEntry
from trimtab.types.errors import ContextFloor
from trimtab.types.models import Api

ASKS = (1, 2, 3, 5)
POLICIES = ("rules", "summary")
FAMILIES: tuple[Api, ...] = ("anthropic", "openai-chat")
_STEPS = 17
_PATIENCE_S = 0.05


@dataclass(slots=True)
class Once:
    """Fails at the ask number `at`."""

    at: int
    asked: int = 0

    def due(self) -> bool:
        """Whether this ask is the one."""
        self.asked += 1
        return self.asked == self.at


@dataclass(slots=True)
class Theirs:
    """A policy of somebody else: it wants what `inner` wants, but for one time."""

    inner: Any
    once: Once
    wrong: Callable[[], Any]

    @property
    def name(self) -> str:
        return "theirs"

    @property
    def manners(self) -> Manners:
        return manners_of(self.inner)

    def decide(self, observation: Observation) -> Any:
        return self.wrong() if self.once.due() else self.inner.decide(observation)


@dataclass(slots=True)
class Lived:
    """What became of a session."""

    session: Session
    once: Once
    notes: list[str] = field(default_factory=list)
    stops: list[str] = field(default_factory=list)
    went_out: int = 0

    def said(self) -> str:
        """Everything that the notes and the log say."""
        rejected = [e.edit.meta.get("rejected") for e in self.session.edits if isinstance(e.edit, Compact)]
        return "\n".join(map(str, [*self.notes, *self.session.remarks, *rejected]))


def raising() -> Any:
    raise ValueError("boom")


released = threading.Event()


@pytest.fixture(autouse=True, scope="module")
def _nobody_waits_longer_than_the_tests() -> Iterator[None]:
    yield
    released.set()


POLICY_FAILURES: dict[str, tuple[Callable[[], Any], str]] = {
    "raises": (raising, "ValueError: boom"),
    "hangs": (lambda: released.wait(30) and (), f"no decision within {_PATIENCE_S:g} s"),
    "returns nothing": (lambda: None, "TypeError"),
    "returns what is no action": (lambda: [7, {"action": "dance"}], "an action is an object"),
    "names nothing that is there": (lambda: [{"action": "elide", "targets": ["zz"]}], "names nothing that is there"),
}
REMOTE_FAILURES: dict[str, tuple[Answer, str]] = {
    "unreachable": (Failed("no route to host"), "no route to host"),
    "answers with nonsense": (Advice((None, "elide")), "an action is an object"),
    "answers something else": (Kept({}), "unexpected answer Kept"),
}


def session_with(policy: Any, api: Api, outside: Outside, *, tools: Any = "archive") -> Session:
    engine = Engine(
        model(6_000, api=api, max_output=500),
        session_id="s",
        policy=policy,
        settings=EngineSettings(tools=tools),
        way_back=(lambda slot: f"/kept/{slot.id}.txt") if tools == "off" else None,
        compactor=lambda: Compactor(Summariser("p/small", window=100_000, max_output=2_000), wanted_tokens=600),
    )
    session = Session(engine, outside=outside)
    session.say(TASK)
    return session


def live(session: Session, once: Once, *, by_hand: bool = False) -> Lived:
    """Steps with a result each; `by_hand`: now and then a person compacts. Whatever may leave must be right."""
    lived = Lived(session, once)
    for number in range(_STEPS):
        if by_hand and number % 2 == 1:
            outcome = session.act(Action("compact", (), {"keep_tokens": 600}))
            lived.notes += [outcome.failed, *outcome.refused]
        session.outside.asked.clear()
        try:
            prepared = session.prepare()
        except ContextFloor as stop:
            lived.stops.append(str(stop))
            continue
        lived.notes += prepared.notes
        lived.went_out += 1
        messages, info = prepared.request.messages, session.engine.model
        assert validate(messages, rules=rules_for(info)) == ()
        assert broken(info.api, sent_body(info, messages)) == []
        assert session.engine.look(prepared.view, session.request).used <= session.engine.budget.hard
        assert TASK in shown_texts(messages)
        session.work(lines(700, seed=number))
    return lived


def assert_went_on(lived: Lived, why: str) -> None:
    """The failure happened, it was told, and nothing else came of it."""
    assert lived.once.asked >= lived.once.at
    assert why in lived.said()
    assert lived.stops == []
    assert lived.went_out == _STEPS
    assert lived.session.edits
    assert folded_again(lived.session.log).messages() == lived.session.view.messages()
    host = host_of(lived.session)
    for entry in lived.session.log.archive.path():
        if isinstance(entry.value, MessageEntry):
            assert body_of(entry.value.message) in (host.text_of(entry.id) or "")


def matrix(kinds: Sequence[str]) -> Callable[[Any], Any]:
    """Each kind at each ask by each policy, in the family whose turn it is: every three of the four together, for half of the lives."""
    places = product(*map(range, map(len, (kinds, ASKS, POLICIES, FAMILIES))))
    chosen = [
        (kinds[kind], ASKS[at], POLICIES[policy], FAMILIES[family])
        for kind, at, policy, family in places
        if (kind + at + policy + family) % 2 == 0
    ]
    named = ["-".join((api, policy, str(at), kind)) for kind, at, policy, api in chosen]
    mark: Callable[[Any], Any] = pytest.mark.parametrize(("kind", "at", "policy", "api"), chosen, ids=named)
    return mark


@matrix(sorted(bad_summaries()))
def test_a_summary_that_fails(kind: str, api: Api, policy: str, at: int) -> None:
    once = Once(at)
    wrong, why = bad_summaries()[kind]
    outside = Outside(summarize=lambda _: wrong if once.due() else good_summary(tokens=250))
    lived = live(session_with(policy, api, outside), once, by_hand=True)
    assert_went_on(lived, why)
    assert {e.edit.mode for e in lived.session.edits if isinstance(e.edit, Compact)} == {"serialised", "digest"}


@matrix(["the disk is full"])
def test_a_write_that_fails(kind: str, api: Api, policy: str, at: int) -> None:
    once = Once(at)
    outside = Outside(
        record=lambda _: Failed(kind) if once.due() else None, summarize=lambda _: good_summary(tokens=250)
    )
    assert_went_on(live(session_with(policy, api, outside), once), kind)


@matrix(["the folder is gone"])
def test_a_body_that_cannot_be_kept_in_a_file(kind: str, api: Api, policy: str, at: int) -> None:
    once = Once(at)

    def keep(ask: Any) -> Answer:
        return Failed(kind) if once.due() else Kept({name: f"/kept/{name}.txt" for name in ask.texts})

    outside = Outside(keep=keep, summarize=lambda _: good_summary(tokens=250))
    assert_went_on(live(session_with(policy, api, outside, tools="off"), once), kind)


@matrix(sorted(POLICY_FAILURES))
def test_a_policy_that_fails(kind: str, api: Api, policy: str, at: int) -> None:
    once = Once(at)
    wrong, why = POLICY_FAILURES[kind]
    theirs = Fallback(Theirs(find_policy(policy), once, wrong), timeout_s=_PATIENCE_S if kind == "hangs" else 30.0)
    lived = live(session_with(theirs, api, Outside(summarize=lambda _: good_summary(tokens=250))), once)
    assert_went_on(lived, why)
    assert any(r["event"] == "policy_failed" and why in r["reason"] for r in lived.session.remarks)


@matrix(sorted(REMOTE_FAILURES))
def test_a_policy_elsewhere_that_fails(kind: str, api: Api, policy: str, at: int) -> None:
    once = Once(at)
    wrong, why = REMOTE_FAILURES[kind]
    inner = find_policy(policy)
    outside = Outside(
        consult=lambda ask: wrong if once.due() else Advice(tuple(inner.decide(ask.observation))),
        summarize=lambda _: good_summary(tokens=250),
    )
    lived = live(session_with(Remote(url="http://there.invalid"), api, outside), once)
    assert_went_on(lived, why)
    assert any(r["event"] == "policy_failed" and why in r["reason"] for r in lived.session.remarks)
