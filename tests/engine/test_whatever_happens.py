"""Whatever the history, the edits and the policy: each request is valid, fits, and grows at its end; nothing that was recorded is lost."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.engine_session import Session, folded_again, host_of
from support.engine_strategies import APIS, AnyPolicy, histories, raw_edits, small_model, wishes
from support.wire_rules import broken, sent_body
from trimtab.context.cycle.account import Account
from trimtab.context.cycle.faults import faultfinder
from trimtab.context.cycle.notice import HEAD
from trimtab.context.cycle.tally import MeterTally
from trimtab.context.engine import Engine
from trimtab.context.naming import body_of
from trimtab.context.prepared import Prepared
from trimtab.context.stores.note_files import MemoInfo
from trimtab.context.validate import rules_for, validate
from trimtab.context.window.view import View
from trimtab.types.entries import EditEntry, MessageEntry, RevertEntry
from trimtab.types.errors import ContextFloor, ErrorInfo
from trimtab.types.messages import Assistant, Message, ToolResult, User
from trimtab.types.models import Api
from trimtab.types.tools import ToolSpec

POLICIES = ("rules", "rules", "mask", "truncate", "summary", "codex", "opencode-dcp")
_MOST_ASKS = 60
SYSTEMS = tuple("".join(f"Rule {n}: be brief, and kind.\n" for n in range(30)) + f"Day {day}." for day in (1, 2, 3))
TOOLS = tuple(
    tuple(ToolSpec(name, "does it", {"type": "object", "properties": {}}) for name in names)
    for names in ((), ("memo", "plan", "memory"), ("memo", "bash"), ("bash",))
)
MEMOS = tuple(MemoInfo(f"key-{n}", "what was found out", 10 * n, "", 1, f"2026-01-0{n}") for n in range(1, 9))
_TURNS = {"anthropic": "messages", "openai-chat": "messages", "openai-responses": "input", "google": "contents"}


@dataclass(slots=True)
class Life:
    """A session that is lived step by step, with everything that a step must leave true."""

    api: Api
    session: Session
    texts: dict[str, str] = field(default_factory=dict)
    sent: tuple[Message, ...] = ()
    changes: int = 0
    prepared: list[Prepared] = field(default_factory=list)
    floors: list[str] = field(default_factory=list)

    def take(self, piece: list[Message]) -> None:
        """What comes between two requests: an answer with its results, a prompt."""
        for message in piece:
            if isinstance(message, Assistant):
                self.session.engine.answered(message)
            admitted = self.session.engine.admit(message)
            (entry_id,) = self.session.log.append([admitted])
            self.texts[entry_id] = body_of(admitted)

    def step(self, *, after: ErrorInfo | None = None) -> None:
        """One request, or a typed stop."""
        session = self.session
        session.outside.asked.clear()
        try:
            prepared = session.prepare(after=after)
        except ContextFloor as stop:
            self.floors.append(str(stop))
        else:
            self.prepared.append(prepared)
            self._may_leave(prepared)
        assert len(session.outside.asked) < _MOST_ASKS
        assert folded_again(session.log).messages() == session.view.messages()

    def _may_leave(self, prepared: Prepared) -> None:
        engine, messages = self.session.engine, prepared.request.messages
        assert validate(messages, rules=rules_for(engine.model)) == ()
        assert broken(self.api, sent_body(engine.model, messages)) == []
        assert engine.look(prepared.view, self.session.request).used <= engine.budget.hard
        changes = self._changes()
        if changes == self.changes:
            assert messages[: len(self.sent)] == self.sent
        if prepared.request.system != self.session.system:
            notes = [m for m in messages if isinstance(m, User) and m.origin == "note" and HEAD in body_of(m)]
            assert self.session.system.splitlines()[-1] in body_of(notes[-1])
        self.sent, self.changes = messages, changes

    def _changes(self) -> int:
        return sum(isinstance(e.value, EditEntry | RevertEntry) for e in self.session.log.archive)


def names(view: View) -> list[str]:
    """Names of everything that an edit may speak of."""
    return [slot.id for slot in view.slots] + [applied.id for applied in view.applied]


@st.composite
def lives(draw: st.DrawFn) -> tuple[Life, list[list[Message]]]:
    """A session before its first step, and what is going to come."""
    api = draw(st.sampled_from(APIS))
    policy = draw(st.sampled_from([AnyPolicy(draw(st.integers(0, 1_000))), *POLICIES]))
    model = small_model(api, draw(st.sampled_from([3_000, 6_000, 12_000])))
    return Life(api, Session(Engine(model, session_id="s", policy=policy))), draw(histories(api))


def live(data: st.DataObject, lived: tuple[Life, list[list[Message]]]) -> Life:
    """Live it: between two requests somebody may wish something, or take something back, or the server may say no."""
    life, pieces = lived
    session = life.session
    for piece in pieces:
        life.take(piece)
        if data.draw(st.integers(0, 2)) == 0:
            session.act(data.draw(wishes(names(session.view))), author=data.draw(st.sampled_from(["user", "model"])))
        if len(session.view.applied) and data.draw(st.integers(0, 3)) == 0:
            session.revert(data.draw(st.sampled_from([applied.id for applied in session.view.applied])))
        if data.draw(st.integers(0, 3)) == 0:
            session.system = data.draw(st.sampled_from(SYSTEMS))
            session.tools = data.draw(st.sampled_from(TOOLS))
            kept = MEMOS[: data.draw(st.integers(0, len(MEMOS)))]
            session.engine.memos = lambda kept=kept: kept
        life.step()
    return life


@settings(max_examples=40)
@given(st.data(), lives())
def test_each_request_is_valid_and_fits_or_the_session_stops_with_numbers(
    data: st.DataObject, lived: tuple[Life, list[list[Message]]]
) -> None:
    life = live(data, lived)
    assert all(any(c.isdigit() for c in stop) for stop in life.floors)


@settings(max_examples=12)
@given(st.data(), lives())
def test_every_recorded_text_can_be_read_whatever_was_edited(
    data: st.DataObject, lived: tuple[Life, list[list[Message]]]
) -> None:
    life = live(data, lived)
    host = host_of(life.session)
    hidden = set(life.session.view.repairs.orphans) | set(life.session.view.repairs.duplicates)
    for entry_id, text in life.texts.items():
        entry = life.session.log.archive.get(entry_id)
        assert entry is not None
        assert isinstance(entry.value, MessageEntry)
        message = entry.value.message
        if isinstance(message, ToolResult) and message.call_id in hidden:
            continue
        assert text in (host.text_of(entry_id) or "")


@settings(max_examples=12)
@given(st.data(), lives())
def test_taking_every_edit_back_brings_the_recorded_messages_back(
    data: st.DataObject, lived: tuple[Life, list[list[Message]]]
) -> None:
    life = live(data, lived)
    view = life.session.view
    plain = View()
    for entry in life.session.log.archive.path():
        if isinstance(entry.value, MessageEntry):
            plain = plain.with_message(entry.id, entry.value.message)
    for number, applied in enumerate(view.applied):
        if applied.id not in view.reverted:
            view = view.with_revert(f"?{number}", applied.id)
    assert view.messages() == plain.messages()


@settings(max_examples=12)
@given(lives())
def test_the_same_session_gives_the_same_log(lived: tuple[Life, list[list[Message]]]) -> None:
    life, pieces = lived
    model, policy = life.session.engine.model, life.session.engine.policy
    again = Life(life.api, Session(Engine(model, session_id="s", policy=policy)))
    for piece in pieces:
        for each in (life, again):
            each.take(piece)
            each.step()
    assert [e.raw for e in life.session.log.archive] == [e.raw for e in again.session.log.archive]
    assert [p.request for p in life.prepared] == [p.request for p in again.prepared]


@settings(max_examples=15)
@given(st.data(), lives())
def test_looking_at_what_is_new_finds_what_looking_at_everything_finds(
    data: st.DataObject, lived: tuple[Life, list[list[Message]]]
) -> None:
    life, pieces = lived
    session = life.session
    engine = session.engine
    for piece in pieces:
        life.take(piece)
        life.step()
        view = session.view
        for number, edit in enumerate(data.draw(st.lists(raw_edits(names(view)), max_size=3))):
            view = view.with_edit(f"?{number}", edit)
            if data.draw(st.booleans()):
                view = view.with_message(f"?m{number}", data.draw(st.sampled_from(piece)))
            afresh = faultfinder(engine.model, has_way=engine.has_way)
            assert engine.faults(view) == afresh(view)


@settings(max_examples=8)
@given(st.data(), lives())
def test_counts_and_shapes_that_grow_are_those_made_afresh(
    data: st.DataObject, lived: tuple[Life, list[list[Message]]]
) -> None:
    life, pieces = lived
    session = life.session
    engine = session.engine
    for piece in pieces:
        life.take(piece)
        view = session.view
        for number, edit in enumerate(data.draw(st.lists(raw_edits(names(view)), max_size=2))):
            view = view.with_edit(f"?{number}", edit)
        look = engine.look(view, session.request)
        afresh = MeterTally(engine.model, counter=engine.tally.counter)
        afresh.estimate(view, session.system, ())
        assert engine.tally.meter.total.plain == pytest.approx(afresh.meter.total.plain)
        assert engine.account.shape(look).segments == Account(engine.model).shape(look).segments
        life.step()
