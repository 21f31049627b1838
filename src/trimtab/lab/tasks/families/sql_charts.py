"""Analysis by SQL and charts, with huge results.

A query returns hundreds of rows, of which a peak or a low matters for a chart that is drawn much later: its week, its region, its value. All other rows look alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from trimtab.lab.tasks.material import tables, talk
from trimtab.lab.tasks.material.names import fresh, unlike
from trimtab.lab.tasks.material.pages import page
from trimtab.lab.tasks.plot import Sizes, seeded, threads
from trimtab.lab.tasks.stage import Stage
from trimtab.lab.tasks.story import Act, Cue, Fact, Turn
from trimtab.lab.tasks.task import Level, Task

NAME = "sql-charts"


@dataclass(slots=True)
class _Analyst:
    rng: Random
    sizes: Sizes
    taken: set[str] = field(default_factory=set)
    system: str = "You analyse sales by SQL and draw charts. Annotations of charts quote values exactly as the database gave them."

    def fact(self) -> Fact:
        rng = self.rng
        what = rng.choice(tables.MEASURES)
        place = fresh(rng, tables.region, self.taken)
        at, end = tables.week(rng), rng.choice(("peak", "low"))
        value = fresh(rng, lambda r: tables.extreme(r, high=end == "peak"), self.taken)
        line = tables.measure_row(rng, at=at, where=place, what=what, value=value)
        if rng.random() < 0.4:
            text = f"{at} | {place}"
            return Fact(
                text,
                "quote",
                f"the {end} of {what} at {value}",
                line,
                f"In which week and region is the {end} of {what} of {value}?",
                field=False,
            )
        about = f"the {end} of {what} in {place}"
        return Fact(value, "number", about, line, f"What is {about}?", (unlike(rng, value),))

    def opening(self, facts: Sequence[Fact]) -> str:
        named = [fact.about for fact in facts[:6]]
        return (
            f"Please prepare the charts for the board: {'; '.join(named)}{' and the other extremes that you find' if len(facts) > 6 else ''}. "
            "The tables are big; query what you like, but the annotations have to be exact."
        )

    def turn(self, step: int, uses: Sequence[Fact], shows: Sequence[Fact]) -> Turn:
        acts = [self._chart(fact) for fact in uses]
        if shows or not acts:
            acts.append(self._query(shows))
        about = (
            shows[0].about
            if shows
            else f"the {self.rng.choice(('peak', 'low'))} of {self.rng.choice(tables.MEASURES)} in {tables.region(self.rng)}"
        )
        return Turn(
            talk.coming(self.rng, "another cut of the data") if self.rng.random() < 0.4 else "",
            tuple(acts),
            about=about,
        )

    def closing(self, facts: Sequence[Fact]) -> str:
        return "\n".join(["The charts are done.", *(f"- {fact.about}: {fact.text}" for fact in facts)])

    def _query(self, shows: Sequence[Fact]) -> Act:
        query = f"SELECT {tables.COLUMNS.replace(' | ', ', ')} FROM facts WHERE batch = {self.rng.randint(1, 9_999)} ORDER BY load_id"
        keys = [fact.line for fact in shows]
        chars = self.sizes.result("measures")
        text = page(self.rng, tables.measure_row, chars, keys, head=tables.COLUMNS)
        return Act("sql", {"query": query}, f"{text}\n({text.count(chr(10))} rows)")

    def _chart(self, fact: Fact) -> Act:
        shape = self.rng.choice(("bar", "line", "area"))
        arguments = {
            "type": shape,
            "title": fact.about,
            "annotation": fact.text,
            "save_as": f"chart-{self.rng.randint(1, 999)}.svg",
        }
        return Act("chart", arguments, f"{shape} chart saved, {self.rng.randint(4, 90)} kB")


def make(seed: int, level: Level) -> Task:
    """Make a task of this family."""
    rng = seeded(NAME, seed, level)
    script = _Analyst(rng, Sizes(rng, level.tokens))
    cues = [Cue(script.fact(), shown, (used,)) for shown, used in threads(rng, level)]
    return Stage(NAME, seed, level, rng).play(script, cues)
