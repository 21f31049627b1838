"""The hooks of a session, whoever wrote them, asked one after the other at each point.

    Hook (a function, or a command) ──ask──▶ Answer | None      HookFailed ──▶ at tool_call: the call is refused; elsewhere: told once, passed over

Each sees what the one before made of it. The one rule: an answer that a point doesn't know is a failure, so a mistake in a guard never lets a call through.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from dataclasses import replace as fields_changed
from typing import Any, TypeAlias

from msgspec.structs import replace

from trimtab.coding.extensions.foreign import HookFailed
from trimtab.coding.extensions.match import Match
from trimtab.coding.extensions.points import (
    ANSWERS,
    Answer,
    Ask,
    BeforeCompaction,
    BeforeRequest,
    Cancel,
    Change,
    Deny,
    Handled,
    Input,
    Note,
    Point,
    Replace,
    Rewrite,
    SessionStart,
    Summary,
    Told,
    ToolCalled,
    ToolReturned,
    Wishes,
)
from trimtab.coding.telling.hidden import without_invisible
from trimtab.context.asks import Consented
from trimtab.types.text import scrub

Tell: TypeAlias = Callable[[str], Awaitable[None]]
BREAKER = 3
"""Failures in a row after which a hook that guards nothing isn't asked any more."""
LONGEST = 10_000
"""Characters of one note of a hook that a model reads."""
LONGEST_INPUT = 1_000_000
"""Characters that a hook may put in place of what a person said."""
LONGEST_OUTPUT = 100_000
"""Characters of an output that a hook puts in a tool's place."""


@dataclass(slots=True)
class Hook:
    """One hook. `ask` gets what is told and a way to tell the person something, and raises `HookFailed`; `who` names it for people."""

    point: Point
    who: str
    ask: Callable[[Any, Tell], Awaitable[Answer | None]]
    match: Match = field(default_factory=Match)
    failures: int = 0

    @property
    def off(self) -> bool:
        """Whether it isn't asked any more."""
        return self.point != "tool_call" and self.failures >= BREAKER


@dataclass(frozen=True, slots=True)
class CallVerdict:
    """What hooks made of a call: why it is refused (and whether the person is to decide), its arguments as they are now, and notes for the model."""

    arguments: dict[str, Any]
    refusal: str = ""
    by: str = ""
    ask: bool = False
    notes: tuple[str, ...] = ()


