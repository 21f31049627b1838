"""From chances to actions: how likely each item is needed again ──break-even──▶ the batch that is worth most, or none.

    below the place where it acts     a batch goes when it is worth more than it costs, and large enough for the break that it makes
    from there on                     room must be made, down to `left`: what costs least goes, and what pays by itself

What is stale and what large arguments weigh is judged as the rules judge it, and where hiding isn't enough, theirs is the summary. What is learned is only how likely
an item is needed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from msgspec import structs

from trimtab.context.actions import Action
from trimtab.context.cycle.ladder import LARGE, STUB_TOKENS, hideable, over_hard, touchable
from trimtab.context.economics.break_even import break_even_calls
from trimtab.context.policies.batch import Batch
from trimtab.context.policies.learned.worth import Best, Piece, Stakes, best_batch
from trimtab.context.policies.rules import Rules
from trimtab.context.policies.weighing import gain_of
from trimtab.context.seeing.observation import ItemFacts, Observation

_NAMES_SHARE = 0.25
"""Of a body, what the names in its stub take at most."""
_NAMES_OF_ROOM = 0.015
"""Of the room, what the names in one stub take at most: in a small window stubs soon weigh more than what they save."""
_NO_PRICE = (0.1, 1.0)
"""Of a read and a write, in fresh tokens, where no price is known."""
HIDES = ("elide", "compress")
"""What is done with results that may be needed."""
_SURE = 0.02
"""Chance that the arguments of a call are needed again: the rules ask for none."""


class Decision(NamedTuple):
    """What is to be done. `sure`: it is worth clearly more than nothing, or there was no choice."""

    actions: tuple[Action, ...]
    sure: bool = True


@dataclass(frozen=True, slots=True)
class BreakEven:
    """The parameters, tuned on other tasks of the families that training saw.

    `calls`: share of the expected further requests that is counted on. `miss`: what it costs that something needed is hidden, in shares of what the whole session costs (it is
    noticed mostly, so it is less than a success is worth). `act`, `left`: shares of the space below the hard limit: from where on room is made, and down to where. `fresh`: an
    item younger than so many requests stays while the request fits. `least`: tokens from which on an item is worth a stub, `names`: tokens of names that a stub keeps, where the room is large. `wait`: how much a batch must outweigh the break
    that the next one makes, in the terms of `economics.gate`. `margin`: a batch that nobody needs is worth so much of a request at least. `deepest`: the share of the space that stays when more than is needed goes.
    `share`: of a result, what its telling lines take where it is shortened to them instead of hidden, 0 for never; `kept`: how often what is needed stands in those.
    """

    calls: float = 0.9
    miss: float = 0.6
    act: float = 0.97
    left: float = 0.65
    fresh: int = 1
    least: int = 150
    names: int = 200
    wait: float = 0.5
    margin: float = 0.02
    deepest: float = 0.2
    share: float = 0.2
    kept: float = 0.45
    rules: Rules = field(default=Rules())

    def decide(self, observation: Observation, chances: Mapping[str, float]) -> Decision:
        """Return what is to be done about items that are needed again with these chances, by their ids. One that has none stays."""
        if observation.soft_given and observation.used < observation.soft:
            return Decision(())
        stakes = self.stakes(observation)
        need = self.need(observation)
        pieces = self.pieces(observation, chances, stakes)
        best = self._room(observation, pieces, stakes, need) if need else best_batch(pieces, stakes)
        if best.gain < over_hard(observation):
            best = self._with_unread(observation, best, self.pieces(observation, chances, stakes, fresh=0))
        if not best.pieces and not need:
            return Decision(())
        batch = Batch(need, self._names(observation), self.share)
        why = said(best, stakes, forced=need > 0)
        for piece in best.pieces:
            batch.add(piece.op, piece.item, why)
        if need:
            lacking = need - best.gain > self.rules.compact_from * self._space(observation)
            made = tuple(self.rules.with_summary(observation, batch)) if lacking else batch.actions()
            return Decision(_explained(made, chances))
        if self._waits(observation, best, stakes):
            return Decision(())
        return Decision(_explained(batch.actions(), chances), sure=best.worth > self.margin * observation.used)

    def need(self, observation: Observation) -> int:
        """How many tokens must go."""
        space = self._space(observation)
        acts = observation.soft if observation.soft_given else observation.fixed + self.act * space
        if observation.used < acts:
            return 0
        aim = self.rules.aim(observation) if observation.target_given else observation.fixed + int(self.left * space)
        return max(0, observation.used - aim)

    def stakes(self, observation: Observation) -> Stakes:
        """What prices, the cache and the requests to come say."""
        prices = observation.prices
        read, write = _NO_PRICE
        if prices is not None and prices.input > 0:
            read, write = prices.cache_read / prices.input, prices.cache_write / prices.input
        cached = 0 if observation.cold else max(0, observation.cached - observation.fixed)
        return Stakes(read, write, self.calls * observation.remaining, cached)

    def pieces(
        self, observation: Observation, chances: Mapping[str, float], stakes: Stakes, *, fresh: int | None = None
    ) -> list[Piece]:
        """What can go, with its chance and what it would cost; nothing younger than `fresh` requests."""
        least = self.fresh if fresh is None else fresh
        loss = self._loss(observation, stakes)
        arguments = (
            Piece(item, "offload", item.arguments - STUB_TOKENS, _SURE, loss, _is_cached(item, stakes))
            for item in observation.items
            if _has_arguments(item) and item.age >= least and not (least and self.rules.is_hot(item))
        )
        return [*arguments, *self._results(observation, chances, stakes, loss, least)]

    def _space(self, observation: Observation) -> int:
        return max(0, observation.hard - observation.fixed)

    def _names(self, observation: Observation) -> int:
        return min(self.names, int(_NAMES_OF_ROOM * observation.room))

    def _loss(self, observation: Observation, stakes: Stakes) -> float:
        """What it costs that something needed is hidden: a request more, and a part of what the session is worth, by what it has cost and will."""
        step = max(1, observation.step)
        session = (step + stakes.calls) * observation.used * (stakes.read + stakes.write / step)
        return self.miss * session + observation.used * stakes.read

    def _results(
        self, observation: Observation, chances: Mapping[str, float], stakes: Stakes, loss: float, fresh: int
    ) -> Iterator[Piece]:
        for item in observation.items:
            if item.id not in chances or not hideable(item) or item.tokens < self.least or item.age < fresh:
                continue
            if self.share and item.state != "full":
                continue  # the lines that were worth keeping go into a summary, not away
            gain = item.tokens - STUB_TOKENS - min(self._names(observation), int(_NAMES_SHARE * item.tokens))
            chance = 0.0 if item.superseded_by or item.expired else chances[item.id]
            # What is fetched again is written once, and then read for half of what is left, on average.
            back = item.tokens * (stakes.write + stakes.read * stakes.calls / 2)
            if gain > 0:
                yield Piece(item, "elide", gain, chance, loss + back, _is_cached(item, stakes))
            shorter = gain_of(Action("compress", params={"share": self.share}), item)
            if chance and self.share and 0 < shorter < gain:
                lacking = chance * (1 - self.kept)
                yield Piece(item, "compress", shorter, lacking, loss + back, _is_cached(item, stakes))

    def _room(self, observation: Observation, pieces: Sequence[Piece], stakes: Stakes, need: int) -> Best:
        """The batch that makes room for least. A larger one serves for longer, and is read less meanwhile; it risks more, since what is likelier needed goes too."""
        grows = max(1.0, (observation.used - observation.fixed) / max(1, observation.step))
        space = self._space(observation)
        most = observation.used - observation.fixed - int(self.deepest * space)
        tried = [best_batch(pieces, stakes, need=n) for n in _depths(need, most)]
        enough = [best for best in tried if best.gain >= need] or tried[-1:]

        def price(best: Best) -> float:
            once = best.tail * stakes.broken + sum(piece.risk for piece in best.pieces)
            return once * grows / max(1, best.gain) - stakes.read * best.gain / 2

        return min(enough, key=price)

    def _with_unread(self, observation: Observation, best: Best, pieces: Sequence[Piece]) -> Best:
        """Add what nobody has read yet, as far as the request doesn't fit otherwise: the oldest first, then the least likely needed for its size."""
        taken, added = {piece.item.id for piece in best.pieces}, list(best.pieces)
        missing = over_hard(observation) - best.gain
        for piece in sorted(pieces, key=lambda piece: (-piece.item.age, piece.risk / max(1, piece.gain))):
            if missing > 0 and piece.item.id not in taken:
                added.append(piece)
                missing -= piece.gain
        return replace(best, pieces=tuple(added))

    def _waits(self, observation: Observation, best: Best, stakes: Stakes) -> bool:
        """Whether a larger batch would be cheaper: see `economics.gate`, where the formula comes from."""
        grows = (observation.used - observation.fixed) / max(1, observation.step)
        return best.gain**2 * stakes.read < 2 * self.wait * best.tail * stakes.broken * grows


