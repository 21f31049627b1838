"""What a server asks a person in the middle of a call: a form of plain fields, or an address to open.

    elicitation/create ──▶ shall it be answered? ──▶ a question for each field ──▶ accept, with the answers
                          └─ no ─▶ decline          └─ nobody answers ─▶ cancel          no person there ─▶ decline

Shapes: `ElicitRequestFormParams` and `ElicitRequestURLParams`. The one rule: nothing is sent that a person didn't type or choose for this server.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trimtab.coding.mcp.harmless import words
from trimtab.coding.person import NOBODY, Option, Person, Question
from trimtab.coding.telling.hidden import invisible_text
from trimtab.coding.telling.printable import one_line

_FIELDS = 30
_ROUNDS = 3
_SKIP = "-"
"""What leaves an optional field out."""


@dataclass(frozen=True, slots=True)
class Form:
    """Asks `person` for `server`."""

    server: str
    person: Person

    async def answer(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answer to one request, in the protocol's shape."""
        if self.person is NOBODY:
            return {"action": "decline"}
        if params.get("mode") == "url":
            return await self._url(params)
        return await self._form(params)

    async def _url(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        url = str(params.get("url", ""))
        if not url.startswith("https://") or not url.isprintable() or invisible_text(url):
            return {"action": "decline"}
        key = await self.person.ask(
            Question(
                "choice",
                f"The server {one_line(self.server)} wants you to open a page. Did you?",
                (words(params.get("message"), 2_000), url, "Open it only if you know why; nothing opens it for you."),
                (Option("yes", "I opened it, go on"), Option("no", "no")),
            )
        )
        return {"action": {"yes": "accept", "no": "decline"}.get(key or "", "cancel")}

    async def _form(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        schema = params.get("requestedSchema")
        fields = schema.get("properties") if isinstance(schema, Mapping) else None
        if not isinstance(fields, Mapping) or len(fields) > _FIELDS:
            return {"action": "decline"}
        listed = tuple(f"it asks for: {one_line(name)}" for name in fields)
        key = await self.person.ask(
            Question(
                "choice",
                f"The server {one_line(self.server)} asks you something:",
                (words(params.get("message"), 2_000), *listed, "What you answer goes to that server."),
                (Option("answer", "answer it"), Option("no", "don't")),
            )
        )
        if key != "answer":
            return {"action": "decline" if key == "no" else "cancel"}
        required = schema.get("required", ()) if isinstance(schema, Mapping) else ()
        content: dict[str, Any] = {}
        for name, kind in fields.items():
            given, value = await self._field(name, kind if isinstance(kind, Mapping) else {}, needed=name in required)
            if not given:
                return {"action": "cancel"}
            if value is not None:
                content[name] = value
        return {"action": "accept", "content": content}

    async def _field(self, name: str, kind: Mapping[str, Any], *, needed: bool) -> tuple[bool, Any]:
        """Whether it was answered, and the value; None for what is left out."""
        why = ""
        title = words(kind.get("title"), 100) or one_line(name)
        about = words(kind.get("description"), 500)
        for _ in range(_ROUNDS):
            question = _question(title, about, why, kind, needed=needed)
            said = await self.person.ask(question)
            if said is None:
                return False, None
            said = said.strip()
            if not question.options and said in ("", _SKIP) and (not needed or "default" in kind):
                return True, kind.get("default")
            if question.options and said == _SKIP:
                return True, None
            value, why = _value(said, kind)
            if not why:
                return True, value
        return False, None


def _question(title: str, about: str, why: str, kind: Mapping[str, Any], *, needed: bool) -> Question:
    details = tuple(line for line in (about, f"asked again: {why}" if why else "") if line)
    if kind.get("type") == "boolean":
        options = (Option("yes", "yes"), Option("no", "no"))
    else:
        options = tuple(Option(str(n), label) for n, (_, label) in enumerate(_choices(kind), 1))
    if options:
        more = () if needed else (Option(_SKIP, "leave it out"),)
        return Question("choice", title, details, (*options, *more))
    ways = f" (a line; {_SKIP} leaves it out)" if not needed else ""
    default = f" [{words(str(kind['default']), 100)}]" if "default" in kind else ""
    several = " (several, with commas between)" if kind.get("type") == "array" else ""
    allowed = tuple(f"{value}: {label}" for value, label in _items(kind))
    return Question("text", f"{title}{default}{several}{ways}", (*details, *allowed))


def _choices(kind: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The values that may be chosen, each with its label."""
    if kind.get("type") == "array":
        return []
    return _listed(kind)


def _items(kind: Mapping[str, Any]) -> list[tuple[str, str]]:
    items = kind.get("items")
    return _listed(items) if kind.get("type") == "array" and isinstance(items, Mapping) else []


def _listed(kind: Mapping[str, Any]) -> list[tuple[str, str]]:
    titled = kind.get("oneOf") or kind.get("anyOf")
    if isinstance(titled, list):
        pairs = [(str(one.get("const")), one.get("title")) for one in titled if isinstance(one, Mapping)]
    else:
        values, names = kind.get("enum"), kind.get("enumNames")
        values = values if isinstance(values, list) else []
        names = names if isinstance(names, list) and len(names) == len(values) else values
        pairs = [(str(value), name) for value, name in zip(values, names, strict=True)]
    return [(value, words(str(name or value), 100)) for value, name in pairs[:50]]


def _value(said: str, kind: Mapping[str, Any]) -> tuple[Any, str]:
    """What was said as a value of that kind, or what is wrong with it."""
    choices = _choices(kind)
    if choices:
        at = int(said) - 1 if said.isdecimal() else -1
        return (choices[at][0], "") if 0 <= at < len(choices) else (None, "choose one of them")
    match kind.get("type"):
        case "boolean":
            return said == "yes", ""
        case "integer" | "number":
            return _number(said, kind)
        case "array":
            allowed = {value for value, _ in _items(kind)}
            chosen = [one.strip() for one in said.split(",") if one.strip()]
            wrong = [one for one in chosen if allowed and one not in allowed]
            return chosen, f"{', '.join(wrong)} is none of them" if wrong else ""
        case _:
            least, most = kind.get("minLength"), kind.get("maxLength")
            if isinstance(least, int) and len(said) < least:
                return None, f"at least {least} characters"
            if isinstance(most, int) and len(said) > most:
                return None, f"at most {most} characters"
            return said, ""


def _number(said: str, kind: Mapping[str, Any]) -> tuple[Any, str]:
    try:
        value = int(said) if kind.get("type") == "integer" else float(said)
    except ValueError:
        return None, "a number, please"
    least, most = kind.get("minimum"), kind.get("maximum")
    if isinstance(least, int | float) and value < least:
        return None, f"at least {least:g}"
    if isinstance(most, int | float) and value > most:
        return None, f"at most {most:g}"
    return value, ""
