"""A workflow that stops in the evening and goes on a day later.

All that matters was read on the first day and is needed on the second; between them the cache is cold, and the user only says "go on".
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from trimtab.lab.tasks.material import code, logs, names, talk
from trimtab.lab.tasks.material.pages import page
from trimtab.lab.tasks.plot import Sizes, lag_of, seeded, threads
from trimtab.lab.tasks.stage import Stage
from trimtab.lab.tasks.story import Act, Cue, Fact, Turn
from trimtab.lab.tasks.task import Level, PointKind, Task

NAME = "continuation"
_TOPICS: tuple[tuple[str, PointKind, str], ...] = (
    ("migration", "name", "mig_&&&&_####"),
    ("ticket", "value", "TCK-#####-@"),
    ("snapshot", "value", "snap-&&&&&&"),
    ("flag", "field", "ff.@@@-###.on"),
    ("node", "name", "node-###-@@#"),
)
_STATES = ("verified", "still failing", "waiting for review", "done", "left for tomorrow", "half applied")


@dataclass(slots=True)
class _Operator:
    rng: Random
    sizes: Sizes
    night: int
    """The request after which the user goes home."""
    taken: set[str] = field(default_factory=set)
    system: str = "You carry out a long migration over several days. What was prepared on one day is applied on another, by its exact name."

    def fact(self) -> Fact:
        what, kind, form = self.rng.choice(_TOPICS)
        about = names.fresh(self.rng, lambda r: f"the {what} of {names.service(r)} in {names.place(r)}", self.taken)
        value = names.fresh(self.rng, lambda r: names.code(r, form), self.taken)
        return Fact(
            value, kind, about, self._entry(about, value), f"What is {about}?", (names.unlike(self.rng, value),)
        )

    def opening(self, facts: Sequence[Fact]) -> str:
        return (
            "We move the remaining services this week. Today: go through plans, logs and code and find out what is prepared for each of them. Tomorrow we apply it. "
            f"It should come to {len(facts)} changes or so; the plans hold many more that are not ours."
        )

    def turn(self, step: int, uses: Sequence[Fact], shows: Sequence[Fact]) -> Turn:
        if step == self.night:
            used = "".join(f" {fact.about}: {fact.text}." for fact in uses)
            morning = self.rng.choice(
                (
                    "Good morning. Please go on where we stopped.",
                    "Hi again, let's continue.",
                    "Back at my desk: go on with the plan, please.",
                )
            )
            return Turn(f"That is a good place to stop for today.{used}", then=morning)
        acts = [self._applied(fact) for fact in uses]
        if shows or not acts:
            acts.append(self._plan(shows) if shows or self.rng.random() < 0.5 else self._other())
        about = (
            shows[0].about
            if shows
            else f"the {self.rng.choice(_TOPICS)[0]} of {names.service(self.rng)} in {names.place(self.rng)}"
        )
        return Turn(talk.coming(self.rng, "the next plan") if self.rng.random() < 0.4 else "", tuple(acts), about=about)

    def closing(self, facts: Sequence[Fact]) -> str:
        return "\n".join(["The changes of the plan are applied.", *(f"- {fact.about}: {fact.text}" for fact in facts)])

    def _entry(self, about: str, value: str) -> str:
        return f"- [{self.rng.choice('x -')}] {about}: `{value}` ({self.rng.choice(_STATES)})"

    def _decoy(self, rng: Random) -> str:
        what, _, form = rng.choice(_TOPICS)
        return self._entry(f"the {what} of {names.service(rng)} in {names.place(rng)}", names.code(rng, form))

    def _plan(self, shows: Sequence[Fact]) -> Act:
        where = f"plans/{names.place(self.rng).lower().replace(' ', '-')}-{self.rng.randint(1, 99)}.md"
        text = page(self.rng, self._decoy, self.sizes.result("code"), [fact.line for fact in shows])
        return Act("read", {"path": where}, text)

    def _other(self) -> Act:
        if self.rng.random() < 0.5:
            return Act(
                "read", {"path": code.path(self.rng)}, page(self.rng, code.source_line, self.sizes.result("code"))
            )
        log = logs.Log(self.rng, faults=0.02)
        command = {"command": f"journalctl -u {names.service(self.rng)} -n 2000"}
        return Act("bash", command, page(self.rng, log.line, self.sizes.result("log")))

    def _applied(self, fact: Fact) -> Act:
        return Act(
            "bash", {"command": f"./apply --target '{fact.text}' --yes"}, f"applied in {self.rng.randint(2, 90)} s"
        )


def make(seed: int, level: Level) -> Task:
    """Make a task of this family."""
    rng = seeded(NAME, seed, level)
    lag = lag_of(level)
    night = max(2, min(level.steps - 2, level.steps - lag + lag // 2))
    script = _Operator(rng, Sizes(rng, level.tokens), night)
    cues: list[Cue] = []
    for shown, used in threads(rng, level, first=max(1, night - lag + lag // 5), until=night - 1):
        cues.append(Cue(script.fact(), shown, (max(used, night + 1),)))
    return Stage(NAME, seed, level, rng, overnight=night).play(script, cues)
