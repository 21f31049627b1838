"""Outcomes from the facts of a played story: prices are applied, chances are read under a bound, and what went wrong is traced to the edit behind it.

    facts of each request ─▶ money by price · needs by bound · edits as actions, the ladder's marked ─▶ Outcome

    expected      a need has the chance that the facts give it; its reload is made, and paid, as often as the stub is noticed
    optimistic    what was hidden is fetched at once, every time
    pessimistic   the same, and the original call is made again
    fails         what was hidden is missed, and not fetched

The last three are the bounds of a replay, where nobody knows what the recorded agent would have noticed.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias

import msgspec

from trimtab.lab.env.facts import EditFacts, NeedFacts, StepFacts, Tier
from trimtab.lab.rewards.outcome import (
    HIDING,
    SUMMARIES,
    ActionTaken,
    Excess,
    NeedMet,
    Outcome,
    Spent,
    StepOutcome,
)
from trimtab.lab.rewards.prices import Regime
from trimtab.lab.rewards.reward import BadOutcome
from trimtab.types.models import cost_usd
from trimtab.types.usage import Usage

Bound: TypeAlias = Literal["expected", "optimistic", "pessimistic", "fails"]
_NAMES = {"restore": "reload"}
"""The log's word for what actions call otherwise."""


def _none(seen: object) -> tuple[()]:
    """What nobody measured."""
    return ()


def outcome_of(
    facts: Iterable[StepFacts],
    *,
    task: str,
    seed: int,
    regime: Regime,
    bound: Bound = "expected",
    entries: Sequence[str] = (),
    fields: Callable[[EditFacts], Sequence[str]] = _none,
    excess: Callable[[StepFacts], Sequence[Excess]] = _none,
    passed: float | None = None,
) -> Outcome:
    """Return the outcome of an episode at the prices of `regime`. Raises `BadOutcome` for facts of several tiers, or none.

    `entries`: the log's name of each message by its number, with which a miss is traced to the edit that hid it. `fields`: the structured fields that
    an edit's text still shows. `excess`: the parts of the budget that a request exceeds (see `shares`), where shares are kept.
    """
    steps, tiers = [], set[Tier]()
    hidden_by: dict[str, str] = {}

    def hider(number: int) -> str:
        return hidden_by.get(entries[number], "") if number < len(entries) else ""

    for seen in facts:
        tiers.add(seen.tier)
        actions = _actions(seen, fields)
        _trace(hidden_by, actions)
        made = _step(seen, actions, hider, regime, bound)
        steps.append(msgspec.structs.replace(made, excess=tuple(excess(seen))))
    if len(tiers) != 1:
        raise BadOutcome(f"the facts of {task!r} are of {len(tiers)} tiers: {', '.join(sorted(tiers)) or 'none'}")
    return Outcome(task, seed, regime.name, tiers.pop(), tuple(steps), passed)


def _actions(seen: StepFacts, fields: Callable[[EditFacts], Sequence[str]]) -> tuple[ActionTaken, ...]:
    done = tuple(
        ActionTaken(
            f"{seen.step}.{number}",
            _NAMES.get(edit.kind, edit.kind),
            edit.targets,
            edit.before,
            edit.after,
            edit.forced,
            findable=edit.kind != "drop",
            fields=tuple(fields(edit)),
        )
        for number, edit in enumerate(seen.edits, 1)
    )
    # A refusal is told in words: what was wanted isn't known any more.
    refused = (
        ActionTaken(f"{seen.step}.r{number}", "refused", refused=True) for number, _ in enumerate(seen.refused, 1)
    )
    return (*done, *refused)


def _trace(hidden_by: dict[str, str], actions: Iterable[ActionTaken]) -> None:
    """Keep track of which action each message is hidden by. A part (`ENTRY#N`) counts as its message."""
    for action in actions:
        for target in action.targets:
            entry = target.split("#", 1)[0]
            if action.name in HIDING and action.name != "expire":  # expire is a mark: the edit that makes it real hides
                hidden_by[entry] = action.id
            elif action.name == "reload":
                hidden_by.pop(entry, None)


def _step(
    seen: StepFacts, actions: tuple[ActionTaken, ...], hider: Callable[[int], str], regime: Regime, bound: Bound
) -> StepOutcome:
    fetched = _fetched(seen)
    often = {"expected": seen.noticed, "optimistic": 1.0, "pessimistic": 1.0, "fails": 0.0}[bound]
    needs, told = [], set[int]()
    for need in seen.needs:
        hidden = need.reach != "visible"
        first = need.message in fetched and need.message not in told
        told.add(need.message)
        name = str(need.message if need.point is None else need.point)
        by = hider(need.message) if hidden else ""
        needs.append(NeedMet(name, _chance(need, bound, need.message in fetched), by, often if first else 0.0))
    spent = [Spent(_usd(seen.request, regime))]
    spent += _summaries(seen, actions, regime)
    for place, usage in enumerate(seen.reloads):
        again = seen.repeated[place : place + 1] if bound == "pessimistic" else ()
        usd = sum(_usd(one, regime) for one in (usage, *again))
        by = hider(fetched[place]) if place < len(fetched) else ""
        if often:
            spent.append(Spent(often * usd, "reload", by))
    return StepOutcome(
        seen.step,
        actions,
        tuple(needs),
        tuple(spent),
        overflow=seen.overflow,
        invalid=int(seen.invalid),
        asked=seen.asked,
    )


def _chance(need: NeedFacts, bound: Bound, fetched: bool) -> float:  # noqa: FBT001 - one caller
    if need.reach == "visible" or bound == "expected":
        return need.chance
    return 1.0 if fetched and bound != "fails" else 0.0


def _fetched(seen: StepFacts) -> tuple[int, ...]:
    """The messages behind the bills of reloads: those behind a stub, and in a story where lost ones are fetched too, all that weren't visible."""
    stubs = tuple(dict.fromkeys(need.message for need in seen.needs if need.reach == "stub"))
    if len(stubs) == len(seen.reloads):
        return stubs
    hidden = tuple(dict.fromkeys(need.message for need in seen.needs if need.reach != "visible"))
    if len(hidden) == len(seen.reloads):
        return hidden
    raise BadOutcome(
        f"step {seen.step} has {len(seen.reloads)} reloads for {len(hidden)} hidden messages", step=seen.step
    )


def _summaries(seen: StepFacts, actions: Sequence[ActionTaken], regime: Regime) -> list[Spent]:
    """The bills of summaries, with the actions that asked for them, where it is plain which: one action for all, or one for each."""
    writers = [action.id for action in actions if action.name in SUMMARIES]
    if len(writers) == 1:
        writers *= len(seen.summaries)
    if len(writers) != len(seen.summaries):
        writers = [""] * len(seen.summaries)
    return [
        Spent(_usd(usage, regime), "summary", writer) for usage, writer in zip(seen.summaries, writers, strict=True)
    ]


def _usd(usage: Usage, regime: Regime) -> float:
    usd = cost_usd(usage, (regime.price,))
    assert usd is not None, "the price of a regime holds from the first token on"
    return usd
