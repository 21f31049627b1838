"""The scripted agent: a model whose plan is written, and whose knowledge is only what the request shows.

    request ──seen──▶ every value that the next move needs?   yes ──▶ the move, filled in
                          no ──a way in sight, and noticed?──▶ recall, or the source read anew; then it looks again
                                   └ no ──▶ the move all the same, with a guess: the tests will tell

It knows what comes next whatever the context says; it never knows with what. So an edit can make it write a wrong value, and can't make it lose its way: what is
measured is lost knowledge, not lost plans. Whether a way in sight is noticed is drawn once for a value and a move, from the story's name and seed, so all arms have the
same luck. What it is asked to summarise it answers with an extract, as the engine does where no model answers: nothing here says how well models summarise.
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Literal, TypeAlias

from trimtab.context.summary.digest import digest
from trimtab.context.summary.extract import extract_printed
from trimtab.lab.live.assignment import Assignment, Fact, Move, blanks, filled
from trimtab.lab.live.seeing import Way, next_page, shown, ways
from trimtab.providers.script import Line, ScriptedCall
from trimtab.providers.scripted import answer
from trimtab.types.messages import Message, Text, User
from trimtab.types.models import ModelRequest
from trimtab.types.stream import Ended, StreamEvent

State: TypeAlias = Literal["visible", "stub", "lost"]
_MOST_CALLS = 8
"""Calls after which a value isn't looked for any more."""
_DONE = "Everything that was asked for is changed, and I ran the tests."


@dataclass(frozen=True, slots=True)
class Sought:
    """A value that a move needed: how the request stood to it when it was first looked for, whether a way was noticed, and what was then written."""

    move: int
    fact: str
    state: State
    noticed: bool
    written: str = ""


@dataclass(slots=True)
class _Search:
    """One value that a move needs and doesn't see."""

    noticed: bool
    tried: list[Way] = field(default_factory=list)


class ScriptedAgent:
    """A provider. `sought`: what was needed so far; `calls`: how often it fetched something, by tool."""

    def __init__(self, assignment: Assignment, *, noticed: float, seed: int, tokens: Callable[[str], int]) -> None:
        self._facts = {fact.name: fact for fact in assignment.facts}
        self._moves: tuple[Move, ...] = assignment.moves
        self._story = assignment.name
        self._noticed, self._seed, self._tokens = noticed, seed, tokens
        self._at = 0
        self._numbers = count(1)
        self._searches: dict[str, _Search] = {}
        self._seen: dict[tuple[int, str], Sought] = {}
        self.calls = {"recall": 0, "read": 0}

    @property
    def sought(self) -> tuple[Sought, ...]:
        """Every value that a move needed, in order."""
        return tuple(self._seen.values())

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Answer one request."""
        line = self._summary(request) if wants_summary(request) else self._line(request.messages)
        for event in answer(line):
            yield event
        yield Ended("tool_use" if line.tool_calls else "stop", None, request.model.id)

    def _line(self, messages: tuple[Message, ...]) -> Line:
        if self._at >= len(self._moves):
            return Line(text=_DONE)
        move = self._moves[self._at]
        values: dict[str, str] = {}
        for name in move.needs:
            if (way := self._known(name, messages, values)) is not None:
                self.calls[way.tool] += 1
                return self._call("Let me look that up again.", way.tool, dict(way.arguments))
        self._at += 1
        self._searches.clear()
        return self._call(move.say, move.tool, filled(move.arguments, values.__getitem__))

    def _known(self, name: str, messages: tuple[Message, ...], values: dict[str, str]) -> Way | None:
        """Put the value of a fact, and of those that it hangs on, into `values`; or return the call that may bring it."""
        fact = self._facts[name]
        for other in blanks([fact.pattern, fact.source, fact.words]):
            if other not in values and (way := self._known(other, messages, values)) is not None:
                return way
        texts = (fact.pattern, fact.source, fact.words)
        pattern, source, words = (filled(text, values.__getitem__) for text in texts)
        here = Fact(name, pattern, source, words, fact.guess)
        value = shown(messages, here.pattern)
        search = self._searches.get(name)
        if value is None:
            search = search or self._begun(here, messages)
            if search.noticed and (way := self._next(search, here, messages)) is not None:
                search.tried.append(way)
                return way
        values[name] = fact.guess if value is None else value
        self._told(name, "visible" if value is not None and search is None else None, values[name])
        return None

    def _begun(self, fact: Fact, messages: tuple[Message, ...]) -> _Search:
        """Whether anything leads to a value that isn't in sight, and whether that is noticed."""
        state: State = "stub" if any(ways(messages, fact.source, fact.words)) else "lost"
        luck = Random(f"noticed {self._story} {self._seed} {self._at} {fact.name}").random()
        search = self._searches[fact.name] = _Search(state == "stub" and luck < self._noticed)
        self._seen[self._at, fact.name] = Sought(self._at, fact.name, state, search.noticed)
        return search

    def _next(self, search: _Search, fact: Fact, messages: tuple[Message, ...]) -> Way | None:
        if len(search.tried) >= _MOST_CALLS:
            return None
        if search.tried and (more := next_page(messages, search.tried[-1])) is not None:
            return more
        return next((way for way in ways(messages, fact.source, fact.words) if way not in search.tried), None)

    def _told(self, name: str, state: State | None, written: str) -> None:
        known = self._seen.get((self._at, name))
        if known is None and state is not None:
            self._seen[self._at, name] = Sought(self._at, name, state, noticed=True, written=written)
        elif known is not None:
            self._seen[self._at, name] = Sought(self._at, name, known.state, known.noticed, written)

    def _call(self, say: str, tool: str, arguments: dict[str, object]) -> Line:
        return Line(text=say, tool_calls=(ScriptedCall(tool, arguments, f"call_{next(self._numbers)}"),))

    def _summary(self, request: ModelRequest) -> Line:
        room = max(1, (request.max_output or request.model.max_output) // 3)
        *before, last = request.messages
        if request.tools:
            text = digest(before, count=self._tokens, max_tokens=room)
        else:
            words = "\n".join(part.text for part in last.parts if isinstance(part, Text))
            text = extract_printed(words, max_tokens=room, count=self._tokens)
        return Line(text=f"<summary>\n{text}\n</summary>")


def wants_summary(request: ModelRequest) -> bool:
    """Whether a request asks for a summary, behind the conversation or of a transcript, and doesn't belong to the conversation."""
    last = request.messages[-1] if request.messages else None
    if not isinstance(last, User) or last.origin != "command":
        return False
    return any(isinstance(part, Text) and "<summary>" in part.text for part in last.parts)
