"""A reader that no model plays: it searches for the names in the question, reads what was found, keeps the sentence that says most, and answers with it.

    request ──what was called so far, what the newest results show──▶ the next call

It reads the request and nothing else, as a model would, so it can go on from any turn of anybody. With another `seed` it reads in another order and keeps its context in another
way. It finds answers that stand in one sentence; it is there to run everything that is around a reader, not to be good at reading.
"""

import json
import random
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

from trimtab.lab.docqa.wording import PUT_AWAY
from trimtab.types.messages import Assistant, Text, ToolResult, User
from trimtab.types.models import ModelInfo, ModelRequest
from trimtab.types.stream import Ended, PartEnded, StreamEvent, make_call

MODEL = ModelInfo("scripted", "reader", "scripted", context_window=32_768, max_output=2_048)
"""What it says that it is."""
_HIT = re.compile(r"^chunk (\d+)\b.*?: ", re.MULTILINE)
_NUMBER = re.compile(r"\[m(\d+)\]")
_NAME = re.compile(r"([A-Z][\w'-]+(?: [A-Z][\w'-]+)+)((?: [a-z][\w'-]+){0,2})")
_SENTENCE = re.compile(r"[^.!?\n]+(?:(?:(?<=\b[A-Z])\.|[.!?](?=\d))[^.!?\n]*)*[.!?]")
"""An initial and a decimal point end nothing."""
_STOP = frozenset(
    [
        "the",
        "a",
        "an",
        "of",
        "in",
        "on",
        "at",
        "to",
        "for",
        "and",
        "or",
        "what",
        "who",
        "which",
        "when",
        "was",
        "were",
        "is",
        "are",
        "did",
        "does",
        "about",
        "how",
        "many",
        "much",
    ]
)


@dataclass(frozen=True, slots=True)
class _Done:
    """One call that was made, with its answer as it is shown now; `number` is that of the answer."""

    name: str
    arguments: dict[str, Any]
    text: str
    number: int


