"""What policies did, as choices."""

import pytest

pytest.importorskip("torch")

import random
from collections.abc import Callable
from typing import Any

import msgspec

from support.stories import drawn_session, setup_for
from trimtab.context.actions import Action
from trimtab.context.policies.learned.grammar import COMMIT, actions_of
from trimtab.context.policies.weighing import named
from trimtab.lab.env.episode import Episode
from trimtab.lab.env.story import recorded_story
from trimtab.lab.train.lessons import packed, unpacked
from trimtab.lab.train.seeing import Eye, batch_of, choice_at
from trimtab.lab.train.teachers import Lesson, Lessons, TeachJob, best_of, lines_for, present, said_as, taught

EYE = Eye(items=20, full=6)


def test_actions_are_said_in_the_grammar_and_counted_where_they_cannot_be() -> None:
    session = drawn_session(("read", "log", "read") * 8)
    episode = Episode(recorded_story(session), setup_for(session))
    observation = episode.advance()
    assert observation is not None
    sight, offered = EYE.seen(observation)
    one, two, three = [item for item in offered if item.kind == "result" and item.tokens > 500][:3]
    wanted = [
        Action("elide", (one.call_id or one.id,), {"names": 7}),
        Action("fold", (two.id,), {"tail": 0, "matches": 0}),
        Action("summarize", (three.id,), {"max_tokens": three.tokens // 6}),
        Action("compress", (two.id,)),
        Action("elide", ("nothing of that name",)),
        Action("keep"),
    ]
    places, missed = said_as(wanted, observation, sight, offered)
    said = {(choice_at(place, offered).op, choice_at(place, offered).item) for place in places}
    assert said == {("elide", one.id), ("truncate", two.id), ("summarize_fifth", three.id)}
    assert missed == 2
    assert [a.action for a in actions_of(batch_of(places, offered), observation)] == ["elide", "fold", "summarize"]
    assert named(observation)[one.id] == one


def test_a_teachers_own_play_is_written_down() -> None:
    found = taught(TeachJob("rules", EYE, "train", "tool-chain", 0))
    assert found.decisions
    assert any(lesson.places for lesson in found.decisions)
    assert any(not lesson.places for lesson in found.decisions)
    assert all(lesson.sight.valid[list(lesson.places)].all() for lesson in found.decisions)
    assert 0 < found.said <= found.wanted
    assert found.reward == taught(TeachJob("rules", EYE, "train", "tool-chain", 0)).reward


def test_lessons_are_the_same_after_they_were_packed() -> None:
    found = [taught(TeachJob("mask", EYE, "train", "tool-chain", number)) for number in (0, 1)]
    again = unpacked(packed(found), EYE.widths)
    assert [(o.task, o.teacher, o.reward, o.wanted, o.said) for o in again] == [
        (o.task, o.teacher, o.reward, o.wanted, o.said) for o in found
    ]
    pairs = [
        (a, b) for one, two in zip(found, again, strict=True) for a, b in zip(one.decisions, two.decisions, strict=True)
    ]
    assert pairs
    for a, b in pairs:
        assert (a.places, a.sight.full) == (b.places, b.sight.full)
        for name in ("items", "whole", "valid"):
            assert (getattr(a.sight, name) == getattr(b.sight, name)).all()


@pytest.mark.parametrize(
    ("said", "change"),
    [
        ("figures in place of", lambda d: {"width": d["width"] - 1}),
        ("couldn't be chosen", lambda d: {"places": (9_999,)}),
        ("couldn't be chosen", lambda d: {"places": (-1,)}),
        ("another shape", lambda d: {"full": 0}),
        ("another shape", lambda d: {"valid": b""}),
        ("another shape", lambda d: {"whole": b""}),
        ("buffer size", lambda d: {"items": b"odd"}),
    ],
)
def test_lessons_of_another_shape_are_refused_when_they_are_read(
    said: str, change: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    (play,) = msgspec.msgpack.decode(packed([taught(TeachJob("mask", EYE, "train", "tool-chain", 0))]))
    names = ("items", "width", "whole", "valid", "full", "places")
    first = dict(zip(names, play[-1][0], strict=True))
    play[-1][0] = list((first | change(first)).values())
    with pytest.raises(ValueError, match=said):
        unpacked(msgspec.msgpack.encode([play]), EYE.widths)


def test_no_lessons_at_all_are_refused() -> None:
    with pytest.raises(ValueError, match="no decision"):
        unpacked(packed([]), EYE.widths)


def test_only_the_best_of_each_task_teaches() -> None:
    def lessons(task: str, teacher: str, reward: float) -> Lessons:
        return Lessons(task, teacher, reward, (), 0, 0)

    found = [lessons("a", "x", 0.5), lessons("a", "y", 0.7), lessons("b", "x", 0.1), lessons("b", "y", 0.1)]
    assert [(one.task, one.teacher) for one in best_of(found)] == [("a", "y"), ("b", "x"), ("b", "y")]


def test_any_order_of_a_batch_is_right_and_its_end_is_commit() -> None:
    session = drawn_session(("read", "log", "read") * 8)
    episode = Episode(recorded_story(session), setup_for(session))
    observation = episode.advance()
    assert observation is not None
    sight, offered = EYE.seen(observation)
    first: dict[str, int] = {}
    for place in (int(n) for n in sight.valid.nonzero()[0] if n >= 3):
        first.setdefault(choice_at(place, offered).item, place)
    places = tuple(first.values())[:4]
    for seed in range(5):
        lines = lines_for(Lesson(sight, places), random.Random(seed))
        assert all(set(line.chosen) | set(line.right) - {0} == set(places) for line in lines)
        assert lines[0].chosen == ()
        assert lines[-1].right == (0,)
        assert all(sight.open(line.chosen)[list(line.right)].all() for line in lines)
    kept = lines_for(Lesson(sight, ()), random.Random(0))
    assert [(line.chosen, [choice_at(p, offered) for p in line.right]) for line in kept] == [((), [COMMIT])]


def test_a_teacher_that_is_not_there_is_named() -> None:
    assert present(("rules", "no-such-arm", "mask(keep=3)")) == (["rules", "mask(keep=3)"], ["no-such-arm"])
