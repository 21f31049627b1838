"""What a project's own settings may decide, once its folder is trusted, and what is its person's to decide alone.

    project's tree ──leaf by leaf──▶ acts ── or ──▶ Withheld: told, and left to the person's own files, variables and flags

Trust lets a project say how one works in it. It doesn't let a file that changes with every pull send keys or the conversation to other places, give
commands more than the person gave, or let more run unasked. The one rule: a key that isn't listed here as harmless is withheld.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from trimtab.config.settings import PermissionSettings

Key: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Withheld:
    """A leaf of a project's settings that doesn't act, and why."""

    key: Key
    value: Any
    why: str


@dataclass(frozen=True, slots=True)
class Person:
    """What the person's own settings say: those that a project's are laid over, the names of providers that anybody but the project knows, and whether a key goes to a policy elsewhere."""

    beneath: Mapping[str, Any]
    providers: Collection[str] = ()
    keyed_policy: bool = False


_Rule: TypeAlias = Callable[[Key, Any, Person], str]
"""Why a value is withheld; empty when it acts."""

_MODES = ("plan", "ask", "auto-edit", "full")
"""From what lets least run unasked to what lets most."""
_KEYS = "it decides where a key of yours goes"
_RUNS = "it decides what runs unasked"
_ELSEWHERE = "it sends what is said to another place"


def _harmless(key: Key, value: Any, person: Person) -> str:
    return ""


def _only(why: str) -> _Rule:
    return lambda key, value, person: why


def _no_wider(key: Key, value: Any, person: Person) -> str:
    own = _at(person.beneath, key)
    own = own if own in _MODES else PermissionSettings().mode
    return "" if value in _MODES and _MODES.index(value) <= _MODES.index(own) else f"{_RUNS}, and yours is {own!r}"


def _no_more(key: Key, value: Any, person: Person) -> str:
    own = _at(person.beneath, key)
    return "" if not isinstance(own, int | float) or value <= own else f"it is above yours, {own}"


def _only_as(*, narrower: object) -> _Rule:
    return lambda key, value, person: "" if value == narrower else "it opens what confines commands"


def _not_off(key: Key, value: Any, person: Person) -> str:
    return "" if value else "it turns off what guards you"


def _no_other(key: Key, value: Any, person: Person) -> str:
    own = _at(person.beneath, key)
    return "" if not isinstance(own, list) or set(value) <= set(own) else "it turns on what you didn't"


def _own_server(key: Key, value: Any, person: Person) -> str:
    """A provider that only the project knows may be on this machine: no key of the person's goes there."""
    if key[1] in person.providers:
        return f"{key[1]} is a provider that you or the catalogue know"
    if key[2] == "base_url" and not _is_here(value):
        return _ELSEWHERE
    return ""


def _own_policy(key: Key, value: Any, person: Person) -> str:
    if person.keyed_policy:
        return _KEYS
    return "" if _is_here(value) else _ELSEWHERE


def _by_name(key: Key, value: Any, person: Person) -> str:
    """A text among the parameters of a policy may be an address or a file, however it is written."""
    return "it holds an address or a file" if re.search("[\"'\\\\]", value) else ""


def _is_here(url: object) -> bool:
    """Whether an address is on this machine and can't be read in two ways."""
    from trimtab.providers.loopback import is_loopback  # noqa: PLC0415 - few projects name an address

    try:
        plain = isinstance(url, str) and re.fullmatch(r"https?://[!-~]+", url) and not re.search(r"[\\@]", url)
        return bool(plain) and is_loopback(str(url))
    except ValueError:
        return False


