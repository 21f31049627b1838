"""Chains of calls, where a later call needs what an earlier one returned.

Each thread of the work makes a record, later uses its id for a second one, and uses that one's id in the end. Between them stand records of others, with ids of
the same form.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from trimtab.lab.tasks.material import tables, talk
from trimtab.lab.tasks.material.names import code, fresh, unlike
from trimtab.lab.tasks.material.pages import page
from trimtab.lab.tasks.plot import Sizes, seeded, threads
from trimtab.lab.tasks.stage import Stage
from trimtab.lab.tasks.story import Act, Cue, Fact, Turn
from trimtab.lab.tasks.task import Level, Task

NAME = "tool-chain"
_FORMS = {
    "quote": "QTE-######-@",
    "hold": "hold_&&&&&&&&",
    "order": "ORD.####.@@##",
    "shipment": "shp-@@@-#####",
    "claim": "clm_####_&&&&",
}
_STEPS = tuple(_FORMS)


@dataclass(slots=True)
class _Clerk:
    rng: Random
    sizes: Sizes
    taken: set[str] = field(default_factory=set)
    system: str = (
        "You run errands in a business system through its API. Records refer to each other by id. Never guess an id."
    )

    def fact(self, customer: str, kind: str, before: Fact | None) -> Fact:
        value = fresh(self.rng, lambda rng: code(rng, _FORMS[kind]), self.taken)
        given = {"ref": unlike(self.rng, before.text)} if before else {}
        line = tables.record(self.rng, id=value, kind=kind, customer=customer, **given)
        about = f"the {kind} of {customer}"
        return Fact(value, "value", about, line, f"Which id has {about}?", (unlike(self.rng, value),))

    def opening(self, facts: Sequence[Fact]) -> str:
        named = sorted({fact.about for fact in facts})
        shown = named[:8]
        more = f", and {len(named) - 8} more that the queue names" if len(named) > 8 else ""
        return (
            f"Please work through the queue. What has to be linked and confirmed in the end: {', '.join(shown)}{more}. "
            "Everything else in the system belongs to colleagues; look at it where it helps, but leave it as it is."
        )

    def turn(self, step: int, uses: Sequence[Fact], shows: Sequence[Fact]) -> Turn:
        about = shows[0].about if shows else f"the {self.rng.choice(_STEPS)} of {tables.customer(self.rng)}"
        acts = [self._linked(fact, [next_ for next_ in shows if _customer(next_) == _customer(fact)]) for fact in uses]
        others = [fact for fact in shows if _customer(fact) not in map(_customer, uses)]
        if others or not acts:
            acts.append(self._listed(others))
        return Turn(talk.coming(self.rng, about) if self.rng.random() < 0.5 else "", tuple(acts), about=about)

    def closing(self, facts: Sequence[Fact]) -> str:
        return "\n".join(["Everything in the queue is linked.", *(f"- {fact.about}: {fact.text}" for fact in facts)])

    def _linked(self, fact: Fact, shows: Sequence[Fact]) -> Act:
        verb = self.rng.choice(("confirm", "link", "extend", "attach"))
        arguments = {"method": "POST", "path": f"/v2/{verb}", "body": {"ref": fact.text, "note": fact.about}}
        if not shows:
            return Act("http", arguments, json.dumps({"ok": True, "took_ms": self.rng.randint(4, 900)}))
        return Act("http", arguments, self._records(shows, self.sizes.result("json"), '{"ok": true, "related": ['))

    def _listed(self, shows: Sequence[Fact]) -> Act:
        what = self.rng.choice(_STEPS)
        arguments = {
            "method": "GET",
            "path": f"/v2/{what}s",
            "query": {"page": self.rng.randint(1, 400), "owner": "any"},
        }
        return Act("http", arguments, self._records(shows, self.sizes.result("json"), '{"items": ['))

    def _records(self, shows: Sequence[Fact], chars: int, head: str) -> str:
        text = page(self.rng, self._other, chars, [fact.line for fact in shows], gap=",\n")
        return f"{head}\n{text}\n]}}"

    def _other(self, rng: Random) -> str:
        kind = rng.choice(_STEPS)
        return tables.record(rng, id=code(rng, _FORMS[kind]), kind=kind)


def _customer(fact: Fact) -> str:
    return fact.about.partition(" of ")[2]


def make(seed: int, level: Level) -> Task:
    """Make a task of this family."""
    rng = seeded(NAME, seed, level)
    script = _Clerk(rng, Sizes(rng, level.tokens))
    cues: list[Cue] = []
    for first, second, last in threads(rng, level, links=2):
        customer = fresh(rng, tables.customer, script.taken)
        start = rng.randrange(len(_STEPS) - 1)
        one = script.fact(customer, _STEPS[start], None)
        two = script.fact(customer, _STEPS[start + 1], one)
        cues += [Cue(one, first, (second,)), Cue(two, second, (last,))]
    return Stage(NAME, seed, level, rng).play(script, cues)
