"""Hindsight: at decisions of a story, what was known of each result that could be hidden, and whether the rest of the story needed it.

    story ──played by a driver──▶ observation at a decision ──item_row, whole_row──▶ what was known
                                       └ the needs of later steps, in the story ──▶ what came      together a Labelled

What was known is made of the observation alone, which shows the past. What came is read in the story, which no policy sees. `leaks` holds the two apart: it
plays the story anew, cut off behind the decision, and compares what was known, to the bit.

Who drives decides which contexts are seen, so there are several drivers: one that leaves everything to the ladder, the rules, and one that hides by chance.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from msgspec import structs

from trimtab.context.actions import Action
from trimtab.context.cycle.ladder import NAMES, hideable
from trimtab.context.editing.planning import plan
from trimtab.context.naming import body_of
from trimtab.context.policies.base import Manners
from trimtab.context.policies.learned.features import item_row, whole_row
from trimtab.context.policies.rules import Rules
from trimtab.context.seeing.observation import ItemFacts, Observation
from trimtab.lab.env.episode import Episode, Open, Setup
from trimtab.lab.env.facts import Tier
from trimtab.lab.env.story import Story
from trimtab.sessions.replay.needs import Need, texts_of
from trimtab.sessions.replay.player import Player, Prepared

LEAST = 200
"""Tokens of the smallest result that is labelled: a smaller one is hardly worth a stub."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A result at a decision. `known`: the row of the item and that of the whole behind it.

    `needed`: a later step needed it. `after`: so many requests later, for the first time; 0: never. `missed`: it was needed, and what was needed would have stood neither in
    its stub with names nor anywhere else in the request. `step`: requests that were answered by then.
    """

    tier: Tier
    story: str
    group: str
    step: int
    item: str
    tokens: int
    known: tuple[float, ...]
    needed: bool
    after: int
    missed: bool


Driver: TypeAlias = Callable[[Observation], Sequence[Action]]
"""Decides while a story is played for its labels."""
_UNHELD = Open("driver", Manners(guarded=False, early=True))


def keep(_observation: Observation) -> tuple[()]:
    """Leave everything as it is: what doesn't fit, the ladder takes out."""
    return ()


def by_rules(observation: Observation) -> Sequence[Action]:
    """The rules."""
    return Rules().decide(observation)


def by_chance(seed: int) -> Driver:
    """Hide a few results now and then, whichever."""
    dice = random.Random(f"driver {seed}")

    def decide(observation: Observation) -> Sequence[Action]:
        if dice.random() > 0.15:
            return ()
        able = [item.id for item in observation.items if _labelled(item) and item.age > 1]
        chosen = tuple(name for name in able if dice.random() < 0.4)
        return (Action("elide", chosen, {"names": NAMES}),) if chosen else ()

    return decide


def labelled(
    story: Story, setup: Setup, driver: Driver = keep, *, group: str = "", every: int = 1, first: int = 0
) -> Iterator[Labelled]:
    """Yield what is known, and what came, of each result that could be hidden, at one of `every` decisions, from number `first` on. `group`: the family or project."""
    setup = replace(setup, policy=_UNHELD)
    episode = Episode(story, setup)
    later = _uses(story)
    number = 0
    while (observation := episode.advance()) is not None:
        if number >= first and (number - first) % every == 0:
            yield from _at(episode, observation, later, group)
        number += 1
        episode.act(driver(observation))


def known_at(observation: Observation) -> dict[str, tuple[float, ...]]:
    """Return what is known of each result that could be hidden, by its id."""
    whole = whole_row(observation, batch=0.0)
    return {
        item.id: (*item_row(item, observation, chosen=False), *whole) for item in observation.items if _labelled(item)
    }


def cut(story: Story, step: int) -> Story:
    """The story with nothing behind the request of `step`, whose answer is empty: all that may be known at that decision. What earlier steps needed was fetched by then."""
    steps = story.prepared.steps[:step]
    if steps:
        last = steps[-1]
        blank = structs.replace(last.answer.message, parts=(), usage=None)
        steps = (*steps[:-1], replace(last, answer=replace(last.answer, message=blank)))
    past = {number: needs for number, needs in story.prepared.needs.items() if number < step}
    return replace(story, prepared=Prepared(story.recording, steps, past), points={})


def leaks(
    story: Story,
    setup: Setup,
    driver: Driver = keep,
    *,
    known: Callable[[Story, Observation], Mapping[str, object]] = lambda _story, seen: known_at(seen),
    every: int = 5,
) -> Iterator[int]:
    """Yield the steps at whose decision something else is known in the whole story than in one that ends there: there the future was used."""
    setup = replace(setup, policy=_UNHELD)
    whole = {seen.step: known(story, seen) for seen in _decisions(story, setup, driver)}
    for step in sorted(whole)[::every]:
        short = cut(story, step + 1)
        ended = {seen.step: known(short, seen) for seen in _decisions(short, setup, driver)}
        if ended.get(step) != whole[step]:
            yield step


def _decisions(story: Story, setup: Setup, driver: Driver) -> Iterator[Observation]:
    episode = Episode(story, setup)
    while (observation := episode.advance()) is not None:
        yield observation
        episode.act(driver(observation))


def _labelled(item: ItemFacts) -> bool:
    return hideable(item) and item.tokens >= LEAST


def _uses(story: Story) -> Mapping[int, tuple[Need, ...]]:
    """For each message, the needs of it, by step."""
    uses: dict[int, list[Need]] = defaultdict(list)
    for step in sorted(story.prepared.needs):
        for need in story.prepared.needs[step]:
            uses[need.result].append(need)
    return {number: tuple(needs) for number, needs in uses.items()}


def _at(
    episode: Episode, observation: Observation, later: Mapping[int, tuple[Need, ...]], group: str
) -> Iterator[Labelled]:
    player = episode.player
    numbers = _numbers(player)
    known = known_at(observation)
    for item in observation.items:
        if item.id not in known:
            continue
        needs = [need for need in later.get(numbers.get(item.id, -1), ()) if need.step > observation.step]
        yield Labelled(
            episode.story.tier,
            episode.story.name,
            group,
            observation.step,
            item.id,
            item.tokens,
            known[item.id],
            needed=bool(needs),
            after=needs[0].step - observation.step if needs else 0,
            missed=bool(needs) and _missed(player, item, needs),
        )


def _numbers(player: Player) -> dict[str, int]:
    """The story's number of each message by its id in the log; what was fetched again counts as what it is a copy of."""
    numbers = {entry: number for number, (entry, _) in enumerate(player.messages)}
    if player.reloads:
        texts = {body_of(message): number for number, (_, message) in enumerate(player.messages)}
        for slot in player.log.view.slots:
            if slot.id in player.reloads and (number := texts.get(body_of(slot.base))) is not None:
                numbers[slot.id] = number
    return numbers


def _missed(player: Player, item: ItemFacts, needs: Sequence[Need]) -> bool:
    """Whether one of `needs` would be met neither by the item's stub nor by anything else that is shown."""
    view = player.log.view
    left = {string for need in needs for string in need.strings if string not in player.request.system}
    address = view.find(item.id)
    for edit in plan(Action("elide", (item.id,), {"names": NAMES}), view, player.engine.manager.kit).edits:
        left = {string for string in left if not any(string in text for text in getattr(edit, "texts", {}).values())}
    for place, slot in enumerate(view.slots):
        if not left:
            break
        if address is not None and place == address.index:
            continue
        for message in slot.shown:
            for text in texts_of(message):
                left = {string for string in left if string not in text}
    return bool(left)