@dataclass(frozen=True, slots=True)
class ScriptedReader:
    """The reader; a provider like any other."""

    seed: int = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Make the next call."""
        name, arguments = self._next(request)
        yield PartEnded(0, make_call("", name, json.dumps(arguments, ensure_ascii=False)))
        yield Ended("tool_use")

    def _next(self, request: ModelRequest) -> tuple[str, dict[str, Any]]:
        question = _told(request)[0].partition("\n")[0].removeprefix("The question: ")
        done = list(_done(request))
        offered = {tool.name for tool in request.tools}
        wanted = self._wanted(question, done, offered, request)
        return wanted if wanted[0] in offered else _instead(question, done, offered, _told(request)[-1])

    def _wanted(
        self, question: str, done: list[_Done], offered: set[str], request: ModelRequest
    ) -> tuple[str, dict[str, Any]]:
        called = [call.name for call in done]
        for name in ("analyzeText", "buildIndex"):
            if name in offered and name not in called:
                return name, {}
        if "searchEngine" in offered and "searchEngine" not in called:
            return "searchEngine", {"keyword": ", ".join(_names(question))}
        if "plan" in offered and "plan" not in called:
            return "plan", {"strategy": f"Read what the search found, keep what answers: {question}"}
        return self._reading(question, done, offered, request)

    def _reading(
        self, question: str, done: list[_Done], offered: set[str], request: ModelRequest
    ) -> tuple[str, dict[str, Any]]:
        reads = [call for call in done if call.name == "readChunk"]
        last = done[-1]
        if last.name == "readChunk" and "memorize" in offered:
            kept_at = max((at for at, call in enumerate(done) if call.name == "memorize"), default=-1)
            best = _best("\n".join(call.text for call in done[kept_at + 1 :] if call.name == "readChunk"), question)
            key = f"chunk {last.arguments.get('chunk_id')}"
            return "memorize", {
                "key": key,
                "summary": best[:300],
                "content": best,
                "source": {"msg_ids": [last.number]},
            }
        dice = random.Random(f"{self.seed} {len(done)}")
        if last.name == "memorize" and reads:
            away = self._away(reads[-1], done, offered, dice)
            if away is not None:
                return away
        wanted = 1 + random.Random(f"depth {self.seed}").randrange(3)
        left = [hit for hit in _hits(done) if hit not in {call.arguments.get("chunk_id") for call in reads}]
        if left and len(reads) < wanted and "readChunk" in offered:
            return "readChunk", {"chunk_id": left[0] if dice.random() < 0.7 else dice.choice(left)}
        return "finish", {"answer": _best("\n".join(_kept(request)), question) or "I don't know"}

    def _away(
        self, read: _Done, done: list[_Done], offered: set[str], dice: random.Random
    ) -> tuple[str, dict[str, Any]] | None:
        """Put what was read out of the context, in one of several ways; or keep it there."""
        way = dice.choice(("deleteContext", "deleteContext", "summarizeContext", "compressContext", ""))
        if way not in offered:
            return None
        more: dict[str, dict[str, Any]] = {
            "summarizeContext": {"summary": str(done[-1].arguments.get("summary", ""))},
            "compressContext": {"compression_rate": 20},
        }
        return way, {"msg_id": read.number, **more.get(way, {})}


def _instead(question: str, done: list[_Done], offered: set[str], told: str) -> tuple[str, dict[str, Any]]:
    """A call of one of the few tools that a script around the reader leaves it."""
    reads = [call for call in done if call.name == "readChunk"]
    if "readChunk" in offered:
        seen = {call.arguments.get("chunk_id") for call in reads}
        return "readChunk", {"chunk_id": next((hit for hit in _hits(done) if hit not in seen), 1)}
    if "deleteContext" in offered:
        return "deleteContext", {"msg_id": int(told.removeprefix(PUT_AWAY).split(",")[0].strip(" m"))}
    if "loadMemory" in offered:
        keys = [call.arguments["key"] for call in done if call.name == "memorize" and "key" in call.arguments]
        return "loadMemory", {"key": (keys or [""])[-1]}
    return "plan", {"strategy": f"Look for: {question}"}


def _done(request: ModelRequest) -> Iterator[_Done]:
    calls = {call.id: call for m in request.messages if isinstance(m, Assistant) for call in m.tool_calls}
    for message in request.messages:
        if isinstance(message, ToolResult) and message.call_id in calls:
            call = calls[message.call_id]
            found = _NUMBER.search(message.text)
            yield _Done(call.name, call.arguments or {}, message.text, int(found[1]) if found else 0)


def _hits(done: list[_Done]) -> list[int]:
    """Chunks that the searches found, the best first, as far as they are still shown."""
    return [int(n) for call in done if call.name == "searchEngine" for n in _HIT.findall(call.text)]


def _kept(request: ModelRequest) -> Iterator[str]:
    """What was kept, from the list that stands at the end."""
    for text in _told(request)[1:]:
        for line in text.splitlines():
            if line.startswith("memory "):
                yield line.partition(": ")[2]


def _told(request: ModelRequest) -> list[str]:
    """What it was told, in order: the question first."""
    return ["".join(p.text for p in m.parts if isinstance(p, Text)) for m in request.messages if isinstance(m, User)]


def _names(question: str) -> list[str]:
    """What to search for: names of several words, with what follows them and without; else the words that carry something."""
    names = [form for found in _NAME.finditer(question) for form in dict.fromkeys((found.group(), found[1]))]
    return names or [word for word in re.findall(r"[\w'-]{3,}", question) if word.lower() not in _STOP]


def _best(text: str, question: str) -> str:
    """The sentence that shares the most words with the question; the first of equals."""
    asked = set(re.findall(r"\w+", question.lower())) - _STOP
    sentences: list[str] = [sentence.strip() for sentence in _SENTENCE.findall(text)] or [text.strip()]
    shared = [len(asked & set(re.findall(r"\w+", sentence.lower()))) for sentence in sentences]
    return sentences[shared.index(max(shared))]
