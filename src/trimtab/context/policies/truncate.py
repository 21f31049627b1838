"""`truncate`, a baseline: the oldest exchanges go, as a window that slides."""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.context.actions import Action
from trimtab.context.cycle.ladder import touchable
from trimtab.context.policies.base import Manners
from trimtab.context.seeing.observation import ItemFacts, Observation


@dataclass(frozen=True, slots=True)
class Truncate:
    """Drops the oldest groups (an answer with its results, or a prompt) until the request is down to the target.

    `keep_groups`: so many of the newest groups stay in any case. Prompts of the newest turn stay too.
    """

    keep_groups: int = 2
    name: str = "truncate"

    @property
    def manners(self) -> Manners:
        """A baseline: unheld."""
        return Manners(guarded=False)

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Return one action that drops what is too much."""
        need = observation.used - observation.target
        if observation.used < observation.soft or need <= 0:
            return ()
        turn = max((item.turn for item in observation.items), default=0)
        groups = grouped(observation.items)
        dropped: list[str] = []
        for group in groups[: max(0, len(groups) - self.keep_groups)]:
            if need <= 0:
                break
            if not all(touchable(item) for item in group) or (group[0].kind == "user" and group[0].turn == turn):
                continue
            dropped.append(group[0].id)
            need -= sum(item.tokens for item in group)
        return (Action("drop", tuple(dropped), reason="the oldest"),) if dropped else ()


def grouped(items: Sequence[ItemFacts]) -> list[list[ItemFacts]]:
    """Items in the units that may only go together, in order: an answer with the results of its calls, or a single item."""
    groups: list[list[ItemFacts]] = []
    places: dict[str, int] = {}
    for item in items:
        place = places.get(item.group) if item.group is not None else None
        if place is not None:
            groups[place].append(item)
        else:
            places[item.id] = len(groups)
            groups.append([item])
    return groups
