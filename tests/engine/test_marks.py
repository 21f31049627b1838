"""Edits that don't pay yet: marked once, applied together when they do, forgotten when they are no longer right."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec import structs

from support.engine_session import Session, call_of, lines, model, run
from trimtab.coding.telling.context_text import waiting_lines
from trimtab.context.actions import Action
from trimtab.context.budget import Thresholds
from trimtab.context.cycle.ladder import STEPS, Step
from trimtab.context.cycle.marks import MOST, Mark, Marks, Waiting
from trimtab.context.cycle.saving import restore, saved
from trimtab.context.engine import Engine
from trimtab.context.seeing.observation import Observation
from trimtab.context.settings import EngineSettings
from trimtab.context.window.view import View
from trimtab.types.edits import Compact, Elide
from trimtab.types.messages import Text, user
from trimtab.types.models import CacheRules, Price
from trimtab.types.tools import ToolSpec

PRICES = (Price(3.0, 15.0, 0.3, 3.75),)
CACHES = {
    "prefix": CacheRules("prefix", 1024, 128, ttl_s=300),
    "explicit": CacheRules("explicit", 1024, 1, lookback=20, breakpoints=4, ttl_s=300),
}


@dataclass
class Says:
    """A policy that says each thing once."""

    wishes: list[tuple[Action, ...]]
    name: str = "says"

    def decide(self, observation: Observation) -> tuple[Action, ...]:
        return self.wishes.pop(0) if self.wishes else ()


@dataclass
class Clock:
    """Seconds."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Talk:
    """Two small results far in front, and so much behind them that to hide the small ones doesn't pay."""

    wishes: list[tuple[Action, ...]]
    cache: str = "prefix"
    clock: Clock = field(default_factory=Clock)
    steps: tuple[Step, ...] | None = None
    session: Session = field(init=False)

    def __post_init__(self) -> None:
        settings = EngineSettings(thresholds=Thresholds(soft=0.2), min_gain=0.0, cooldown=0, epochs=False)
        made = model(100_000, prices=PRICES, cache=CACHES[self.cache])
        engine = Engine(
            made, session_id="s", policy=Says(self.wishes), settings=settings, now=self.clock, steps=self.steps
        )
        self.session = Session(engine)
        self.session.say("read them all")
        self.session.prepare()
        for number, tokens in enumerate([300, 300, *[2_000] * 9]):
            self.session.work(lines(tokens, seed=number))
            if number < 10:
                self.session.prepare()

    def next(self) -> None:
        """One more request and its answer, a little later."""
        self.clock.now += 5
        self.session.prepare()
        self.session.work("ok")

    @property
    def hidden(self) -> list[str]:
        """The items that edits hid, with the author."""
        return [f"{edit.author} {' '.join(edit.edit.targets)}" for edit in self.session.edits]

    @property
    def waiting(self) -> int:
        """How many edits wait."""
        session = self.session
        status = session.engine.status(session.view, session.request)
        return status.waiting.edits if status.waiting else 0

    def states(self, *names: str) -> list[str]:
        """How these items show."""
        found = (self.session.view.find(name) for name in names)
        return [self.session.view.slots[address.index].state for address in found if address is not None]


BOTH = [(Action("elide", ("c1",), reason="old"), Action("elide", ("c2",), reason="old too"))]
each_cache = pytest.mark.parametrize("cache", sorted(CACHES))


@each_cache
def test_what_a_policy_says_once_is_kept_in_mind_and_told_and_changes_nothing(cache: str) -> None:
    talk = Talk([*BOTH], cache)
    for _ in range(4):
        talk.next()
    assert talk.states("c1", "c2") == ["full", "full"]
    assert talk.session.edits == []
    status = talk.session.engine.status(talk.session.view, talk.session.request)
    assert status.waiting is not None
    assert (status.waiting.edits, status.waiting.reason) == (
        2,
        "2 edits marked: not enough calls are left to pay for it",
    )
    assert 100 < status.waiting.tokens < 700
    assert 72 < status.waiting.pays_from < 1_000


