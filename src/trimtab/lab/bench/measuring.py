"""Measuring: what was played becomes a row.

    Played + Origin ──bounds──▶ success, USD, reward ─┐
        │  └──chances that a stub is noticed─────────┤
        ├──edits × needs──▶ quality of edits ─────────┼──▶ Row
        └──questions, calls──▶ what was answered ─────┘

Nothing is drawn, and nothing is judged that the facts of the requests don't say. A story ends at the first request that doesn't fit (see `rewards`), so what
is asked or called from there on isn't had by anybody. What every tier counts in the same way, live work too, is in `row_from`.

    extra               counts or chances, of one story
    answers             questions that it asks                          answers_right   the chance, summed, that each had what it rests on
    tools               requests that call a tool with something that stood further above     tools_right    the chance, summed, that each had it
    tools_sent          those of them that were made                    tools_seen      those of them that saw all of it
    priced              1 where the prices of a generated story were named, and not drawn
    met, met_fails      the chance that all needs are met if every request fitted, with stubs noticed as set and never
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from msgspec import structs

from trimtab.lab.arms.arm import Arm
from trimtab.lab.arms.playing import Played
from trimtab.lab.bench.row import BOUNDS, CHANCES, Judged, Needs, Quality, Row, chance_key
from trimtab.lab.corpora.trajectory import Place
from trimtab.lab.env.facts import NeedFacts, StepFacts
from trimtab.lab.rewards.facts import Bound
from trimtab.lab.rewards.outcome import HIDING, Outcome, Yardstick
from trimtab.lab.rewards.reward import Weights, reward
from trimtab.lab.suite import Drawn
from trimtab.lab.tasks.task import Task
from trimtab.types.messages import Assistant, Message, ToolResult

_AS_IF_FITTED = Weights(hard=False)
_MARKS = frozenset({"expire"})
"""Edits that hide nothing by themselves: another one makes them real."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a story comes from. `name`: its own, apart from all others. `slot`: see `Row`. `task`: of a generated story. `priced`: somebody named the prices, so they weren't drawn."""

    name: str
    part: str
    family: str
    project: str = ""
    slot: str = ""
    task: Task | None = None
    priced: bool = False


def origin_of_task(drawn: Drawn) -> Origin:
    """Where a story of the suite comes from."""
    return Origin(drawn.task.name, drawn.part, drawn.family, slot=f"{drawn.family}-{drawn.number}", task=drawn.task)


def origin_of_recording(place: Place, number: int = 0, *, slot: str = "") -> Origin:
    """Where a recorded story comes from: the recording of that number in the file."""
    return Origin(f"{place.name}#{number}" if number else place.name, place.split, place.family, place.project, slot)


def row_from(
    facts: Sequence[StepFacts],
    outcomes: Mapping[Bound, Outcome],
    unit: Yardstick,
    arm: Arm,
    origin: Origin,
    window: int,
) -> Row:
    """Return the row of a story of any tier, as far as its facts and `outcomes`, the expected one among them, tell it. Whoever played it puts in what else its tier knows."""
    edits = [edit for step in facts for edit in step.edits]
    return Row(
        arm=arm.spec,
        kind=arm.kind,
        tier=outcomes["expected"].tier,
        part=origin.part,
        family=origin.family,
        project=origin.project,
        story=origin.name,
        seed=unit.seed,
        window=window,
        regime=unit.regime,
        keep_all_usd=unit.keep_all_usd,
        judged={bound: _judged(outcome, unit) for bound, outcome in outcomes.items()},
        steps=len(facts),
        curve=tuple(step.prompt for step in facts),
        cached=sum(step.cached for step in facts),
        output=sum(step.output for step in facts),
        edits=len(edits),
        batches=len({edit.batch for edit in edits}),
        forced=sum(edit.forced for edit in edits),
        summaries=sum(len(step.summaries) for step in facts),
        overflows=sum(step.overflow for step in facts),
        invalid=sum(step.invalid for step in facts),
        refused=sum(len(step.refused) for step in facts),
        actions=dict(Counter(edit.kind for edit in edits)),
        slot=origin.slot,
    )


