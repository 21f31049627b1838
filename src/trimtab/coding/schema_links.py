"""Whether a JSON schema can be followed at all: each reference leads somewhere, and none leads back to where it stands.

schema ──in place: $ref, allOf, if, …──▶ the same value again: a way back to itself has no end
       ──one value further: properties, items, …──▶ looked at on their own: there a way back is a recursive schema, which is fine
"""

from typing import Any

from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012, specification_with

_REFS = ("$ref", "$dynamicRef")
_IN_PLACE = ("not", "if", "then", "else")
_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_BELOW = ("items", "additionalItems", "additionalProperties", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties", "contentSchema")  # fmt: skip
_BELOW_LISTS = ("prefixItems", "items")
_BELOW_BY_NAME = ("properties", "patternProperties", "$defs", "definitions")


class _Flaw(Exception):
    """The schema can't be followed."""


def flaw_of(schema: dict[str, Any]) -> str:
    """Why the schema can't be followed; empty when it can."""
    specification = specification_with(str(schema.get("$schema", "")), default=DRAFT202012)
    resource = specification.create_resource(schema)
    look = _Look()
    try:
        look.later.append((schema, Registry().resolver_with_root(resource)))
        while look.later:
            one, resolver = look.later.pop()
            look.at(one, resolver, frozenset())
    except RecursionError:
        return "it is nested too deeply"
    except _Flaw as problem:
        return str(problem)
    return ""


class _Look:
    """What was seen, and what is still to be seen."""

    def __init__(self) -> None:
        self.later: list[tuple[Any, Any]] = []
        self._done: set[int] = set()

    def at(self, schema: Any, resolver: Any, above: frozenset[int]) -> None:
        """Follow what is about the same value; put off the rest."""
        if not isinstance(schema, dict) or id(schema) in self._done:
            return
        if id(schema) in above:
            raise _Flaw("it refers to itself without end")
        above |= {id(schema)}
        if isinstance(ident := schema.get("$id"), str) and len(above) > 1 and not ident.startswith("#"):
            resolver = resolver.in_subresource(DRAFT202012.create_resource(schema))
        for ref in (schema.get(key) for key in _REFS):
            if isinstance(ref, str):
                try:
                    found = resolver.lookup(ref)
                except Unresolvable:
                    raise _Flaw(f"the reference {ref!r} leads nowhere (nothing is fetched)") from None
                self.at(found.contents, found.resolver, above)
        for one in self._in_place(schema):
            self.at(one, resolver, above)
        self.later += [(one, resolver) for one in self._below(schema)]
        self._done.add(id(schema))

    def _in_place(self, schema: dict[str, Any]) -> list[Any]:
        dependent = schema.get("dependentSchemas")
        return [
            *(schema.get(key) for key in _IN_PLACE),
            *(one for key in _IN_PLACE_LISTS for one in _list(schema.get(key))),
            *(dependent.values() if isinstance(dependent, dict) else ()),
        ]

    def _below(self, schema: dict[str, Any]) -> list[Any]:
        named = (schema.get(key) for key in _BELOW_BY_NAME)
        return [
            *(schema.get(key) for key in _BELOW),
            *(one for key in _BELOW_LISTS for one in _list(schema.get(key))),
            *(one for group in named if isinstance(group, dict) for one in group.values()),
        ]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
