"""What a training run is made of: everything that its result depends on, as one value that goes to disk.

    Config ──with the code and the weights that it begins with, hashed──▶ the name of its folder

Where it runs (workers, device, how long it may take) isn't part of it. Times are counted in decisions, so that a slow machine trains the same policy as a fast one.
"""

from typing import Literal, TypeAlias

import msgspec

from trimtab.lab.credit.advantage import Variant
from trimtab.types.errors import UsageError

Branching: TypeAlias = Literal["context", "random", "none"]
"""Where rollouts branch: where much hangs on a decision, anywhere, or nowhere: then more rollouts take their place."""

Scheme: TypeAlias = Literal["outcome", "step"]
"""What rollouts are rewarded for: what they came to, or each action by the simple scheme, which is there to be seen failing."""


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """The network: widths of hidden layers of the item scorer and of the gate. `attention`: items look at each other once; for an ablation, since nothing runs it but this lab."""

    item: tuple[int, ...] = (48, 48)
    gate: tuple[int, ...] = (32,)
    attention: bool = False


class Cloning(msgspec.Struct, frozen=True, kw_only=True):
    """The clone. `teachers`: arms, and `needed`: supervised weights, acting by break-even; those that aren't there are left out, which is noted. `each`: tasks of every training family.

    `best`: of each task only the decisions of the teacher that did best there. `again`: how many times the clone plays the tasks itself and is told what the teacher
    would have done where it came to.
    """

    teachers: tuple[str, ...] = ("needed", "clairvoyant", "rules", "mask")
    each: int = 16
    best: bool = True
    again: int = 1
    epochs: int = 20
    rate: float = 3e-3
    batch: int = 128


class Learning(msgspec.Struct, frozen=True, kw_only=True):
    """The reinforcement. `decisions`: the budget, all rollouts and branches together; nothing is learned beyond it.

    `tasks`: groups between two steps; `rollouts`: of a group; `branches`: continuations of a group besides. `rows`: rows of a rollout that are trained on; None: all.
    `cost`: the weight of cost at the start and at the end, `annealed` over this share of the budget. `anchor`: weight of the divergence from the clone. `stages`: from which share of the budget on
    each set of choices is open, see `curriculum`; all zeros: everything from the start. `hard`: from which share on the hardest tasks are drawn. `pool`: tasks of a family to draw from.
    `ask`: choices that the engine would refuse are masked in rollouts. `check`: steps between two looks at validation.
    """

    variant: Variant = "snapshot"
    branching: Branching = "context"
    scheme: Scheme = "outcome"
    decisions: int = 12_000
    tasks: int = 4
    rollouts: int = 8
    branches: int = 6
    rows: int | None = None
    clip: float = 0.2
    epochs: int = 2
    batch: int = 128
    rate: float = 1e-3
    entropy: float = 0.003
    anchor: float = 0.05
    most_gradient: float = 1.0
    cost: tuple[float, float] = (0.6, 0.35)
    annealed: float = 0.5
    stages: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3)
    hard: float = 0.4
    pool: int = 200
    ask: bool = True
    check: int = 4


class Judging(msgspec.Struct, frozen=True, kw_only=True):
    """Validation. `each`: tasks of every family that choose between checkpoints; `last`: other ones, with which what was chosen is reported. `arms`: what it is compared with."""

    each: int = 6
    last: int = 20
    arms: tuple[str, ...] = ("none", "mask", "rules")


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """One run. `seed`: of everything that is drawn."""

    seed: int = 0
    shape: Shape = Shape()
    cloning: Cloning = Cloning()
    learning: Learning = Learning()
    judging: Judging = Judging()

    def __post_init__(self) -> None:
        """Refuse what can't be trained with. Raises `UsageError`."""
        learning = self.learning
        for name, value in (
            ("each", self.cloning.each),
            ("tasks", learning.tasks),
            ("rollouts", learning.rollouts),
            ("pool", learning.pool),
            ("check", learning.check),
        ):
            if value < 1:
                raise UsageError(f"a training run has {name}={value}", hint="It must be 1 or more.")
        if learning.decisions < 0 or learning.branches < 0:
            raise UsageError("a training run can't have fewer than no decisions or branches")
        if not 0.0 < learning.clip < 1.0:
            raise UsageError(f"a training run has clip={learning.clip}", hint="It must lie between 0 and 1.")


def smaller(config: Config, decisions: int) -> Config:
    """The same run with another budget of decisions."""
    learning = msgspec.structs.replace(config.learning, decisions=decisions)
    return msgspec.structs.replace(config, learning=learning)


def of_size(config: Config, each: int) -> Config:
    """The same run with `each` tasks of a family to clone from and to report with, and a third as many to choose by."""
    cloning = msgspec.structs.replace(config.cloning, each=each)
    judging = msgspec.structs.replace(config.judging, each=max(1, each // 3), last=each)
    return msgspec.structs.replace(config, cloning=cloning, judging=judging)
