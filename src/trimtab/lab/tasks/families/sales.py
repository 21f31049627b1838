"""A sales agent between many documents about customers and products.

Visit reports and data sheets say dozens of exact things; an offer needs what its customer insists on and what the product has, read in different documents at different times. The user brings inquiries
on the way.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from trimtab.lab.tasks.material import documents, talk
from trimtab.lab.tasks.material.names import company, fresh, place, product
from trimtab.lab.tasks.material.pages import page
from trimtab.lab.tasks.plot import Sizes, seeded, threads
from trimtab.lab.tasks.stage import Stage
from trimtab.lab.tasks.story import Act, Cue, Fact, Turn
from trimtab.lab.tasks.task import Level, Task

NAME = "sales"


@dataclass(slots=True)
class _Seller:
    rng: Random
    sizes: Sizes
    taken: set[str] = field(default_factory=set)
    system: str = "You write offers. An offer quotes what the customer insists on and what the data sheet says, word for word; the documents are long."

    def fact(self) -> Fact:
        rng = self.rng
        if rng.random() < 0.55:
            subject = fresh(rng, documents.customer, self.taken)
            what = rng.choice(documents.WISHES)
            value = fresh(rng, lambda r: documents.wish_value(r, what), self.taken)
            line = documents.wish(rng, subject, what, value)
        else:
            subject = fresh(rng, documents.article, self.taken)
            what = rng.choice(documents.TRAITS)
            value = fresh(rng, documents.trait_value, self.taken)
            line = documents.trait(rng, subject, what, value)
        about = f"the {what} of {subject}"
        return Fact(value, "number" if value.endswith("EUR") else "value", about, line, f"What is {about}?")

    def opening(self, facts: Sequence[Fact]) -> str:
        named = [fact.about for fact in facts[:5]]
        self.rng.shuffle(named)
        return (
            f"We have {len(facts)} positions to quote this week. You will need, among others, {', '.join(named)}. Please go through customer files and data sheets, "
            "and write each position when I or the calendar ask for it."
        )

    def turn(self, step: int, uses: Sequence[Fact], shows: Sequence[Fact]) -> Turn:
        acts = [self._quoted(fact) for fact in uses]
        if shows or (not acts and self.rng.random() < 0.9):
            acts.append(self._document(shows))
        if not acts:
            asked = f"An inquiry came in from {company(self.rng)} about the {product(self.rng)}; they can wait. Please go on."
            return Turn("A position is open; I continue with the files.", then=asked)
        about = shows[0].about if shows else self._anything()
        return Turn(talk.coming(self.rng, "the next file") if self.rng.random() < 0.4 else "", tuple(acts), about=about)

    def closing(self, facts: Sequence[Fact]) -> str:
        return "\n".join(["All positions are written.", *(f"- {fact.about}: {fact.text}" for fact in facts)])

    def _anything(self) -> str:
        if self.rng.random() < 0.55:
            return f"the {self.rng.choice(documents.WISHES)} of {documents.customer(self.rng)}"
        return f"the {self.rng.choice(documents.TRAITS)} of {documents.article(self.rng)}"

    def _document(self, shows: Sequence[Fact]) -> Act:
        rng = self.rng
        text = page(
            rng, self._paragraph, self.sizes.result("document"), [self._around(fact.line) for fact in shows], gap="\n\n"
        )
        if rng.random() < 0.3:
            return Act("search", {"query": f"{product(rng)} {rng.choice(documents.TRAITS)}", "in": "files"}, text)
        folder = rng.choice(("customers", "products", "visits"))
        return Act("read", {"path": f"{folder}/{place(rng).lower().replace(' ', '-')}-{rng.randint(1, 99)}.md"}, text)

    def _paragraph(self, rng: Random) -> str:
        return " ".join(documents.note(rng) for _ in range(rng.randint(1, 5)))

    def _around(self, key: str) -> str:
        said = [documents.note(self.rng) for _ in range(self.rng.randint(0, 3))]
        said.insert(self.rng.randint(0, len(said)), key)
        return " ".join(said)

    def _quoted(self, fact: Fact) -> Act:
        arguments = {"position": fact.about, "text": fact.text, "valid_days": self.rng.choice((14, 30, 60))}
        return Act("write_offer", arguments, f"position {self.rng.randint(1, 900)} written")


def make(seed: int, level: Level) -> Task:
    """Make a task of this family."""
    rng = seeded(NAME, seed, level)
    script = _Seller(rng, Sizes(rng, level.tokens))
    cues = [Cue(script.fact(), shown, (used,)) for shown, used in threads(rng, level)]
    return Stage(NAME, seed, level, rng).play(script, cues)
