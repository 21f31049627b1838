"""Arms by name."""

import re

import pytest

from support.pages import ROOT
from support.stories import small_task
from trimtab.context.policies.base import Wrapper, manners_of
from trimtab.context.policies.peer import Peer
from trimtab.context.policies.peer_table import PEERS
from trimtab.context.policies.registry import known_policies
from trimtab.lab.arms.chance import Chance, matched
from trimtab.lab.arms.playing import Conditions, Table
from trimtab.lab.arms.registry import BASELINES, MAKERS, OWN, PEER_ARMS, find_arm
from trimtab.lab.env.story import Story, task_story
from trimtab.lab.tasks.registry import FAMILIES
from trimtab.types.errors import UsageError

LEARNED = ("learned", "cost-gate:learned")


@pytest.fixture(scope="module")
def story() -> Story:
    """A short one."""
    return task_story(small_task(reads=12, needed=(9,)))


@pytest.mark.parametrize("spec", [*BASELINES, *PEER_ARMS])
def test_every_arm_plays(spec: str, story: Story) -> None:
    arm = find_arm(spec)
    played = Table(Conditions(8_000)).play(story, arm)
    assert (arm.spec, played.arm, len(played.facts)) == (spec, spec, len(story.prepared.steps))
    assert arm.about


def test_arms_say_what_they_are_evidence_of() -> None:
    kinds = {spec: find_arm(spec).kind for spec in (*BASELINES, *PEER_ARMS, "codex", "none", "cost-gate:lru", *LEARNED)}
    assert {spec for spec, kind in kinds.items() if kind == "learned"} == set(LEARNED)
    assert {spec for spec, kind in kinds.items() if kind == "bound"} == {"clairvoyant"}
    assert {spec for spec, kind in kinds.items() if kind == "random"} == {"random"}
    assert {spec for spec, kind in kinds.items() if kind == "keep"} == {"keep-all", "none"}
    assert {spec for spec, kind in kinds.items() if kind == "peer"} == {"codex", *PEER_ARMS}


def test_where_nobody_decides_the_ladder_does_everything(story: Story) -> None:
    played = Table(Conditions(8_000)).play(story, find_arm("ladder"))
    edits = [edit for step in played.facts for edit in step.edits]
    assert edits
    assert all(edit.forced for edit in edits)
    assert not any(step.overflow for step in played.facts)


def test_an_arm_takes_parameters_and_wrappers_as_policies_do(story: Story) -> None:
    policy = find_arm("cost-gate(remaining=40):lru(left=0.25)").make(story)
    assert isinstance(policy, Wrapper)
    assert policy.inner == MAKERS["lru"].make(left=0.25)
    assert manners_of(policy).early


def test_parameters_that_make_no_sense_are_refused_before_there_is_a_story() -> None:
    for spec in ("lru(lef=1)", "lru(left=-1)", "clear(keep='x')", "clairvoyant(drop=2)", "lru(", "nobody"):
        with pytest.raises(UsageError):
            find_arm(spec)


def test_no_name_means_two_arms() -> None:
    assert not set(OWN) & set(MAKERS)
    assert not (set(OWN) | set(MAKERS)) & {row.name for row in PEERS}
    assert not set(MAKERS) & set(FAMILIES)


def test_clearing_at_a_threshold_is_what_a_peer_does_in_shares_of_the_window(story: Story) -> None:
    policy = find_arm("clear(trigger=0.4, keep=2, least=0.1)").make(story)
    assert isinstance(policy, Peer)
    (rule,) = policy.clear
    assert (rule.above.share, rule.keep_results, rule.at_least, policy.scaled) == (0.4, 2, 20_000, True)


def test_chance_is_seeded_by_the_story_and_matched_to_the_batches_of_another_arm() -> None:
    story = task_story(small_task(reads=12, needed=(12,)))
    assert find_arm("random(rate=0.5, items=2)").make(story) == Chance(story.name, 0.5, 2)
    table = Table(Conditions(8_000))
    played = table.play(story, find_arm("mask(keep=2, batch=3, always=True)"))
    edits = [edit for step in played.facts for edit in step.edits]
    assert {len(edit.targets) for edit in edits} == {3}
    assert matched([played]) == f"random(rate={len(edits) / len(played.facts):.4f}, items=3)"
    assert matched([table.play(story, find_arm("keep-all"))]) == "random(rate=0.0000, items=1)"


def test_a_name_that_is_no_arm_is_answered_with_those_of_the_lab_and_the_policies() -> None:
    with pytest.raises(UsageError, match="there is no policy 'keepall', and no arm of the lab") as refused:
        find_arm("keepall")
    named = set(re.findall(r"[\w-]+", refused.value.hint or ""))
    assert {*OWN, *MAKERS, *known_policies()} <= named


def test_the_page_lists_the_arms_of_the_lab_with_what_they_do() -> None:
    page = (ROOT / "docs/bench.md").read_text("utf-8")
    arms = {**OWN, **MAKERS}
    assert [name for name, arm in arms.items() if f"| `{name}` | {arm.kind} | {arm.about} |" not in page] == []
