"""From a session that is over to a row: what each request took, lacked and changed.

    log ──edits in front of each answer──▶ StepFacts ──prices, tests──▶ Outcome ──yardstick──▶ reward ─▶ Row
    meter ──bills──────────────────────────┘               └── needs: what the scripted agent looked for

Success is what the tests say, 0 or 1. A scripted agent that doesn't notice a way does so by luck, so one row is one draw: rates come from many rows.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from trimtab.context.seeing.refetching import call_behind, refetches
from trimtab.context.window.view import View
from trimtab.lab.arms.arm import Arm
from trimtab.lab.arms.playing import Conditions
from trimtab.lab.bench.measuring import Origin, row_from
from trimtab.lab.bench.row import Needs, Quality, Row
from trimtab.lab.env.facts import StepFacts, Tier, edit_facts, refusals
from trimtab.lab.live.agent import Sought
from trimtab.lab.live.assignment import BLANK, Assignment, blanks
from trimtab.lab.live.meter import Paid
from trimtab.lab.live.workshop import Worked
from trimtab.lab.rewards.facts import Bound, outcome_of
from trimtab.lab.rewards.outcome import HIDING, NeedMet, Outcome, Yardstick
from trimtab.types.edits import edit_kind
from trimtab.types.entries import CustomEntry, EditEntry, MessageEntry
from trimtab.types.messages import Assistant, ToolResult
from trimtab.types.usage import Usage

PART = "live"
"""What rows of these tiers name as their part of the suite."""


@dataclass(frozen=True, slots=True)
class Played:
    """One assignment under one arm. `sought` is known of the scripted agent alone."""

    arm: Arm
    assignment: Assignment
    conditions: Conditions
    seed: int
    tier: Tier
    worked: Worked
    paid: tuple[Paid, ...]
    sought: tuple[Sought, ...] = ()


def row_of(played: Played, yardstick: Yardstick, *, extra: dict[str, float]) -> Row:
    """Return the row. `extra` are figures of the tier alone."""
    worked, conditions, sought = played.worked, played.conditions, played.sought
    fetched = _fetched(worked)
    facts, needs = _steps(played, fetched)
    outcomes: dict[Bound, Outcome] = {"expected": _outcome(played, facts, needs)}
    origin = Origin(played.assignment.name, PART, played.assignment.family)
    by_recall = sum(tool == "recall" for tool in fetched.values())
    row = row_from(facts, outcomes, yardstick, played.arm, origin, conditions.window)
    if worked.reason == "floor":  # a share of 0 tokens would make every figure of a request too small
        row = structs.replace(row, steps=row.steps - 1, curve=row.curve[:-1])
    return structs.replace(
        row,
        needs=Needs(*(sum(need.state == state for need in sought) for state in ("visible", "stub", "lost"))),
        quality=_quality(played, fetched),
        reloads=float(len(fetched)),
        summaries=sum(one.summary for one in played.paid),
        decisions=worked.decisions,
        policy_ms=worked.policy_ms,
        decided=worked.decided,
        extra={
            "recalls": float(by_recall),
            "rereads": float(len(fetched) - by_recall),
            "floor": float(worked.reason == "floor"),
            "late": float(worked.reason == "cancelled"),
            "noticed": conditions.noticed,
            **({"chance": chance(played)} if played.tier == "T2" else {}),
            **extra,
        },
    )


def chance(played: Played) -> float:
    """How likely this run of a scripted agent succeeds, luck averaged out: the chance that every way that it had to notice is noticed. 0 where a value was out of reach, one
    that doesn't hold any more was believed, or the work wasn't finished.

    What went wrong with a value only because it, or one that it hangs on, wasn't noticed before is put down to that.
    """
    assignment = played.assignment
    hangs_on = {fact.name: {fact.name, *blanks([fact.pattern, fact.source])} for fact in assignment.facts}
    found, missed = float(played.worked.reason == "stop"), set[str]()
    for need in played.sought:
        if need.state == "stub":
            found *= played.conditions.noticed
        if need.state == "stub" and not need.noticed:
            missed.add(need.fact)
        elif need.written != assignment.truth[need.fact] and not missed & hangs_on[need.fact]:
            return 0.0
    return found


def _steps(played: Played, fetched: Mapping[str, str]) -> tuple[tuple[StepFacts, ...], dict[int, int]]:
    """The facts of each request that was answered, and how many calls of its answer fetch something again, by step.

    A request that nothing could make small enough was never sent. It is an overflow of the step that would have come, which cost nothing and has no size.
    """
    steps: list[StepFacts] = []
    fetches: dict[int, int] = {}
    bills = _bills(played.paid)
    edits: list[EditEntry] = []
    events: list[CustomEntry] = []
    for entry in played.worked.path:
        value = entry.value
        if isinstance(value, EditEntry):
            edits.append(value)
        elif isinstance(value, CustomEntry):
            events.append(value)
        elif isinstance(value, MessageEntry) and isinstance(value.message, Assistant) and _answers(value.message):
            if (bill := next(bills, None)) is None:
                continue
            step = len(steps) + 1
            steps.append(_step(played, step, bill, edits, events))
            fetches[step] = sum(call.id in fetched for call in value.message.tool_calls)
            edits, events = [], []
    if played.worked.reason == "floor":
        room = played.worked.budget.room
        over = StepFacts(played.tier, len(steps) + 1, 0, 0, 0, room, Usage(), overflow=True)
        steps.append(replace(over, edits=edit_facts(edits), refused=refusals(events)))
    return tuple(steps), fetches


def _answers(answer: Assistant) -> bool:
    """Whether something was said. What came of a request that failed at once was never billed."""
    return not answer.superseded and (answer.error is None or bool(answer.parts))


def _bills(paid: Sequence[Paid]) -> Iterator[tuple[Paid, tuple[Usage, ...]]]:
    """Each request of the conversation, with what the summaries in front of it took."""
    summaries: list[Usage] = []
    for one in paid:
        if one.summary:
            summaries.append(one.usage)
        else:
            yield one, tuple(summaries)
            summaries = []


def _step(
    played: Played,
    step: int,
    bill: tuple[Paid, tuple[Usage, ...]],
    edits: Sequence[EditEntry],
    events: Sequence[CustomEntry],
) -> StepFacts:
    paid, summaries = bill
    room = played.worked.budget.room
    return StepFacts(
        played.tier,
        step,
        paid.shape.total,
        paid.usage.cache_read,
        paid.fixed,
        room,
        paid.usage,
        summaries=summaries,
        noticed=played.conditions.noticed,
        edits=edit_facts(edits),
        refused=refusals(events),
        overflow=paid.shape.total > room,
    )


def _outcome(played: Played, facts: Sequence[StepFacts], fetches: Mapping[int, int]) -> Outcome:
    """The outcome, with the calls that fetched something as reloads of their steps. What they cost is in the bills already."""
    name, regime, passed = played.assignment.name, played.conditions.regime, float(played.worked.passed)
    if not facts:  # no request was answered
        return Outcome(name, played.seed, regime.name, played.tier, (), passed)
    made = outcome_of(facts, task=name, seed=played.seed, regime=regime, passed=passed)
    steps = tuple(
        structs.replace(step, needs=(NeedMet("", 1.0, reloads=float(times)),))
        if (times := fetches.get(step.step, 0))
        else step
        for step in made.steps
    )
    return structs.replace(made, steps=steps)


def _hidden(view: View) -> frozenset[int]:
    """The results that edits took out of sight, by slot."""
    return frozenset(
        index
        for applied in view.applied
        if edit_kind(applied.edit) in HIDING and applied.id not in view.reverted
        for index in applied.slots
        if isinstance(view.slots[index].base, ToolResult)
    )


def _fetched(worked: Worked) -> dict[str, str]:
    """The calls that fetched something again, with their tools: whatever asks the archive, and what reads anew what is hidden."""
    view = worked.view
    again = {
        one.name: one.tool
        for index in _hidden(view)
        for one in refetches(view, index)
        if one.cause in ("read", "repeat")
    }
    recalls = {
        call.id: call.name
        for slot in view.slots
        if isinstance(slot.base, Assistant)
        for call in slot.base.tool_calls
        if call.name == "recall"
    }
    return again | recalls


def _quality(played: Played, fetched: Mapping[str, str]) -> Quality:
    view, sought = played.worked.view, played.sought
    hidden = _hidden(view)
    lacked = {need.fact for need in sought if need.state != "visible"}
    sources = [re.compile(_as_pattern(fact.source)) for fact in played.assignment.facts if fact.name in lacked]
    needed = 0
    for index in hidden:
        call = call_behind(view, index)
        read = call is not None and any(source.search(call.raw) for source in sources)
        needed += read or any(one.cause != "reload" for one in refetches(view, index))
    last = {need.fact: need.state for need in sought}
    kept = sum(state == "visible" for state in last.values())
    return Quality(len(hidden), needed, len(fetched), len(last), kept)


def _as_pattern(source: str) -> str:
    """What finds a source in a call, whatever the facts are that it names."""
    return r"\w+".join(map(re.escape, BLANK.split(source)[::2]))
