"""Long logs with one root cause, which stands in their first part, in the middle, or in their last part.

The agent reads the logs of an incident page by page, then code, settings and metrics, and names the cause in the end. The line of the cause has the form of every other error; what makes it the cause
is that the other symptoms come back to its service. Three families share everything but the place.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Literal, TypeAlias

from trimtab.lab.tasks.material import code as source
from trimtab.lab.tasks.material import logs, talk
from trimtab.lab.tasks.material.names import fresh, service, unlike
from trimtab.lab.tasks.material.pages import page
from trimtab.lab.tasks.plot import Sizes, lag_of, seeded, threads
from trimtab.lab.tasks.stage import Stage
from trimtab.lab.tasks.story import Act, Cue, Fact, Turn
from trimtab.lab.tasks.task import Level, Task

Where: TypeAlias = Literal["first", "middle", "last"]
WHERE: tuple[Where, ...] = ("first", "middle", "last")


@dataclass(slots=True)
class _Incident:
    """`pages`: the requests that read the log, of which `shown` brings the cause. What follows from the cause stands in later ones only."""

    rng: Random
    sizes: Sizes
    pages: range
    shown: int
    log: logs.Log
    taken: set[str] = field(default_factory=set)
    cause: str = ""
    system: str = "You are on call. You find out why something broke, by its logs, and prove it. The first error that explains the others is the cause."

    def fact(self, *, cause: bool) -> Fact:
        fault = fresh(self.rng, logs.error_code, self.taken)
        by = fresh(self.rng, service, self.taken)
        if cause:
            self.cause = by
        about = f"the outage of {by}"
        question = "Which error is the root cause of the incident?" if cause else f"With which error did {by} fail?"
        return Fact(fault, "error", about, "", question, (unlike(self.rng, fault),))

    def opening(self, facts: Sequence[Fact]) -> str:
        named = [fact.about for fact in facts[:6]]
        self.rng.shuffle(named)
        return (
            f"Since the night we have several outages; reported were {', '.join(named)}. One of them set off the rest. "
            "Go through the log of the incident, file a ticket for each with its exact error code, and tell me in the end which error was the root cause."
        )

    def turn(self, step: int, uses: Sequence[Fact], shows: Sequence[Fact]) -> Turn:
        acts = [self._filed(fact) for fact in uses]
        if step in self.pages or shows:
            acts.append(self._log(step, shows))
        elif not acts:
            acts.append(self.rng.choice((self._code, self._config, self._metrics, self._tests))())
        about = shows[0].about if shows else f"the outage of {service(self.rng)}"
        words = talk.coming(
            self.rng,
            "the next part of the log"
            if step in self.pages
            else self.rng.choice(("the recent changes", "the other side of it", "the deployment")),
        )
        return Turn(words if self.rng.random() < 0.5 else "", tuple(acts), about=about)

    def closing(self, facts: Sequence[Fact]) -> str:
        said = [f"- {fact.about}: {fact.text}" for fact in facts]
        cause = next(fact.text for fact in facts if _service(fact) == self.cause)
        return "\n".join([f"The root cause is {cause} of {self.cause}; the rest followed from it.", *said])

    def _filed(self, fact: Fact) -> Act:
        return Act(
            "open_ticket", {"title": fact.about, "error": fact.text}, f"INC-{self.rng.randint(1000, 9999)} opened"
        )

    def _log(self, step: int, shows: Sequence[Fact]) -> Act:
        keys = [self.log.broken(fact.text, _service(fact)) for fact in shows]
        if step > self.shown and self.rng.random() < 0.4:
            keys.append(self.log.broken(logs.error_code(self.rng), self.cause))
        number = step - self.pages.start + 1
        text = logs.in_order(page(self.rng, self.log.line, self.sizes.result("log"), keys))
        return Act("read_log", {"file": "incident.log", "page": number}, text)

    def _code(self) -> Act:
        return Act(
            "read", {"path": source.path(self.rng)}, page(self.rng, source.source_line, self.sizes.result("code"))
        )

    def _config(self) -> Act:
        name = f"{service(self.rng)}.yaml"
        return Act(
            "bash", {"command": f"cat deploy/{name}"}, page(self.rng, source.setting_line, self.sizes.result("code"))
        )

    def _metrics(self) -> Act:
        arguments = {"command": f"curl -s http://metrics/{service(self.rng)}"}
        return Act("bash", arguments, page(self.rng, logs.metric_line, self.sizes.result("log")))

    def _tests(self) -> Act:
        arguments = {"command": f"pytest tests/{self.rng.choice(('unit', 'wire', 'slow'))} -q"}
        return Act("bash", arguments, page(self.rng, logs.test_line, self.sizes.result("log")))


def _service(fact: Fact) -> str:
    return fact.about.removeprefix("the outage of ")


def name_of(where: Where) -> str:
    """Return the name of the family whose cause stands there."""
    return f"root-cause-{where}"


def make(seed: int, level: Level, where: Where) -> Task:
    """Make a task whose root cause stands in the first part, the middle, or the last part of the log."""
    name = name_of(where)
    rng = seeded(name, seed, level)
    lag = lag_of(level)
    length = max(1, min(level.steps - lag - 1, level.steps // 2))
    before = {"first": 0, "middle": length // 2, "last": length - 1}[where]
    latest = level.steps - lag
    shown = rng.randint(min(before + 1, latest), latest)
    pages = range(max(1, shown - before), min(level.steps, shown - before + length))
    script = _Incident(rng, Sizes(rng, level.tokens), pages, shown, logs.Log(rng))
    named = min(level.steps, shown + max(1, lag + rng.randint(-(lag // 5), lag // 5)))
    cues = [Cue(script.fact(cause=True), shown, tuple(sorted({named, level.steps})), asked=-1)]
    for start, used in threads(rng, level, first=pages.start, until=pages.stop - 1):
        if start != shown:
            cues.append(Cue(script.fact(cause=False), start, (used,)))
    return Stage(name, seed, level, rng).play(script, cues)


first = partial(make, where="first")
middle = partial(make, where="middle")
last = partial(make, where="last")
