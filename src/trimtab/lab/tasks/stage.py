"""The stage: plays a script along its cues, and adds what all agents do beside the work.

    each request:  cues due ──script.turn──▶ Turn ──▶ Story
                   nothing due ──▶ now and then a call that fails, one that is made again, two at once, a word with the user

A script writes the turns that need nothing by the same functions as those that do.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import Protocol

from trimtab.lab.tasks.material import talk
from trimtab.lab.tasks.story import Act, Cue, Fact, Refused, Story, Turn
from trimtab.lab.tasks.task import Level, Task

_TRIES = 40
_FAILURES = (
    "error: timed out after 30 s",
    "error: connection reset by peer",
    "error: 429 too many requests, try again later",
    "error: permission denied",
    "error: no such entry",
    "error: the source is locked by another reader",
)


class Script(Protocol):
    """Who writes the turns of a story."""

    system: str
    """The system prompt."""

    def opening(self, facts: Sequence[Fact]) -> str:
        """What the user asks for. `facts`: all that will be needed."""

    def turn(self, step: int, uses: Sequence[Fact], shows: Sequence[Fact]) -> Turn:
        """A turn whose answer uses and whose results show these facts; with none of either, any turn."""

    def closing(self, facts: Sequence[Fact]) -> str:
        """The last answer, which uses these facts."""


@dataclass(slots=True)
class Stage:
    """A story that is being played."""

    family: str
    seed: int
    level: Level
    rng: Random
    overnight: int = 0
    """The request behind which a night passes; 0 for none."""
    _past: list[Act] = field(default_factory=list)
    _about: str = ""

    def play(self, script: Script, cues: Sequence[Cue]) -> Task:
        """Play the whole story."""
        cues = self._recapped(cues)
        story = Story(self.rng, tuple(cues))
        needed = [cue.fact for cue in cues if cue.used and not cue.stale]
        self._try(lambda: story.open(script.opening(needed)))
        for step in range(1, self.level.steps):
            uses = [cue.fact for cue in cues if step in cue.used]
            shows = [cue.fact for cue in cues if cue.shown == step]
            self._try(partial(self._step, story, script, uses, shows))
        due = [cue.fact for cue in cues if self.level.steps in cue.used]
        self._try(lambda: story.take(Turn(script.closing(due))))
        return story.task(self.family, self.seed, self.level, script.system)

    def _try(self, act: Callable[[], None]) -> None:
        """Act until nothing is refused. Chance moves on, so that each try is another one."""
        for _ in range(_TRIES):
            try:
                act()
            except Refused as refused:
                last = refused
            else:
                return
        raise last

    def _recapped(self, cues: Sequence[Cue]) -> list[Cue]:
        """The last answer comes back to some of what was used before."""
        last = self.level.steps
        return [
            replace(cue, used=(*cue.used, last))
            if cue.used and not cue.stale and last not in cue.used and self.rng.random() < 0.25
            else cue
            for cue in cues
        ]

    def _step(self, story: Story, script: Script, uses: Sequence[Fact], shows: Sequence[Fact]) -> None:
        step = story.step + 1
        night = step == self.overnight
        turn = script.turn(step, uses, shows)
        if not (uses or shows or night):
            turn = self._beside(script, turn)
        about = turn.about if self.rng.random() < (0.6 if shows else 0.2) else ""
        text = " ".join(filter(None, (talk.remark(self.rng, self._about) if self._about else "", turn.text)))
        story.take(Turn(text, turn.acts, turn.then, turn.about), overnight=night)
        self._about = about
        if not shows:
            self._past += turn.acts

    def _beside(self, script: Script, turn: Turn) -> Turn:
        dice = self.rng.random()
        if dice < 0.05 and turn.acts:
            act = turn.acts[0]
            return Turn(turn.text, (Act(act.tool, act.arguments, self.rng.choice(_FAILURES), is_error=True),))
        if dice < 0.11 and self._past:
            return Turn(turn.text, (self.rng.choice(self._past),), about=turn.about)
        if dice < 0.15:
            said, reply = talk.progress(self.rng)
            return Turn(said, then=reply)
        if dice < 0.25 and turn.acts:
            more = script.turn(0, (), ())
            return Turn(turn.text, (*turn.acts, *more.acts), about=turn.about)
        return turn
