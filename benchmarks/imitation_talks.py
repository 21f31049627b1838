"""Conversations for `imitation.py`: the same work three times, with texts hidden behind markers in three wordings.

    seed ─▶ ten modules, each read (a result), then each noted (a written argument) ─▶ the oldest N of these 20 texts become markers ─▶ six requests

A marker says that it hides much more than stands there when it doesn't, so conversations of a seed differ little in length. The rule: a
conversation is a function of wording, N and seed; nothing else varies.
"""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from trimtab.context.markers import marker_key, pointer, stub
from trimtab.types.messages import Assistant, Message, Text, ToolResult, user
from trimtab.types.stream import make_call

SALT = "imitation"
MODULES = ("billing", "orders", "search", "upload", "users", "mail", "stock", "report", "login", "audit")
NOUNS = ("rules", "rows", "tables", "jobs", "keys", "pages", "hooks", "filters", "queues", "codes")
HIDDEN = (20, 5, 0)
SYSTEM = "You are a coding agent. You work through tools."
WARNING = (
    "Lines in brackets such as [archived ...] or [not the content ...] stand in place of texts that aren't shown. Never write such a line"
    " yourself, neither into a file nor into an answer: read the text with recall and use that."
)
Task = Literal["note", "write", "copy", "ask"]
"""Note what the request says; write a text that is given; copy a note that may be hidden; answer from a result that may be hidden."""


@dataclass(frozen=True, slots=True)
class Wording:
    """How hidden texts are marked. `in_result` and `in_argument` get name, key and size in tokens; `system` stands in the system prompt."""

    name: str
    system: str
    in_result: Callable[[str, str, int], str]
    in_argument: Callable[[str, str, int], str]


@dataclass(frozen=True, slots=True)
class Request:
    """One request at the end of a conversation. `fact`: what a right answer, or the file `path`, holds.

    When the text is hidden, `source` is the id to recall first and `again` the file that has it, too; empty: it stands in the conversation.
    """

    task: Task
    messages: tuple[Message, ...]
    path: str
    fact: str
    source: str = ""
    again: str = ""


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation and what is asked at its end, each request on its own. `known`: key → way back of the markers in it."""

    system: str
    messages: tuple[Message, ...]
    requests: tuple[Request, ...]
    known: dict[str, str]


def _stub(name: str, key: str, tokens: int) -> str:
    return stub(name=name, key=key, tokens=tokens, lines=tokens // 12, tool="read", is_error=False)


def _pointer(name: str, key: str, tokens: int) -> str:
    return pointer(name=name, key=key, tokens=tokens, lines=tokens // 12)


def _warned(marker: str) -> str:
    return f"{marker[:-1]}; never write or copy this line]"


def _bare(name: str, key: str, tokens: int) -> str:
    return f"[{name}~{key}: {tokens:,} tokens; recall id={name}]"


WORDINGS = (
    Wording("shipped", SYSTEM, _stub, _pointer),
    Wording("warned", f"{SYSTEM}\n{WARNING}", lambda *of: _warned(_stub(*of)), lambda *of: _warned(_pointer(*of))),
    Wording("neutral", SYSTEM, _bare, _bare),
)
CASES = tuple((wording, hidden) for hidden in HIDDEN for wording in WORDINGS if hidden or wording.name != "neutral")
"""What is compared. With nothing hidden, `neutral` is `shipped`."""


def make_talk(wording: Wording, hidden: int, seed: int) -> Talk:
    """Return the conversation of a seed with its `hidden` oldest texts behind markers."""
    rng = random.Random(seed)
    modules = rng.sample(MODULES, len(MODULES))
    limits = {module: rng.randrange(1_000, 10_000) for module in modules}
    nouns = dict(zip(modules, rng.sample(NOUNS, len(NOUNS)), strict=True))
    known: dict[str, str] = {}

    def shown(index: int, name: str, text: str, mark: Callable[[str, str, int], str]) -> str:
        tokens = rng.randrange(300, 9_000)  # drawn whether hidden or not: a seed stays the same conversation
        if index >= hidden:
            return text
        key = marker_key(name, size=tokens, salt=SALT)
        known[key] = f"recall id={name}"
        return mark(name, key, tokens)

    read: list[Message] = []
    noted: list[Message] = []
    for number, module in enumerate(modules, 1):
        body = f"# {nouns[module]}\nLIMIT = {limits[module]}"
        note = f"{module}.py keeps {nouns[module]}, no more than {limits[module]} at a time."
        result = shown(2 * number - 2, f"r{2 * number - 1}", body, wording.in_result)
        content = shown(2 * number - 1, f"e{4 * number}#0", note, wording.in_argument)
        path = f"notes/{module}.md"
        read += (user(f"Read {module}.py."), *_step(f"call_r{number}", "read", {"path": f"{module}.py"}, result))
        if number == 2:
            read += _lesson(module, f"r{2 * number - 1}", limits[module], hidden=hidden > 2 * number - 2)
        step = _step(f"call_w{number}", "write", {"path": path, "content": content}, f"wrote {path}")
        noted += (user(f"Note in {path} what {module}.py holds."), *step)
    return Talk(wording.system, (*read, *noted), _requests(modules, limits, hidden=hidden > 0), known)


def _lesson(module: str, source: str, limit: int, *, hidden: bool) -> tuple[Message, ...]:
    """A question about a text that is answered rightly: with recall when the text is hidden."""
    recalled = _step("call_recall", "recall", {"id": source}, f"[{source}: page 1 of 1]\nLIMIT = {limit}")
    return (user(f"Which LIMIT has {module}.py?"), *(recalled if hidden else ()), _said(f"{limit}"))


def _requests(modules: list[str], limits: dict[str, int], *, hidden: bool) -> tuple[Request, ...]:
    """Three notes, which is where a history of pointers tempts most, and one of each other task, about the oldest and so first hidden texts."""
    first = modules[0]
    note, limit = f"notes/{first}.md", str(limits[first])
    given = f"The cache keeps {limits[first] + 1} entries."
    notes = (_to_note(module, limits[first] + n) for n, module in enumerate(("cache", "ship", "parse"), 1))
    return (
        *notes,
        Request("write", (user(f"Write this text to cache.md: {given}"),), "cache.md", given),
        Request("copy", (user(f"Copy {note} to copy.md."),), "copy.md", limit, *(("e4#0", note) if hidden else ())),
        Request("ask", (user(f"Which LIMIT has {first}.py?"),), "", limit, *(("r1", f"{first}.py") if hidden else ())),
    )


def _to_note(module: str, limit: int) -> Request:
    path = f"notes/{module}.md"
    return Request("note", (user(f"Note in {path} that {module}.py has the LIMIT {limit}."),), path, str(limit))


def _step(call_id: str, name: str, arguments: dict[str, str], result: str) -> tuple[Message, ...]:
    call = make_call(call_id, name, json.dumps(arguments, ensure_ascii=False))
    answer = ToolResult(call_id, name, (Text(result),), is_error=False)
    return Assistant((call,), "tool_use"), answer


def _said(text: str) -> Assistant:
    return Assistant((Text(text),), "stop")
