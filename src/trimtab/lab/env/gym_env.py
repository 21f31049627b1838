"""A Gymnasium environment over episodes, one choice at a time.

    reset(seed, options) ──▶ a story is drawn, played to its first decision
    step(choice) ──▶ adds to the open batch, at no time and no reward
    step(0) ─ commit ─▶ the batch goes to the engine, the story is played to its next decision; what the requests on the way were worth

Actions are numbers: 0 commit, then what is about the whole, then for each row of the observation every operation, in the order of `grammar`. What is valid
stands in `info["action_mask"]`. An invalid one does nothing but be counted (`info["masked"]`), and a batch is committed when it is full, or when as many
choices were made for it; so whoever chooses blindly comes to the end too.

Observation: `items`, a row of `ITEM_FEATURES` for each of the items that something may be done with, in the order of the context, the largest where there are more than
rows, zeros behind them; `whole`, `WHOLE_FEATURES`. Each `info` names the `tier`. The same seed, stories and choices give the same everything.

The only module that needs the extra `lab`.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium import spaces

from trimtab.context.policies.learned.features import ITEM_FEATURES, MOST, WHOLE_FEATURES, item_row, whole_row
from trimtab.context.policies.learned.grammar import (
    BATCH,
    COMMIT,
    ITEM_OPS,
    ROWS,
    WHOLE_OPS,
    Choice,
    actions_of,
    choices,
    largest,
)
from trimtab.context.seeing.observation import ItemFacts
from trimtab.lab.env.episode import Episode, Setup
from trimtab.lab.env.facts import StepFacts
from trimtab.lab.env.story import Story
from trimtab.lab.env.yardstick import yardstick_of
from trimtab.lab.rewards.facts import outcome_of
from trimtab.lab.rewards.outcome import Yardstick
from trimtab.lab.rewards.prices import Regime
from trimtab.lab.rewards.reward import DEFAULT, BadOutcome, Weights, reward
from trimtab.types.models import CacheRules, Price

Seen: TypeAlias = dict[str, Any]
"""Two arrays of 32-bit floats: `items` and `whole`."""
Prepare: TypeAlias = Callable[[Story, np.random.Generator], Setup]
"""How a drawn story is played: its model, window and prices, which may be drawn too."""
_PLACES = {op: place for ops in (WHOLE_OPS, ITEM_OPS) for place, op in enumerate(ops)}
Worth: TypeAlias = Callable[[Episode], float]
"""What an episode is worth as far as it was played. A step is rewarded with what it adds, so that a whole episode is rewarded with what it is worth."""


class StoryReward:
    """The reward of `lab/rewards` so far, at the prices and in the window of the setup: see there. Each story is measured with its own yardstick, once."""

    def __init__(self, weights: Weights = DEFAULT) -> None:
        self.weights = weights
        self._units: dict[tuple[str, int, Price, CacheRules], Yardstick] = {}

    def __call__(self, episode: Episode) -> float:
        """What success, cost and edits come to up to now. Raises `BadOutcome` for a model without a price."""
        story, setup = episode.story, episode.setup
        if not episode.facts:
            return 0.0
        if not setup.model.prices:
            raise BadOutcome(f"{setup.model.ref} has no price, so nothing can be measured with it")
        regime = Regime("setup", setup.model.prices[0], setup.model.cache)
        key = (story.name, setup.model.context_window, regime.price, regime.cache)
        if key not in self._units:
            self._units[key] = yardstick_of(story, setup.model, regime, seed=0, counter=setup.counter)
        entries = [name for name, _ in episode.player.messages]
        outcome = outcome_of(episode.facts, task=story.name, seed=0, regime=regime, entries=entries)
        return reward(outcome, self._units[key], self.weights).total


class ContextEnv(gymnasium.Env[Seen, np.int64]):
    """See the module. `rows`: items that are shown; `batch`: choices in a batch; `decisions`: after so many the episode is truncated.

    `reset` takes `options={"story": NUMBER}` for one story of `stories`. After it, and after `step`, `episode` is what is played.
    """

    def __init__(
        self,
        stories: Sequence[Story],
        prepare: Prepare,
        *,
        worth: Worth | None = None,
        rows: int = ROWS,
        batch: int = BATCH,
        decisions: int | None = None,
    ) -> None:
        self.stories, self.prepare = tuple(stories), prepare
        self.worth: Worth = worth or StoryReward()
        self.rows, self.batch, self.decisions = rows, batch, decisions
        self.episode: Episode | None = None
        self.observation_space: spaces.Space[Seen] = spaces.Dict(
            {
                "items": spaces.Box(0.0, MOST, (rows, len(ITEM_FEATURES)), np.float32),
                "whole": spaces.Box(0.0, MOST, (len(WHOLE_FEATURES),), np.float32),
            }
        )
        self.action_space = spaces.Discrete(len(WHOLE_OPS) + rows * len(ITEM_OPS))
        self._begin()

    def _begin(self) -> None:
        self._batch: list[Choice] = []
        self._shown: tuple[ItemFacts, ...] = ()
        self._valid: dict[int, Choice] = {}
        self._tries = 0
        self._masked = 0
        self._decided = 0
        self._told = 0
        self._worth = 0.0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Seen, dict[str, Any]]:
        """Draw a story, or take the one that `options` name, and play to its first decision."""
        super().reset(seed=seed)
        number = (options or {}).get("story")
        if number is None:
            number = int(self.np_random.integers(len(self.stories)))
        story = self.stories[number]
        self.episode = Episode(story, self.prepare(story, self.np_random))
        self._begin()
        self.episode.advance()
        self._look()
        return self._seen(), self._info(())

    def step(self, action: np.int64) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        """Add a choice to the batch, or commit it."""
        episode = self._played
        choice = self._valid.get(int(action))
        self._tries += 1
        self._masked += choice is None
        if choice is not None and choice != COMMIT:
            self._batch.append(choice)
        if choice != COMMIT and self._tries < self.batch and not episode.done:
            self._mask()
            return self._seen(), 0.0, False, False, self._info(())
        self._commit(episode)
        fresh = tuple(episode.facts[self._told :])
        self._told = len(episode.facts)
        before, self._worth = self._worth, float(self.worth(episode))
        truncated = not episode.done and self.decisions is not None and self._decided >= self.decisions
        return self._seen(), self._worth - before, episode.done, truncated, self._info(fresh)

    def actions(self) -> dict[int, Choice]:
        """What each valid number stands for now."""
        return dict(self._valid)

    @property
    def _played(self) -> Episode:
        if self.episode is None:
            raise RuntimeError("reset() comes first")
        return self.episode

    def _commit(self, episode: Episode) -> None:
        if episode.observation is not None:
            episode.act(actions_of(self._batch, episode.observation))
            self._decided += 1
            episode.advance()
        self._batch, self._tries = [], 0
        self._look()

    def _look(self) -> None:
        """Choose the items that are shown until the next decision."""
        observation = self._played.observation
        self._shown = () if observation is None else largest(observation, self.rows)
        self._mask()

    def _mask(self) -> None:
        """Work out what may be chosen next."""
        episode, observation = self._played, self._played.observation
        self._valid = {0: COMMIT}
        if observation is None:
            return
        rows = {item.id: row for row, item in enumerate(self._shown)}
        for choice in choices(observation, batch=self._batch, accepts=episode.accepts, items=self._shown):
            self._valid[_number(choice, rows)] = choice

    def _seen(self) -> Seen:
        items = np.zeros((self.rows, len(ITEM_FEATURES)), np.float32)
        whole = np.zeros(len(WHOLE_FEATURES), np.float32)
        observation = self._played.observation
        if observation is not None:
            chosen = {choice.item for choice in self._batch}
            for row, item in enumerate(self._shown):
                items[row] = item_row(item, observation, chosen=item.id in chosen)
            whole[:] = whole_row(observation, batch=self._tries / self.batch)
        return {"items": items, "whole": whole}

    def _info(self, facts: tuple[StepFacts, ...]) -> dict[str, Any]:
        """`facts`: of the requests since the last decision; `masked`: invalid choices so far."""
        mask = np.zeros(len(WHOLE_OPS) + self.rows * len(ITEM_OPS), np.int8)
        mask[list(self._valid)] = 1
        story = self._played.story
        return {
            "tier": story.tier,
            "story": story.name,
            "action_mask": mask,
            "facts": facts,
            "masked": self._masked,
            "decisions": self._decided,
        }


def _number(choice: Choice, rows: dict[str, int]) -> int:
    if not choice.item:
        return _PLACES[choice.op]
    return len(WHOLE_OPS) + rows[choice.item] * len(ITEM_OPS) + _PLACES[choice.op]