_CONTEXT: Mapping[str, _Rule] = {
    "policy": _by_name,
    "remote_url": _own_policy,
    "remote_key_env": _only(_KEYS),
    **dict.fromkeys(
        ("tools", "soft", "target", "hard", "soft_tokens", "target_tokens", "hard_tokens", "reserve_tokens"), _harmless
    ),
    **dict.fromkeys(("remote_timeout_s", "summary_model", "summary_wait_s", "prepare_summaries"), _harmless),
}
RULES: Mapping[Key, _Rule] = {
    ("model",): _harmless,
    ("thinking",): _harmless,
    **dict.fromkeys((("max_steps",), ("max_cost_usd",), ("max_tokens",), ("max_time_s",)), _no_more),
    ("system_prompt",): _harmless,
    ("append_system_prompt",): _harmless,
    ("models", "*", "context_window"): _harmless,
    ("models", "*", "max_output"): _harmless,
    ("models", "*", "thinking"): _harmless,
    **{("models", "*", "context", name): rule for name, rule in _CONTEXT.items()},
    **{("context", name): rule for name, rule in _CONTEXT.items()},
    ("providers", "*", "api_key_env"): _only(_KEYS),
    ("providers", "*", "proxy"): _only(_ELSEWHERE),
    ("providers", "*", "ca_file"): _only("it decides which servers are believed"),
    **dict.fromkeys(
        (("providers", "*", name) for name in ("api", "base_url", "api_key", "context_window", "max_output", "models")),
        _own_server,
    ),
    **dict.fromkeys(
        (("providers", "*", name) for name in ("connect_timeout_s", "idle_timeout_s", "max_retries", "tokenizer")),
        _own_server,
    ),
    **dict.fromkeys((("providers", "*", name) for name in ("max_retry_wait_s", "probe")), _own_server),
    ("providers", "*", "headers", "*"): _own_server,
    ("providers", "*", "compat", "**"): _own_server,
    ("tools", "enabled"): _no_other,
    ("tools", "read", "*"): _harmless,
    ("tools", "grep", "*"): _harmless,
    ("tools", "find", "*"): _harmless,
    ("tools", "ls", "*"): _harmless,
    **dict.fromkeys(
        (("tools", "bash", name) for name in ("head_bytes", "tail_bytes", "timeout_s", "max_timeout_s")), _harmless
    ),
    ("tools", "bash", "env_pass"): _only("it gives secrets of yours to commands"),
    ("tools", "bash", "allow"): _only(_RUNS),
    ("tools", "bash", "prefix"): _only(_RUNS),
    ("permissions", "mode"): _no_wider,
    ("permissions", "allow"): _only(_RUNS),
    ("permissions", "ask"): _harmless,
    ("permissions", "deny"): _harmless,
    (
        "verify",
        "commands",
    ): _harmless,  # what a trusted project is checked by: it runs in the sandbox, as its tests would
    ("verify", "enabled"): _not_off,
    ("checkpoints", "enabled"): _not_off,
    ("hooks", "*"): _harmless,  # each command is asked about by its content before it ever runs
    ("jobs", "most"): _no_more,
    ("agents", "*"): _no_more,
    ("instructions", "*"): _harmless,
    ("sandbox", "mode"): _only_as(narrower="required"),
    ("sandbox", "network"): _only_as(narrower=False),
    **dict.fromkeys((("verify", name) for name in ("model", "rounds", "timeout_s", "protect")), _harmless),
}
"""What is decided about each key; `*` stands for one name, `**` for any that follow. What no rule matches is withheld."""
ADDED = (("permissions", "ask"), ("permissions", "deny"), ("verify", "protect"))
"""Lists to which a project adds: it takes nothing out of the person's."""


def within_reach(tree: Mapping[str, Any], person: Person) -> tuple[dict[str, Any], tuple[Withheld, ...]]:
    """Return what of a project's `tree` acts (each value of the right type), and what is withheld."""
    withheld: list[Withheld] = []
    kept = _kept(tree, (), person, withheld)
    for key in ADDED:
        own, added = _at(person.beneath, key), _at(kept, key)
        if isinstance(own, list) and isinstance(added, list):
            table = _at(kept, key[:-1])
            table[key[-1]] = [*own, *(value for value in added if value not in own)]
    return kept, tuple(withheld)


def why_withheld(key: Key, value: Any, person: Person) -> str:
    """Why a project's value at `key` doesn't act; empty when it does."""
    rule = next((rule for pattern, rule in RULES.items() if _matches(pattern, key)), None)
    return "it is yours to decide" if rule is None else rule(key, value, person)


def _kept(tree: Mapping[str, Any], path: Key, person: Person, withheld: list[Withheld]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, value in tree.items():
        key = (*path, name)
        if isinstance(value, Mapping):
            if inner := _kept(value, key, person, withheld):
                kept[name] = inner
        elif why := why_withheld(key, value, person):
            withheld.append(Withheld(key, value, why))
        else:
            kept[name] = value
    return kept


def _matches(pattern: Key, key: Key) -> bool:
    if pattern[-1] == "**":
        pattern = (*pattern[:-1], *["*"] * (len(key) - len(pattern) + 1))
    return len(pattern) == len(key) and all(part in ("*", name) for part, name in zip(pattern, key, strict=True))


def _at(tree: Any, key: Key) -> Any:
    for part in key:
        tree = tree.get(part) if isinstance(tree, Mapping) else None
    return tree
