"""The engine: one conversation's context, managed.

    message ──admit──▶ what is recorded (capped, with a handle)          the driver records it; the view grows
    before each request:  prepare(view, request) ──asks──▶ Prepared      see `cycle`
    after each answer:    answered(look, answer)                         counts, cache and savings learn from what was reported
    a model's or a person's wish:  act(view, actions, author) ──asks──▶ Outcome

The engine holds no messages, no file and no clock. It gets a view, which is a value, and yields requests for everything outside; so the same
engine runs in an async agent, a script, a proxy and a simulator. What it keeps is what it learned: counts, the cache, what was done lately.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from msgspec import structs

from trimtab.context.account import Account
from trimtab.context.actions import Action
from trimtab.context.applying import BLANK, Means, Outcome, apply
from trimtab.context.asks import Answer, Ask, Failed, Record, Recorded
from trimtab.context.budget import Budget, budget_for
from trimtab.context.compacting import Compactor
from trimtab.context.cycle import Prepared, Rung, cycle
from trimtab.context.deciding import Decider
from trimtab.context.faults import Faultfinder
from trimtab.context.floor import unsendable
from trimtab.context.housekeeping import housekeeping
from trimtab.context.ladder import RUNGS
from trimtab.context.look import Look, look
from trimtab.context.observation import Observation, Prices
from trimtab.context.observing import Observer
from trimtab.context.planning import RECALL, Kit
from trimtab.context.policies.base import Policy
from trimtab.context.settings import EngineSettings
from trimtab.context.shorten.cap import cap_text
from trimtab.context.slots import Slot
from trimtab.context.tally import MeterTally
from trimtab.context.view import View
from trimtab.types.entries import RevertEntry
from trimtab.types.errors import ErrorInfo
from trimtab.types.messages import Assistant, Message, Text, ToolResult
from trimtab.types.models import ModelInfo, ModelRequest

Now: TypeAlias = Callable[[], float]
_TIGHTER = 0.8
"""Of the counted size: what a request may have after a server refused it as too large without saying what it takes."""


@dataclass(frozen=True, slots=True)
class Status:
    """The meter. `used` is None while nothing is certain; `over` says that the next request would not fit as it is."""

    used: int | None
    upper: int
    budget: Budget
    over: bool
    observation: Observation
    savings: dict[str, int | float | None]


class Engine:
    """Manages the context of one session. `now` gives seconds (for cache lifetimes); without it nothing ever counts as idle.

    `next_handle` is the first number that no result of the session has. `way_back` names, for a slot, the file that holds its body where the
    model has no `recall`.
    """

    def __init__(
        self,
        model: ModelInfo,
        *,
        session_id: str,
        policy: Policy,
        settings: EngineSettings | None = None,
        now: Now | None = None,
        next_handle: int = 1,
        way_back: Callable[[Slot], str] | None = None,
        tally: MeterTally | None = None,
        rungs: Sequence[Rung] = RUNGS,
        compactor: Compactor | None = None,
        stating: Callable[[], str] | None = None,
    ) -> None:
        self.settings = settings or EngineSettings()
        self.rungs = tuple(rungs)
        self.session_id = session_id
        self.decider = Decider(policy, self.settings)
        self.observer = Observer()
        self._now = now
        self._way_back = way_back
        self._next_handle = next_handle
        self._window_cap: int | None = None
        self._tight: int | None = None
        self._use_model(model, tally)
        self._compactor = compactor or Compactor()
        self._stating = stating

    # What a cycle asks of its desk

    @property
    def policy_name(self) -> str:
        """Which policy decides."""
        return self.decider.policy.name

    @property
    def attempts(self) -> int:
        """Tries of each rung of the ladder."""
        return self.settings.attempts

    def look(self, view: View, request: ModelRequest) -> Look:
        """Count the request that `view` makes of `request`."""
        return look(view, request, self.budget, self.tally)

    def means(self, look: Look, *, forced: bool) -> Means:
        """What edits of this request are made, checked and weighed with."""

        def gate(view, edits):  # type: ignore[no-untyped-def]
            return self.account.gate(look, edits, self._time())

        return Means(
            kit=self.kit,
            size=self.tally.message,
            faults=self.faults,
            gate=None if forced else gate,
            keep_files=self.settings.tools == "off",
        )

    def decide(self, look: Look) -> Generator[Ask, Answer, Sequence[Action]]:
        """Ask the policy, unless it is too early for it to act again."""
        return (yield from self.decider.decide(self.observe(look)))

    def housekeeping(self, look: Look) -> Sequence[Action]:
        """Edits of bytes that no request has carried."""
        return housekeeping(look.view, sent=self.account.sent_count(look.view))
