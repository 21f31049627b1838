"""Figures: what is said of an arm, each as a sum of rows over a sum of rows.

    Row ──Figure.part──▶ (above the line, below it)      summed over stories: never a mean of shares, but where each story is to count the same

A figure that depends on what is assumed of hidden things is read under bounds: a generated story says what is lost with what, so it has one (`expected`); of a recording nobody
knows, so it has two ends, and `fails` where success is in it: a hidden need fails the step.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from trimtab.lab.bench.paired import Part
from trimtab.lab.bench.row import Row
from trimtab.lab.env.facts import Tier
from trimtab.lab.rewards.facts import Bound

Group: TypeAlias = Literal["effect", "efficiency", "quality"]
Unit: TypeAlias = Literal["share", "number", "tokens"]
Reading: TypeAlias = Callable[[Row, Bound], Part]
_ONE: tuple[Bound, ...] = ("expected",)
_SUCCESS: tuple[Bound, ...] = ("fails", "optimistic")
_COST: tuple[Bound, ...] = ("optimistic", "pessimistic")
_SURE: tuple[Bound, ...] = ("optimistic",)


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure. `name` is the head of its column. `replayed`: the bounds under which a recording is read, from the lower end to the upper; one where they don't matter."""

    name: str
    group: Group
    unit: Unit
    about: str
    part: Reading
    replayed: tuple[Bound, ...] = _SURE

    def bounds(self, tier: Tier) -> tuple[Bound, ...]:
        """The bounds under which it is read."""
        return self.replayed if tier == "T1" else _ONE


def _success(row: Row, bound: Bound) -> Part:
    return row.judged[bound].success, 1


def _reward(row: Row, bound: Bound) -> Part:
    return row.judged[bound].reward, 1


def _cost(row: Row, bound: Bound) -> Part:
    return row.judged[bound].usd / row.keep_all_usd, 1


def _answers(row: Row, bound: Bound) -> Part:
    return row.extra.get("answers_right", 0), row.extra.get("answers", 0)


def _tools(row: Row, bound: Bound) -> Part:
    had = {"expected": "tools_right", "fails": "tools_seen"}.get(bound, "tools_sent")
    return row.extra.get(had, 0), row.extra.get("tools", 0)


def _reading(of: Callable[[Row], float], over: Callable[[Row], float] = lambda row: 1) -> Reading:
    return lambda row, bound: (of(row), over(row))


SUCCESS = Figure("SUCCESS", "effect", "share", "all that the user needed was there, to the end", _success, _SUCCESS)
REWARD = Figure("REWARD", "effect", "number", "success less cost and faults, as in training", _reward, _SUCCESS)
COST = Figure("COST", "efficiency", "number", "USD, in what keeping everything costs there, cut off hard", _cost, _COST)
TOKENS = Figure("TOKENS", "efficiency", "tokens", "of a request", _reading(lambda r: r.prompt, lambda r: r.steps))
FIGURES: tuple[Figure, ...] = (
    SUCCESS,
    Figure("ANSWERS", "effect", "share", "questions that had what their answer rests on", _answers),
    Figure("TOOLS", "effect", "share", "calls that had what they take from further above", _tools, _SUCCESS),
    REWARD,
    COST,
    TOKENS,
    Figure(
        "PEAK", "efficiency", "tokens", "of the largest request, whether it fitted or not", _reading(lambda r: r.peak)
    ),
    Figure("CACHED", "efficiency", "share", "tokens from the cache", _reading(lambda r: r.cached, lambda r: r.prompt)),
    Figure("EDITS", "efficiency", "number", "a story", _reading(lambda r: r.edits)),
    Figure("BATCHES", "efficiency", "number", "in which edits were made", _reading(lambda r: r.batches)),
    Figure(
        "FORCED", "efficiency", "share", "edits that the ladder made", _reading(lambda r: r.forced, lambda r: r.edits)
    ),
    Figure(
        "OVER",
        "efficiency",
        "number",
        "requests that don't fit; the first one ends SUCCESS, ANSWERS and TOOLS",
        _reading(lambda r: r.overflows),
    ),
    Figure("RELOADS", "efficiency", "number", "a story, as often as stubs are noticed", _reading(lambda r: r.reloads)),
    Figure("SUMMARIES", "efficiency", "number", "written by a model", _reading(lambda r: r.summaries)),
    Figure(
        "REFUSED",
        "efficiency",
        "number",
        "wishes that came to nothing, and invalid requests",
        _reading(lambda r: r.refused + r.invalid),
    ),
    Figure(
        "MS",
        "efficiency",
        "number",
        "milliseconds of a decision",
        _reading(lambda r: r.policy_ms, lambda r: r.decisions),
    ),
    Figure(
        "FALLBACK",
        "efficiency",
        "share",
        "decisions left to the rules, since the arm couldn't know, failed, or wasn't asked any more",
        _reading(lambda r: r.decided.left if r.decided else 0, lambda r: r.decided.decisions if r.decided else 0),
    ),
    Figure(
        "HIDDEN",
        "quality",
        "number",
        "items a story that were taken out of sight",
        _reading(lambda r: r.quality.hidden),
    ),
    Figure(
        "NEEDED",
        "quality",
        "share",
        "of them that were needed later",
        _reading(lambda r: r.quality.hidden_needed, lambda r: r.quality.hidden),
    ),
    Figure(
        "REREAD",
        "quality",
        "number",
        "readings again for each of them",
        _reading(lambda r: r.quality.reread, lambda r: r.quality.hidden),
    ),
    Figure(
        "FIELDS",
        "quality",
        "share",
        "key fields that the last request that needed them showed",
        _reading(lambda r: r.quality.fields_kept, lambda r: r.quality.fields),
    ),
    Figure(
        "SEEN",
        "quality",
        "share",
        "needs that stood in the request, whether it fitted or not",
        _reading(lambda r: r.needs.visible, lambda r: r.needs.visible + r.needs.stub + r.needs.lost),
    ),
    Figure(
        "LOST",
        "quality",
        "share",
        "needs that nothing led to",
        _reading(lambda r: r.needs.lost, lambda r: r.needs.visible + r.needs.stub + r.needs.lost),
    ),
)
"""All figures, in the order of their columns."""


def in_group(group: Group) -> Sequence[Figure]:
    """The figures of a table."""
    return [figure for figure in FIGURES if figure.group == group]


def met(row: Row, bound: Bound) -> float:
    """Success as if every request had fitted: what a hidden thing costs is in it, and what a small window costs isn't."""
    if bound in ("expected", "fails"):
        return row.extra.get("met" if bound == "expected" else "met_fails", row.judged[bound].success)
    return 1.0
