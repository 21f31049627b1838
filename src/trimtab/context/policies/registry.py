"""Policies by name.

    "rules"   "mask(keep=10, batch=1)"   "claude-code"   "cost-gate(remaining=40):mask"   "dry-run:rules"   "shadow(policy='learned'):rules"

A name may carry parameters in parentheses, and wrappers in front with colons between. Ours are known here; for any other name the installed
packages are searched (entry points of the group `trimtab.policies`), and only then. A plug-in is code of others, so whatever it throws while it loads is told
in words.
"""

import ast
import dataclasses
import importlib
import math
import os
import re
from collections.abc import Callable, Mapping, Set
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from trimtab.context.policies.base import Policy
from trimtab.context.policies.mask import Mask
from trimtab.context.policies.none import NoPolicy
from trimtab.context.policies.peer_table import PEERS
from trimtab.context.policies.remote import Remote
from trimtab.context.policies.rules import Rules
from trimtab.context.policies.summary import SummaryPolicy
from trimtab.context.policies.truncate import Truncate
from trimtab.context.policies.wrappers import Cooldown, CostGate, DryRun, Immune, MinGain
from trimtab.types.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Made = TypeVar("Made")
GROUP = "trimtab.policies"
"""Group of entry points under which packages offer policies: NAME = "module:factory"; the factory takes parameters by keyword."""

_OURS: Mapping[str, type] = {
    "none": NoPolicy,
    "truncate": Truncate,
    "mask": Mask,
    "summary": SummaryPolicy,
    "rules": Rules,
    "remote": Remote,
}
_WRAPPERS: Mapping[str, type] = {
    "cooldown": Cooldown,
    "cost-gate": CostGate,
    "dry-run": DryRun,
    "immune": Immune,
    "min-gain": MinGain,
}
_LATE: Mapping[str, tuple[str, str]] = {
    "learned": ("trimtab.context.policies.learned.policy", "Learned"),
    "shadow": ("trimtab.context.policies.shadow", "Shadow"),
}
"""Module and class of a policy, and of a wrapper, that is imported when somebody names it."""
_PEERS = {row.name: row for row in PEERS}
_PARTS = re.compile(r"\s*([A-Za-z0-9_.-]+)\s*(?:\((.*)\))?\s*", re.DOTALL)
_MOST_AROUND = 50
_FIXED = frozenset({"name", "inner", "manners"})
_OFFERED: dict[str, list[Callable[..., Policy]]] = {}
"""Policies that somebody in this process lends for a while, by name; of several the last one holds."""


def find_policy(spec: str, **parameters: Any) -> Policy:
    """Return the policy that `spec` names; `parameters` are added to those that it states.

    Raises `UsageError` when there is none of that name, when a parameter is none of its or of another type, and when a plug-in can't be loaded.
    """
    return policy_of(spec, lambda name, stated: _named(name, {**stated, **parameters}))


def named_in(spec: str) -> str:
    """Return the name of the policy in the middle of `spec`, without parameters and wrappers. Raises `UsageError` when it names none."""
    return _parsed(_split(spec)[-1])[0]


def files_named(spec: str) -> tuple[Path, ...]:
    """Return the files that parameters of `spec` name, as they are read, and those of policies that stand within them: what an answer hangs on besides the text itself."""
    texts = [text for part in _split(spec) for text in _parsed(part)[1].values() if isinstance(text, str)]
    found: list[Path] = []
    for text in texts:
        file = os.path.expanduser(text)
        if os.path.isfile(file):  # for any text: a name that is too long is no file
            found.append(Path(file))
            continue
        with suppress(UsageError):
            found += files_named(text)
    return tuple(found)


def policy_of(spec: str, named: Callable[[str, Mapping[str, Any]], Policy]) -> Policy:
    """Return what `named` makes of the name in the middle of `spec` and its parameters, with the wrappers that stand in front of it.

    For whoever knows names of their own and wants them written as ours are. Raises `UsageError` as `find_policy` does.
    """
    *around, inner = _split(spec)
    if len(around) > _MOST_AROUND:
        raise UsageError(f"{len(around):,} wrappers stand in front of a policy", hint=f"Name {_MOST_AROUND} at most.")
    policy = named(*_parsed(inner))
    for one in reversed(around):
        wrapper, stated = _parsed(one)
        make = _late(wrapper) if wrapper == "shadow" else _WRAPPERS.get(wrapper)
        if make is None:
            known = ", ".join((*_WRAPPERS, "shadow"))
            raise UsageError(f"{wrapper!r} is no wrapper of policies", hint=f"Wrappers: {known}.")
        policy = configured(wrapper, make, stated, inner=policy)
    return policy


def _split(spec: str) -> list[str]:
    """Cut at the colons outside parentheses."""
    parts, depth = [""], 0
    for character in spec:
        depth += (character == "(") - (character == ")")
        if character == ":" and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _parsed(part: str) -> tuple[str, dict[str, Any]]:
    """A name and its parameters, which are written as keyword arguments with literal values."""
    found = _PARTS.fullmatch(part)
    if found is None:
        raise UsageError(f"{part!r} names no policy", hint='Write a name, or one with parameters: "mask(keep=10)".')
    name, arguments = found.group(1), found.group(2) or ""
    try:
        call = ast.parse(f"f({arguments})", mode="eval").body
        names = [k.arg for k in call.keywords] if isinstance(call, ast.Call) else []
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args or None in names:
            raise ValueError("only NAME=VALUE")
        if len(set(names)) < len(names):
            raise ValueError("a parameter stands there twice")
        return name, {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}
    except (SyntaxError, ValueError, MemoryError, RecursionError) as problem:
        raise UsageError(
            f"bad parameters of policy {name!r}: ({arguments})", hint='Write them as in "mask(keep=10, batch=1)".'
        ) from problem


