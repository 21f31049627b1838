"""The words of hooks: where one may stand, what it is told there, and what it may answer.

    session_start ── before_request ── tool_call ── tool_result ── … ── before_compaction ── after_compaction ── session_end         event: beside all of it

What is told is data: a Python hook gets the struct, a shell hook the same as one JSON object on its standard input, with `hook` naming the point.
"""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import msgspec

Point: TypeAlias = Literal[
    "session_start",
    "session_end",
    "before_request",
    "tool_call",
    "tool_result",
    "before_compaction",
    "after_compaction",
    "event",
]
POINTS: tuple[Point, ...] = get_args(Point)


class _Told(msgspec.Struct, frozen=True, kw_only=True, tag_field="hook"):
    session_id: str
    """The session."""
    cwd: str
    """The folder one works in."""


class SessionStart(_Told, frozen=True, kw_only=True, tag="session_start"):
    """A session opens; nothing was said in it yet, or it goes on."""

    model: str
    """`PROVIDER/ID`."""
    resumed: bool
    """Whether something was said before."""
    session_file: str | None = None
    """Where it is kept."""


class SessionEnd(_Told, frozen=True, kw_only=True, tag="session_end"):
    """The session closes."""

    session_file: str | None = None
    """Where it is kept."""


class BeforeRequest(_Told, frozen=True, kw_only=True, tag="before_request"):
    """A request to the model is about to be made."""

    model: str
    """`PROVIDER/ID`."""
    last_role: str
    """Who spoke last: `user` or `tool`."""
    last_text: str
    """What was said last, as text, shortened."""


class ToolCalled(_Told, frozen=True, kw_only=True, tag="tool_call"):
    """The model called a tool; its arguments fit the tool's schema. Nobody has judged the call yet."""

    tool_name: str
    """The tool."""
    tool_input: dict[str, Any]
    """The arguments."""
    call_id: str = ""
    """Names the call in events."""


class ToolReturned(_Told, frozen=True, kw_only=True, tag="tool_result"):
    """A tool ran, or was refused; what it said isn't recorded yet."""

    tool_name: str
    """The tool."""
    tool_input: dict[str, Any]
    """The arguments with which it ran."""
    tool_response: str
    """Its output, as text, shortened."""
    is_error: bool
    """Whether it failed."""
    call_id: str = ""
    """Names the call in events."""


class BeforeCompaction(_Told, frozen=True, kw_only=True, tag="before_compaction"):
    """A model is about to be asked for a summary that takes the place of a part of the conversation."""

    model: str
    """Whose window it is about."""


class AfterCompaction(_Told, frozen=True, kw_only=True, tag="after_compaction"):
    """A part of the conversation was replaced by a summary or a digest; the log keeps the whole."""

    entry_id: str
    """The edit in the log; `/revert` takes it back."""
    reason: str
    """Why."""
    author: str
    """Who decided."""
    before_tokens: int
    """The size of the context before."""
    after_tokens: int
    """And after."""


Told: TypeAlias = (
    SessionStart | SessionEnd | BeforeRequest | ToolCalled | ToolReturned | BeforeCompaction | AfterCompaction
)


@dataclass(frozen=True, slots=True)
class Deny:
    """Don't: the call isn't run, the summary isn't written. `reason` is what the model reads, or the log keeps."""

    reason: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Let the person decide whether the call may go on; where nobody is there it doesn't."""

    reason: str


@dataclass(frozen=True, slots=True)
class Change:
    """Go on with other arguments. They are checked against the tool's schema and judged by the permissions as if the model had sent them."""

    arguments: dict[str, Any]
    note: str = ""
    """What the model reads of it, behind the result."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something for the model to read: behind the result of a call, before a request, or, from the start of a session, in the system prompt."""

    text: str


@dataclass(frozen=True, slots=True)
class Replace:
    """Another output in place of the tool's."""

    text: str
    is_error: bool = False


Answer: TypeAlias = Deny | Ask | Change | Note | Replace
ANSWERS: dict[Point, tuple[type, ...]] = {
    "session_start": (Note,),
    "session_end": (),
    "before_request": (Note,),
    "tool_call": (Deny, Ask, Change, Note),
    "tool_result": (Replace, Note),
    "before_compaction": (Deny,),
    "after_compaction": (),
    "event": (),
}
"""What may be answered where; no answer at all may be given everywhere, and lets all go on."""
