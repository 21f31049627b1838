"""What is put side by side, and which arm stands for its kind."""

from support.bench_rows import row
from trimtab.lab.bench.figures import COST, REWARD
from trimtab.lab.bench.row import Judged
from trimtab.lab.report.evidence import Block, blocks_of


def judged(reward: float, tier: str = "T0") -> dict[str, Judged]:
    bounds = ("optimistic", "pessimistic", "fails") if tier == "T1" else ("expected",)
    return {bound: Judged(0.5, 1.0, reward) for bound in bounds}


def test_tiers_parts_and_prices_stand_apart_the_weightiest_first(blocks: dict[str, Block]) -> None:
    assert list(blocks) == ["t2-test", "t0-test", "t0-validation", "t1-eval-quarter", "t1-eval-tenth"]
    assert [block.leads for block in blocks.values()] == [True, True, False, True, True]


def test_a_scope_says_tier_part_families_tasks_seeds_and_n(blocks: dict[str, Block]) -> None:
    assert blocks["t0-test"].scope == "T0 · test · 3 families, 6 tasks, 5 seeds (0, 1, 2, 3, 4) · n = 30 an arm"
    assert blocks["t1-eval-tenth"].scope == "T1 · eval · tenth prices · 3 projects, 3 sessions · n = 3 an arm"


def test_the_best_of_a_kind_is_chosen_on_validation_and_not_where_it_is_judged() -> None:
    rows = [
        row("a", "rule", judged=judged(0.9)),
        row("b", "rule", judged=judged(0.1)),
        row("a", "rule", part="validation", judged=judged(0.1)),
        row("b", "rule", part="validation", judged=judged(0.9)),
    ]
    test, validation = blocks_of(rows)
    assert (test.champion("rule"), validation.champion("rule")) == ("b", "b")


def test_real_material_stands_beside_every_part_and_chooses_nothing() -> None:
    rows = [
        row(arm, "rule", part=part, judged=judged(worth))
        for part, worths in (("real", (0.9, 0.1)), ("validation", (0.1, 0.9)), ("train", (0.5, 0.5)))
        for arm, worth in zip("ab", worths, strict=True)
    ]
    blocks = blocks_of(rows)
    assert [(block.part, block.leads) for block in blocks] == [("validation", True), ("train", False), ("real", True)]
    assert [block.champion("rule") for block in blocks] == ["b", "b", "b"]
    assert [block.about for block in blocks] == [
        *("generated tasks", "generated tasks"),
        "tasks made of published texts, never learned from and never used to choose",
    ]
    (alone,) = blocks_of([one for one in rows if one.part == "real"])
    assert (alone.leads, alone.chosen_on) == (True, None)


def test_recordings_take_the_choice_of_generated_tasks() -> None:
    rows = [row(arm, "rule", part="validation", judged=judged(worth)) for arm, worth in (("a", 0.1), ("b", 0.9))]
    rows += [
        row(arm, "rule", tier="T1", part="eval", judged=judged(worth, "T1")) for arm, worth in (("a", 0.9), ("b", 0.1))
    ]
    (replayed,) = [block for block in blocks_of(rows) if block.tier == "T1"]
    assert replayed.champion("rule") == "b"


def test_the_candidate_that_the_test_part_was_opened_for_is_the_learned_one() -> None:
    rows = [row("rl", "learned", judged=judged(0.9)), row("supervised", "learned", judged=judged(0.5))]
    assert blocks_of(rows)[0].champion("learned") == "rl"
    assert blocks_of(rows, "supervised")[0].champion("learned") == "supervised"
    assert blocks_of(rows, "supervised")[0].champion("rule") is None


def test_gains_and_changes_are_paired_and_those_by_prices_split(blocks: dict[str, Block]) -> None:
    block = blocks["t0-test"]
    change = block.change("rl", "none", COST, "expected")
    assert -0.35 < change.low < change.value < change.high < -0.25
    gains = block.gains_by_prices("rl", "none")
    assert list(gains) == ["quarter", "tenth"]
    assert all(gain.low > 0 for gain in gains.values())
    assert block.gain("rl", "rl", REWARD, "expected").value == 0.0


def test_one_arm_of_each_kind_is_featured_and_the_chosen_learned_one_first(blocks: dict[str, Block]) -> None:
    featured = blocks["t0-test"].featured
    assert [blocks["t0-test"].kinds[arm] for arm in featured] == ["keep", "rule", "peer", "learned", "learned", "bound"]
