"""What was played as a row."""

from dataclasses import dataclass, field, replace

import msgspec
import pytest

from support.recordings import long_session
from support.stories import small_task
from trimtab.context.actions import Action
from trimtab.context.policies.base import Manners
from trimtab.context.seeing.observation import Observation
from trimtab.lab.arms.arm import Arm
from trimtab.lab.arms.playing import Conditions, Played, Table
from trimtab.lab.arms.registry import find_arm
from trimtab.lab.bench.measuring import Origin, origin_of_recording, origin_of_task, quality_of, row_of
from trimtab.lab.bench.row import CHANCES, Needs, Quality, Row, chance_key
from trimtab.lab.corpora.trajectory import Place
from trimtab.lab.env.story import recorded_story, task_story
from trimtab.lab.rewards.prices import REGIMES
from trimtab.lab.suite import drawn

MASK = find_arm("mask(keep=2, batch=1)")


def small():
    task = small_task()
    return replace(task, points=tuple(replace(point, field=True) for point in task.points))


def played(arm: Arm = MASK, *, window: int = 20_000) -> Played:
    return Table(Conditions(window, REGIMES[2], 0.8)).play(task_story(small()), arm, seed=3)


@pytest.fixture(scope="module")
def masked() -> Row:
    """A task whose two key points were hidden when they were needed, twice."""
    return row_of(played(), MASK, Origin("a", "train", "reading", slot="reading-1", task=small()))


def test_a_row_says_who_played_what_under_which_conditions(masked):
    assert (masked.arm, masked.kind, masked.tier, masked.part, masked.family) == (
        "mask(keep=2, batch=1)",
        "rule",
        "T0",
        "train",
        "reading",
    )
    assert masked.group == ("a", 3, 20_000, "tenth")
    assert masked.path[:2] == ("reading", "reading-1")


def test_counts_are_those_of_the_facts(masked):
    facts = played().facts
    assert (masked.steps, masked.curve) == (len(facts), tuple(step.prompt for step in facts))
    assert masked.cached == sum(step.cached for step in facts)
    edits = [edit for step in facts for edit in step.edits]
    assert (masked.edits, masked.batches, sum(masked.actions.values())) == (
        len(edits),
        len({e.batch for e in edits}),
        len(edits),
    )
    assert masked.decisions > 0


def test_success_is_read_under_every_bound_and_every_chance(masked):
    # Two key points are needed twice, and hidden each time but where the first reload has brought them back.
    assert masked.needs == Needs(visible=2, stub=2)
    success = {bound: judged.success for bound, judged in masked.judged.items()}
    assert success == {"expected": pytest.approx(0.64), "optimistic": 1.0, "pessimistic": 1.0, "fails": 0.0}
    assert masked.judged["fails"].usd < masked.judged["optimistic"].usd < masked.judged["pessimistic"].usd
    assert [masked.noticed[chance_key(chance)].success for chance in CHANCES] == [pytest.approx(c**2) for c in CHANCES]
    assert masked.reloads == pytest.approx(0.8)


def test_edits_are_judged_by_what_they_hid(masked):
    hidden = {
        t for step in played().facts for e in step.edits if e.kind in ("elide", "fold", "compact") for t in e.targets
    }
    assert masked.quality.hidden == sum(entry in hidden for entry in played().entries) - assistants_among(hidden)
    assert (masked.quality.hidden_needed, masked.quality.reread) == (1, 1)
    assert (masked.quality.fields, masked.quality.fields_kept) == (2, 2), (
        "the reload brought them back before they were needed last"
    )


def assistants_among(entries: set[str]) -> int:
    """Of the story: a prompt, then answers and results in turn."""
    return sum(entry in entries for entry in played().entries[1::2])


def test_questions_and_calls_have_what_the_chances_say(masked):
    assert masked.extra["answers"] == 1.0
    assert masked.extra["answers_right"] == 1.0, "by then the key points were in sight again"
    assert (masked.extra["tools"], masked.extra["tools_sent"]) == (2.0, 2.0)
    assert (masked.extra["tools_right"], masked.extra["tools_seen"]) == (pytest.approx(1.64), 1.0)


def test_a_story_ends_at_the_first_request_that_doesnt_fit_but_is_told_as_if_it_fitted():
    row = row_of(
        played(find_arm("none"), window=8_000), find_arm("none"), Origin("a", "train", "reading", task=small())
    )
    assert row.overflows > 0
    assert row.judged["expected"].success == 0.0
    assert (row.extra["answers_right"], row.extra["tools_sent"], row.extra["tools_right"]) == (0.0, 0.0, 0.0)
    assert (row.extra["met"], row.extra["met_fails"]) == (1.0, 1.0)
    assert row.quality == Quality(fields=2, fields_kept=2)


@dataclass
class Once:
    """Does one thing when it is first asked."""

    action: Action | None
    name: str = "once"
    manners: Manners = field(default_factory=lambda: Manners(guarded=False))

    def decide(self, observation: Observation) -> tuple[Action, ...]:
        """What it was told, then nothing."""
        action, self.action = self.action, None
        return (action,) if action else ()


def test_results_go_with_the_answer_that_is_dropped():
    first = played().entries[1]
    arm = Arm("drops", "rule", "", lambda _: Once(Action("drop", (first,), reason="old")))
    # A window that is asked about, and never too small: nothing else is hidden.
    dropped = played(arm, window=44_000)
    assert [edit.targets for step in dropped.facts for edit in step.edits] == [(first,)]
    assert quality_of(dropped).hidden == 1


def test_a_generated_task_and_a_recording_say_where_they_come_from():
    one = drawn("train", "tool-chain", 4, seed=2)
    origin = origin_of_task(one)
    assert (origin.name, origin.part, origin.family, origin.slot, origin.task) == (
        one.task.name,
        "train",
        "tool-chain",
        "tool-chain-4",
        one.task,
    )
    place = Place(name="p/s.jsonl", project="p", family="9", split="eval")
    assert origin_of_recording(place, 2, slot="x") == Origin("p/s.jsonl#2", "eval", "9", "p", "x")
    assert origin_of_recording(place).name == "p/s.jsonl"


def test_of_a_recording_projects_stand_outside_and_what_is_not_asked_is_not_counted():
    story = recorded_story(long_session(30))
    arm = find_arm("rules")
    row = row_of(Table(Conditions(20_000)).play(story, arm), arm, Origin("s.jsonl", "eval", "9", "p"))
    assert row.path[:2] == ("p", "9")
    assert "answers" not in row.extra
    assert row.needs.visible + row.needs.stub + row.needs.lost == row.extra["tools"] == 1
    assert (row.quality.fields, row.tier) == (0, "T1")


def test_a_row_comes_back_from_its_line(masked):
    assert msgspec.json.decode(msgspec.json.encode(masked), type=Row) == masked
