"""Who answers when the session's model can't be had, and when that one is asked again.

    a request fails before a word ──instead──▶ roles.main, the next that can be had and can hold the conversation ──▶ Seat
                                                 └─ the person is told who answers and why; the log, the engine and the tools change with it
    the next turn ──home──▶ the session's own model, once its provider has rested

The one rule: a stand-in takes a request whole, and never one of which anything was answered.
"""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field, replace

import anyio

from trimtab.agent.events import Notice
from trimtab.agent.ports import Emit, Seat
from trimtab.agent.run import Agent
from trimtab.coding.context.engine import context_settings
from trimtab.coding.context.open import OpenContext
from trimtab.coding.limits import require_price
from trimtab.coding.model_preview import preview_of
from trimtab.coding.models import OpenModel
from trimtab.coding.project import Project
from trimtab.coding.role_models import Found, RoleModels
from trimtab.coding.roles import UNREACHABLE, Circuits
from trimtab.context.stores.log import SessionLog
from trimtab.providers.resolve import THINKING_LEVELS
from trimtab.types.errors import ErrorInfo, UsageError

_SAID = 160
"""Characters of a failure that a notice repeats."""


@dataclass(slots=True)
class Standby:
    """Lets the models of `roles.main` stand in for each other in one session. `refit` fits tools and system prompt to the model that the agent has now."""

    project: Project
    log: SessionLog
    context: OpenContext
    agent: Agent
    models: RoleModels
    circuits: Circuits
    refit: Callable[[], None] = lambda: None
    home: Seat | None = field(default=None)
    """The session's own model, while another one stands in for it."""

    async def instead(self, seat: Seat, failure: ErrorInfo, *, tried: Collection[str], emit: Emit) -> Seat | None:
        """Who answers in place of `seat`; None: nobody, so the failure stands."""
        if failure.kind not in UNREACHABLE:
            return None
        self.circuits.failed(seat.model.provider, failure)
        if self.agent.model.ref != seat.model.ref:  # the person chose another one meanwhile
            chosen = Seat(self.agent.provider, self.agent.model, self.agent.thinking)
            return None if chosen.model.ref in tried else chosen
        home = self.home or seat
        if all(home.model.ref != one.info.ref for one in self.models.members):
            return None
        why = f"{seat.model.ref} can't be had ({_said(failure)})"
        for found in self.models.in_order(without=tried):
            opened, unfit = await self._fitting(found)
            if opened is None:
                await emit(Notice(message=f"{found.info.ref} can't stand in for {seat.model.ref}: {unfit}"))
                continue
            await emit(Notice(message=f"{why}; {opened.info.ref} answers in its place"))
            return await self._take(home, opened, found, reason=why)
        if len(self.models.members) > 1:
            await emit(Notice(message=f"{why}, and no other model of roles.main either"))
        return None

    async def begin_turn(self, tell: Callable[[str], Awaitable[None]]) -> None:
        """Ask the session's own model again, if another one stood in and its provider has rested."""
        home = self.home
        if home is None or self.circuits.rests(home.model.provider):
            return
        departed = self.agent.provider
        self.home = None
        self._seat(home)
        await self.context.use_model(home.model, context_settings(self.project, home.model), departed=departed)
        await tell(f"{home.model.ref} is asked again")

    def think(self, level: str | None) -> None:
        """The person wants another level of thinking; the session's own model gets it too, if it has it."""
        if self.home is not None and (level is None or level in self.home.model.thinking):
            self.home = replace(self.home, thinking=level)

    async def _fitting(self, found: Found) -> tuple[OpenModel | None, str]:
        """The model, open, or why it can't stand in."""
        try:
            opened = await self.models.opened(found)
            require_price(self.project.settings, opened.info)
        except UsageError as e:
            return None, e.message
        preview = await anyio.to_thread.run_sync(
            preview_of, self.project, self.log, self.context.request(), opened.info
        )
        if preview.too_small:
            return None, preview.too_small
        return opened, ""

    async def _take(self, home: Seat, opened: OpenModel, found: Found, *, reason: str) -> Seat:
        """Let `opened` answer from here on."""
        seat = Seat(opened.provider, opened.info, _level(home.thinking, opened, found.member.ref))
        if opened.info.ref == home.model.ref:
            self.home, seat = None, home
        else:
            self.home = home
        self._seat(seat)
        settings = context_settings(self.project, seat.model)
        await self.context.use_model(seat.model, settings, departed=None)
        stead = home.model.ref if self.home is not None else None
        await anyio.to_thread.run_sync(
            lambda: self.log.set_model(seat.model.provider, seat.model.id, instead_of=stead, reason=reason)
        )
        return seat

    def _seat(self, seat: Seat) -> None:
        self.agent.provider, self.agent.model, self.agent.thinking = seat.provider, seat.model, seat.thinking
        self.refit()


def _level(wanted: str | None, opened: OpenModel, ref: str) -> str | None:
    """How much a stand-in thinks: as its name in the role says, else as the one that it stands in for, where it has that level."""
    return wanted if not names_level(ref) and wanted in opened.info.thinking else opened.thinking


def names_level(ref: str) -> bool:
    """Whether the name of a model says how much it thinks."""
    return ref.rpartition(":")[2] in (*THINKING_LEVELS, "none")


def _said(failure: ErrorInfo) -> str:
    """A failure in a few words of one line."""
    words = " ".join(failure.message.split())
    short = words if len(words) <= _SAID else f"{words[: _SAID - 1]}…"
    return f"{failure.kind}: {short}" if short else failure.kind
