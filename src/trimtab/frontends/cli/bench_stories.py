"""Which stories `trimtab bench` plays: what its options say, and whether they go together.

--part --each --seeds --prices ──▶ tasks (real: --data)        --sessions | --split --data, --each --window --prices ──▶ recorded sessions
--live --each --seeds --window --prices ──▶ assignments in real repositories, by the scripted agent, or by the model of --model
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from trimtab.config.home import environment
from trimtab.types.errors import UsageError

if TYPE_CHECKING:
    from trimtab.lab.bench.playing import Job
    from trimtab.lab.live.play import LiveModel
    from trimtab.lab.suite import Part

EACH, SEEDS = 5, 5
"""Tasks of each family, and tellings of each task, where nobody says otherwise."""


@dataclass(frozen=True, slots=True)
class Wish:
    """The options as they were given; None, or nothing, where one wasn't."""

    part: str | None = None
    each: int | None = None
    seeds: int | None = None
    sessions: tuple[str, ...] = ()
    split: str | None = None
    data: str | None = None
    window: int | None = None
    prices: str | None = None
    live: bool = False
    model: str | None = None

    @property
    def recorded(self) -> bool:
        """Whether recorded sessions are played."""
        return bool(self.sessions or self.split)

    def told(self) -> dict[str, str]:
        """What was given, for a manifest."""
        return {name: str(value) for name, value in asdict(self).items() if value}

    @property
    def alone(self) -> bool:
        """Whether tasks are played."""
        return not (self.recorded or self.live)

    @property
    def real(self) -> bool:
        """Whether tasks of real material are played."""
        return self.alone and self.part == "real"


def jobs_of(wish: Wish, arms: Sequence[str]) -> "list[Job]":
    """Return what is to be played. Raises `UsageError` for options that don't go together, and for sessions, or files of real tasks, that aren't there."""
    from trimtab.lab.bench.playing import PRICES, file_jobs, real_jobs, suite_jobs
    from trimtab.lab.bench.sources import indexed, named, prices_named, published

    _require_one_kind(wish)
    if wish.live:
        return [*_live(wish, arms)]
    if not wish.recorded:
        named_prices = ("",) if wish.prices is None else prices_named(wish.prices)
        if wish.real:
            folder, _ = published(_data(wish))
            return [*real_jobs(folder, wish.each or EACH, wish.seeds or SEEDS, arms, prices=named_prices)]
        part = cast("Part", wish.part or "validation")
        return [*suite_jobs(part, wish.each or EACH, wish.seeds or SEEDS, arms, prices=named_prices)]
    places = named(wish.sessions, wish.each) if wish.sessions else indexed(_data(wish), wish.split or "", wish.each)
    prices = PRICES if wish.prices is None else prices_named(wish.prices)
    return [*file_jobs(places, arms, window=wish.window, prices=prices)]


def left_out(wish: Wish) -> list[str]:
    """Return what of the real part isn't played, since the folder lacks its files, and why."""
    from trimtab.lab.bench.sources import published

    return published(_data(wish))[1] if wish.real else []


def _data(wish: Wish) -> str:
    return wish.data or environment().get("TRIMTAB_DATA", "")


def _live(wish: Wish, arms: Sequence[str]) -> "Sequence[Job]":
    from trimtab.lab.bench.live_jobs import PRICES, WINDOW, live_jobs
    from trimtab.lab.bench.sources import prices_named
    from trimtab.lab.rewards.prices import REGIMES

    names = PRICES if wish.prices is None else prices_named(wish.prices)
    regimes = [regime for regime in REGIMES if regime.name in names]
    model = None if wish.model is None else _model(wish.model)
    each, seeds = wish.each or EACH, wish.seeds or (SEEDS if model is None else 1)
    return live_jobs(each, seeds, arms, window=wish.window or WINDOW, prices=regimes, live=model)


def _model(ref: str) -> "LiveModel":
    from trimtab.coding.project import open_project
    from trimtab.lab.live.play import live_model

    return live_model(open_project(Path(".")), ref)


def _require_one_kind(wish: Wish) -> None:
    if wish.sessions and (wish.split or wish.data):
        raise UsageError("--sessions names files, --split takes them from the index", hint="Take one of the two.")
    if wish.live and wish.recorded:
        raise UsageError("--live works on assignments, not on recorded sessions", hint="Take one of the two.")
    if wish.model is not None and not wish.live:
        raise UsageError("--model: only assignments are worked on by a model", hint="Add --live.")
    given = {
        "--part": (wish.part, wish.alone),
        "--seeds": (wish.seeds, not wish.recorded),
        "--window": (wish.window, not wish.alone),
        "--data": (wish.data, wish.recorded or wish.real),
    }
    wrong = [name for name, (value, fits) in given.items() if value and not fits]
    if wrong and wish.alone:
        raise UsageError(
            f"{' and '.join(wrong)}: of recorded sessions, and none are named",
            hint="Add --sessions PATH or --split NAME; --data also goes with --part real.",
        )
    if wrong:
        kind = "assignments" if wish.live else "recorded sessions"
        owner = "recorded sessions" if wrong == ["--data"] else "generated tasks"
        raise UsageError(f"{' and '.join(wrong)}: of {owner}, not of {kind}", hint="Leave it out, or play tasks.")