def row_of(played: Played, arm: Arm, origin: Origin) -> Row:
    """Return what a story came to under an arm as a row."""
    bounds = {bound: played.judged(bound) for bound in BOUNDS}
    row = row_from(played.facts, bounds, played.yardstick, arm, origin, played.conditions.window)
    needs = Counter(need.reach for step in played.facts for need in step.needs)
    return structs.replace(
        row,
        noticed={chance_key(one): _judged(played.judged(noticed=one), played.yardstick) for one in CHANCES},
        needs=Needs(needs["visible"], needs["stub"], needs["lost"]),
        quality=quality_of(played, origin.task),
        reloads=_reloads(bounds["expected"]) + row.actions.get("restore", 0),
        decisions=played.decisions,
        policy_ms=played.policy_ms,
        decided=played.decided,
        actions=dict(sorted(row.actions.items())),
        extra={
            **_had(played, origin.task),
            **({"priced": 1.0} if origin.priced else {}),
            "met": _met(played, bounds["expected"]),
            "met_fails": _met(played, bounds["fails"]),
        },
    )


def _judged(outcome: Outcome, unit: Yardstick) -> Judged:
    found = reward(outcome, unit)
    return Judged(found.success, outcome.usd, found.total)


def _met(played: Played, outcome: Outcome) -> float:
    return reward(outcome, played.yardstick, _AS_IF_FITTED).success


def _reloads(outcome: Outcome) -> float:
    return sum(need.reloads for step in outcome.steps for need in step.needs)


def quality_of(played: Played, task: Task | None = None) -> Quality:
    """Return what edits did to what came in: results, and words of a person. What the model wrote itself counts as no item.

    An item is hidden from the first edit on that takes it out of sight, and was needed later when that request or a later one needed it, however much of it still stood there.
    It is read again when it is brought back, and when a need leads to it (as if every stub were noticed).
    """
    hidden = _hidden(played)
    later = {
        need.message
        for step in played.facts
        for need in step.needs
        if step.step >= hidden.get(need.message, step.step + 1)
    }
    restored = sum(edit.kind == "restore" for step in played.facts for edit in step.edits)
    fields = _last_needs(played.facts, task) if task is not None else {}
    return Quality(
        hidden=len(hidden),
        hidden_needed=len(later),
        reread=restored + sum(len(step.reloads) for step in played.facts),
        fields=len(fields),
        fields_kept=sum(need.reach == "visible" for need in fields.values()),
    )


def _hidden(played: Played) -> dict[int, int]:
    """Number of each item that was taken out of sight → the request in front of which that was first done."""
    messages = _messages(played)
    number_of = {entry: number for number, entry in enumerate(played.entries)}
    results = {m.call_id: number for number, m in enumerate(messages) if isinstance(m, ToolResult)}
    hidden: dict[int, int] = {}
    for step in played.facts:
        for edit in step.edits:
            if edit.kind not in HIDING - _MARKS:
                continue
            for target in edit.targets:
                entry = target.partition("#")[0]
                if entry in number_of:
                    for number in _with_results(number_of[entry], messages, results, drop=edit.kind == "drop"):
                        hidden.setdefault(number, step.step)
    return hidden


def _messages(played: Played) -> list[Message]:
    """The messages of the story, by their numbers."""
    return [
        m for step in played.story.prepared.steps for m in (*(came.message for came in step.came), step.answer.message)
    ]


def _with_results(number: int, messages: Sequence[Message], results: dict[str, int], *, drop: bool) -> Iterator[int]:
    """The items that go with a message: itself, and when an answer is dropped, the results of its calls."""
    message = messages[number]
    if not isinstance(message, Assistant):
        yield number
    elif drop:
        yield from (results[call.id] for call in message.tool_calls if call.id in results)


def _last_needs(facts: Sequence[StepFacts], task: Task) -> dict[int, NeedFacts]:
    """The last need of each key point that is a structured field."""
    needs = (need for step in facts for need in step.needs)
    return {need.point: need for need in needs if need.point is not None and task.points[need.point].field}


def _had(played: Played, task: Task | None) -> dict[str, float]:
    """What questions and calls had of what they rest on."""
    found = dict.fromkeys(("tools", "tools_sent", "tools_right", "tools_seen"), 0.0)
    asked = task.questions if task is not None else ()
    if asked:
        found |= {"answers": float(len(asked)), "answers_right": 0.0}
    ended = False
    for step, seen in zip(played.story.prepared.steps, played.facts, strict=True):
        ended = ended or seen.overflow
        for question in asked if not ended else ():
            if question.step == seen.step:
                found["answers_right"] += prod(need.chance for need in seen.needs if need.point in question.points)
        if step.answer.message.tool_calls and seen.needs:
            found["tools"] += 1
            found["tools_sent"] += not ended
            found["tools_right"] += 0.0 if ended else prod(need.chance for need in seen.needs)
            found["tools_seen"] += not ended and all(need.reach == "visible" for need in seen.needs)
    return found
