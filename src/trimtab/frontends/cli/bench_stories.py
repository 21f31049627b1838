"""Which stories `trimtab bench` plays: what its options say, and whether they go together.

--part --each --seeds --prices ──▶ generated tasks        --sessions | --split --data, --each --window --prices ──▶ recorded sessions
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, cast

from trimtab.config.home import environment
from trimtab.types.errors import UsageError

if TYPE_CHECKING:
    from trimtab.lab.bench.playing import Job
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

    @property
    def recorded(self) -> bool:
        """Whether recorded sessions are played."""
        return bool(self.sessions or self.split)

    def told(self) -> dict[str, str]:
        """What was given, for a manifest."""
        return {name: str(value) for name, value in asdict(self).items() if value}


def jobs_of(wish: Wish, arms: Sequence[str]) -> "list[Job]":
    """Return what is to be played. Raises `UsageError` for options that don't go together, and for sessions that aren't there."""
    from trimtab.lab.bench.playing import PRICES, file_jobs, suite_jobs
    from trimtab.lab.bench.sources import indexed, named, prices_named

    _require_one_kind(wish)
    if not wish.recorded:
        part = cast("Part", wish.part or "validation")
        named_prices = ("",) if wish.prices is None else prices_named(wish.prices)
        return [*suite_jobs(part, wish.each or EACH, wish.seeds or SEEDS, arms, prices=named_prices)]
    if wish.sessions:
        places = named(wish.sessions, wish.each)
    else:
        places = indexed(wish.data or environment().get("TRIMTAB_DATA", ""), wish.split or "", wish.each)
    prices = PRICES if wish.prices is None else prices_named(wish.prices)
    return [*file_jobs(places, arms, window=wish.window, prices=prices)]


def _require_one_kind(wish: Wish) -> None:
    if wish.sessions and (wish.split or wish.data):
        raise UsageError("--sessions names files, --split takes them from the index", hint="Take one of the two.")
    tasks = [name for name, value in (("--part", wish.part), ("--seeds", wish.seeds)) if value]
    sessions = [name for name, value in (("--window", wish.window), ("--data", wish.data)) if value]
    if wish.recorded and tasks:
        raise UsageError(
            f"{' and '.join(tasks)}: of generated tasks, not of recorded sessions", hint="Leave it out, or play tasks."
        )
    if not wish.recorded and sessions:
        raise UsageError(
            f"{' and '.join(sessions)}: of recorded sessions, and none are named",
            hint="Add --sessions PATH or --split NAME.",
        )
