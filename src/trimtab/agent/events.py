"""Events: what happens in a run, for whoever watches. Their JSON form is pinned (one object a line, `type` first).

Two delivery classes. A *delta* (`message_delta`, `tool_update`) may be joined with its neighbours or lost for a slow watcher, because
the ending repeats its content. Every other event is delivered. An event that carries an `entry_id` is emitted only after
that entry is durable. The feed fills `seq` and `time`; whoever emits an event leaves them alone.
"""

from typing import Any, Literal, TypeAlias

import msgspec

from trimtab.types.errors import ErrorClass
from trimtab.types.messages import Message, Part, StopReason
from trimtab.types.stream import DeltaKind
from trimtab.types.tools import Cut
from trimtab.types.usage import Usage

TurnReason = Literal[
    "stop", "length", "refused", "error", "cancelled", "max_steps", "floor", "budget", "parked", "empty"
]
"""Why a turn ended. `empty`: the model answered nothing, twice."""


class _Event(msgspec.Struct, frozen=True, tag_field="type", kw_only=True):
    seq: int = 0
    time: str = ""


class SessionOpened(_Event, frozen=True, kw_only=True, tag="session"):
    """The header of the session; always the first event of a process. `format` is that of the session file."""

    format: int
    id: str
    cwd: str
    created: str
    parent_session: str | None = None
    session_file: str | None = None


class TurnStarted(_Event, frozen=True, kw_only=True, tag="turn_started"):
    """A user prompt was taken; the agent is busy until `turn_ended`."""


class StepStarted(_Event, frozen=True, kw_only=True, tag="step_started"):
    """One model request begins. `prompt_tokens` is the count before sending, None when unknown."""

    step: int
    prompt_tokens: int | None = None


class MessageStarted(_Event, frozen=True, kw_only=True, tag="message_started"):
    """The model begins to answer."""

    message_id: str
    role: Literal["assistant"] = "assistant"


class MessageDelta(_Event, frozen=True, kw_only=True, tag="message_delta"):
    """More of an answer. Part numbers follow stream order. Delta class: may be joined or lost."""

    message_id: str
    part: int
    kind: DeltaKind
    text: str


class MessageEnded(_Event, frozen=True, kw_only=True, tag="message_ended"):
    """A message is durable as entry `entry_id`: an answer, or a user message that was delivered.

    `message_id` is empty for user messages.
    """

    entry_id: str
    message: Message
    message_id: str = ""


class ToolStarted(_Event, frozen=True, kw_only=True, tag="tool_started"):
    """A tool begins to run."""

    call_id: str
    name: str
    arguments: dict[str, Any] | None


class ToolUpdate(_Event, frozen=True, kw_only=True, tag="tool_update"):
    """Live output of a running tool; never archived. Delta class."""

    call_id: str
    text: str


class ToolEnded(_Event, frozen=True, kw_only=True, tag="tool_ended"):
    """A result is durable as entry `entry_id`. `details` are for people, never for the model."""

    entry_id: str
    call_id: str
    name: str
    is_error: bool
    parts: tuple[Part, ...]
    cut: Cut | None = None
    details: dict[str, Any] | None = None


class ToolParked(_Event, frozen=True, kw_only=True, tag="tool_parked"):
    """A tool needs a person's answer; the turn parks once the other calls of the step are done."""

    entry_id: str
    call_id: str
    name: str
    question: str


class StepEnded(_Event, frozen=True, kw_only=True, tag="step_ended"):
    """One model request and the tools it called are done."""

    step: int
    stop_reason: StopReason
    usage: Usage | None = None


class ContextEdited(_Event, frozen=True, kw_only=True, tag="context_edited"):
    """A context edit is durable as entry `entry_id`."""

    entry_id: str
    kind: str
    targets: tuple[str, ...]
    reason: str
    author: str
    before_tokens: int
    after_tokens: int


class BudgetChanged(_Event, frozen=True, kw_only=True, tag="budget_changed"):
    """Use of the window changed."""

    used_tokens: int | None
    window: int


class Retry(_Event, frozen=True, kw_only=True, tag="retry"):
    """A request failed and will be sent again after `wait_s` seconds. What it had streamed is void."""

    attempt: int
    wait_s: float
    kind: ErrorClass = msgspec.field(name="class")
    message: str = ""


class VerifyEnded(_Event, frozen=True, kw_only=True, tag="verify_ended"):
    """The configured checks have run."""

    outcome: Literal["passed", "failed", "skipped", "not_configured"]
    round: int = 0
    detail: str = ""


class Notice(_Event, frozen=True, kw_only=True, tag="notice"):
    """Something a person should know; nothing failed."""

    message: str


class Error(_Event, frozen=True, kw_only=True, tag="error"):
    """Something failed for good. `class` names the kind, `hint` the next step."""

    kind: str = msgspec.field(name="class")
    message: str
    hint: str = ""


class TurnEnded(_Event, frozen=True, kw_only=True, tag="turn_ended"):
    """The agent is idle again. `usage` is the sum over the turn's requests."""

    reason: TurnReason
    usage: Usage


class Result(_Event, frozen=True, kw_only=True, tag="result"):
    """Exactly one, the last line of JSON mode."""

    reason: TurnReason
    exit_code: int
    text: str
    usage: Usage
    cost_usd: float | None
    steps: int
    session_id: str
    session_file: str | None
    verify: str = "not_configured"
    changed_files: tuple[str, ...] = ()


Event: TypeAlias = (
    SessionOpened
    | TurnStarted
    | StepStarted
    | MessageStarted
    | MessageDelta
    | MessageEnded
    | ToolStarted
    | ToolUpdate
    | ToolEnded
    | ToolParked
    | StepEnded
    | ContextEdited
    | BudgetChanged
    | Retry
    | VerifyEnded
    | Notice
    | Error
    | TurnEnded
    | Result
)
DELTAS = (MessageDelta, ToolUpdate)
