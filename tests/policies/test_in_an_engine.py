"""Policies in an engine: a long tool loop in a small window, driven by hand."""

import re
from collections.abc import Generator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from support.edited import Story
from support.observations import Fixed
from trimtab.context.actions import Action
from trimtab.context.asks import Failed, Record, Recorded
from trimtab.context.engine import Engine
from trimtab.context.policies.base import Manners
from trimtab.context.policies.learned.features import ITEM_FEATURES, SCHEMA, WHOLE_FEATURES
from trimtab.context.policies.learned.grammar import ITEM_OPS, WHOLE_OPS
from trimtab.context.policies.learned.network import Dense, Network
from trimtab.context.policies.learned.policy import decided
from trimtab.context.policies.learned.weights import Weights
from trimtab.context.policies.peer_table import PEERS
from trimtab.context.policies.registry import find_policy
from trimtab.context.seeing.observation import Observation
from trimtab.context.telling.explain import context_log
from trimtab.context.telling.story import item_story
from trimtab.types.entries import CustomEntry, EditEntry
from trimtab.types.errors import ContextFloor
from trimtab.types.messages import Assistant, Message, ToolResult
from trimtab.types.models import ModelInfo, ModelRequest, Price

MODEL = ModelInfo(
    "anthropic",
    "claude-x",
    "anthropic",
    context_window=16_000,
    max_output=2_000,
    prices=(Price(10.0, 50.0, 1.0, 12.5),),
)
SPECS = [
    "truncate",
    "mask",
    "mask(keep=3, batch=1)",
    "summary",
    "rules",
    "dry-run:rules",
    "cost-gate:mask",
    "learned",
    "shadow:rules",
]


class Session:
    """A conversation whose requests an engine prepares. Records are kept, summaries refused."""

    def __init__(self, policy: Any, *, system: str = "be good") -> None:
        self.story, self.system = Story(), system
        self.engine = Engine(MODEL, session_id="s", policy=policy)
        self.sizes: list[int] = []

    def request(self) -> tuple[Message, ...]:
        """Prepare the next request."""
        plan: Generator[Any, Any, Any] = self.engine.prepare(
            self.story.view, ModelRequest(MODEL, (), system=self.system)
        )
        prepared = self._driven(plan)
        assert prepared.view.messages() == self.story.view.messages()
        self.sizes.append(prepared.tokens)
        return prepared.request.messages

    def _driven(self, plan: Generator[Any, Any, Any]) -> Any:
        answer: Any = None
        while True:
            try:
                ask = plan.send(answer)
            except StopIteration as stop:
                return stop.value
            answer = self._kept(ask) if isinstance(ask, Record) else Failed("nobody there")

    def work(self, steps: int, *, start: int = 0) -> None:
        """Read one file after another, with a request before each."""
        self.story.says("read all of them")
        for number in range(start, start + steps):
            self.request()
            self.engine.answered(Assistant((), "tool_use"))
            body = "\n".join(f"line {n} of file_{number}.py holds value_{number}_{n}" for n in range(90))
            self.story.calls("read", {"path": f"file_{number}.py"}, body)

    def rows(self) -> list[Any]:
        """The context log."""
        return context_log(self.story.entries, whole=lambda message: message)

    def _kept(self, record: Record) -> Recorded:
        ids = []
        for value in record.values:
            assert isinstance(value, EditEntry | CustomEntry)
            entry_id = f"e{len(self.story.entries) + 1}"
            stamped = replace(value, id=entry_id, parent=self.story.archive.leaf, time="2030-01-01T00:00:00.000Z")
            self.story.take(stamped)
            ids.append(entry_id)
        return Recorded(tuple(ids))


@pytest.mark.parametrize("spec", [*SPECS, *(row.name for row in PEERS)])
def test_a_session_goes_on_within_its_budget_under_every_policy(spec: str):
    session = Session(find_policy(spec))
    session.work(18)
    assert max(session.sizes) <= session.engine.budget.room
    last = session.request()
    calls = [c.id for m in last for c in getattr(m, "tool_calls", ())]
    assert calls == [m.call_id for m in last if isinstance(m, ToolResult)]


@pytest.mark.parametrize("spec", [*SPECS, *(row.name for row in PEERS)])
def test_a_request_that_is_prepared_again_with_nothing_new_is_the_same_under_every_policy(spec: str):
    session = Session(find_policy(spec))
    for step in range(18):
        session.work(1, start=step)
        assert session.request() == session.request()