def said(best: Best, stakes: Stakes, *, forced: bool) -> str:
    """The figures behind a batch, in words."""
    chances = sorted(piece.chance for piece in best.pieces if piece.op in HIDES)
    told = [f"needed again with {span(chances)}"] if chances else []
    told.append(f"{best.gain:,} tokens")
    calls = break_even_calls(best.gain, best.tail, stakes.read, stakes.write)
    if forced:
        told.append("room is needed")
    elif calls >= 1:
        told.append(f"pays after {calls:.0f} request{'s' if round(calls) != 1 else ''}")
    else:
        told.append("pays at once")
    return ", ".join(told)


def _depths(need: int, most: int) -> list[int]:
    """Sizes of batches from `need` on, each half larger than the one before."""
    found = [need]
    while found[-1] * 3 // 2 < most and need > 0:
        found.append(found[-1] * 3 // 2)
    return found


def _explained(actions: Iterable[Action], chances: Mapping[str, float]) -> tuple[Action, ...]:
    """The actions, with the chance of each item that is hidden, in percent, for whoever asks why it was."""
    return tuple(
        structs.replace(one, params={**one.params, "chances": {t: round(100 * chances[t]) for t in one.targets}})
        if one.action in HIDES
        else one
        for one in actions
    )


def span(chances: Sequence[float]) -> str:
    """Say chances, the smallest first."""
    low, high = round(100 * chances[0]), round(100 * chances[-1])
    return f"{high} %" if low == high else f"{low} to {high} % each"


def _has_arguments(item: ItemFacts) -> bool:
    return item.kind == "assistant" and item.state == "full" and item.arguments > LARGE and touchable(item)


def _is_cached(item: ItemFacts, stakes: Stakes) -> bool:
    return item.sent and item.offset < stakes.cached_to
