"""A conversation whose system prompt and tools change while the provider's cache is warm."""

from collections.abc import Callable, Sequence
from typing import Any

from support.engine_session import Session, lines, model
from trimtab.context.actions import Action
from trimtab.context.cycle.front import is_notice
from trimtab.context.engine import Engine
from trimtab.context.policies.base import Manners, Policy
from trimtab.context.seeing.observation import Observation
from trimtab.types.messages import Message, Text, User
from trimtab.types.models import CacheRules, Price
from trimtab.types.tools import ToolSpec

MONDAY = "Be brief.\n" + "Follow the style of the project.\n" * 40 + "Date: 2026-03-02"
TUESDAY = MONDAY.replace("03-02", "03-03")
PREFIX = CacheRules("prefix", 256, 64, ttl_s=300)
EXPLICIT = CacheRules("explicit", 256, 1, 20, 4, 300)


def tool(name: str, description: str = "does it", **properties: Any) -> ToolSpec:
    """A tool of that name."""
    return ToolSpec(name, description, {"type": "object", "properties": properties})


READ, BASH, WEB = tool("read"), tool("bash"), tool("web")


class Clock:
    """Seconds."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def session(
    rules: CacheRules = PREFIX, *, window: int = 100_000, policy: Policy | str = "rules", steps: int = 4
) -> Session:
    """A conversation of a few steps on Monday, whose cache is warm; with `engine.clock`, so to speak, in `clock_of`."""
    info = model(window, prices=(Price(3, 15, 0.3, 3.75),), cache=rules)
    clock = Clock()
    made = Session(Engine(info, session_id="s", now=clock, policy=policy), system=MONDAY, tools=(READ, BASH))
    made.say("Fix it")
    for number in range(steps):
        made.prepare()
        made.work(lines(1_500, seed=number))
    made.prepare()
    made.answer(Text("done"))
    return made


def wait(made: Session, seconds: float) -> None:
    """So much time passes."""
    clock = made.engine._now
    assert isinstance(clock, Clock)
    clock.now += seconds


def notices(made: Session) -> list[str]:
    """What the next request tells of a front that it doesn't have, oldest first."""
    return [m.parts[0].text for m in made.view.messages() if _is_note(m)]  # type: ignore[union-attr]


def hide_the_newest_notice(made: Session) -> None:
    """Somebody puts a stub in place of what was told last."""
    told = [applied for applied in made.view.applied if is_notice(applied.edit)]
    if told:
        made.act(Action("elide", (made.view.slots[told[-1].slots[0]].id,)))


class HidesNotices:
    """A policy that puts a stub in place of each note that it sees, and of nothing else."""

    name = "hides-notices"
    manners = Manners(guarded=False, early=True)

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Elide every note."""
        return [Action("elide", (item.id,)) for item in observation.items if item.kind == "note"]


def _is_note(message: Message) -> bool:
    return isinstance(message, User) and message.origin == "note"


CHANGES: list[Callable[[Session], object]] = [
    lambda s: setattr(s, "system", MONDAY),
    lambda s: setattr(s, "system", TUESDAY),
    lambda s: setattr(s, "system", "Something else"),
    lambda s: setattr(s, "tools", (READ,)),
    lambda s: setattr(s, "tools", (READ, BASH, WEB)),
    lambda s: setattr(s, "tools", (BASH, READ)),
    lambda s: wait(s, 3_600),
    lambda s: s.say("Go on"),
    lambda s: s.work(lines(900)),
    lambda s: s.act(Action("compact", params={"mode": "digest", "keep_tokens": 300})),
    hide_the_newest_notice,
]
"""What may happen to it."""