def _named(name: str, parameters: Mapping[str, Any]) -> Policy:
    if name in _OURS or name == "learned":
        made: Policy = configured(name, _OURS.get(name) or _late(name), parameters)
        return made
    if name in _PEERS:
        peer = _PEERS[name].peer
        if parameters.keys() <= {"scaled"}:
            scaled = parameters.get("scaled", peer.scaled)
            if not isinstance(scaled, bool):
                raise UsageError(f"bad parameter of policy {name!r}: scaled={scaled!r}", hint="Write True or False.")
            return dataclasses.replace(peer, scaled=scaled)
        raise _no_parameter(name, parameters.keys() - {"scaled"}, {"scaled": peer.scaled})
    return _plug_in(name, parameters)


def _late(name: str) -> type:
    module, cls = _LATE[name]
    found: type = getattr(importlib.import_module(module), cls)
    return found


def known_policies() -> tuple[str, ...]:
    """Return the names of all policies there are: ours, the peers', those that are lent, and those of installed packages."""
    return (*own_policies(), *_OFFERED, *(point.name for point in _installed()))


def own_policies() -> tuple[str, ...]:
    """Return the names that stay ours: our policies, the peers', and the wrappers."""
    return (*_OURS, "learned", *_PEERS, *_WRAPPERS, "shadow")


def offer(name: str, make: Callable[..., Policy]) -> Callable[[], None]:
    """Let `name` mean the policy that `make` makes of its parameters, until what is returned is called. A name of ours stays ours."""
    _OFFERED.setdefault(name, []).append(make)

    def withdraw() -> None:
        _OFFERED[name].remove(make)
        if not _OFFERED[name]:
            del _OFFERED[name]

    return withdraw


def _installed() -> "list[EntryPoint]":
    from importlib.metadata import entry_points  # noqa: PLC0415 - only an unknown name is worth a look at what is installed

    return sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value))


def _plug_in(name: str, parameters: Mapping[str, Any]) -> Policy:
    make: Callable[[], Callable[..., Policy]]
    if name in _OFFERED:
        factory = _OFFERED[name][-1]
        make, where = (lambda: factory), "an extension"
    else:
        point = next((point for point in _installed() if point.name == name), None)
        if point is None:
            raise UsageError(f"there is no policy {name!r}", hint=f"Policies: {', '.join(known_policies())}.")
        make, where = point.load, point.value
    try:
        policy = make()(**parameters)
    except Exception as problem:
        raise UsageError(
            f"policy {name!r} ({where}) can't be loaded: {type(problem).__name__}: {problem}",
            hint="Repair or remove the package that offers it, or check the parameters.",
        ) from problem
    if not isinstance(getattr(policy, "name", None), str) or not callable(getattr(policy, "decide", None)):
        raise UsageError(
            f"policy {name!r} ({where}) has no name and decide(observation)",
            hint="Repair or remove the package that offers it; examples of policies are in trimtab.context.policies.",
        )
    return policy


def configured(name: str, make: type[Made], parameters: Mapping[str, Any], **inner: Policy) -> Made:
    """Make a dataclass of ours from parameters of the right names and types. Raises `UsageError` for others, and for numbers that mean nothing."""
    defaults = _defaults(make)
    if unknown := parameters.keys() - defaults.keys():
        raise _no_parameter(name, unknown, defaults)
    types = {f.name: f.type for f in dataclasses.fields(make)}  # type: ignore[arg-type]
    try:
        values = {key: msgspec.convert(value, types[key]) for key, value in parameters.items()}
    except msgspec.ValidationError as problem:
        raise UsageError(
            f"bad parameter of policy {name!r}: {problem}", hint=f"Its parameters: {_listed(defaults)}."
        ) from problem
    made = make(**values, **inner)
    require_sense(made)
    return made


def require_sense(policy: object) -> None:
    """Raise `UsageError` when a policy of ours, or one within it, has a number for a parameter that means nothing: below 0, or not finite."""
    if not dataclasses.is_dataclass(policy) or not type(policy).__module__.startswith("trimtab."):
        return
    for field in dataclasses.fields(policy):
        value = getattr(policy, field.name)
        if isinstance(value, int | float) and not 0 <= value < math.inf:
            raise UsageError(
                f"bad parameter of policy {getattr(policy, 'name', '')!r}: {field.name}={value!r}",
                hint="Give a number from 0 on.",
            )
        if field.name == "inner":
            require_sense(value)


def _no_parameter(name: str, unknown: Set[str], known: Mapping[str, Any]) -> UsageError:
    return UsageError(
        f"policy {name!r} has no parameter {', '.join(sorted(unknown))}", hint=f"Its parameters: {_listed(known)}."
    )


def _listed(parameters: Mapping[str, Any]) -> str:
    """Parameters with their defaults, as they are written."""
    return ", ".join(f"{key}={value!r}" for key, value in parameters.items()) or "none"


def _defaults(make: type) -> dict[str, Any]:
    return {f.name: f.default for f in dataclasses.fields(make) if f.name not in _FIXED}
