"""The Gymnasium environment over episodes. Needs the extra `lab`."""

import warnings
from dataclasses import replace

import pytest
from msgspec import structs

from support.recordings import long_session
from support.stories import EARLY, LATE, drawn_session, setup_for, small_task
from trimtab.context.policies.learned.features import ITEM_FEATURES, MOST, WHOLE_FEATURES
from trimtab.context.policies.learned.grammar import ITEM_OPS, WHOLE_OPS, Choice
from trimtab.lab.env.story import recorded_story, task_story
from trimtab.lab.env.yardstick import yardstick_of
from trimtab.lab.rewards.facts import outcome_of
from trimtab.lab.rewards.prices import Regime
from trimtab.lab.rewards.reward import DEFAULT, BadOutcome
from trimtab.lab.rewards.reward import reward as reward_of

gymnasium = pytest.importorskip(
    "gymnasium", reason="SKIPPED: the extra `lab` is not installed (pip install 'trimtab[lab]')"
)
np = pytest.importorskip("numpy")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from trimtab.lab.env.gym_env import ContextEnv  # noqa: E402

ROWS, BATCH = 12, 6
SESSION = drawn_session(["read", "log", "write", "again", "read", "grep", "ask", "read", "fail", "read"])
TASK = small_task(reads=12, needed=(11,))


def env(*stories, policy=EARLY, window=9_000, **given):
    def prepare(story, rng):
        return setup_for(story.recording, policy, window=int(rng.integers(window, window + 500)))

    stories = stories or (recorded_story(SESSION), task_story(TASK))
    return ContextEnv(stories, prepare, rows=ROWS, batch=BATCH, **given)


def rollout(made, seed, *, masked=True):
    """Everything that comes of drawn choices: arrays as bytes, rewards, facts."""
    seen, info = made.reset(seed=seed)
    made.action_space.seed(seed)
    told = [(seen["items"].tobytes(), seen["whole"].tobytes(), info["action_mask"].tobytes(), info["tier"])]
    done = False
    while not done:
        action = made.action_space.sample(info["action_mask"] if masked else None)
        seen, reward, terminated, truncated, info = made.step(action)
        done = terminated or truncated
        told.append(
            (
                seen["items"].tobytes(),
                seen["whole"].tobytes(),
                info["action_mask"].tobytes(),
                reward,
                info["facts"],
                info["tier"],
                truncated,
            )
        )
    return told, info


def test_the_checker_of_gymnasium_has_nothing_to_say():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        check_env(env(), skip_render_check=True)
    assert [str(warning.message) for warning in said if "spec" not in str(warning.message)] == []


def test_a_seed_gives_the_same_everything():
    first, second, other = (rollout(env(), seed)[0] for seed in (5, 5, 6))
    assert first == second
    assert first != other


def test_one_environment_begins_anew_with_each_reset():
    made = env()
    first = rollout(made, 5)[0]
    rollout(made, 9)
    assert rollout(made, 5)[0] == first


def test_every_info_names_the_tier_and_the_story():
    made = env()
    for number, tier in enumerate(("T1", "T0")):
        _, info = made.reset(seed=1, options={"story": number})
        assert (info["tier"], info["story"]) == (tier, made.stories[number].name)
        *_, info = made.step(0)
        assert info["tier"] == tier
        assert {facts.tier for facts in info["facts"]} == {tier}


def test_a_choice_of_the_mask_joins_the_batch_and_commit_does_it():
    made = env()
    _, info = made.reset(seed=1, options={"story": 0})
    while not info["action_mask"][len(WHOLE_OPS) :].any():
        *_, info = made.step(0)
    number = int(np.flatnonzero(info["action_mask"][len(WHOLE_OPS) :])[0]) + len(WHOLE_OPS)
    choice = made.actions()[number]
    seen, reward, terminated, truncated, info = made.step(number)
    assert (reward, terminated, truncated, info["facts"]) == (0.0, False, False, ())
    row = (number - len(WHOLE_OPS)) // len(ITEM_OPS)
    assert seen["items"][row, ITEM_FEATURES.index("chosen")] == 1.0
    assert not info["action_mask"][len(WHOLE_OPS) + row * len(ITEM_OPS) :][: len(ITEM_OPS)].any()
    *_, info = made.step(0)
    assert [target.partition("#")[0] for edit in info["facts"][0].edits for target in edit.targets] == [choice.item]


