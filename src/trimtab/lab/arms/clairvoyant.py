"""The clairvoyant: an arm that has read the story. No policy can know what it knows, so it is a bound and never a rival.

    foresight ──▶ stay: what later requests use and nothing shows again     ──▶ kept
              ──▶ dead: all other results and answers                        ──▶ go, as soon as a batch pays over the requests that are truly left
              ──▶ back: hidden, and used by this request                     ──▶ reloaded in front of it

It reads which results are needed and when, and does with them what any policy may do. It doesn't write key points into stubs, which would end all questions, and it hides nothing
that no request has shown yet, nor what the user said. What it weighs is the reward: tokens at the prices of the observation, in units of what keeping everything costs,
against what an edit and a reload cost by themselves.

When a batch goes: with `E` tokens to go and a fixed price K for going now (the tail to be written again, and the edit), taking each E that is there alone is dear, so small
batches wait for more, until E²·r ≥ 2·K·(tokens a request that die from here on), as in `economics.gate`. A need that doesn't fit any more is hidden too, the one that is used last
first, and comes back in time. Only where that doesn't fit either is it left to whether the stub is noticed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from trimtab.context.actions import Action
from trimtab.context.cycle.ladder import STUB_TOKENS, touchable
from trimtab.context.policies.base import Manners, Policy
from trimtab.context.policies.truncate import grouped
from trimtab.context.seeing.observation import ItemFacts, Observation
from trimtab.lab.arms.batches import Wish, actions_of, batches, from_the_end
from trimtab.lab.arms.foresight import Foresight, due
from trimtab.lab.env.story import Story
from trimtab.lab.rewards.reward import DEFAULT, Weights

_LEAST = 2 * STUB_TOKENS
"""Tokens from which on a stub is worth its place."""


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What is known at one decision. `request` is made now and `left` are, it included. `numbers`: of items in the story. `seam`: where the first edit stood.

    `stay` and `back`: ids of items with the request that uses them next.
    """

    request: int
    left: int
    numbers: Mapping[str, int]
    seam: int
    stay: Mapping[str, int]
    back: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Clairvoyant:
    """Plays one story with its foresight. `drop`: what is dead goes with its call and without a stub. Without it nothing is done that the grammar doesn't have, so it can be cloned."""

    foresight: Foresight
    drop: bool = False
    weights: Weights = DEFAULT
    name: str = "clairvoyant"
    manners: Manners = field(default=Manners(guarded=False, early=True))

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Return what goes, and what has to come back for this request."""
        seen = self._foreseen(observation)
        prices = _Prices.of(observation, self.foresight, self.weights)
        wishes = from_the_end([*self._dead(observation, seen), *self._away(observation, seen, prices)])
        wanted = [item for item in observation.items if seen.back.get(item.id) == seen.request]
        chosen = wishes[: self._size(wishes, observation, seen, prices)]
        over = observation.used - observation.hard + sum(_returning(item, observation) for item in wanted)
        chosen = self._making_room(wishes, chosen, over, observation, seen)
        space = observation.hard - observation.used + sum(wish.gain for wish in chosen)
        return (
            *actions_of(chosen, reason="never used again, or not for long"),
            *self._back(wanted, observation, seen, space),
        )

    def _foreseen(self, observation: Observation) -> Foreseen:
        numbers = self.foresight.numbers(observation)
        request = self.foresight.request(numbers.values())
        items = {numbers[item.id]: item for item in observation.items if item.id in numbers}
        # What the user and the model said stays anyway, so a need that they serve costs nothing.
        shown = {n: item.tokens if item.kind == "result" else 0 for n, item in items.items() if item.state == "full"}
        hidden = {n: item.full_tokens for n, item in items.items() if item.state != "full"}
        stay, back = due(self.foresight, request, shown, hidden)
        return Foreseen(
            request,
            self.foresight.requests - request + 1,
            numbers,
            _seam(observation, numbers),
            {items[n].id: when for n, when in stay.items()},
            {items[n].id: when for n, when in back.items()},
        )

    def _dead(self, observation: Observation, seen: Foreseen) -> Iterator[Wish]:
        for group in grouped(observation.items):
            head = group[0]
            if head.kind not in ("assistant", "result") or not all(map(_may_go, group)):
                continue
            needed = [item for item in group if item.id in seen.stay or item.id in seen.back]
            if self.drop and head.kind == "assistant" and not needed:
                tokens = sum(item.tokens for item in group)
                yield Wish("drop", head.id, head.offset, tokens, tokens)
                continue
            for item in group:
                if item not in needed and _hideable(item):
                    yield Wish.of("elide", item)

    def _away(self, observation: Observation, seen: Foreseen, prices: "_Prices") -> Iterator[Wish]:
        """What is used so late that hiding it and bringing it back is cheaper than reading it until then."""
        for item in observation.items:
            when = seen.stay.get(item.id)
            if when is None or not (_hideable(item) and _may_go(item)):
                continue
            wish = Wish.of("elide", item)
            kept = wish.gain * prices.read * (when - seen.request)
            behind = max(0, observation.used - observation.fixed - item.offset - item.tokens)
            fetched = item.full_tokens * prices.write + behind * prices.broken + prices.reload
            if kept > 2 * fetched:
                yield wish

    def _size(self, wishes: Sequence[Wish], observation: Observation, seen: Foreseen, prices: "_Prices") -> int:
        """How many of the last wishes pay best now; 0: it pays to wait, or none does."""
        dying = self.foresight.coming(seen.request) / max(1, seen.left)
        best, worth, tail = 0, 0.0, None
        horizon = min(seen.left, self.foresight.pause(seen.request) - seen.request) if prices.broken else seen.left
        for batch in batches(wishes, observation, seam=seen.seam):
            tail = batch.suffix if tail is None else tail
            fixed = prices.edit + tail * prices.broken
            if (batch.cached or not prices.broken) and batch.gain**2 * prices.read < 2 * fixed * dying:
                continue
            fresh = (batch.gain - batch.cached) * (prices.write - prices.read)
            won = batch.gain * prices.read * horizon + fresh - batch.suffix * prices.broken - prices.edit
            if won > worth:
                best, worth = batch.size, won
        return best

    def _making_room(
        self, wishes: Sequence[Wish], chosen: Sequence[Wish], over: int, observation: Observation, seen: Foreseen
    ) -> list[Wish]:
        """Return what is chosen and as much more as has to go: what is dead, then what later requests use, the latest first, and first what can come back whole."""
        late = [item for item in observation.items if seen.stay.get(item.id, 0) > seen.request and _hideable(item)]
        late.sort(key=lambda item: (_is_paged(item, observation), -seen.stay[item.id], -item.tokens, item.id))
        more = [*wishes[len(chosen) :], *(Wish.of("elide", item) for item in late if _may_go(item))]
        taken, room = {wish.target: wish for wish in chosen}, over - sum(wish.gain for wish in chosen)
        for wish in more:
            if room <= 0:
                break
            if wish.target not in taken:
                taken[wish.target] = wish
                room -= wish.gain
        return list(taken.values())

    def _back(
        self, wanted: Sequence[ItemFacts], observation: Observation, seen: Foreseen, space: int
    ) -> Iterator[Action]:
        """Reload what this request uses, as far as there is space, the smallest first; of what comes back in pages, the page that has it."""
        whole: list[str] = []
        for item in sorted(wanted, key=lambda item: (item.full_tokens, item.id)):
            space -= _returning(item, observation)
            if space < 0:
                break
            if _is_paged(item, observation):
                pages = -(-item.full_tokens // _page(observation))
                share = self.foresight.place(seen.numbers[item.id], seen.request)
                yield Action("reload", (item.id,), {"page": 1 + int(share * pages)}, "used now")
            else:
                whole.append(item.id)
        if whole:
            yield Action("reload", tuple(whole), reason="used now")


@dataclass(frozen=True, slots=True)
class ClairvoyantRule:
    """The parameters of the clairvoyant, before it has read a story."""

    drop: bool = False

    def of(self, story: Story) -> Policy:
        """Read a story."""
        return Clairvoyant(Foresight(story), self.drop)


@dataclass(frozen=True, slots=True)
class _Prices:
    """In fresh tokens: of a token that is read or written, of one that is written instead of read (`broken`), and what an edit and a reload cost by themselves."""

    read: float
    write: float
    edit: float
    reload: float

    @property
    def broken(self) -> float:
        return max(0.0, self.write - self.read)

    @classmethod
    def of(cls, observation: Observation, foresight: Foresight, weights: Weights) -> "_Prices":
        prices = observation.prices
        fresh = prices.input if prices is not None and prices.input > 0 else 0.0
        read, write, answer = (
            (prices.cache_read / fresh, prices.cache_write / fresh, prices.output / fresh)
            if prices is not None and fresh
            else (1.0, 1.0, 5.0)
        )
        unit = foresight.kept(observation.fixed, observation.room, read=read, write=write, answer=answer)
        a_point = unit / weights.cost if weights.cost else 0.0
        return cls(read, write, weights.management * a_point, (2 * weights.management + weights.reload) * a_point)


def _page(observation: Observation) -> int:
    """Tokens of an item on the page that a reload brings of a large one: an eighth of the room, less its head."""
    return max(160, observation.room // 8 - 40)


def _is_paged(item: ItemFacts, observation: Observation) -> bool:
    """Whether it doesn't come back whole."""
    return item.full_tokens > max(500, observation.room // 8)


def _returning(item: ItemFacts, observation: Observation) -> int:
    """Tokens that bringing it back takes."""
    full = _page(observation) + 40 if _is_paged(item, observation) else item.full_tokens
    return max(0, full - item.tokens)


def _may_go(item: ItemFacts) -> bool:
    """Whether a request has shown it, and nobody holds it."""
    return item.age >= 1 and touchable(item)


def _hideable(item: ItemFacts) -> bool:
    return item.kind == "result" and item.state in ("full", "folded") and item.tokens > _LEAST


def _seam(observation: Observation, numbers: Mapping[str, int]) -> int:
    """Where the first edit stood, in tokens of messages, as far as items tell: a message that is missing, or one that isn't what it was."""
    expected = 0
    for item in observation.items:
        number = numbers.get(item.id)
        if item.state != "full" or (number is not None and number > expected):
            return item.offset
        expected += number is not None
    return sum(item.tokens for item in observation.items)
