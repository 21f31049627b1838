"""The one failure of this package, and the words for where in the given messages it is.

The one rule: whatever a program hands over, nothing else is raised.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from trimtab.types.errors import UsageError
from trimtab.types.near import nearest


class VendorMessageError(UsageError):
    """A message dict can't be read. `index` counts the given messages from 0; `field` is a path such as `content[1].text`."""

    def __init__(self, what: str, *, index: int, field: str, hint: str) -> None:
        where = f"message {index}" + (f", {field}" if field else "")
        super().__init__(f"{where}: {what}", hint=hint)
        self.index = index
        self.field = field


@dataclass(frozen=True, slots=True)
class At:
    """A place in the given messages, which reads required fields and complains in its own name."""

    index: int
    field: str = ""

    def key(self, name: str) -> "At":
        """The place of a field of the object that is here."""
        return At(self.index, f"{self.field}.{name}" if self.field else name)

    def item(self, n: int) -> "At":
        """The place of an item of the list that is here."""
        return At(self.index, f"{self.field}[{n}]")

    def wrong(self, what: str, hint: str) -> VendorMessageError:
        """The complaint about what is here."""
        return VendorMessageError(what, index=self.index, field=self.field, hint=hint)

    def no_role(self, fields: Mapping[str, Any], known: Collection[str], hint: str) -> VendorMessageError:
        """The complaint about the role of the message that is here, with what may have been meant."""
        at, role = self.key("role"), fields.get("role")
        if "role" not in fields:
            return at.wrong("is missing", hint)
        near = nearest(role, known) if isinstance(role, str) else None
        meant = f"; did you mean {near!r}?" if near else ""
        return at.wrong(f"there is no role {role!r:.80}{meant}", hint)

    def text(self, fields: Mapping[str, Any], name: str) -> str:
        """Return a field that must be text."""
        value = fields.get(name)
        if isinstance(value, str):
            return value
        raise self.key(name).wrong(_found(fields, name, "text"), f"Give {name!r} as a string.")

    def mapping(self, fields: Mapping[str, Any], name: str) -> dict[str, Any]:
        """Return a field that must be an object."""
        value = fields.get(name)
        if isinstance(value, dict):
            return value
        raise self.key(name).wrong(_found(fields, name, "an object"), f"Give {name!r} as a dict.")

    def blocks(self, value: object) -> list[tuple["At", str, dict[str, Any]]]:
        """Return the blocks of a content list, each with its place and its type."""
        if not isinstance(value, list):
            raise self.wrong(f"text or a list of blocks was expected, not {_kind(value)}", "Give a string or a list.")
        out: list[tuple[At, str, dict[str, Any]]] = []
        for n, block in enumerate(value):
            at = self.item(n)
            if not isinstance(block, dict):
                raise at.wrong(f"a block must be an object, not {_kind(block)}", 'Give {"type": "text", "text": …}.')
            out.append((at, at.text(block, "type"), block))
        return out


def _found(fields: Mapping[str, Any], name: str, wanted: str) -> str:
    return f"must be {wanted}, not {_kind(fields[name])}" if name in fields else f"is missing; it must be {wanted}"


def _kind(value: object) -> str:
    return "null" if value is None else type(value).__name__
