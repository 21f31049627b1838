"""Lives: sessions that are lived step by step, with everything that a step must leave true.

Life.take(piece) ──▶ recorded      Life.step() ──▶ a request that is valid, fits and grows at its end, or a typed stop
live(data, life, pieces)           between two requests somebody may wish something, take something back, or the server may say no
"""

from dataclasses import dataclass, field

from hypothesis import strategies as st

from support.engine_session import Session, folded_again
from support.engine_strategies import wishes
from support.wire_rules import broken, sent_body
from trimtab.context.cycle.notice import HEAD
from trimtab.context.naming import body_of
from trimtab.context.prepared import Prepared
from trimtab.context.stores.note_files import MemoInfo
from trimtab.context.validate import rules_for, validate
from trimtab.context.window.view import View
from trimtab.types.entries import EditEntry, RevertEntry
from trimtab.types.errors import ContextFloor, ErrorInfo
from trimtab.types.messages import Assistant, Message, User
from trimtab.types.models import Api
from trimtab.types.tools import ToolSpec

_MOST_ASKS = 60
SYSTEMS = tuple("".join(f"Rule {n}: be brief, and kind.\n" for n in range(30)) + f"Day {day}." for day in (1, 2, 3))
TOOLS = tuple(
    tuple(ToolSpec(name, "does it", {"type": "object", "properties": {}}) for name in names)
    for names in ((), ("memo", "plan", "memory"), ("memo", "bash"), ("bash",))
)
MEMOS = tuple(MemoInfo(f"key-{n}", "what was found out", 10 * n, "", 1, f"2026-01-0{n}") for n in range(1, 9))


REFUSALS = st.builds(
    ErrorInfo,
    st.sampled_from(["overflow", "request_too_large_for_tier", "output_cap", "media", "rate_limit"]),
    limit=st.none() | st.integers(-5, 20_000),
    actual=st.none() | st.integers(-5, 20_000),
)
"""What a server may say about the last request, with figures of any sense."""


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


def live(data: st.DataObject, life: Life, pieces: list[list[Message]]) -> Life:
    """Live it: between two requests somebody may wish something, or take something back, or the server may say no."""
    session = life.session
    for piece in pieces:
        life.take(piece)
        if data.draw(st.integers(0, 2)) == 0:
            session.act(data.draw(wishes(names(session.view))), author=data.draw(st.sampled_from(["user", "model"])))
        if len(session.view.applied) and data.draw(st.integers(0, 3)) == 0:
            session.revert(data.draw(st.sampled_from([applied.id for applied in session.view.applied])))
        if data.draw(st.integers(0, 3)) == 0:
            _change_the_rest(data, session)
        life.step(after=data.draw(REFUSALS) if data.draw(st.integers(0, 9)) == 0 else None)
    return life


def _change_the_rest(data: st.DataObject, session: Session) -> None:
    """Another system prompt, other tools, other memos than the last request had."""
    session.system = data.draw(st.sampled_from(SYSTEMS))
    session.tools = data.draw(st.sampled_from(TOOLS))
    kept = MEMOS[: data.draw(st.integers(0, len(MEMOS)))]
    session.engine.memos = lambda: kept
