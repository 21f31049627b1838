"""Live jobs: an assignment in a real repository under every arm, by the scripted agent (T2) or by a model (T3).

    --live ──▶ LiveJob ──play_live, arm by arm──▶ rows of tier T2        with --model of tier T3

A row is one draw of luck: seeds are what they differ in. An arm that knows the future can't be played here, since there is none yet: it isn't asked to.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec import structs

from trimtab.lab.arms.playing import Conditions
from trimtab.lab.arms.registry import find_arm
from trimtab.lab.bench.row import Row
from trimtab.lab.live.play import LiveModel, play_live
from trimtab.lab.live.registry import FAMILIES
from trimtab.lab.rewards.prices import Regime
from trimtab.types.errors import UsageError

WINDOW = 16_000
"""Tokens of the window where nobody says otherwise: too few for every assignment of usual size."""
PRICES = ("tenth",)
"""At which prices assignments are worked on where nobody says otherwise."""


@dataclass(frozen=True, slots=True)
class LiveJob:
    """One assignment with one draw of luck. `live`: the model that works on it; None: the scripted agent."""

    family: str
    number: int
    seed: int
    window: int
    regime: Regime
    arms: tuple[str, ...]
    live: LiveModel | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """What a person calls it."""
        return f"{self.family} {self.number}, seed {self.seed}"

    @property
    def slot(self) -> str:
        """What its rows have for a slot: all that makes it another run, the model too."""
        by = "" if self.live is None else f" by {self.live.found.model.ref}"
        return f"{self.family}-{self.number}, seed {self.seed}, in {self.window} at {self.regime.name}{by}"

    @property
    def key(self) -> tuple[str, ...]:
        """Equal to that of its rows."""
        return "live", self.slot, ""

    def rows(self) -> list[Row]:
        """Work on it under each arm. Raises `TrimtabError` when the model can't be reached."""
        conditions = Conditions(self.window, self.regime)
        made = (play_live(arm, self.family, self.number, conditions, self.seed, live=self.live) for arm in self.arms)
        return [structs.replace(row, slot=self.slot) for row in made]


def live_jobs(
    each: int,
    seeds: int,
    arms: Sequence[str],
    *,
    window: int = WINDOW,
    prices: Sequence[Regime],
    live: LiveModel | None = None,
) -> list[LiveJob]:
    """Return `each` assignments of every family with so many draws of luck each, seeds last. Arms that can't be played live are left out; `UsageError` where none is left."""
    able = tuple(arm for arm in arms if find_arm(arm).kind != "bound")
    if not able:
        raise UsageError(
            f"{', '.join(arms)}: what knows the future can't be played live, where there is none yet",
            hint="Name another arm, or leave out --live.",
        )
    return [
        LiveJob(family, number, seed, window, regime, able, live)
        for seed in range(seeds)
        for number in range(each)
        for family in FAMILIES
        for regime in prices
    ]