@each_cache
def test_marked_edits_are_applied_together_by_whoever_wanted_them_when_the_cache_is_cold(cache: str) -> None:
    talk = Talk([*BOTH], cache)
    talk.next()
    talk.clock.now += 4_000
    talk.next()
    assert talk.states("c1", "c2") == ["stub", "stub"]
    assert [(e.author, e.reason, e.batch) for e in talk.session.edits] == [
        ("policy:says", "old", talk.session.edits[0].batch),
        ("policy:says", "old too", talk.session.edits[0].batch),
    ]
    assert talk.waiting == 0


def compacts(talk: Talk) -> None:
    """A person has the first long result summarised: a change right behind the marked items."""
    talk.session.act(Action("compact", ("c1", "c2", "c3"), {"summary": "they were read"}), author="user")


def hides_one_in_front(talk: Talk) -> None:
    """A person hides what stands in front of everything."""
    talk.session.act(Action("elide", ("c1",)), author="user")


def takes_another_tool(talk: Talk) -> None:
    """The tools stand in front of all messages."""
    talk.session.tools = (ToolSpec("find", "finds", {"type": "object"}),)


def takes_another_model(talk: Talk) -> None:
    """No cache of another model holds this conversation."""
    talk.session.engine.use_model(structs.replace(talk.session.engine.model, id="n"))


@each_cache
@pytest.mark.parametrize(
    ("change", "left"),
    [
        (hides_one_in_front, {"c2": "stub"}),
        (takes_another_tool, {"c1": "stub", "c2": "stub"}),
        (takes_another_model, {"c1": "stub", "c2": "stub"}),
    ],
)
def test_a_break_that_happens_anyway_takes_marked_edits_along(
    change: Callable[[Talk], None], left: dict[str, str], cache: str
) -> None:
    talk = Talk([*BOTH], cache)
    talk.next()
    change(talk)
    talk.next()
    assert dict(zip(left, talk.states(*left), strict=True)) == left
    assert talk.waiting == 0


def test_a_break_takes_marked_edits_along_below_the_soft_threshold_too() -> None:
    """Nobody is asked there, but what was wanted is free now."""
    talk = Talk([*BOTH])
    talk.next()
    talk.session.engine.settings = EngineSettings(thresholds=Thresholds(soft=0.9), epochs=False)
    talk.next()
    assert talk.waiting == 2
    takes_another_tool(talk)
    talk.next()
    assert talk.states("c1", "c2") == ["stub", "stub"]


def test_a_break_behind_marked_edits_leaves_them_waiting() -> None:
    talk = Talk([*BOTH])
    talk.next()
    talk.session.act(Action("elide", ("c11",)), author="user")
    talk.next()
    assert (talk.states("c1", "c2"), talk.waiting) == (["full", "full"], 2)


def test_at_the_hard_limit_what_was_wanted_goes_before_a_summary_takes_the_place_of_everything() -> None:
    talk = Talk([*BOTH], steps=tuple(step for step in STEPS if step.name == "digest"))
    talk.next()
    for number in range(5):
        talk.session.work(lines(15_000, seed=90 + number))
    talk.next()
    assert [edit.author for edit in talk.session.edits][:2] == ["policy:says", "policy:says"]
    assert {edit.author for edit in talk.session.edits[2:]} == {"recovery"}


def test_the_first_change_of_the_ladder_takes_what_was_wanted_behind_it_along() -> None:
    front = (Step("front", lambda seen, need: [Action("elide", ("c1",))] if seen.items[2].state == "full" else []),)
    talk = Talk([BOTH[0][1:]], steps=(*front, *STEPS))
    talk.next()
    assert talk.waiting == 1
    for number in range(5):
        talk.session.work(lines(15_000, seed=90 + number))
    talk.next()
    assert (talk.states("c1", "c2"), talk.waiting) == (["stub", "stub"], 0)


def pins(talk: Talk) -> None:
    """A person keeps it."""
    talk.session.act(Action("pin", ("c1",)), author="user")


def brings_back(talk: Talk) -> None:
    """The model asks for it, though it is there."""
    talk.session.act(Action("reload", ("c1",)), author="model")


