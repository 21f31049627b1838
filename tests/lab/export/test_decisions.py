"""Decisions of a policy, written as a model would have made them."""

import json
import random
from functools import cache

import pytest

from trimtab.context.actions import ACTIONS, Action
from trimtab.context.editing.planning import plan
from trimtab.context.policies.base import Manners
from trimtab.context.policies.learned.grammar import Choice as GrammarChoice
from trimtab.context.policies.learned.grammar import actions_of, choices
from trimtab.context.tools.archive import archive_tool
from trimtab.context.tools.edit_context import edit_context_tool
from trimtab.context.tools.host import Outcome
from trimtab.lab.arms.playing import Conditions, Table
from trimtab.lab.credit.branching import BranchRule
from trimtab.lab.env.episode import Episode, Open, Setup
from trimtab.lab.env.story import task_story
from trimtab.lab.export.decisions import MANAGE, Scene, piece_of, tools_of
from trimtab.lab.export.row import why_wrong
from trimtab.lab.export.snapshots import Origin, snapshot_rows
from trimtab.lab.export.stories import Choice, by_chance, explore_story
from trimtab.lab.tasks.registry import make_task
from trimtab.lab.tasks.task import Level
from trimtab.types.messages import Assistant, User

STORY = task_story(make_task("document-qa", 2, Level(steps=16, lag=5, distractors=2, tokens=900)))
TABLE = Table(Conditions(9_000))
RULE = BranchRule(budget=40, rows_per_branch=8)


LOGS = task_story(make_task("root-cause-middle", 2, Level(steps=16, lag=5, distractors=2, tokens=900)))


def at_decision(number=0, story=STORY):
    setup = Setup(TABLE.conditions.played_as, Open(manners=Manners(guarded=False)), counter=TABLE.counter)
    episode = Episode(story, setup, branching=True)
    for _ in range(number):
        episode.advance()
        episode.act(())
    assert episode.advance() is not None
    return episode


def written(op, way):
    """The calls of the first choice of an operation that the story offers, and the action."""
    episode = at_decision(story=LOGS if op in ("fold", "truncate") else STORY)
    while (observation := episode.observation) is not None:
        found = next((c for c in choices(observation, accepts=episode.accepts) if c.op == op), None)
        if found is not None:
            scene, actions = Scene.of(episode), actions_of([found], observation)
            episode.act(actions)
            return piece_of(scene, actions, episode, way=way), actions[0], scene
        first = next((c for c in choices(observation, accepts=episode.accepts) if c.op == "elide"), None)
        episode.act(actions_of([first], observation) if first and op == "reload" else ())
        episode.advance()
    pytest.fail(f"the story offers no {op}")


def arguments(piece):
    return [(call.name, json.loads(call.raw)) for answer in piece.answers for call in answer.tool_calls]


@pytest.mark.parametrize(
    "op", ["elide", "fold", "truncate", "summarize_half", "expire", "reload", "compact", "restate"]
)
def test_in_the_grammar_nothing_is_lost(op):
    piece, action, scene = written(op, "grammar")
    ((name, given),) = arguments(piece)
    ids = {shown: item for item, shown in scene.names.items()}
    assert name == "manage_context"
    assert Action(given["action"], tuple(ids[t] for t in given.get("targets", ())), given.get("params", {})) == action


PILOT = {
    "elide": ("archive", {"action": "archive"}),
    "reload": ("archive", {"action": "unarchive"}),
    "fold": ("edit_context", {"action": "fold"}),
    "truncate": ("edit_context", {"action": "truncate"}),
    "summarize_half": ("edit_context", {"action": "summarize"}),
    "expire": ("edit_context", {"action": "expire"}),
}


class Listening:
    """A host that hears what a tool makes of its arguments."""

    def __init__(self):
        self.heard = []

    def act(self, actions):
        self.heard += actions
        return [Outcome("done") for _ in actions]


@pytest.mark.parametrize("op", PILOT)
def test_the_pilots_tools_take_what_is_written_for_them(op):
    piece, action, scene = written(op, "pilot")
    ((name, given),) = arguments(piece)
    tool, fixed = PILOT[op]
    assert name == tool
    assert fixed.items() <= given.items()
    host = Listening()
    make = archive_tool if tool == "archive" else edit_context_tool
    reply = make(host).handle(given)
    assert not reply.is_error, reply.text
    assert host.heard[0].action == ("truncate" if op == "truncate" else action.action)
    assert [scene.names[target] for target in action.targets] == list(host.heard[0].targets)


