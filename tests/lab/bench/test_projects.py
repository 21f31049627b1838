"""Claims by project, and the path."""

import pytest

from support.made_rows import made_row
from trimtab.lab.bench.projects import chosen_on, claims, worded
from trimtab.lab.bench.section import Key, Section
from trimtab.lab.bench.steps import PATH, Stage, walked, with_arms
from trimtab.types.errors import UsageError


def recorded(arm: str, project: str, number: int, reward: float, **more):
    return made_row(arm, number=number, tier="T1", project=project, reward=reward, story=f"{project}/{number}", **more)


def section(rewards: dict[str, dict[str, float]], stories: int = 6) -> Section:
    """For each arm its reward in each project, give or take a little that all arms share."""
    rows = [
        recorded(arm, project, number, reward + 0.01 * number, **({"kind": "bound"} if arm == "clairvoyant" else {}))
        for arm, projects in rewards.items()
        for project, reward in projects.items()
        for number in range(stories)
    ]
    return Section(Key("T1", "eval", "tenth"), tuple(rewards), rows)


THREE = {
    "rules": {"a": 0.5, "b": 0.5},
    "mask": {"a": 0.6, "b": 0.4},
    "lru": {"a": 0.3, "b": 0.7},
    "clairvoyant": {"a": 0.9, "b": 0.9},
}


def test_each_arm_is_claimed_above_or_below_the_base_project_by_project():
    found = {(claim.arm, claim.project): claim.stand for claim in claims(section(THREE), "rules")}
    assert found == {
        ("mask", "a"): "above",
        ("mask", "b"): "below",
        ("lru", "a"): "below",
        ("lru", "b"): "above",
        ("clairvoyant", "a"): "above",
        ("clairvoyant", "b"): "above",
    }


def test_what_is_chosen_on_the_other_projects_is_judged_on_the_one_held_out():
    """lru is best on b, so it is what would be shipped to a; a bound is no candidate."""
    chosen = {claim.project: (claim.arm, claim.stand) for claim in claims(section(THREE), "rules") if claim.chosen}
    assert chosen == {"a": ("lru", "below"), "b": ("mask", "below")}


def test_claims_are_worded_by_project():
    assert worded(list(claims(section(THREE), "rules")), "project") == [
        "mask is above rules in a; below rules in b.",
        "lru is below rules in a; above rules in b.",
        "clairvoyant is above rules in a, b.",
        "Chosen without the project a, lru is below rules there.",
        "Chosen without the project b, mask is below rules there.",
    ]


def test_of_too_few_stories_and_of_one_project_nothing_is_claimed():
    assert {claim.stand for claim in claims(section(THREE, stories=4), "rules")} == {"not judged against"}
    assert list(claims(section({"rules": {"a": 0.5}, "mask": {"a": 0.6}}), "rules")) == []


def test_where_the_interval_holds_nothing_the_arms_are_not_told_apart():
    rows = [
        recorded(arm, project, number, reward)
        for project in "ab"
        for number in range(6)
        for arm, reward in (("rules", 0.5), ("mask", 0.4 if number % 2 else 0.6))
    ]
    found = claims(Section(Key("T1", "eval", "tenth"), ("rules", "mask"), rows), "rules")
    assert {claim.stand for claim in found} == {"not told apart from"}


def test_nothing_that_could_be_shipped_is_no_choice():
    assert chosen_on(section({"clairvoyant": {"a": 1.0}, "none": {"a": 1.0}}), ["clairvoyant", "none"]) == ""


def test_each_step_of_the_path_is_held_against_the_last_that_there_is():
    path = (
        Stage("a", "one", "", ("summary",)),
        Stage("b", "two", "", ("lost",)),
        Stage("c", "three", "", ("learned", "rules")),
    )
    walk = walked(section({"summary": {"a": 0.2}, "mask": {"a": 0.9}, "rules(left=0.3)": {"a": 0.5}}), path)
    assert [(step.arm, step.before) for step in walk] == [("summary", ""), ("", ""), ("rules(left=0.3)", "summary")]
    gains = {(name, bound): round(gain.value, 6) for name, bound, gain in walk[2].gains}
    assert gains["REWARD", "fails"] == gains["REWARD", "optimistic"] == 0.3
    assert [step.gains for step in walk[:2]] == [(), ()]


def test_the_path_goes_from_a_fixed_summary_to_rl():
    assert [stage.name for stage in PATH] == ["fixed summary", "occupancy rule", "logs", "supervised", "RL"]


def test_whoever_trained_weights_says_which_step_they_are():
    """Two arms of one name: only as it is written does the step find its own."""
    path = with_arms({"supervised": 'learned(weights="a")', "rl": 'learned(weights="b")'})
    walk = walked(section({'learned(weights="b")': {"a": 0.2}, 'learned(weights="a")': {"a": 0.9}}), path)
    assert [(step.stage.key, step.arm) for step in walk if step.arm] == [
        ("supervised", 'learned(weights="a")'),
        ("rl", 'learned(weights="b")'),
    ]
    with pytest.raises(UsageError, match="no step 'magic'"):
        with_arms({"magic": "rules"})
