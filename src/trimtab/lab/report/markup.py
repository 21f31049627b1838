"""HTML from values: what is a plain string is escaped, what is `Html` is taken as it is. Nothing else makes markup."""

import html
import re
from collections.abc import Iterable
from typing import TypeAlias

_VOID = frozenset({"meta", "br", "col"})


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


Child: TypeAlias = "str | Html | None"


def tag(name: str, /, *children: Child, **attributes: str | bool | None) -> Html:
    """Return an element. A trailing underscore of an attribute's name is left out, others become hyphens; None and False leave an attribute out."""
    said = "".join(_attribute(key, value) for key, value in attributes.items() if value not in (None, False))
    if name in _VOID:
        return Html(f"<{name}{said}>")
    return Html(f"<{name}{said}>{join(children)}</{name}>")


def join(children: Iterable[Child], between: str = "") -> Html:
    """Return children as markup, one behind the other."""
    return Html(
        between.join(
            child if isinstance(child, Html) else html.escape(child, quote=False) for child in children if child
        )
    )


def prose(text: str) -> Html:
    """Return a sentence in which what stands between backticks is code."""
    parts = re.split(r"`([^`]+)`", text)
    return join(tag("code", part) if number % 2 else part for number, part in enumerate(parts))


def _attribute(key: str, value: str | bool | None) -> str:  # noqa: FBT001 - one caller
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{html.escape(str(value))}"'
