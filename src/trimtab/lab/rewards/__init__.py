"""Rewards: what an episode was worth, and which of its actions made it so.

outcome      what happened, as values            prices, keep_all   the unit of cost, drawn and worked out
reward       the reward, in parts                shares             the budget as a hard constraint
step_variant the simple scheme, to compare       pareto             success against cost
collapse     alarms over logs of decisions       facts              outcomes from the facts of a played story
"""

from trimtab.lab.rewards.outcome import ActionTaken, NeedMet, Outcome, Spent, StepOutcome, Yardstick
from trimtab.lab.rewards.reward import Part, Reward, Weights, action_lines, reward
from trimtab.lab.rewards.step_variant import StepScheme, step_reward

__all__ = [
    "ActionTaken",
    "NeedMet",
    "Outcome",
    "Part",
    "Reward",
    "Spent",
    "StepOutcome",
    "StepScheme",
    "Weights",
    "Yardstick",
    "action_lines",
    "reward",
    "step_reward",
]
