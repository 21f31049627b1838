"""A story small enough to check by hand, played with real bills: a result a step, a few of which are needed later."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from support.requests_made import segment
from trimtab.context.economics import CacheState, RequestShape, bill, shape_of
from trimtab.lab.rewards.keep_all import keep_all_usd
from trimtab.lab.rewards.outcome import ActionTaken, NeedMet, Outcome, Spent, StepOutcome, Yardstick
from trimtab.lab.rewards.prices import REGIMES, Regime

Form = Literal["full", "summary", "stub"]
Moves = tuple[tuple[str, int], ...]
"""Actions in front of a request, each with the number of its result."""
Player = Callable[[int, Mapping[int, Form]], Moves]
"""Says what to do in front of request n, with the form of each result so far."""

STEPS, SYSTEM, ANSWER = 24, 2_000, 150
FULL, SUMMARY, STUB = 3_000, 300, 40
RELOAD_OUTPUT = 60
NEEDS = {12: (7,), 20: (7, 15)}
"""Results that a request needs."""
CHANCES: Mapping[Form, float] = {"full": 1.0, "summary": 0.7, "stub": 0.85}
FORMS: Mapping[str, Form] = {"elide": "stub", "summarize": "summary", "reload": "full"}
TENTH = REGIMES[2]


@dataclass
class Played:
    """A story on its way."""

    regime: Regime
    forms: dict[int, Form] = field(default_factory=dict)
    hidden_by: dict[int, str] = field(default_factory=dict)
    rewritten: dict[int, int] = field(default_factory=dict)
    state: CacheState = field(default_factory=CacheState)

    def size(self, number: int) -> int:
        # Each summary of a summary is a little shorter.
        return {"full": FULL, "summary": SUMMARY - 5 * self.rewritten.get(number, 0), "stub": STUB}[self.forms[number]]

    def request(self) -> RequestShape:
        parts = [segment("system", SYSTEM)]
        for number, form in self.forms.items():
            parts.append(segment(f"answer {number}", ANSWER, markable=False))
            parts.append(segment(f"result {number} {form} {self.rewritten.get(number, 0)}", self.size(number)))
        return shape_of(parts, fixed=1)

    def move(self, name: str, number: int, action: str) -> tuple[ActionTaken, tuple[Spent, ...]]:
        before = self.size(number)
        if name == "summarize" and self.forms[number] == "summary":
            self.rewritten[number] = self.rewritten.get(number, 0) + 1
        self.forms[number] = FORMS[name]
        self.hidden_by[number] = action
        after = self.size(number)
        shows = ("number", "name") if name == "summarize" else ()
        taken = ActionTaken(action, name, (str(number),), before, after, fields=shows)
        if name != "summarize":
            return taken, ()
        price = self.regime.price
        return taken, (Spent((before * price.input + after * price.output) / 1_000_000, "summary", action),)

    def need(self, number: int, prompt: int) -> tuple[NeedMet, tuple[Spent, ...]]:
        form = self.forms[number]
        by = "" if form == "full" else self.hidden_by[number]
        often = CHANCES["stub"] if form == "stub" else 0.0
        price = self.regime.price
        usd = often * (prompt * price.read + RELOAD_OUTPUT * price.output) / 1_000_000
        return NeedMet(str(number), CHANCES[form], by, often), (Spent(usd, "reload", by),) if often else ()


def play(player: Player, *, regime: Regime = TENTH) -> Outcome:
    """The story as somebody plays it."""
    game, steps = Played(regime), []
    for step in range(1, STEPS + 1):
        actions: list[ActionTaken] = []
        spent: list[Spent] = []
        for place, (name, number) in enumerate(player(step, dict(game.forms)), 1):
            taken, cost = game.move(name, number, f"{step}.{place}")
            actions.append(taken)
            spent += cost
        game.forms[step] = "full"
        request = game.request()
        usd = bill(game.state, request, regime.cache, regime.price).usd
        assert usd is not None
        spent.append(Spent(usd + ANSWER * regime.price.output / 1_000_000))
        needs = []
        for number in NEEDS.get(step, ()):
            need, cost = game.need(number, request.total)
            needs.append(need)
            spent += cost
        game.state = game.state.after(request, regime.cache)
        steps.append(StepOutcome(step, tuple(actions), tuple(needs), tuple(spent)))
    return Outcome("toy", 0, regime.name, "T0", tuple(steps))


def yardstick(*, regime: Regime = TENTH, room: int = 200_000) -> Yardstick:
    """What keeping everything costs in this story."""
    game = Played(regime)
    requests = []
    for step in range(1, STEPS + 1):
        game.forms[step] = "full"
        requests.append((game.request(), ANSWER))
    return Yardstick("toy", 0, regime.name, keep_all_usd(requests, room, regime))


def keep(step: int, forms: Mapping[int, Form]) -> Moves:
    return ()


def tidy(step: int, forms: Mapping[int, Form]) -> Moves:
    """Decent behaviour: one batch, of what nothing needs."""
    return tuple(("elide", number) for number in range(1, 7)) if step == 10 else ()


def loop(step: int, forms: Mapping[int, Form]) -> Moves:
    """Hide the first result, bring it back, hide it again."""
    if step == 1:
        return ()
    hide = (("elide", 1),)
    return hide if forms[1] == "full" else (("reload", 1), *hide)


def loop_with_summaries(step: int, forms: Mapping[int, Form]) -> Moves:
    """The same with a summary in place of a stub."""
    if step == 1:
        return ()
    hide = (("summarize", 1),)
    return hide if forms[1] == "full" else (("reload", 1), *hide)


def spam(step: int, forms: Mapping[int, Form]) -> Moves:
    """Summarise every result as it comes, and each time the last summaries again."""
    return tuple(("summarize", number) for number in range(max(1, step - 3), step))
