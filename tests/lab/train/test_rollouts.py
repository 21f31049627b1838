"""A group: what is played, where it branches, and what each decision is worth."""

import pytest

pytest.importorskip("torch")

from dataclasses import replace

import msgspec

from support.training import TINY
from trimtab.lab.credit.advantage import FIXED, credit
from trimtab.lab.executor import executor_for
from trimtab.lab.rewards.reward import DEFAULT
from trimtab.lab.train import rollouts
from trimtab.lab.train.config import Learning
from trimtab.lab.train.network import fresh_network
from trimtab.lab.train.rollouts import Candidate, Group, Job, branch_rule, played, seat, tree_of
from trimtab.lab.train.seeing import Eye

FAMILY, NUMBER = "exact-numbers", 3


def job(**learning: object) -> Job:
    """A group of a small network."""
    eye = Eye()
    network = fresh_network(TINY.shape, eye.widths, seed=1)
    candidate = Candidate(TINY.shape, network.arrays())
    chosen = msgspec.structs.replace(Learning(rollouts=3, branches=3), **learning)
    return Job(candidate, chosen, FAMILY, NUMBER, "seed", 3, DEFAULT)


@pytest.fixture(scope="module")
def group() -> Group:
    """Three rollouts and three branches."""
    return played(job())


def _plain(group: Group) -> list[tuple[object, ...]]:
    rows = [(r.decided.places, r.decided.log_probs, r.advantage, r.weight) for r in group.rows]
    return [*rows, (group.ends, group.decisions, group.branched)]


def test_a_job_gives_the_same_group_again_and_in_another_process(group: Group) -> None:
    executor = executor_for(2)
    try:
        there = list(executor.map(played, [job(), job()]))
    finally:
        executor.close()
    assert _plain(played(job())) == _plain(group) == _plain(there[0]) == _plain(there[1])


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_of_two_plays_the_same_group(group: Group) -> None:
    pytest.importorskip("ray")
    executor = executor_for(2, ray=True)
    try:
        found = list(executor.map(played, [job(), job()]))
    finally:
        executor.close()
    assert _plain(found[0]) == _plain(found[1]) == _plain(group)


@pytest.mark.parametrize("variant", ["traj", "snapshot", "parent"])
def test_rows_have_the_credit_of_the_tree_of_their_group(
    variant: str, monkeypatch: pytest.MonkeyPatch, group: Group
) -> None:
    trees = []

    def watched(*given: object) -> object:
        trees.append(tree_of(*given))
        return trees[-1]

    monkeypatch.setattr(rollouts, "tree_of", watched)
    found = played(job(variant=variant))
    tree = trees[0]
    assert len(tree.leaves) == 6
    assert len(tree.rows) == found.decisions
    expected = credit(tree, replace(FIXED, variant=variant, scaled=variant == "parent"))
    assert [(r.advantage, r.weight) for r in found.rows] == [(c.advantage, c.weight) for c in expected.rows.values()]
    assert {leaf.reward for leaf in tree.leaves[:3]} == {end.reward for end in found.ends}
    assert found.ends == group.ends, "credit changes nothing about what is played"


def test_the_simple_scheme_rewards_what_was_done_and_the_same_is_told(
    monkeypatch: pytest.MonkeyPatch, group: Group
) -> None:
    trees = []

    def watched(*given: object) -> object:
        trees.append(tree_of(*given))
        return trees[-1]

    monkeypatch.setattr(rollouts, "tree_of", watched)
    found = played(job(scheme="step"))
    assert found.ends == group.ends
    points = {leaf.rollout: leaf.reward for leaf in trees[0].leaves}
    assert max(points.values()) > 1.5, "more than any outcome can come to"


def test_a_branch_shares_the_past_of_its_rollout_and_decides_anew() -> None:
    player = rollouts._Player(job())
    first = player.roll("r0")
    point = rollouts.BranchPoint("r0", 1, first.node(2), "after", "random", 0.0)
    branch = player.branch([first], point, 0)
    assert branch.start == first.node(2) == "r0.1"
    past = first.moves[2].before
    assert (
        list(branch.played.facts[: len(past.facts)]) == list(past.facts) == list(first.played.facts[: len(past.facts)])
    )
    assert (branch.moves[0].decided.sight.items == first.moves[2].decided.sight.items).all()


def test_without_branching_as_many_more_rollouts_take_its_place() -> None:
    found = played(job(branching="none"))
    assert (len(found.ends), found.branched) == (6, 0)


def test_branching_at_random_draws_all_of_its_points() -> None:
    assert branch_rule(Learning(branching="random")).random_share == 1.0
    assert branch_rule(Learning()).random_share == 0.25


def test_what_is_closed_is_never_chosen() -> None:
    early = msgspec.structs.replace(Learning(rollouts=2, branches=0))
    found = played(replace(job(), learning=early, stage=0))
    ops = {(place - 3) % 8 for row in found.rows for place in row.decided.places if place >= 3}
    assert ops <= {0, 5}, "at the first stage: elide and expire"


def test_a_story_is_prepared_once() -> None:
    assert seat("train", FAMILY, NUMBER) is seat("train", FAMILY, NUMBER)
