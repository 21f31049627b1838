"""The action grammar: one shape for the model, the user, rules, learned policies and logs.

    {"action": "fold", "targets": ["r7"], "params": {"keep": ["error"]}, "reason": "a long log"}

An action says what is wanted; `planning` turns it into an edit with every text rendered, or says why not. Names of targets are whatever
a model or person may use: a handle (`r7`), a call id, an entry id, `ENTRY#N`, the id of a compaction. docs/actions.md is the reference.
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
    "hide": "elide",
    "delete": "drop",
    "restore": "reload",
    "unarchive": "reload",
    "noop": "keep",
}
"""Other words that models use for the same things."""

FIELDS = ("action", "target", "targets", "params", "reason")
"""What an action is written with."""


class Action(msgspec.Struct, frozen=True, omit_defaults=True):
    """One wish. An empty `targets` is right for `keep`, and for `compact` (then: as much as it takes)."""

    action: ActionName
    targets: tuple[str, ...] = ()
    params: dict[str, Any] = {}
    reason: str = ""


def action_of(data: object) -> Action | str:
    """Return the action in `data`, or what is wrong with it in words. Never raises.

    Besides the exact shape it takes one `target` for `targets`, a string for a list, and the aliases. Whatever comes back can be written as JSON: it
    is made of values of its own, and a value that no log can hold is what is wrong.
    """
    fields = _plain_fields(data)
    if isinstance(fields, str):
        return fields
    name = fields.get("action")
    if name is None:
        return f"'action' is missing, which says what is wanted; actions: {', '.join(ACTIONS)}"
    name = ALIASES.get(name, name) if isinstance(name, str) else name
    if name not in ACTIONS:
        return f"there is no action {name!r:.80}; actions: {', '.join(ACTIONS)}"
    targets = fields.get("targets", fields.get("target"))
    targets = [] if targets is None else [targets] if isinstance(targets, str) else targets
    shape = {
        "action": name,
        "targets": targets,
        "params": fields.get("params") or {},
        "reason": fields.get("reason") or "",
    }
    try:
        return msgspec.convert(shape, Action)
    except (msgspec.ValidationError, TypeError) as problem:
        return f"bad action {name!r}: {problem}"


def _plain_fields(data: object) -> dict[str, Any] | str:
    """The fields of an action as plain JSON values with texts that can be encoded, or what is wrong with them."""
    from trimtab.context.vendor.errors import At, VendorMessageError  # noqa: PLC0415 - not before somebody wants something
    from trimtab.context.vendor.plain import plain  # noqa: PLC0415 - likewise

    if isinstance(data, Action):
        given: Mapping[Any, Any] = {name: getattr(data, name) for name in Action.__struct_fields__}
    elif isinstance(data, Mapping):
        given = data
    else:
        return f"an action is an object such as {{'action': 'keep'}}, not {type(data).__name__}"
    if type(given) is dict:
        given = {name: given[name] for name in FIELDS if name in given}
    try:
        fields: dict[str, Any] = plain(given, At(0))
    except VendorMessageError as problem:
        return f"bad action: {problem.message.removeprefix('message 0, ')}"
    return fields
