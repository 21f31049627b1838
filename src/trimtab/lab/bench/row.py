"""One row of a bench: one story under one arm, as figures that go to disk.

    Played ──row──▶ JSON lines ──▶ tables, intervals, verdicts, the report page

A row holds counts and sums, no shares: shares are made of sums of rows, so that a long story counts as what it is. Everything that a table or a plot shows is made of
rows, so a run that was broken off goes on, and a page is made anew without playing anything.
"""

from collections.abc import Iterator, Mapping

import msgspec

from trimtab.lab.arms.arm import ArmKind
from trimtab.lab.env.facts import Decided, Tier
from trimtab.lab.rewards.facts import Bound

BOUNDS: tuple[Bound, ...] = ("expected", "optimistic", "pessimistic", "fails")
"""See `rewards/facts.py`."""
READ_BY: Mapping[Tier, tuple[Bound, ...]] = {
    **dict.fromkeys(("T0", "T2", "T3"), ("expected",)),
    "T1": ("optimistic", "pessimistic", "fails"),
}
"""By which bounds the rows of a tier are read."""
CHANCES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Chances that a stub is noticed, for the sweep."""
MOST = 1e15
"""The largest number that a row may have, either way: sums of such are still exact to a unit, and a chart can show them."""
LEAST_USD = 1e-12
"""US dollars that keeping everything costs at least."""
_IN = " in "


def chance_key(chance: float) -> str:
    """The key of a chance in `Row.noticed`."""
    return f"{chance:g}"


def _numbers(of: msgspec.Struct) -> Iterator[tuple[str, float]]:
    """All numbers in a struct, with the names of its fields."""
    for name in of.__struct_fields__:
        value = getattr(of, name)
        for one in value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else (value,):
            if isinstance(one, msgspec.Struct):
                yield from _numbers(one)
            elif isinstance(one, int | float):
                yield name, one


def slot_of_file(name: str, window: int | None) -> str:
    """Return what rows of a recorded file have for a slot: the file in this window. None: of each recording its own."""
    return f"{name}{_IN}{window or 'its own window'}"


class Judged(msgspec.Struct, frozen=True):
    """One way to read a story: expected success (0 to 1), US dollars, reward."""

    success: float
    usd: float
    reward: float


class Needs(msgspec.Struct, frozen=True):
    """What steps needed, by how they had it."""

    visible: int = 0
    stub: int = 0
    lost: int = 0


class Quality(msgspec.Struct, frozen=True):
    """Of edits: items that were taken out of sight, those of them that were needed later, readings of such items again, key points that are structured fields, and those of
    them that the last request in which they were needed showed, in whatever form.
    """

    hidden: int = 0
    hidden_needed: int = 0
    reread: int = 0
    fields: int = 0
    fields_kept: int = 0


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """See the module. `group`: what all arms share: story, seed, window and prices. `curve`: tokens of each request, in order; `steps` is how many there are. What was never sent, since nothing made it small enough, is in neither, and counts in `overflows`. `policy_ms`: milliseconds of all decisions together. `decided`: None in rows of a version that didn't count who decided.

    `judged` is by bound, `noticed` by the chance that a stub is noticed (`chance_key`). `slot`: of what this story is one telling, so that stories of one slot differ by their seed; of a
    recording the file, and which window was asked for.
    """

    arm: str
    kind: ArmKind
    tier: Tier
    part: str
    family: str
    project: str = ""
    story: str
    seed: int
    window: int
    regime: str
    keep_all_usd: float
    judged: dict[str, Judged]
    noticed: dict[str, Judged] = {}
    steps: int
    curve: tuple[int, ...]
    cached: int = 0
    output: int = 0
    needs: Needs = Needs()
    quality: Quality = Quality()
    edits: int = 0
    batches: int = 0
    forced: int = 0
    reloads: float = 0.0
    summaries: int = 0
    overflows: int = 0
    invalid: int = 0
    refused: int = 0
    decisions: int = 0
    policy_ms: float = 0.0
    decided: Decided | None = None
    actions: dict[str, int] = {}
    extra: dict[str, float] = {}
    """Figures that only some tiers have, by the names that `measuring` gives them."""
    slot: str = ""

    def __post_init__(self) -> None:
        """Refuse what no table could be made of. Raises `ValueError`."""
        if not self.keep_all_usd >= LEAST_USD:
            raise ValueError(f"keeping everything costs {self.keep_all_usd:g}, which is no unit of cost")
        for name, number in _numbers(self):
            if not abs(number) <= MOST:  # nan too
                raise ValueError(f"{name} is {number:.3g}, and nothing can be summed with that")
        if self.decided is not None and not 0 <= self.decided.left <= self.decided.decisions:
            raise ValueError(f"of {self.decided.decisions} decisions {self.decided.left} were left to the rules")
        if missing := set(READ_BY[self.tier]) - self.judged.keys():
            raise ValueError(f"it isn't judged by {', '.join(sorted(missing))}")

    @property
    def recording(self) -> str:
        """The name of the file that a recorded story was read from; empty for a story of another tier."""
        return self.slot.rpartition(_IN)[0] if self.tier == "T1" else ""

    @property
    def group(self) -> tuple[str, int, int, str]:
        """What is compared with each other."""
        return self.story, self.seed, self.window, self.regime

    @property
    def path(self) -> tuple[str, str, str]:
        """Where it stands for a bootstrap, from the outside in: family (of a recording its project), task (of a recording the sessions that it shares messages with), the rest."""
        rest = "\0".join(map(str, self.group))
        if self.tier == "T1":
            return self.project, self.family or self.story, rest
        return self.family, self.slot or self.story, rest

    @property
    def prompt(self) -> int:
        """Tokens of all requests."""
        return sum(self.curve)

    @property
    def peak(self) -> int:
        """Tokens of the largest request."""
        return max(self.curve, default=0)
