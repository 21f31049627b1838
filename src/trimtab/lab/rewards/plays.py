"""A story small enough to check by hand, played with real bills: a result a step, a few of which are needed later. And plays of it that deceive a scheme of points.

    Player ──play──▶ Outcome ──reward / step_reward──▶ what each scheme makes of the same behaviour

Decent behaviour stands beside three hacks, so that anyone can see what a scheme pays for: see `PLAYS`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from trimtab.context.economics import CacheState, RequestShape, Segment, bill, shape_of
from trimtab.lab.rewards.keep_all import keep_all_usd
from trimtab.lab.rewards.outcome import ActionTaken, NeedMet, Outcome, Spent, StepOutcome, Yardstick
from trimtab.lab.rewards.prices import REGIMES, Regime

Form = Literal["full", "summary", "stub"]
Moves = tuple[tuple[str, int], ...]
"""Actions in front of a request, each with the number of its result."""
Player = Callable[[int, Mapping[int, Form]], Moves]
"""Says what to do in front of request n, with the form of each result so far."""

STEPS, SYSTEM, ANSWER = 24, 2_000, 150
"""How long it is, and tokens of the system prompt and of an answer."""
FULL, SUMMARY, STUB = 3_000, 300, 40
"""Tokens of a result in each form."""
RELOAD_OUTPUT = 60
"""Tokens of the answer that asks for a reload."""
NEEDS = {12: (7,), 20: (7, 15)}
"""Results that a request needs."""
CHANCES: Mapping[Form, float] = {"full": 1.0, "summary": 0.7, "stub": 0.85}
"""How likely a need is met, by the form of its result."""
FORMS: Mapping[str, Form] = {"elide": "stub", "summarize": "summary", "reload": "full"}
"""What an action makes of a result."""
TENTH = REGIMES[2]
"""Reads of the cache at a tenth."""


@dataclass(slots=True)
class Game:
    """A story on its way."""

    regime: Regime
    forms: dict[int, Form] = field(default_factory=dict)
    hidden_by: dict[int, str] = field(default_factory=dict)
    rewritten: dict[int, int] = field(default_factory=dict)
    state: CacheState = field(default_factory=CacheState)

    def size(self, number: int) -> int:
        """Tokens of a result as it stands."""
        # Each summary of a summary is a little shorter.
        return {"full": FULL, "summary": SUMMARY - 5 * self.rewritten.get(number, 0), "stub": STUB}[self.forms[number]]

    def request(self) -> RequestShape:
        """The request as it would be sent now."""
        parts = [_segment("system", SYSTEM)]
        for number, form in self.forms.items():
            parts.append(_segment(f"answer {number}", ANSWER, markable=False))
            parts.append(_segment(f"result {number} {form} {self.rewritten.get(number, 0)}", self.size(number)))
        return shape_of(parts, fixed=1)

    def move(self, name: str, number: int, action: str) -> tuple[ActionTaken, tuple[Spent, ...]]:
        """Do an action to a result; return what was done, and what a summary cost."""
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
        """Need a result behind a request of `prompt` tokens; return how it was met, and what fetching it cost."""
        form = self.forms[number]
        by = "" if form == "full" else self.hidden_by[number]
        often = CHANCES["stub"] if form == "stub" else 0.0
        price = self.regime.price
        usd = often * (prompt * price.read + RELOAD_OUTPUT * price.output) / 1_000_000
        return NeedMet(str(number), CHANCES[form], by, often), (Spent(usd, "reload", by),) if often else ()


def _segment(name: str, tokens: int, *, markable: bool = True) -> Segment:
    return Segment(name.encode(), tokens, 1, markable)


def play(player: Player, *, regime: Regime = TENTH) -> Outcome:
    """The story as somebody plays it."""
    game, steps = Game(regime), []
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
    game = Game(regime)
    requests = []
    for step in range(1, STEPS + 1):
        game.forms[step] = "full"
        requests.append((game.request(), ANSWER))
    return Yardstick("toy", 0, regime.name, keep_all_usd(requests, room, regime))


def keep(step: int, forms: Mapping[int, Form]) -> Moves:
    """Nothing."""
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


PLAYS: Mapping[str, tuple[str, Player]] = {
    "keep": ("keep everything", keep),
    "tidy": ("hide, in one batch, what nothing needs", tidy),
    "loop": ("hide a result, bring it back, hide it again", loop),
    "loop-with-summaries": ("the same with a summary in place of a stub", loop_with_summaries),
    "spam": ("summarise every result as it comes, and the last summaries again", spam),
}
"""Each play with what it does: doing nothing, decent behaviour, and three hacks."""
