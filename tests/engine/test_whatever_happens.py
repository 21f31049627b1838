"""Whatever the history, the edits and the policy: each request is valid, fits, and grows at its end; nothing that was recorded is lost."""

from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from support.engine_session import Session, folded_again, run
from support.engine_strategies import APIS, AnyPolicy, histories, small_model, wishes
from support.wire_rules import broken, sent_body
from trimtab.context.cycle import Prepared
from trimtab.context.engine import Engine
from trimtab.context.hosting import EngineHost
from trimtab.context.stores.memories import Memories
from trimtab.context.stores.notes import MemoDict
from trimtab.context.validate import rules_for, validate
from trimtab.context.view import View
from trimtab.types.entries import EditEntry, RevertEntry
from trimtab.types.errors import ContextFloor
from trimtab.types.messages import Assistant, Message
from trimtab.types.models import Api

POLICIES = ("rules", "rules", "mask", "truncate", "summary")
_TURNS = {"anthropic": "messages", "openai-chat": "messages", "openai-responses": "input", "google": "contents"}


@dataclass(slots=True)
class Life:
    """A session that is lived step by step, with everything that a step must leave true."""

    api: Api
    session: Session
    sent: tuple[Message, ...] = ()
    body: list[Any] = field(default_factory=list)
    changes: int = 0
    floors: int = 0

    def take(self, piece: list[Message]) -> None:
        """What comes between two requests: an answer with its results, a prompt."""
        for message in piece:
            if isinstance(message, Assistant):
                self.session.engine.answered(message)
            self.session.log.append([self.session.engine.admit(message)])

    def step(self) -> Prepared | None:
        """One request; None where it ends in a typed stop."""
        session = self.session
        session.outside.asked.clear()
        try:
            prepared = session.prepare()
        except ContextFloor as stop:
            assert any(digit.isdigit() for digit in str(stop))
            self.floors += 1
            prepared = None
        assert len(session.outside.asked) < 60
        self.holds(prepared)
        return prepared

    def holds(self, prepared: Prepared | None) -> None:
        """What is always true."""
        session = self.session
        assert folded_again(session.log).messages() == session.view.messages()
        if prepared is None:
            return
        messages = prepared.request.messages
        rules = rules_for(session.engine.model)
        assert validate(messages, rules=rules) == ()
        body = sent_body(session.engine.model, messages)
        assert broken(self.api, body) == []
        look = session.engine.look(prepared.view, session.request)
        assert look.used <= session.engine.budget.hard
        assert prepared.request.max_output is not None
        assert prepared.request.max_output >= 1
        changes = self.changed()
        turns = list(_plain(body)[_TURNS[self.api]])
        if changes == self.changes and self.sent:
            assert messages[: len(self.sent)] == self.sent
        self.sent, self.body, self.changes = messages, turns, changes

    def changed(self) -> int:
        """How many edits and reverts there are."""
        return sum(isinstance(e.value, EditEntry | RevertEntry) for e in self.session.log.archive)


def _plain(value: Any) -> Any:
    """JSON without marks of the cache, which move with every request."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items() if k != "cache_control"}
    return [_plain(v) for v in value] if isinstance(value, list) else value


def names(view: View) -> list[str]:
    """Names of everything that an edit may speak of."""
    return [slot.id for slot in view.slots] + [applied.id for applied in view.applied]


@st.composite
def lives(draw: st.DrawFn, *, policy: Any = None) -> tuple[Life, list[list[Message]]]:
    """A session before its first step, and what is going to come."""
    api = draw(st.sampled_from(APIS))
    window = draw(st.sampled_from([3_000, 6_000, 12_000]))
    die = AnyPolicy(draw(st.integers(0, 1_000)))
    engine = Engine(
        small_model(api, window),
        session_id="s",
        policy=draw(st.sampled_from([die, *POLICIES])) if policy is None else policy,
    )
    return Life(api, Session(engine)), draw(histories(api))


@settings(max_examples=150)
@given(st.data(), lives())
def test_each_request_is_valid_and_fits_or_the_session_stops_with_numbers(
    data: st.DataObject, lived: tuple[Life, list[list[Message]]]
) -> None:
    life, pieces = lived
    session = life.session
    for piece in pieces:
        life.take(piece)
        if data.draw(st.integers(0, 2)) == 0:
            wish = data.draw(wishes(names(session.view)))
            session.act(wish, author=data.draw(st.sampled_from(["user", "model"])))
        if session.view.applied and data.draw(st.integers(0, 3)) == 0:
            edit = data.draw(st.sampled_from([a.id for a in session.view.applied]))
            session.revert(edit)
        life.step()


def host(session: Session) -> EngineHost:
    return EngineHost(
        session.engine,
        view=lambda: session.view,
        request=lambda: session.request,
        drive=lambda plan: run(plan, session.log, session.outside),
        memos=MemoDict(),
        memories=Memories(None, now=None, redact=lambda text: text),
    )
