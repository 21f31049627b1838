"""The desk of a client over one session: what commands act on, and what runs beside the lines.

    prompt, /command ──work──▶ a turn, or other work, in a task ──▶ result, agent_settled        one at a time
    bash ──────────────────▶ a command of the person's own, beside it
    /new, /resume, … ──switch──▶ `following`: what to go on with

What a command says goes to whoever asked for it by request (`hearing`), else to the person as a notice.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial

import anyio

from trimtab.agent.events import Result
from trimtab.agent.loop import Turn
from trimtab.agent.run import AgentBusy
from trimtab.coding.choose import Choice
from trimtab.coding.context.ahead import Start
from trimtab.coding.person import Person
from trimtab.coding.project import Project
from trimtab.coding.session import Session
from trimtab.coding.switching import Candidate, prepare, same_again
from trimtab.frontends.rpc.stream import notify
from trimtab.frontends.rpc.values import Json, words_of
from trimtab.types.errors import TrimtabError
from trimtab.types.messages import User

_HEARD: ContextVar[list[str] | None] = ContextVar("heard", default=None)
WAIT = "Wait until it is done, or stop it with abort."


@dataclass(frozen=True, slots=True)
class Reopening:
    """The same session again, in `project`, or in the one `before`."""

    project: Project
    before: Project
    choice: Choice


@contextmanager
def hearing() -> Iterator[list[str]]:
    """Hear what commands say that run in here, and the work that they start."""
    heard: list[str] = []
    token = _HEARD.set(heard)
    try:
        yield heard
    finally:
        _HEARD.reset(token)


class WireDesk:
    """A `Desk` (coding/commands). `start` runs a function beside the lines, `services` beside the session; `told` returns once the client was told of all that has happened; `ended` counts
    the runs whose end it was told.
    """

    def __init__(
        self,
        session: Session,
        *,
        put: Callable[[Json], None],
        person: Person,
        start: Callable[..., object],
        services: Start,
        told: Callable[[], Awaitable[None]],
        ended: Callable[[], int],
    ) -> None:
        self.session = session
        self._put = put
        self._person = person
        self._start = start
        self._services = services
        self._told = told
        self._ended = ended
        self._ended_before = 0
        self._idle = anyio.Event()
        self._idle.set()
        self._scope = anyio.CancelScope()
        self.in_turn = False
        """Whether what runs is a turn."""
        self.begun = 0
        """How much work was begun so far."""
        self.turns = 0
        """How much of it were turns."""
        self.compacting = False
        self.left = False
        self.result: Result | None = None
        """How the last turn ended."""
        self.commands: set[anyio.CancelScope] = set()
        """The person's own commands that run."""
        self._notes: list[User] = []
        self.following: Candidate | Reopening | None = None
        """What to go on with, once the client has switched."""

    @property
    def working(self) -> bool:
        """Whether a turn runs, or other work."""
        return not self._idle.is_set()

    @property
    def ending(self) -> bool:
        """Whether a turn has ended, as the client knows, and is only being seen to."""
        return self.working and self.in_turn and not self.session.busy and self._ended() > self._ended_before

    async def idle(self) -> None:
        """Wait until nothing runs."""
        await self._idle.wait()

    def tell(self, text: str) -> None:
        """Say something to whoever asked, else to the person."""
        heard = _HEARD.get()
        if heard is None:
            self._put(notify(text))
        else:
            heard.append(text)

    def answer(self, call_id: str, text: str) -> None:
        """Answer a parked call; the turn goes on meanwhile."""
        self.work(partial(self.session.answer, call_id, text))

    def work(self, turn: Callable[[], Awaitable[object]], *, is_turn: bool = True) -> None:
        """Run a turn beside the lines, or other work that takes a while. Raises `AgentBusy` when something runs."""
        if self.working:
            raise AgentBusy("something runs already", hint=WAIT)
        self._idle, self._scope, self.in_turn = anyio.Event(), anyio.CancelScope(), is_turn
        self._ended_before = self._ended()
        self.begun += 1
        self.turns += is_turn
        self._start(self._run, turn)

    async def _run(self, turn: Callable[[], Awaitable[object]]) -> None:
        try:
            outcome: object = None
            try:
                with self._scope as scope:
                    outcome = await turn()
            except TrimtabError as e:
                self._put(notify(f"{e.message}\n{e.hint}".rstrip(), "error"))
            await self._keep_notes()
            if self.in_turn:
                await self._settle(outcome, stopped=scope.cancelled_caught)
        finally:
            self._idle.set()

    async def _settle(self, outcome: object, *, stopped: bool) -> None:
        """Say how the turn ended, behind all that it told."""
        if isinstance(outcome, Turn):
            self.result = self.session.result(outcome)
            stopped = stopped or outcome.reason == "cancelled"
            await self.session.feed.publish(self.result)
        await self._told()
        self._put({"type": "agent_settled", "aborted": stopped})

    def note(self, message: User) -> bool:
        """Keep what a person's own command printed for when no turn runs; False when that is now."""
        if not self.working:
            return False
        self._notes.append(message)
        return True

    async def _keep_notes(self) -> None:
        notes, self._notes = self._notes, []
        if notes:
            with anyio.CancelScope(shield=True):
                await record(self.session, notes, self._put)

    async def switch(self, project: Project, choice: Choice) -> None:
        """Open another session and go on with it."""
        self.require_idle()
        self.following = await prepare(project, choice, person=self._person, start=self._services)

    def reload(self, project: Project) -> None:
        """Go on with this session, opened again in `project`."""
        self.require_idle()
        self.following = Reopening(project, self.session.project, same_again(self.session))

    async def give_back(self) -> None:
        """Close what was opened to go on with and won't be."""
        if isinstance(self.following, Candidate):
            with anyio.CancelScope(shield=True):
                await self.following.aclose()
        self.following = None

    def require_idle(self) -> None:
        """Raise `AgentBusy` while something runs."""
        if self.working or self.commands:
            raise AgentBusy("something runs", hint=WAIT)

    def leave(self) -> None:
        """Take no more requests."""
        self.left = True

    def interrupt(self) -> None:
        """Stop what runs."""
        if self.session.busy:
            self.session.cancel()
        elif self.working:  # on the way to the turn, or no turn
            self._scope.cancel()


async def record(session: Session, notes: list[User], put: Callable[[Json], None]) -> None:
    """Put what commands printed into the conversation; a log that can't take it is told."""
    try:
        await session.context.transcript.append(notes)
    except TrimtabError as e:
        put(notify(f"{e.message}\n{e.hint}".rstrip(), "error"))


def queued(session: Session) -> Json:
    """What waits for the running turn, and for its end."""
    inbox = session.agent.inbox
    return {
        "steering": [words_of(message.parts) for message in inbox.steering],
        "followUp": [words_of(message.parts) for message in inbox.follow_ups],
    }
