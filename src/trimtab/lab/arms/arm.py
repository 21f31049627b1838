"""An arm: a policy under a name, made anew for each story.

    find_arm("rules") ──▶ Arm ──make(story)──▶ Policy

Most arms make the same policy for every story. One that knows the future (a bound, never a rival) reads the story. Arms of this lab come before the policies
of the engine, so a name means one thing in tables, in tuning and in training.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from trimtab.context.policies.base import Policy
from trimtab.lab.env.story import Story

ArmKind: TypeAlias = Literal["keep", "rule", "peer", "random", "learned", "bound"]
"""What an arm is evidence of: `bound` arms know what no policy can know."""


@dataclass(frozen=True, slots=True)
class Arm:
    """A policy as a table names it. `spec`: what `find_arm` finds it by, parameters included."""

    spec: str
    kind: ArmKind
    about: str
    make: Callable[[Story], Policy]
