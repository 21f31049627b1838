"""Grounds: what a claim takes, and what stories lack of it. The one place that decides; terminal, page and files ask here.

    stories, families, seeds ──lacking──▶ ""          a claim may be made, and intervals have ends
                                          in words    nothing is claimed: a verdict is `too few`, an interval isn't known

Of fewer than five stories an interval by resampling says nothing. Where each family (of recordings: project) has one story, every draw within families is the same, and the
interval would be a point. What is generated hangs on its seed: of fewer than five nobody knows how another would have come out.
"""

import math

from trimtab.lab.corpora.intervals import Interval
from trimtab.lab.env.facts import Tier

FEWEST = 5
"""Stories of which something is claimed."""
SEEDS = 5
"""Seeds of what is generated, of which something is claimed."""
SEEDED: frozenset[Tier] = frozenset({"T0", "T2"})
"""The tiers in which a seed tells another story of the same task; recordings have none, and draws of a live model cost money."""
TAKES = (
    f"A claim takes {FEWEST} stories, more than one in some family (of recordings: project), and in T0 and T2 {SEEDS} seeds. "
    "Where one of these is missing, the verdict is `too few`, and no interval is known."
)
"""What a claim takes, as a person reads it."""


def lacking(stories: int, units: int, seeds: int | None, *, unit: str = "family") -> str:
    """Return what stories lack of what a claim takes; empty where they lack nothing. `units`: families or projects among them; `seeds`: None where nothing hangs on them."""
    if stories < FEWEST:
        return f"{_there(stories, 'story', 'stories')}, and a claim takes {FEWEST}"
    if units == stories:
        return f"each {unit} has one story, and a claim takes more in some"
    if seeds is not None and seeds < SEEDS:
        return f"{_there(seeds, 'seed', 'seeds')}, and a claim takes {SEEDS}"
    return ""


def _there(count: int, one: str, many: str) -> str:
    return f"there is {count} {one}" if count == 1 else f"there are {count} {many}"


def borne(found: Interval, lacks: str) -> Interval:
    """Return an interval as far as it is known: without its ends where stories lack something."""
    return Interval(found.value, math.nan, math.nan) if lacks else found