class Inclined:
    """A policy of weights that choose: an inclination for each operation, whatever is seen."""

    name = "inclined"
    manners = Manners(guarded=False)

    def __init__(self, items: Sequence[float], wholes: Sequence[float]) -> None:
        inputs = len(ITEM_FEATURES) + len(WHOLE_FEATURES)
        self.weights = Weights(
            schema=SCHEMA,
            kind="choices",
            item=_constant(inputs, items),
            gate=_constant(inputs, wholes),
            ops=ITEM_OPS,
            whole_ops=WHOLE_OPS,
        )

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Return what the weights choose."""
        return decided(self.weights, observation)


def _constant(inputs: int, outputs: Sequence[float]) -> Network:
    return Network((Dense(((0.0,) * inputs,) * len(outputs), tuple(outputs)),), (0.0,) * inputs, (1.0,) * inputs)


_inclinations = st.floats(-1, 1)


@settings(max_examples=10)
@given(
    st.lists(_inclinations, min_size=len(ITEM_OPS), max_size=len(ITEM_OPS)),
    st.lists(_inclinations, min_size=len(WHOLE_OPS), max_size=len(WHOLE_OPS)),
)
def test_whatever_weights_choose_calls_stand_with_their_results_and_the_same_request_comes_again(
    items: list[float], wholes: list[float]
):
    session = Session(Inclined(items, wholes))
    for step in range(12):
        session.work(1, start=step)
        last = session.request()
        calls = [c.id for m in last for c in getattr(m, "tool_calls", ())]
        assert calls == [m.call_id for m in last if isinstance(m, ToolResult)]
        assert session.request() == last
    assert max(session.sizes) <= session.engine.budget.room


def test_rules_act_before_the_ladder_has_to():
    session = Session("rules")
    session.work(18)
    authors = [row.author for row in session.rows()]
    assert set(authors) == {"policy:rules"}
    assert session.engine.manager.decider.counts.ladder_edits == 0


def test_with_no_policy_a_full_window_is_a_clear_stop_and_nothing_was_cut():
    session = Session("none")
    with pytest.raises(ContextFloor, match="the policy 'none' changes nothing"):
        session.work(18)
    assert session.rows() == []


class Bad:
    """A policy of somebody else that fails its own way each time."""

    name = "bad"

    def __init__(self) -> None:
        self.asked = 0

    def decide(self, observation: Any) -> Any:
        self.asked += 1
        if self.asked == 1:
            raise RuntimeError("oops")
        return "nonsense" if self.asked == 2 else None


def test_a_session_goes_on_with_rules_when_its_policy_fails_and_the_log_says_so():
    policy = Bad()
    session = Session(policy)
    session.work(18)
    assert policy.asked == 3
    assert max(session.sizes) <= session.engine.budget.room
    reasons = [row.reason for row in session.rows()]
    assert any("RuntimeError: oops; the rules decide instead" in reason for reason in reasons)
    assert any("it isn't asked any more" in reason for reason in reasons)


def test_a_policy_that_wants_what_gains_nothing_neither_loops_nor_stops_the_session():
    session = Session(Fixed((Action("elide", ("e1",)),)))
    session.work(18)
    assert max(session.sizes) <= session.engine.budget.room
    assert {row.author for row in session.rows() if row.kind != "not_applied"} == {"recovery"}


def test_a_dry_run_leaves_the_work_to_the_ladder_and_says_what_it_would_have_done():
    session = Session(find_policy("dry-run:rules"))
    session.work(18)
    rows = session.rows()
    assert {row.author for row in rows if row.kind not in ("dry_run",)} == {"recovery"}
    assert any(row.details.get("would") for row in rows)


def test_what_the_learned_policy_hid_says_how_likely_it_was_needed():
    session = Session(find_policy("learned"))
    session.work(18)
    made = [row for row in session.rows() if row.kind == "elide" and row.author == "policy:learned"]
    assert made
    assert all(re.search(r"; needed again with \d+ ", row.reason) for row in made)
    look = session.engine.look(session.story.view, ModelRequest(MODEL, (), system="be good"))
    for row in made:
        story = item_story(look, session.story.archive, row.targets[0])
        assert story is not None
        assert re.search(r"; this one with \d+ %$", story.edits[0].reason)


def test_no_system_prompt_is_so_long_that_the_learned_policy_leaves_all_to_the_rules():
    session = Session(find_policy("learned"), system="Be good, and say why. " * 250)
    session.work(18)
    made = [row.reason for row in session.rows() if row.author == "policy:learned"]
    assert made
    assert not any("by the rules" in reason for reason in made)


def test_in_the_shadow_of_the_rules_the_learned_policy_has_no_effect():
    shadowed, alone = Session(find_policy("shadow:rules")), Session("rules")
    shadowed.work(18)
    alone.work(18)
    assert shadowed.sizes == alone.sizes
    told = [row.details for row in shadowed.rows() if row.kind == "shadow"]
    assert any(one["would"] for one in told)
    assert {one["by"] for one in told} == {"learned"}


def test_a_file_that_is_read_again_is_booked_to_the_edit_that_hid_it():
    session = Session("rules")
    session.work(16)
    session.story.calls("read", {"path": "file_0.py"}, "again")
    session.request()
    session.work(8, start=50)
    (booking,) = session.engine.manager.regret.bookings
    assert booking.cause == "read"
    assert booking.edit in {row.entry_id for row in session.rows()}
