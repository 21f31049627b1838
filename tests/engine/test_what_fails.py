"""Each thing that the engine asks for may fail at any step: the session goes on, what was recorded stays as it was, and the log says why."""

import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from support.bad_summaries import TASK, bad_summaries, good_summary
from support.engine_session import Outside, Session, lines, model, shown_texts
from trimtab.context.actions import Action
from trimtab.context.asks import Advice, Answer, Consult, Failed, Keep, Record, Summary
from trimtab.context.editing.compacting import Compactor
from trimtab.context.engine import Engine
from trimtab.context.policies.fallback import Fallback
from trimtab.context.policies.remote import Remote
from trimtab.context.seeing.observation import Observation
from trimtab.context.settings import EngineSettings
from trimtab.context.summary.job import Summariser
from trimtab.types.edits import Compact
from trimtab.types.entries import CustomEntry, EditEntry
from trimtab.types.errors import ContextFloor
from trimtab.types.messages import Text


def working(engine: Engine, *, steps: int = 12, tokens: int = 1_500) -> Session:
    """A session whose window fills up: each step is prepared, answered, and brings a result."""
    session = Session(engine)
    session.say(TASK)
    for number in range(steps):
        session.prepare()
        session.work(lines(tokens, seed=number))
    return session


def policy_that(decide: Callable[[Observation], Any], name: str = "theirs") -> Any:
    class Theirs:
        @property
        def name(self) -> str:
            return name

        def decide(self, observation: Observation) -> Sequence[Action]:
            return decide(observation)

    return Theirs()


def raising(_: Observation) -> Any:
    raise ValueError("no such model")


@pytest.mark.parametrize(
    ("decide", "said"),
    [
        (raising, "ValueError: no such model"),
        (lambda _: None, "TypeError"),
        (lambda _: 7, "TypeError"),
        (lambda _: ["elide", {"action": "dance"}], "an action is an object"),
        (lambda _: itertools.repeat({"action": "keep"}), "more than 500 actions"),
        (lambda _: [{"action": "elide", "targets": ["nowhere"]}], "names nothing that is there"),
    ],
)
def test_a_policy_that_fails_gives_way_to_the_rules_and_the_log_says_why(decide: Any, said: str) -> None:
    session = working(Engine(model(), session_id="s", policy=policy_that(decide)), steps=30)
    assert shown_texts(session.prepare().request.messages).count(TASK) == 1
    reasons = [r["reason"] for r in session.remarks if r["event"] == "policy_failed"]
    assert reasons
    assert all(said in reason for reason in reasons)
    assert "it isn't asked any more" in reasons[-1]
    assert session.edits


def test_a_policy_that_hangs_is_left_behind() -> None:
    hanging = Fallback(policy_that(lambda _: time.sleep(30)), timeout_s=0.02)
    session = working(Engine(model(), session_id="s", policy=hanging))
    assert "no decision within 0.02 s" in session.remarks[0]["reason"]
    assert session.edits


def test_a_policy_elsewhere_that_fails_gives_way_to_the_rules() -> None:
    session = working(Engine(model(), session_id="s", policy=Remote(url="http://nowhere.invalid")))
    assert any("no policy is reachable" in r.get("reason", "") for r in session.remarks)
    assert session.edits


def test_advice_from_elsewhere_is_judged_like_any_other() -> None:
    def consult(ask: Consult) -> Answer:
        return Advice(
            ({"action": "elide", "targets": [i.id for i in ask.observation.items if i.kind == "result"][:6]}, 7)
        )

    session = Session(
        Engine(model(), session_id="s", policy=Remote(url="http://x.invalid")), outside=Outside(consult=consult)
    )
    session.say(TASK)
    for number in range(10):
        session.prepare()
        session.work(lines(1_500, seed=number))
    assert any(entry.author == "policy:remote" for entry in session.edits)


def failing_after(count: int) -> Callable[[Record], Answer | None]:
    """A store that writes `count` edits and no more; messages are another matter."""
    left = [count]

    def record(ask: Record) -> Answer | None:
        left[0] -= 1
        return None if left[0] >= 0 else Failed("disk full")

    return record


@pytest.mark.parametrize("count", range(4))
def test_where_the_log_cannot_be_written_nothing_leaves_the_window(count: int) -> None:
    session = Session(Engine(model(), session_id="s"), outside=Outside(record=failing_after(count)))
    session.say(TASK)
    stop = None
    for number in range(40):
        before = session.view.messages()
        recorded = len(session.view.applied)
        try:
            prepared = session.prepare()
        except ContextFloor as problem:
            stop = problem
            break
        if len(session.view.applied) == recorded:
            assert session.view.messages() == before
            assert prepared.view.messages() == before
        session.work(lines(1_500, seed=number))
    assert stop is not None
    assert "disk full" in str(stop)
    assert all(isinstance(e.value, EditEntry | CustomEntry) or e.type == "message" for e in session.log.archive)


