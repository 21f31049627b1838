"""The simple scheme that scores each action as it happens: an arm of the ablation, not something to train with.

    findable   an action after which all that matters can still be found, with less than half the tokens   +1
    reload     a reload that a need asked for, to the action that hid it                                   −1
    summary    a summary while the work succeeds                                                           +0.2
    field      each number, name, code field or error code that its text still shows                       a bonus

It is easy to understand, and easy to deceive, because what is scored is that something was done, not what the work came to. Hiding something, bringing it back
though nobody needs it, and hiding it again is scored each time; so is a summary of a summary. The prompt cache that each of these breaks has
no part in it. `tests/lab/test_step_variant.py` plays both against decent behaviour, and against `reward`.
"""

from collections.abc import Iterator

import msgspec

from trimtab.lab.rewards.outcome import HIDING, SUMMARIES, ActionTaken, Outcome
from trimtab.lab.rewards.reward import Part, Reward


class StepScheme(msgspec.Struct, frozen=True, omit_defaults=True):
    """The points. `succeeding`: expected success so far from which on the work counts as succeeding. `all_reloads`: those that nothing needed are charged too."""

    findable: float = 1.0
    reload: float = -1.0
    summary: float = 0.2
    field: float = 0.05
    succeeding: float = 0.5
    all_reloads: bool = False


SIMPLE = StepScheme()


def step_reward(outcome: Outcome, scheme: StepScheme = SIMPLE) -> Reward:
    """Return the points of an episode. What an action is given stands at its own step; what a need takes, at the step of the need."""
    forced = frozenset(action.id for action in outcome.actions if action.forced)
    parts = (Part(p.step, p.term, p.value, p.action, p.action in forced) for p in _parts(outcome, scheme) if p.value)
    return Reward(tuple(parts))


def _parts(outcome: Outcome, scheme: StepScheme) -> Iterator[Part]:
    so_far = 1.0
    for step in outcome.steps:
        for action in step.actions:
            if not action.refused:
                yield from _points(step.step, action, so_far >= scheme.succeeding, scheme)
        for need in step.needs:
            yield Part(step.step, "reload", scheme.reload * need.reloads, need.hidden_by)
            so_far *= need.chance


def _points(step: int, action: ActionTaken, succeeding: bool, scheme: StepScheme) -> Iterator[Part]:  # noqa: FBT001 - one caller
    if action.name == "reload" and scheme.all_reloads:
        yield Part(step, "reload", scheme.reload, action.id)
    if action.name not in HIDING:
        return
    if action.findable and action.after * 2 < action.before:
        yield Part(step, "findable", scheme.findable, action.id)
    if action.name in SUMMARIES and succeeding:
        yield Part(step, "summary", scheme.summary, action.id)
    yield Part(step, "field", scheme.field * len(action.fields), action.id)
