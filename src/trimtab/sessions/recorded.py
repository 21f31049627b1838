"""A recorded session of any agent, in one shape.

    importer(lines) ──▶ Recording(events)     the live chain, oldest first, every message in our own types

An event is a message that came in, an answer of the model (one API message, with the usage that its provider reported), or a compaction.
A message stands in the recording once, however many lines or repeats it had in its file.
"""

from dataclasses import dataclass, field
from typing import TypeAlias

from trimtab.types.messages import Assistant, Message, ToolResult, User


@dataclass(frozen=True, slots=True)
class Came:
    """Something that entered the context: a person's words, a result, what the client injected. `time` in seconds, UTC."""

    message: User | ToolResult
    time: float | None = None
    injected: bool = False


@dataclass(frozen=True, slots=True)
class Answered:
    """One API message. `message.usage` is what was reported, or None. `hidden_thinking`: it thought more than its text shows.

    `output_unreliable`: the reported output is a placeholder.
    """

    message: Assistant
    time: float | None = None
    id: str = ""
    hidden_thinking: bool = False
    output_unreliable: bool = False


@dataclass(frozen=True, slots=True)
class Compacted:
    """The client replaced its context: by `summary`, or by exactly `replacement` where the file says so."""

    summary: str = ""
    replacement: tuple[Message, ...] | None = None
    time: float | None = None
    before_tokens: int | None = None
    trigger: str = ""


Event: TypeAlias = Came | Answered | Compacted


@dataclass(frozen=True, slots=True)
class Recording:
    """A whole session. `model` is the id that answered most; `window` in tokens where the file says it.

    `system` is the system prompt where it is known. `bad_lines` could not be read. `notes` say what else was left out.
    """

    file: str
    format: str
    model: str
    events: tuple[Event, ...]
    provider: str = ""
    window: int | None = None
    system: str = ""
    id: str = ""
    cwd: str = ""
    bad_lines: int = 0
    cut: bool = False
    """Whether its archive ended too early, so that nobody knows how much is missing."""
    notes: tuple[str, ...] = field(default=())
