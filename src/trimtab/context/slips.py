"""Slips of whoever writes actions, a program or a policy: a field or parameter that there isn't.

    {"action": "pin", "target": "r7", "reson": "…"} ──▶ problem: there is no field 'reson'; did you mean 'reason'?
    {…, "params": {"colour": 3}}                    ──▶ note:    pin has no parameter 'colour', so it was passed over

What is nearly right is meant, so it is refused; what is far from everything may be a mark of its own, so it is only told. Whatever an action means is
read elsewhere; the table here says which names that is.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from trimtab.context.actions import FIELDS
from trimtab.types.near import nearest

PARAMS: Mapping[str, tuple[str, ...]] = {
    "elide": ("summary", "said_in", "names"),
    "fold": ("keep", "head", "tail", "matches"),
    "truncate": ("first", "last"),
    "compress": ("keep", "share", "otherwise", "names"),
    "summarize": ("summary", "max_tokens", "instructions", "mode", "keep_first", "keep_last", "keep_fields"),
    "reload": ("page",),
    "expire": ("after_steps", "when_superseded"),
    "restate": ("text", "label"),
    "compact": ("summary", "keep_tokens", "whole", "instructions", "mode", "names"),
}
"""The parameters of each action that has some."""
_LISTED = 80
"""Characters of a name that is told."""


@dataclass(frozen=True, slots=True)
class Slips:
    """What is wrong, so that nothing is done, and what is only told."""

    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def slips_in_fields(given: Iterable[str]) -> Slips:
    """Return the slips among the fields of an action."""
    return _slips(given, FIELDS, "there is no field {}", "an action has no field {}, so it was passed over")


def slips_in_params(action: str, given: Iterable[str]) -> Slips:
    """Return the slips among the parameters of an action of that name."""
    return _slips(
        given,
        PARAMS.get(action, ()),
        f"{action} has no parameter {{}}",
        f"{action} has no parameter {{}}, so it was passed over",
    )


def _slips(given: Iterable[str], known: Collection[str], wrong: str, passed: str) -> Slips:
    problems: list[str] = []
    notes: list[str] = []
    for name in given:
        if name in known:
            continue
        near = nearest(name[:_LISTED], known)
        told = repr(name[:_LISTED])
        if near:
            problems.append(f"{wrong.format(told)}; did you mean {near!r}?")
        else:
            notes.append(passed.format(told) + (f"; there are {', '.join(known)}" if known else ""))
    return Slips(tuple(problems), tuple(notes))