class HookPoints:
    """All hooks of a session. `fits` says whether a hook is about a call; it may touch the disk."""

    def __init__(self, hooks: Sequence[Hook], *, fits: Callable[[Match, str, dict[str, Any]], Awaitable[bool]]) -> None:
        self.hooks = tuple(hooks)
        self.tell: Tell = _nobody
        self._fits = fits

    def at(self, point: Point) -> Iterator[Hook]:
        """The hooks at a point that are still asked."""
        return (hook for hook in self.hooks if hook.point == point and not hook.off)

    def has(self, *points: Point) -> bool:
        """Whether there are any at these."""
        return any(hook.point in points for hook in self.hooks)

    async def tool_call(self, told: ToolCalled) -> CallVerdict:
        """Ask about a call. The first that refuses ends it; what fails refuses."""
        notes: list[str] = []
        for hook in self.at("tool_call"):
            try:
                if not await self._fits(hook.match, told.tool_name, told.tool_input):
                    continue
                answer = await _answer(hook, replace(told, tool_input=deepcopy(told.tool_input)), self.tell)
            except HookFailed as problem:
                await self.tell(f"{hook.who} failed at a call of {told.tool_name}, so it isn't run: {problem}")
                why = f"the check {hook.who} before it failed ({problem}), and it has to succeed. The check is broken, and nobody said no: a person has to mend it"
                return CallVerdict(told.tool_input, why, f"a check that failed: {hook.who}")
            match answer:
                case Deny(reason=reason) | Ask(reason=reason):
                    why = clean(reason) or "it gave no reason"
                    return CallVerdict(told.tool_input, why, hook.who, isinstance(answer, Ask), tuple(notes))
                case Change(arguments=arguments, note=note):
                    told = replace(told, tool_input=dict(arguments))
                    notes += [_noted(hook, note or "changed the arguments of this call")]
                case Note(text=text):
                    notes += [_noted(hook, text)]
                case _:
                    pass
        return CallVerdict(told.tool_input, notes=tuple(notes))

    async def tool_result(self, told: ToolReturned) -> tuple[Replace | None, tuple[str, ...]]:
        """Ask about a result: another output, if one is to take its place, and notes behind it."""
        other: Replace | None = None
        notes: list[str] = []
        for hook in self.at("tool_result"):
            if not await self._fits(hook.match, told.tool_name, told.tool_input):
                continue
            answer = await self._asked(hook, told)
            if isinstance(answer, Replace):
                other = Replace(clean(answer.text, LONGEST_OUTPUT), answer.is_error)
                told = replace(told, tool_response=other.text, is_error=other.is_error)
            elif isinstance(answer, Note):
                notes.append(_noted(hook, answer.text))
        return other, tuple(notes)

    async def notes(self, told: SessionStart | BeforeRequest) -> tuple[str, ...]:
        """What the hooks at the start of a session, or before a request, want the model to read."""
        found = [(hook, await self._asked(hook, told)) for hook in self.at(_point_of(told))]
        return tuple(_noted(hook, answer.text) for hook, answer in found if isinstance(answer, Note) and answer.text)

    async def input(self, told: Input) -> tuple[str, tuple[str, ...], Handled | None]:
        """Ask about what a person said: the text as it is then, notes behind it, and who saw to it, which ends it. What fails is passed over."""
        notes: list[str] = []
        for hook in self.at("input"):
            match await self._asked(hook, told):
                case Handled(text=text):
                    return told.text, (), Handled(f"{hook.who}: {said}" if (said := clean(text)) else "")
                case Rewrite(text=text) if len(text) > LONGEST_INPUT or not (other := clean(text, LONGEST_INPUT)):
                    await self.tell(f"{hook.who} gave no text, or too long a one, in place of what you said; it stays")
                case Rewrite():
                    told = replace(told, text=other)
                case Note(text=text):
                    notes.append(_noted(hook, text))
                case _:
                    pass
        return told.text, tuple(notes), None

    async def compaction(self, told: BeforeCompaction) -> Consented:
        """Ask about a compaction: the strictest answer counts, of two texts the first; the first that cancels ends it."""
        said = Consented()
        for hook in self.at("before_compaction"):
            match await self._asked(hook, told):
                case Cancel(reason=reason):
                    return Consented(cancelled=f"{hook.who}: {clean(reason) or 'it gave no reason'}")
                case Deny(reason=reason) if not said.no_model:
                    said = fields_changed(said, no_model=f"{hook.who}: {clean(reason)}")
                case Summary(text=text) if not said.text:
                    said = fields_changed(said, text=clean(text, LONGEST_OUTPUT), by=hook.who)
                case Wishes(text=text) if wish := clean(text):
                    said = fields_changed(said, wishes=f"{said.wishes}\n{wish}".strip())
                case _:
                    pass
        return said

    async def say(self, told: Told) -> None:
        """Tell the hooks at a point where nothing is answered."""
        for hook in self.at(_point_of(told)):
            await self._asked(hook, told)

    async def event(self, hook: Hook, event: Any) -> None:
        """Tell one hook of an event."""
        await self._asked(hook, event)

    async def _asked(self, hook: Hook, told: Any) -> Answer | None:
        """The answer of a hook that guards nothing; None when it fails, which is told the first time, and when it isn't asked any more."""
        try:
            answer = await _answer(hook, told, self.tell)
        except HookFailed as problem:
            hook.failures += 1
            if hook.failures == 1:
                await self.tell(f"{hook.who} failed at {hook.point}, and is passed over: {problem}")
            elif hook.off:
                await self.tell(f"{hook.who} failed {BREAKER} times in a row at {hook.point}; it isn't asked any more")
            return None
        hook.failures = 0
        return answer


async def _answer(hook: Hook, told: Any, tell: Tell) -> Answer | None:
    answer = await hook.ask(told, tell)
    if answer is not None and not isinstance(answer, ANSWERS[hook.point]):
        known = ", ".join(kind.__name__ for kind in ANSWERS[hook.point]) or "nothing"
        raise HookFailed(f"it answered a {type(answer).__name__}, where {known} is known")
    _require_texts(answer)
    return answer


def _require_texts(answer: Answer | None) -> None:
    """Raise `HookFailed` for an answer whose fields hold something else than they say."""
    match answer:
        case Deny(reason=text) | Ask(reason=text) | Cancel(reason=text):
            fits = isinstance(text, str)
        case Note(text=text) | Replace(text=text) | Summary(text=text) | Wishes(text=text):
            fits = isinstance(text, str)
        case Rewrite(text=text) | Handled(text=text):
            fits = isinstance(text, str)
        case Change(arguments=arguments, note=note):
            fits = isinstance(note, str) and isinstance(arguments, dict) and all(isinstance(k, str) for k in arguments)
        case _:
            fits = True
    if not fits:
        raise HookFailed(f"its {type(answer).__name__} holds no text, or no arguments by name")


def _point_of(told: Any) -> Point:
    point: Point = type(told).__struct_config__.tag
    return point


def _noted(hook: Hook, text: str) -> str:
    return f"[{hook.who}: {clean(text)}]"


def clean(text: str, longest: int = LONGEST) -> str:
    """Text of a hook as a model may read it: without what nobody sees, and not without end."""
    text = scrub(without_invisible(text[: 2 * longest])).strip()
    return text if len(text) <= longest else f"{text[:longest]}… (cut)"


async def _nobody(text: str) -> None:
    pass
