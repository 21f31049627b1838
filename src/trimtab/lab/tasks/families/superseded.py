"""Facts that are replaced by later ones, some of them after they were used.

Records are revised, in the form in which others are revised that nobody asks about. Only the newest revision of a subject is right; the older ones are stale from then on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from trimtab.lab.tasks.material import tables, talk
from trimtab.lab.tasks.material.names import amount, code, company, fresh, place
from trimtab.lab.tasks.material.pages import page
from trimtab.lab.tasks.plot import Sizes, seeded, threads
from trimtab.lab.tasks.stage import Stage
from trimtab.lab.tasks.story import Act, Cue, Fact, Turn
from trimtab.lab.tasks.task import Level, PointKind, Task

NAME = "superseded"
_TOPICS: tuple[tuple[str, PointKind, str], ...] = (
    ("credit limit", "number", ""),
    ("delivery gate", "value", "GATE-##-@##"),
    ("tariff", "value", "TF-####-@"),
    ("contract rate", "number", ""),
    ("customs file", "value", "MRN-######-@"),
    ("carrier account", "value", "CA/####/##-@"),
)
_FIRST = (
    "{about} | set | {value} | by {who}",
    "{about} | recorded | {value} | source {who}",
    "{about} | opened | {value} | {who}",
)
_LATER = (
    "{about} | revised | {value} | by {who}",
    "{about} | now | {value} | source {who}",
    "{about} | replaced | {value} | {who}",
)


def _value(rng: Random, form: str) -> str:
    return code(rng, form) if form else amount(rng, 10_000, 9_000_000)


@dataclass(slots=True)
class _Keeper:
    rng: Random
    sizes: Sizes
    taken: set[str] = field(default_factory=set)
    revision: int = 1_000
    system: str = "You keep terms of customers up to date. A later revision replaces an earlier one; what is sent out must be what holds then."

    def revisions(self, count: int) -> list[Fact]:
        """The revisions of one subject, oldest first; the last one holds."""
        rng = self.rng
        what, kind, form = rng.choice(_TOPICS)
        about = fresh(rng, lambda r: f"{what} of {company(r)} {place(r)}", self.taken)
        values = [fresh(rng, lambda r: _value(r, form), self.taken) for _ in range(count)]
        question = f"What is the {about} in the end?"
        older = tuple(values[:-1])
        return [
            Fact(value, kind, about, self._row(about, value, later=bool(n)), question, older)
            for n, value in enumerate(values)
        ]

    def opening(self, facts: Sequence[Fact]) -> str:
        named = [fact.about for fact in facts[:7]]
        self.rng.shuffle(named)
        return (
            f"Terms change while we work. Follow the change log and send out confirmations; sooner or later we need the {', the '.join(named)}"
            f"{' and others' if len(facts) > 7 else ''}. Always what holds at that moment, never an older revision."
        )

    def turn(self, step: int, uses: Sequence[Fact], shows: Sequence[Fact]) -> Turn:
        acts = [self._sent(fact) for fact in uses]
        if shows or not acts:
            acts.append(self._log(shows))
        about = (
            f"the {shows[0].about}"
            if shows
            else f"the {self.rng.choice(_TOPICS)[0]} of {company(self.rng)} {place(self.rng)}"
        )
        return Turn(
            talk.coming(self.rng, "the next changes") if self.rng.random() < 0.4 else "", tuple(acts), about=about
        )

    def closing(self, facts: Sequence[Fact]) -> str:
        return "\n".join(["All confirmations are out.", *(f"- {fact.about}: {fact.text}" for fact in facts)])

    def _row(self, about: str, value: str, *, later: bool) -> str:
        rng = self.rng
        return rng.choice(_LATER if later else _FIRST).format(about=about, value=value, who=tables.region(rng))

    def _other(self, rng: Random) -> str:
        what, _, form = rng.choice(_TOPICS)
        return self._row(f"{what} of {company(rng)} {place(rng)}", _value(rng, form), later=rng.random() < 0.5)

    def _log(self, shows: Sequence[Fact]) -> Act:
        rows = page(self.rng, self._other, self.sizes.result("changes"), [fact.line for fact in shows]).split("\n")
        text = "\n".join(["revision | subject | what | value | by", *map(self._numbered, rows)])
        tool = self.rng.choice(("sql", "http"))
        if tool == "http":
            return Act("http", {"method": "GET", "path": f"/changes?page={self.revision // 10}"}, text)
        return Act(
            "sql",
            {"query": f"SELECT * FROM changes ORDER BY revision LIMIT 500 OFFSET {self.revision}"},
            text,
        )

    def _numbered(self, row: str) -> str:
        """A row with its revision: later pages have higher ones, whatever the page that shows a row."""
        self.revision += self.rng.randint(1, 9)
        return f"{self.revision} | {row}"

    def _sent(self, fact: Fact) -> Act:
        return Act(
            "send_confirmation",
            {"subject": fact.about, "value": fact.text},
            f"queued as message {self.rng.randint(10_000, 99_999)}",
        )


def make(seed: int, level: Level) -> Task:
    """Make a task of this family."""
    rng = seeded(NAME, seed, level)
    script = _Keeper(rng, Sizes(rng, level.tokens))
    cues: list[Cue] = []
    for shown, used in threads(rng, level, first=2):
        earlier = sorted(rng.sample(range(1, shown), min(shown - 1, rng.randint(1, 3))))
        *stale, current = script.revisions(len(earlier) + 1)
        for fact, said, over in zip(stale, earlier, [*earlier[1:], shown], strict=True):
            used_once = (rng.randint(said + 1, over),) if over - said > 1 and rng.random() < 0.35 else ()
            cues.append(Cue(fact, said, used_once, stale=True))
        cues.append(Cue(current, shown, (used,)))
    return Stage(NAME, seed, level, rng).play(script, cues)