@pytest.mark.parametrize("story", [STORY, LOGS], ids=["prose", "logs"])
def test_a_passage_that_is_written_for_the_pilot_is_the_one_that_was_kept(story):
    episode = at_decision(story=story)
    while not (found := [c for c in choices(episode.observation, accepts=episode.accepts) if c.op == "truncate"]):
        episode.act(())
        assert episode.advance() is not None
    scene, actions = Scene.of(episode), actions_of(found[:1], episode.observation)
    view, kit = episode.player.log.view, episode.player.engine.manager.kit
    episode.act(actions)
    ((_, given),) = arguments(piece_of(scene, actions, episode, way="pilot"))
    (kept,) = episode.player.edits[scene.edits].edit.texts.values()
    (again,) = plan(Action("truncate", actions[0].targets, {"last": given["last"]}), view, kit).edits
    (shown,) = again.texts.values()
    assert body(shown) == body(kept) != ""


def body(text):
    """What is kept, without the line above it, the marks of gaps and empty lines."""
    return "\n".join(line for line in text.splitlines()[1:] if line and not line.startswith("[… "))


@pytest.mark.parametrize("op", ["compact", "restate"])
def test_what_the_pilot_has_no_tool_for_gives_no_piece(op):
    assert written(op, "pilot")[0] is None


def test_keeping_everything_is_to_go_on_with_the_work():
    episode = at_decision()
    scene = Scene.of(episode)
    expected = episode.player.steps[episode.place].answer.message
    episode.act(())
    piece = piece_of(scene, (), episode)
    assert [call.name for answer in piece.answers for call in answer.tool_calls] == [
        c.name for c in expected.tool_calls
    ]
    assert piece.tools == tools_of("grammar") == (MANAGE,)


def test_the_model_reads_the_request_and_behind_it_how_things_stand():
    episode = at_decision()
    scene = Scene.of(episode)
    episode.act(())
    piece = piece_of(scene, (), episode, log_prob=-0.5, entropy=0.2)
    *before, status = piece.prompt
    assert tuple(before) == scene.messages
    assert isinstance(status, User)
    assert status.parts[0].text.startswith("window 9,000 tokens")
    assert (piece.tokens, piece.log_prob, piece.entropy) == (scene.observation.used, -0.5, 0.2)
    assert all(isinstance(answer, Assistant) for answer in piece.answers)


def test_between_decisions_there_is_no_scene():
    episode = at_decision()
    episode.act(())
    with pytest.raises(RuntimeError):
        Scene.of(episode)


def test_all_actions_but_keep_can_be_named():
    assert set(MANAGE.parameters["properties"]["action"]["enum"]) == set(ACTIONS) - {"keep"}


@cache
def told(way, seed=0):
    return explore_story(STORY, TABLE, by_chance(0.5), first=2, rule=RULE, way=way, seed=seed)


@pytest.mark.parametrize("way", ["grammar", "pilot"])
def test_a_story_gives_rows_that_are_sound(way):
    made = list(snapshot_rows(told(way).tree, Origin("lab", "T0", "by chance", 2)))
    assert made
    assert all(why_wrong(row) is None for row in made)
    assert {row.tier for row in made} == {"T0"}
    assert len(told(way).tree.leaves) > 2
    assert told("grammar").unsaid == 0


def test_a_story_is_told_the_same_every_time_and_otherwise_with_another_seed():
    def rows(seed):
        found = explore_story(STORY, TABLE, by_chance(0.5), first=2, rule=RULE, seed=seed)
        return list(snapshot_rows(found.tree, Origin("lab", "T0", "by chance", 2)))

    assert rows(0) == list(snapshot_rows(told("grammar").tree, Origin("lab", "T0", "by chance", 2)))
    assert rows(0) != rows(1)


def test_a_decider_hears_its_own_dice_and_its_numbers_reach_the_rows():
    drawn = []

    def decide(episode, observation, dice: random.Random):
        drawn.append(dice.random())
        return Choice(actions_of([GrammarChoice("commit")], observation), -0.25, 0.5)

    tree = explore_story(STORY, TABLE, decide, first=2, rule=BranchRule(budget=0)).tree
    assert {row.log_prob for row in tree.rows} == {-0.25}
    assert {row.action.entropy for row in tree.rows} == {0.5}
    assert len(set(drawn)) == len(drawn)
