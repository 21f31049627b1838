"""The models of a role, found by name and opened when they are first asked; they are closed with the session.

    members ──resolve──▶ Found(ref, info) ──first asked──▶ OpenModel ──ask──▶ what it said
                                              └─ can't be had ──▶ the next; its provider rests

The one rule: another one is asked only when a provider couldn't be had; any other failure is an answer, and is the asker's to judge.
"""

import random as _random
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import TypeVar

import anyio

from trimtab.coding.limits import require_price
from trimtab.coding.models import OpenModel, close_provider, open_model, resolve_model
from trimtab.coding.project import Project
from trimtab.coding.roles import ROLES, UNREACHABLE, Circuits, Member, Role, members_of, order_of
from trimtab.types.errors import ConfigError, ProviderError, TrimtabError, UsageError
from trimtab.types.models import ModelInfo

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Found:
    """A model of a role that there is. `ready`: nothing is missing that a request needs."""

    member: Member
    info: ModelInfo
    ready: bool


def find_members(project: Project, members: Sequence[Member]) -> tuple[Found, ...]:
    """The members that there are, each model once."""
    found: dict[str, Found] = {}
    for member in members:
        with suppress(UsageError):
            resolved = resolve_model(project, member.ref)
            ready = bool(resolved.endpoint.api_key) or not resolved.needs_key
            found.setdefault(resolved.model.ref, Found(member, resolved.model, ready))
    return tuple(found.values())


def require_members(project: Project) -> None:
    """Raise `UnknownModel` or `ConfigError`, with the role in its words, for a model of a role that there is not."""
    for role in ROLES:
        for member in members_of(project.settings, role):
            try:
                resolve_model(project, member.ref)
            except UsageError as e:
                raise type(e)(f"roles.{role}: {e.message}", hint=e.hint) from None


def role_notes(project: Project, model: ModelInfo) -> tuple[str, ...]:
    """What a person should know of the roles when a session with `model` begins: who can't stand in, and why."""
    notes = []
    for role in ROLES:
        members = find_members(project, members_of(project.settings, role))
        if role == "main" and len(members) > 1 and all(one.info.ref != model.ref for one in members):
            notes.append(f"nobody stands in for {model.ref} when it can't be had: it isn't one of roles.main")
            continue
        missing = [one.info for one in members if not one.ready]
        notes += [f"roles.{role}: {one.ref} can't be asked, there is no key for {one.provider}" for one in missing]
    return tuple(notes)


def members_named(project: Project, ref: str) -> tuple[Member, ...]:
    """The members of the role that `ref` names, or `ref` as the only one."""
    roles = [members for role in ROLES if ref == role and (members := members_of(project.settings, role))]
    return roles[0] if roles else (Member(ref),)


class Roles:
    """The roles of one session: which providers rest is known to all of them. `random` gives [0, 1)."""

    def __init__(
        self, project: Project, stack: AsyncExitStack, *, random: Callable[[], float] = _random.random
    ) -> None:
        self.project = project
        self.stack = stack
        self.random = random
        self.circuits = Circuits(anyio.current_time)
        self._open: dict[str, OpenModel] = {}

    async def open(self, ref: str) -> OpenModel:
        """A model, ready to be asked; opened once. Raises `UnknownModel` or `ConfigError`."""
        if ref not in self._open:
            opened = await open_model(self.project, ref)
            self.stack.push_async_callback(close_provider, opened.provider)
            self._open[ref] = opened
        return self._open[ref]

    def of(self, role: Role) -> "RoleModels":
        """The models of a role."""
        return RoleModels(self, members_of(self.project.settings, role))

    def named(self, ref: str) -> "RoleModels":
        """The models of the role that `ref` names, else the one that it names."""
        return RoleModels(self, members_named(self.project, ref))


class RoleModels:
    """Models that are asked one in place of the other."""

    def __init__(self, roles: Roles, members: Sequence[Member]) -> None:
        self._roles = roles
        self._said = tuple(members)
        self._members: tuple[Found, ...] | None = None

    def __bool__(self) -> bool:
        return bool(self._said)

    @property
    def members(self) -> tuple[Found, ...]:
        """Those that there are; looked up once."""
        if self._members is None:
            self._members = find_members(self._roles.project, self._said)
        return self._members

    async def opened(self, found: Found) -> OpenModel:
        """That model, ready to be asked. Raises `UnknownModel` or `ConfigError`."""
        return await self._roles.open(found.member.ref)

    def in_order(self, *, without: Collection[str] | None = None) -> tuple[Found, ...]:
        """The order in which they are asked: the first, then the others as `order_of` says; those whose provider rests come last. `without` are models that were asked already: then nobody leads."""
        leading = 1 if without is None else 0
        left = [one for one in self.members if one.info.ref not in (without or ())]
        by_ref = {one.member.ref: one for one in left}
        others = order_of([one.member for one in left[leading:]], random=self._roles.random)
        order = [*left[:leading], *(by_ref[member.ref] for member in others)]
        return tuple(sorted(order, key=lambda one: self._roles.circuits.rests(one.info.provider)))

    async def ask(self, send: Callable[[OpenModel], Awaitable[T]]) -> T:
        """What `send` brings from the first that can be had. Raises what the last one raised, or `ConfigError` where there is none."""
        problem: TrimtabError = ConfigError("no model is there to be asked", hint="Set roles.small in config.toml.")
        for found in self.in_order():
            try:
                opened = await self.opened(found)
                require_price(self._roles.project.settings, opened.info)
            except UsageError as e:
                problem = e
                continue
            try:
                return await send(opened)
            except ProviderError as e:
                if e.info.kind not in UNREACHABLE:
                    raise
                self._roles.circuits.failed(found.info.provider, e.info)
                problem = e
        raise problem
