"""Who does what: the models of the roles `main`, `small` and `vision`, and in which order they are asked. Pure.

    [roles] main = [A, {model = B, weight = 3}, C] ──members_of──▶ A does the work, B and C stand by
    A can't be had ──order_of──▶ as listed, or drawn by weight; those whose provider rests come last

The one rule: the first of a role is its model; the others only stand in for it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from trimtab.config.settings import RoleModel, Settings
from trimtab.types.errors import ErrorInfo

Role: TypeAlias = Literal["main", "small", "vision"]
ROLES: tuple[Role, ...] = get_args(Role)
UNREACHABLE = frozenset({"rate_limit", "server", "network"})
"""Failures of a provider that another one doesn't share. A wrong key, an empty account, a refusal or a request that is too long is none of them."""
REST_S = 60.0
"""How long a provider rests that couldn't be had, in seconds; twice as long each time that it fails again soon after."""
MOST_REST_S = 600.0


@dataclass(frozen=True, slots=True)
class Member:
    """One model of a role. `weight` is None where none is given."""

    ref: str
    weight: int | None = None


def members_of(settings: Settings, role: Role) -> tuple[Member, ...]:
    """The models of a role, each once, as the settings list them; none where the role isn't set."""
    said = getattr(settings.roles, role)
    listed = (said,) if isinstance(said, str) else said
    members: dict[str, Member] = {}
    for one in listed:
        member = Member(one.model, one.weight) if isinstance(one, RoleModel) else Member(one)
        if member.ref.strip():
            members.setdefault(member.ref, member)
    return tuple(members.values())


def model_of(settings: Settings, role: Role) -> str | None:
    """The model that does the work of a role."""
    return next((member.ref for member in members_of(settings, role)), None)


def configured_model(settings: Settings) -> str | None:
    """The model of a new session: `model`, else the first of `roles.main`."""
    return settings.model or model_of(settings, "main")


def named_by(settings: Settings, ref: str | None) -> str | None:
    """`ref`, or the model of the role that it names, where that is set."""
    for role in ROLES:
        if ref == role and (model := model_of(settings, role)):
            return model
    return ref


def order_of(members: Sequence[Member], *, random: Callable[[], float]) -> tuple[Member, ...]:
    """The order in which `members` are asked: as they stand, or, where a weight is given, drawn one after the other, one without a weight as with 1. `random` gives [0, 1)."""
    if all(member.weight is None for member in members):
        return tuple(members)
    left, order = list(members), list[Member]()
    while left:
        weights = [member.weight or 1 for member in left]
        at, mark = 0, random() * sum(weights)
        while at < len(left) - 1 and mark >= weights[at]:
            mark -= weights[at]
            at += 1
        order.append(left.pop(at))
    return tuple(order)


@dataclass(slots=True)
class _Failing:
    until: float
    rest_s: float


@dataclass(slots=True)
class Circuits:
    """Which providers rest: they couldn't be had a moment ago, so nobody waits for them again. `now` in seconds, from any beginning."""

    now: Callable[[], float]
    _failing: dict[str, _Failing] = field(default_factory=dict)

    def failed(self, provider: str, failure: ErrorInfo) -> None:
        """It couldn't be had. It rests as long as it asks, and longer each time."""
        now, before = self.now(), self._failing.get(provider)
        again = before is not None and now < before.until + before.rest_s
        rest = min(MOST_REST_S, before.rest_s * 2) if before is not None and again else REST_S
        asked = min(failure.retry_after_s or 0.0, MOST_REST_S)
        self._failing[provider] = _Failing(now + max(rest, asked), rest)

    def rests(self, provider: str) -> bool:
        """Whether it isn't asked while somebody else can be."""
        failing = self._failing.get(provider)
        return failing is not None and self.now() < failing.until
