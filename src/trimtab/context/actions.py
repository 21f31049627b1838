"""The action grammar: one shape for the model, the user, rules, learned policies and logs.

    {"action": "fold", "targets": ["r7"], "params": {"keep": ["error"]}, "reason": "a long log"}

An action says what is wanted; `planning` turns it into an edit with every text rendered, or says why not. Names of targets are whatever
a model or person may use: a handle (`r7`), a call id, an entry id, `ENTRY#N`, a label.
"""

from collections.abc import Mapping
from typing import Any, Literal, get_args

import msgspec

ActionName = Literal[
    "keep",
    "elide",
    "summarize",
    "fold",
    "truncate",
    "compress",
    "expire",
    "drop",
    "reload",
    "offload",
    "compact",
    "restate",
    "pin",
    "unpin",
]
ACTIONS: tuple[str, ...] = get_args(ActionName)
ALIASES: dict[str, ActionName] = {
    "archive": "elide",
    "mask": "elide",
    "delete": "drop",
    "restore": "reload",
    "unarchive": "reload",
    "noop": "keep",
}
"""Other words that models use for the same things."""


class Action(msgspec.Struct, frozen=True, omit_defaults=True):
    """One wish. An empty `targets` is right for `keep`, and for `compact` (then: as much as it takes)."""

    action: ActionName
    targets: tuple[str, ...] = ()
    params: dict[str, Any] = {}
    reason: str = ""


def action_of(data: object) -> Action | str:
    """Return the action in `data`, or what is wrong with it in words. Never raises.

    Besides the exact shape it takes one `target` for `targets`, a string for a list, and the aliases.
    """
    if isinstance(data, Action):
        return data
    if not isinstance(data, Mapping):
        return f"an action is an object such as {{'action': 'keep'}}, not {type(data).__name__}"
    name = data.get("action")
    name = ALIASES.get(name, name) if isinstance(name, str) else name
    if name not in ACTIONS:
        return f"there is no action {name!r}; actions: {', '.join(ACTIONS)}"
    targets = data.get("targets", data.get("target"))
    targets = [] if targets is None else [targets] if isinstance(targets, str) else targets
    shape = {"action": name, "targets": targets, "params": data.get("params") or {}, "reason": data.get("reason") or ""}
    try:
        return msgspec.convert(shape, Action)
    except (msgspec.ValidationError, TypeError) as problem:
        return f"bad action {name!r}: {problem}"
