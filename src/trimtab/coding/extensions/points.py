"""The words of hooks: where one may stand, what it is told there, and what it may answer.

    session_start ── input ── before_request ── tool_call ── tool_result ── … ── before_compaction ── after_compaction ── session_end         event: beside all of it

What is told is data: a Python hook gets the struct, a shell hook the same as one JSON object on its standard input, with `hook` naming the point.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import msgspec

Point: TypeAlias = Literal[
    "session_start",
    "session_end",
    "input",
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
    agent: str = ""
    """The subagent whose session it is; empty in the one that a person talks to."""


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


class Input(_Told, frozen=True, kw_only=True, tag="input"):
    """The person said something, and no turn runs; the model hasn't read it."""

    text: str
    """The whole of it, files that were named in it too."""
    pictures: int = 0
    """How many come with it."""


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
    """A part of the conversation is about to give way to a summary or a digest."""

    model: str
    """Whose window it is about."""
    trigger: str = "auto"
    """`manual` where the person asked for it, `auto` otherwise."""
    by_model: bool = True
    """Whether a model would be asked for the text; a digest is made without one."""
    tokens_before: int = 0
    """The size of the context."""
    room: int = 0
    """How many tokens a request may have."""
    replaces_tokens: int = 0
    """How many of the context give way."""
    text: str = ""
    """What gives way, as text, shortened."""
    instructions: str = ""
    """What the person wishes of the summary."""
    ahead: bool = False
    """Whether the text is prepared now, for a compaction that comes."""


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
    SessionStart | SessionEnd | Input | BeforeRequest | ToolCalled | ToolReturned | BeforeCompaction | AfterCompaction
)


@dataclass(frozen=True, slots=True)
class Heard:
    """An event, and where it happened: a Python hook gets the event, a shell hook both in one object."""

    event: Any
    where: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Deny:
    """Don't: the call isn't run, no model writes the summary. `reason` is what the model reads, or the log keeps."""

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
    """Something for the model to read: behind the result of a call, before a request, behind what the person said, or, from the start of a session, in the system prompt."""

    text: str


@dataclass(frozen=True, slots=True)
class Replace:
    """Another output in place of the tool's."""

    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Another text in place of what the person said; pictures stay."""

    text: str


@dataclass(frozen=True, slots=True)
class Handled:
    """It is seen to: nothing goes to the model, and the person reads `text`, where there is one."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class Cancel:
    """Compact nothing now. Where a request would not fit without, a digest is made all the same: no hook can end a turn."""

    reason: str


@dataclass(frozen=True, slots=True)
class Summary:
    """The text that stands in place of what gives way; it has to be smaller than that."""

    text: str


@dataclass(frozen=True, slots=True)
class Wishes:
    """What whoever writes the summary is to heed."""

    text: str


Answer: TypeAlias = Deny | Ask | Change | Note | Replace | Rewrite | Handled | Cancel | Summary | Wishes
ANSWERS: dict[Point, tuple[type, ...]] = {
    "session_start": (Note,),
    "session_end": (),
    "input": (Rewrite, Handled, Note),
    "before_request": (Note,),
    "tool_call": (Deny, Ask, Change, Note),
    "tool_result": (Replace, Note),
    "before_compaction": (Deny, Cancel, Summary, Wishes),
    "after_compaction": (),
    "event": (),
}
"""What may be answered where; no answer at all may be given everywhere, and lets all go on."""
