"""Acting: a network decides about a sight, choice by choice, greedily or by chance.

    Sight ──network──▶ log-probabilities ──drawn, or the largest──▶ place ──marked as chosen──▶ … until commit

`Chooser` does it as a policy like any other, with nothing but an observation: so candidates are judged as they would run, and what only the engine knows is refused by it.
"""

import random
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from trimtab.context.actions import Action
from trimtab.context.policies.base import Manners
from trimtab.context.policies.learned.grammar import actions_of
from trimtab.context.seeing.observation import Observation
from trimtab.lab.credit.uncertainty import entropy
from trimtab.lab.train.network import ChoiceNetwork, log_probs_of
from trimtab.lab.train.seeing import COMMIT_AT, Eye, Rows, Sight, batch_of

MANNERS = Manners(guarded=False)
"""How the engine treats what is trained here, in training and after it: nothing but its own sense holds it back."""


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision: its places, commit last, the log-probability of each when it was chosen, and the mean entropy of what each was chosen from."""

    sight: Sight
    places: tuple[int, ...]
    log_probs: tuple[float, ...]
    uncertainty: float

    @property
    def keeps(self) -> bool:
        """Whether nothing is done."""
        return len(self.places) == 1


def decided(network: ChoiceNetwork, sight: Sight, dice: random.Random | None) -> Decided:
    """Decide by chance, or without `dice` take the likeliest choice each time."""
    places: list[int] = []
    log_probs: list[float] = []
    unsure: list[float] = []
    while not places or places[-1] != COMMIT_AT:
        found = log_probs_of(network, sight, places)
        place = int(found.argmax()) if dice is None else _drawn(found, dice)
        places.append(place)
        log_probs.append(min(0.0, float(found[place])))
        unsure.append(entropy(np.exp(found).tolist()))
    return Decided(sight, tuple(places), tuple(log_probs), sum(unsure) / len(unsure))


def _drawn(log_probs: Rows, dice: random.Random) -> int:
    """A place by its probability; never a masked one."""
    open_places = np.flatnonzero(np.isfinite(log_probs))
    shares = np.cumsum(np.exp(log_probs[open_places]))
    at = int(np.searchsorted(shares, dice.random() * shares[-1], side="right"))
    return int(open_places[min(at, len(open_places) - 1)])


@dataclass(frozen=True, slots=True)
class Chooser:
    """A network as a policy. `chance` names the dice; None: the likeliest choice each time. The same observation gives the same actions either way."""

    network: ChoiceNetwork
    eye: Eye
    chance: str | None = None
    name: str = "candidate"
    manners: Manners = field(default=MANNERS)

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Return the actions of one decision."""
        sight, offered = self.eye.seen(observation)
        dice = None if self.chance is None else random.Random(f"{self.chance} {observation.step} {_print(sight)}")
        return actions_of(batch_of(decided(self.network, sight, dice).places, offered), observation)


def _print(sight: Sight) -> int:
    """A number of what is seen, the same in every process."""
    return zlib.crc32(sight.items.tobytes() + sight.whole.tobytes())
