"""A list of products, and the question what has to be ordered again.

What matters is in the numbers of a row, not in its form: stock under the level at which one orders, and nothing under way. Rows of products that only look short (something is on its way) stand among
them. The order needs the article number and the packing unit, long after the page.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from trimtab.lab.tasks.material import tables, talk
from trimtab.lab.tasks.material.documents import note
from trimtab.lab.tasks.material.names import code, fresh, unlike
from trimtab.lab.tasks.material.pages import page
from trimtab.lab.tasks.plot import Sizes, seeded, threads
from trimtab.lab.tasks.stage import Stage
from trimtab.lab.tasks.story import Act, Cue, Fact, Turn
from trimtab.lab.tasks.task import Level, Task

NAME = "restock"


@dataclass(slots=True)
class _Buyer:
    rng: Random
    sizes: Sizes
    taken: set[str] = field(default_factory=set)
    system: str = "You plan purchases for a warehouse. Order what is under its reorder level with nothing on order, and nothing else."

    def pair(self) -> tuple[Fact, Fact]:
        """Article number and packing unit of a product that is short, on one line."""
        rng = self.rng
        name = fresh(rng, tables.article, self.taken)
        number = fresh(rng, tables.sku, self.taken)
        pack = fresh(rng, lambda r: code(r, "PK-####-@"), self.taken)
        line = tables.stock_row(rng, number=number, name=name, short=True, pack=pack)
        return (
            Fact(
                number,
                "name",
                f"the {name}",
                line,
                f"Which article number has the {name} that has to be ordered?",
                (unlike(rng, number),),
            ),
            Fact(
                pack,
                "field",
                f"the {name}",
                line,
                f"In which packing unit is the {name} ordered?",
                (unlike(rng, pack),),
            ),
        )

    def opening(self, facts: Sequence[Fact]) -> str:
        return (
            "What has to be restocked this week? Please go through all pages of the stock list, look at supplier notes where you need them, and place the orders when the slots of the suppliers open. "
            f"I expect about {max(1, len(facts) // 2)} articles. What is already on order is not to be ordered again."
        )

    def turn(self, step: int, uses: Sequence[Fact], shows: Sequence[Fact]) -> Turn:
        orders = dict.fromkeys(fact.about for fact in uses)
        acts = [self._ordered(about, [fact for fact in uses if fact.about == about]) for about in orders]
        if shows or not acts:
            acts.append(self._stock(shows) if shows or self.rng.random() < 0.75 else self._notes())
        about = shows[0].about if shows else f"the {tables.article(self.rng)}"
        return Turn(
            talk.coming(self.rng, "the next page of the list") if self.rng.random() < 0.4 else "",
            tuple(acts),
            about=about,
        )

    def closing(self, facts: Sequence[Fact]) -> str:
        return "\n".join(
            ["This had to be restocked, and is ordered.", *(f"- {fact.about}: {fact.text}" for fact in facts)]
        )

    def _stock(self, shows: Sequence[Fact]) -> Act:
        keys = list(dict.fromkeys(fact.line for fact in shows))
        text = page(self.rng, tables.stock_row, self.sizes.result("table"), keys)
        where = self.rng.randint(1, 800)
        if self.rng.random() < 0.5:
            return Act("http", {"method": "GET", "path": f"/stock?page={where}"}, text)
        return Act("sql", {"query": f"SELECT * FROM stock ORDER BY shelf LIMIT 200 OFFSET {where * 200}"}, text)

    def _notes(self) -> Act:
        supplier = code(self.rng, "S####")
        return Act("read", {"path": f"suppliers/{supplier}.md"}, page(self.rng, note, self.sizes.result("document")))

    def _ordered(self, about: str, facts: Sequence[Fact]) -> Act:
        names = {"name": "article", "field": "packing_unit"}
        arguments = {
            "product": about,
            **{names[fact.kind]: fact.text for fact in facts},
            "packs": self.rng.randint(1, 40),
        }
        return Act("create_order", arguments, f"order {self.rng.randint(10_000, 99_999)} sent")


def make(seed: int, level: Level) -> Task:
    """Make a task of this family."""
    rng = seeded(NAME, seed, level)
    script = _Buyer(rng, Sizes(rng, level.tokens))
    cues: list[Cue] = []
    for shown, used in threads(rng, level):
        cues += [Cue(fact, shown, (used,)) for fact in script.pair()]
    return Stage(NAME, seed, level, rng).play(script, cues)