def test_where_bodies_cannot_be_kept_in_files_nothing_is_hidden() -> None:
    settings = EngineSettings(tools="off")
    engine = Engine(model(), session_id="s", settings=settings, way_back=lambda slot: f"/kept/{slot.id}.txt")
    session = Session(engine, outside=Outside(keep=lambda _: Failed("the folder is gone")))
    session.say(TASK)
    for number in range(12):
        session.work(lines(1_500, seed=number))
    with pytest.raises(ContextFloor, match="the folder is gone"):
        session.prepare()
    assert session.edits == []
    assert any("the folder is gone" in str(r) for r in session.remarks)


def test_bodies_are_kept_before_they_are_hidden_where_the_model_cannot_recall() -> None:
    settings = EngineSettings(tools="off")
    session = working(Engine(model(), session_id="s", settings=settings, way_back=lambda slot: f"/kept/{slot.id}.txt"))
    kept: set[str] = set()
    for ask in session.outside.asked:
        if isinstance(ask, Keep):
            kept.update(ask.texts)
        if isinstance(ask, Record):
            hidden = [v.edit for v in ask.values if isinstance(v, EditEntry)]
            assert not hidden or kept


@pytest.mark.parametrize("kind", sorted(bad_summaries()))
def test_a_bad_summary_is_refused_and_a_digest_stands_in(kind: str) -> None:
    answer, why = bad_summaries()[kind]
    compactor = Compactor(summariser=Summariser("p/small", window=200_000, max_output=4_000))
    engine = Engine(model(), session_id="s", policy="summary", compactor=lambda: compactor)
    session = Session(engine, outside=Outside(summarize=lambda _: answer))
    session.say(TASK)
    for number in range(12):
        prepared = session.prepare()
        assert TASK in shown_texts(prepared.request.messages)
        session.work(lines(1_500, seed=number))
    made = [entry.edit for entry in session.edits if isinstance(entry.edit, Compact)]
    assert made
    assert {edit.mode for edit in made} == {"digest"}
    assert all(why in str(edit.meta["rejected"]) for edit in made)


def test_a_good_summary_is_taken_and_says_who_wrote_it() -> None:
    compactor = Compactor(summariser=Summariser("p/small", window=200_000, max_output=4_000))
    session = Session(
        Engine(model(), session_id="s", policy="summary", compactor=lambda: compactor),
        outside=Outside(summarize=lambda _: good_summary()),
    )
    session.say(TASK)
    for number in range(12):
        session.prepare()
        session.work(lines(1_500, seed=number))
    made = [entry for entry in session.edits if isinstance(entry.edit, Compact)]
    assert {entry.edit.model for entry in made if isinstance(entry.edit, Compact)} == {"p/small"}
    assert all("long thoughts" not in entry.edit.summary for entry in made if isinstance(entry.edit, Compact))
    assert made[0].cost.ms == 12


def test_a_summary_that_cannot_be_recorded_leaves_the_conversation_as_it_is() -> None:
    session = working(Engine(model(100_000), session_id="s"), steps=4)
    before = session.view
    session.outside.record = lambda _: Failed("disk full")
    outcome = session.act(Action("compact", (), {"keep_tokens": 0}))
    assert outcome.failed == "the log can't be written: disk full"
    assert session.view is before


def test_an_answer_of_the_wrong_kind_counts_as_a_failure() -> None:
    session = working(Engine(model(100_000), session_id="s"), steps=4)
    session.outside.record = lambda _: Summary("hello")
    outcome = session.act(Action("elide", ("c1",)))
    assert "unexpected answer Summary" in outcome.failed
    assert session.view.slots[2].state == "full"
    assert Text in {type(part) for part in session.view.slots[2].base.parts}


class Failing:
    """A compressor whose model is gone."""

    def compress(self, text: str, *, share: float, words: Sequence[str] = (), key: str = "") -> Any:
        raise ConnectionError("no model")


def test_a_compressor_that_fails_gives_way_to_the_built_in_one_and_the_outcome_says_so_once() -> None:
    shown = []
    for compressor in (None, Failing()):
        session = Session(Engine(model(50_000), session_id="s", compressor=compressor))
        session.say(TASK)
        wishes = [Action("compress", tuple(session.work(lines(2_000, seed=n)))) for n in range(2)]
        outcomes = [session.act(wish) for wish in wishes]
        assert all(outcome.done for outcome in outcomes)
        shown.append(shown_texts(session.view.messages()))
    assert shown[0] == shown[1]
    (note,), none = outcomes[0].notes, outcomes[1].notes
    assert "ConnectionError: no model" in note
    assert none == ()