def test_what_the_mask_forbids_does_nothing_and_is_counted():
    made = env()
    _, info = made.reset(seed=1, options={"story": 0})
    forbidden = int(np.flatnonzero(info["action_mask"] == 0)[0])
    _, reward, *_, info = made.step(forbidden)
    assert (reward, info["masked"], info["decisions"]) == (0.0, 1, 0)
    for _ in range(BATCH - 1):
        *_, info = made.step(forbidden)
    assert (info["masked"], info["decisions"]) == (BATCH, 1)
    assert [edit for facts in info["facts"] for edit in facts.edits if not edit.forced] == []


def test_whoever_ignores_the_mask_comes_to_the_end_too():
    _, info = rollout(env(), 3, masked=False)
    assert info["masked"] > 0
    assert not info["action_mask"][1:].any()


def test_rewards_are_of_all_requests_since_the_last_decision():
    made = env(recorded_story(long_session(30)), policy=LATE, window=20_000, worth=lambda episode: len(episode.facts))
    made.reset(seed=1)
    total, done = 0, False
    while not done:
        _, reward, done, _, info = made.step(0)
        assert reward == len(info["facts"])
        total += reward
    assert total == len(made.episode.facts) == len(made.episode.player.steps)


def test_a_story_that_asks_nothing_ends_with_the_first_step():
    made = env(recorded_story(long_session(3)), policy=LATE, window=50_000)
    seen, info = made.reset(seed=1)
    assert not seen["items"].any()
    assert np.flatnonzero(info["action_mask"]).tolist() == [0]
    _, reward, terminated, truncated, info = made.step(0)
    assert (terminated, truncated, len(info["facts"])) == (True, False, 5)
    assert reward == pytest.approx(1.0 - DEFAULT.cost, abs=0.01), "nothing is needed, and everything is kept"


def test_an_episode_may_be_cut_after_so_many_decisions():
    made = env(decisions=2)
    made.reset(seed=1)
    assert [made.step(0)[2:4] for _ in range(2)] == [(False, False), (False, True)]


def test_features_stay_within_their_bounds():
    made = env(recorded_story(long_session(14)), window=9_000)
    seen, _ = made.reset(seed=2)
    done = False
    while not done:
        assert seen["items"].shape == (ROWS, len(ITEM_FEATURES))
        assert seen["whole"].shape == (len(WHOLE_FEATURES),)
        assert 0.0 <= seen["items"].min() <= seen["items"].max() <= MOST
        seen, _, done, _, _ = made.step(0)


def test_the_rewards_of_an_episode_sum_up_to_its_reward():
    story = task_story(small_task())
    made = env(story, policy=LATE, window=20_000)
    _, info = made.reset(seed=1)
    total, done, dice = 0.0, False, np.random.default_rng(4)
    while not done:
        _, reward, done, _, info = made.step(int(dice.choice(np.flatnonzero(info["action_mask"]))))
        total += reward
    setup = made.episode.setup
    regime = Regime("r", setup.model.prices[0], setup.model.cache)
    unit = yardstick_of(story, setup.model, regime, seed=1)
    entries = [name for name, _ in made.episode.player.messages]
    outcome = outcome_of(made.episode.facts, task=story.name, seed=1, regime=regime, entries=entries)
    assert total == pytest.approx(reward_of(outcome, unit).total)
    assert outcome.usd > 0


def test_without_a_price_nothing_can_be_measured():
    free = replace(setup_for(SESSION), model=structs.replace(setup_for(SESSION).model, prices=()))
    made = ContextEnv([recorded_story(SESSION)], lambda _story, _dice: free)
    made.reset(seed=1)
    with pytest.raises(BadOutcome, match="no price"):
        made.step(0)


def test_numbers_stand_for_the_operations_in_the_order_of_the_grammar():
    made = env()
    made.reset(seed=1, options={"story": 0})
    for _ in range(4):
        made.step(0)
    for number, choice in made.actions().items():
        if number < len(WHOLE_OPS):
            assert choice == Choice(WHOLE_OPS[number])
        else:
            assert choice.op == ITEM_OPS[(number - len(WHOLE_OPS)) % len(ITEM_OPS)]
