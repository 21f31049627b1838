"""Figures that have to be right to the last digit, long after they were read.

Accounts are read page by page; some balances are posted later. Around them stand figures of other accounts, and of the same account in other months; the wrong answers differ in one digit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from trimtab.lab.tasks.material import tables, talk
from trimtab.lab.tasks.material.names import amount, day, fresh, unlike
from trimtab.lab.tasks.material.pages import page
from trimtab.lab.tasks.plot import Sizes, seeded, threads
from trimtab.lab.tasks.stage import Stage
from trimtab.lab.tasks.story import Act, Cue, Fact, Turn
from trimtab.lab.tasks.task import Level, Task

NAME = "exact-numbers"


@dataclass(slots=True)
class _Bookkeeper:
    rng: Random
    sizes: Sizes
    taken: set[str] = field(default_factory=set)
    near: list[tuple[str, str]] = field(default_factory=list)
    """Accounts of facts, with an amount that is nearly theirs."""
    system: str = "You close the books. Amounts are posted exactly as the accounts show them. There is no rounding."

    def fact(self) -> Fact:
        rng = self.rng
        account = fresh(rng, tables.ledger_account, self.taken)
        period = day(rng)[:7]
        value = fresh(rng, amount, self.taken)
        wrong = unlike(rng, value)
        self.near.append((account, wrong))
        line = tables.ledger_row(rng, account=account, period=period, value=value)
        about = f"account {account} in {period}"
        return Fact(value, "number", about, line, f"Which amount stands on {about}?", (wrong,))

    def opening(self, facts: Sequence[Fact]) -> str:
        named = [fact.about for fact in facts[:8]]
        self.rng.shuffle(named)
        return (
            f"Year-end. Please go through the accounts and post the accruals; we need {'; '.join(named)}"
            f"{'; and some more as they turn up' if len(facts) > 8 else ''}. To the cent, please: last year somebody swapped two digits."
        )

    def turn(self, step: int, uses: Sequence[Fact], shows: Sequence[Fact]) -> Turn:
        acts = [self._posted(fact) for fact in uses]
        if shows or not acts:
            acts.append(self._account(shows))
        about = shows[0].about if shows else f"account {tables.ledger_account(self.rng)} in {day(self.rng)[:7]}"
        return Turn(
            talk.coming(self.rng, "the next account") if self.rng.random() < 0.4 else "", tuple(acts), about=about
        )

    def closing(self, facts: Sequence[Fact]) -> str:
        return "\n".join(["The accruals are posted.", *(f"- {fact.about}: {fact.text}" for fact in facts)])

    def _account(self, shows: Sequence[Fact]) -> Act:
        keys = [fact.line for fact in shows]
        if self.near and self.rng.random() < 0.25:
            account, wrong = self.rng.choice(self.near)
            keys.append(tables.ledger_row(self.rng, account=account, value=wrong))
        text = page(
            self.rng, tables.ledger_row, self.sizes.result("table"), keys, head="period | account | text | amount"
        )
        if self.rng.random() < 0.5:
            return Act("read", {"path": f"ledger/{day(self.rng)}.csv"}, text)
        return Act(
            "sql",
            {"query": f"SELECT period, account, text, amount FROM ledger WHERE page = {self.rng.randint(1, 999)}"},
            text,
        )

    def _posted(self, fact: Fact) -> Act:
        return Act(
            "post_entry",
            {"account": fact.about, "amount": fact.text},
            f"posted as entry {self.rng.randint(10_000, 99_999)}",
        )


def make(seed: int, level: Level) -> Task:
    """Make a task of this family."""
    rng = seeded(NAME, seed, level)
    script = _Bookkeeper(rng, Sizes(rng, level.tokens))
    cues = [Cue(script.fact(), shown, (used,)) for shown, used in threads(rng, level)]
    return Stage(NAME, seed, level, rng).play(script, cues)