def edits_and_reverts(talk: Talk) -> None:
    """A person hid it, and thought better of it."""
    talk.session.act(Action("elide", ("c1",)), author="user")
    talk.session.revert(talk.session.log.archive.leaf or "")


def uses(talk: Talk) -> None:
    """The model goes on with a name that stands nowhere else."""
    talk.session.answer(Text("I see"), call_of("u1", "read", {"at": "src/mod_0_5.py:35"}))
    talk.session.log.append([user("go on")])


@pytest.mark.parametrize("change", [pins, brings_back, edits_and_reverts, uses])
def test_a_mark_goes_when_its_item_changed_or_is_wanted_and_the_others_stay(change: Callable[[Talk], None]) -> None:
    talk = Talk([*BOTH])
    talk.next()
    change(talk)
    talk.next()
    talk.clock.now += 4_000
    talk.next()
    assert talk.states("c1", "c2") == ["full", "stub"]


def test_one_edit_of_several_items_goes_on_without_the_one_that_was_pinned() -> None:
    talk = Talk([(Action("elide", ("c1", "c2")),)])
    talk.next()
    pins(talk)
    talk.clock.now += 4_000
    talk.next()
    assert talk.states("c1", "c2") == ["full", "stub"]


def test_a_policy_takes_a_wish_back_by_saying_keep() -> None:
    talk = Talk([*BOTH, (Action("keep", ("c1",)),)])
    talk.next()
    talk.next()
    assert talk.waiting == 1
    talk.clock.now += 4_000
    talk.next()
    assert talk.states("c1", "c2") == ["full", "stub"]


def test_what_is_wanted_last_of_an_item_is_what_happens() -> None:
    talk = Talk([*BOTH, (Action("truncate", ("c1",), {"first": "src/mod_0_0.py", "last": "value_3"}),)])
    talk.next()
    talk.next()
    talk.clock.now += 4_000
    talk.next()
    assert talk.states("c1", "c2") == ["folded", "stub"]


def test_a_policy_that_repeats_itself_marks_once() -> None:
    talk = Talk([BOTH[0]] * 5)
    for _ in range(5):
        talk.next()
    assert talk.waiting == 2


def test_marks_go_with_a_conversation_that_goes_on_elsewhere() -> None:
    talk = Talk([*BOTH])
    talk.next()
    pins(talk)
    session = talk.session
    data = json.loads(json.dumps(saved(session.engine, session.view)))
    talk.clock.now += 4_000
    engine = Engine(
        session.engine.model, session_id="s", policy=Says([]), settings=session.engine.settings, now=talk.clock
    )
    restore(engine, data, engine.look(session.view, session.request))
    run(engine.prepare(session.view, session.request), session.log)
    assert talk.states("c1", "c2") == ["full", "stub"]


def test_the_oldest_marks_go_where_there_are_too_many() -> None:
    view, marks = View(), Marks()
    for number in range(MOST + 10):
        view = view.with_message(f"e{number}", user(f"message {number}"))
        name = f"e{number}"
        marks.add(view, [Mark(Elide(targets=(name,), texts={name: "."}), Action("elide", (name,)), "policy:x", 0)])
    assert len(marks) == MOST
    assert [mark.wish.targets for mark in marks][:1] == [("e10",)]


def test_a_marked_summary_goes_as_a_whole() -> None:
    view, marks = View(), Marks()
    for number in range(4):
        view = view.with_message(f"e{number}", user(f"message {number}"))
    edit: Any = Compact(targets=("e0", "e1", "e2"), summary="three")
    marks.add(view, [Mark(edit, Action("compact", edit.targets, {"summary": "three"}), "policy:x", 0)])
    assert len(marks.stand(view, used={})) == 1
    assert marks.stand(view.with_edit("x", Elide(targets=("e1",), texts={"e1": "."})), used={}) == ()


def test_a_person_is_told_how_many_edits_wait_and_why() -> None:
    told = Waiting(2, 1_400, "2 edits marked: not enough calls are left to pay for it", 90.0)
    assert waiting_lines(told) == [
        "2 edits of 1,400 tokens wait: made now, they would break the provider's cache, which costs more than they save"
    ]
    assert waiting_lines(None) == waiting_lines(Waiting()) == []
