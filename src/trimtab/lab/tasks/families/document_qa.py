"""Questions about one long document, read in chunks.

Conclusions stand once among hundreds of statements of the same form. Chunks overlap, so passages come twice; withdrawn figures of the same subjects stand
in other chapters, and are the wrong answers. Each answer goes into a sheet, word for word.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from trimtab.lab.tasks.material import prose, talk
from trimtab.lab.tasks.material.names import amount, fresh, person
from trimtab.lab.tasks.material.pages import page
from trimtab.lab.tasks.plot import Sizes, seeded, threads
from trimtab.lab.tasks.stage import Stage
from trimtab.lab.tasks.story import Act, Cue, Fact, Turn
from trimtab.lab.tasks.task import Level, Task

NAME = "document-qa"


@dataclass(slots=True)
class _Reader:
    rng: Random
    sizes: Sizes
    chunks: int
    taken: set[str] = field(default_factory=set)
    drafts: list[str] = field(default_factory=list)
    overlap: str = ""
    system: str = (
        "You answer questions about one long report. You read it in chunks, and write each answer into the sheet in the words of the report. "
        "Figures of drafts don't count."
    )

    def fact(self) -> Fact:
        subject = fresh(self.rng, prose.site, self.taken)
        kind = self.rng.randrange(4)
        if kind == 0:
            value = prose.decision(self.rng)
            line = prose.decided(self.rng, subject, value)
            return Fact(value, "decision", subject, line, f"What was decided about {subject}?", (), field=False)
        if kind == 1:
            value = person(self.rng)
            line = prose.responsible(self.rng, subject, value)
            return Fact(value, "name", subject, line, f"Who answers for {subject}?", (), field=True)
        what, value = prose.quantity(self.rng)
        wrong = f"{amount(self.rng, 1_000, 99_000)} {value.split(' ', 1)[1]}"
        if wrong != value:
            self.drafts.append(prose.drafted(self.rng, subject, wrong))
        line = prose.amount_is(self.rng, subject, what, value)
        return Fact(value, "number", subject, line, f"What is the {what} of {subject}?", (wrong,))

    def opening(self, facts: Sequence[Fact]) -> str:
        asked = [fact.question for fact in facts]
        self.rng.shuffle(asked)
        listed = "\n".join(f"{n}. {question}" for n, question in enumerate(asked, 1))
        return (
            f"The report on the works has {self.chunks} chunks. Please fill in the answer sheet, exactly as the report concludes:\n{listed}\n"
            "Read the whole thing, some answers stand where nobody expects them. Where the report takes a figure back, the later one counts."
        )

    def turn(self, step: int, uses: Sequence[Fact], shows: Sequence[Fact]) -> Turn:
        acts = [self._answered(fact) for fact in uses]
        if shows or not acts:
            acts.append(self._read(shows) if shows or self.rng.random() < 0.8 else self._search())
        about = shows[0].about if shows else prose.site(self.rng)
        what = self.rng.choice(("the next chunk", "the chapter behind it", "what follows", "the appendix to it"))
        return Turn(talk.coming(self.rng, what) if self.rng.random() < 0.6 else "", tuple(acts), about=about)

    def closing(self, facts: Sequence[Fact]) -> str:
        lines = [f"- {fact.question} {fact.text}" for fact in facts]
        return "\n".join(["The sheet is complete; I read all that bears on it.", *lines])

    def _answered(self, fact: Fact) -> Act:
        arguments = {"question": fact.question, "answer": fact.text}
        return Act("record_answer", arguments, f"saved, {self.rng.randint(1, 99)} rows in the sheet")

    def _read(self, shows: Sequence[Fact]) -> Act:
        chunk = self.rng.randint(1, self.chunks)
        keys = [prose.around(self.rng, fact.line) for fact in shows]
        if not shows and self.drafts and self.rng.random() < 0.3:
            keys.append(prose.around(self.rng, self.rng.choice(self.drafts)))
        head = f"[chunk {chunk} of {self.chunks}]" + (
            f"\n\n{self.overlap}" if self.overlap and self.rng.random() < 0.3 else ""
        )
        text = page(self.rng, prose.paragraph, self.sizes.result("prose"), keys, head=head, gap="\n\n")
        if not shows:
            self.overlap = text.rsplit("\n\n", 1)[-1][:400]
        return Act("read_chunk", {"chunk": chunk}, text)

    def _search(self) -> Act:
        query = prose.site(self.rng).removeprefix("the ")
        lines = page(self.rng, self._hit, self.sizes.small("prose"), head=f"hits for '{query}':")
        return Act("search", {"query": query}, lines)

    def _hit(self, rng: Random) -> str:
        return f"chunk {rng.randint(1, self.chunks)} ({rng.randint(20, 99) / 100}): … {prose.finding(rng)[:150]} …"


def make(seed: int, level: Level) -> Task:
    """Make a task of this family."""
    rng = seeded(NAME, seed, level)
    script = _Reader(rng, Sizes(rng, level.tokens), chunks=level.steps * 2 + rng.randint(5, 40))
    cues = [Cue(script.fact(), shown, (used,)) for shown, used in threads(rng, level)]
    return Stage(NAME, seed, level, rng).play(script, cues)
