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
    "stop",
    "length",
    "refused",
    "error",
    "cancelled",
    "max_steps",
    "floor",
    "budget",
    "parked",
    "empty",
    "verify_failed",
    "schema_failed",
]
"""Why a turn ended. `empty`: the model answered nothing, twice; `verify_failed`: it said that it is done, and a check says otherwise; `schema_failed`: its last answer
doesn't fit the schema that was asked for."""


class _Event(msgspec.Struct, frozen=True, tag_field="type", kw_only=True):
    seq: int = 0
    time: str = ""


class SessionOpened(_Event, frozen=True, kw_only=True, tag="session"):
    """The header of the session; always the first event of a process. `format` is that of the session file."""

    format: int
    """Version of the session file's format."""
    id: str
    """The session."""
    cwd: str
    """Where it works."""
    created: str
    """When it began; UTC, RFC 3339."""
    parent_session: str | None = None
    """The session that it was forked from."""
    session_file: str | None = None
    """Its file; null when nothing is kept."""


class TurnStarted(_Event, frozen=True, kw_only=True, tag="turn_started"):
    """A user prompt was taken; the agent is busy until `turn_ended`."""


class StepStarted(_Event, frozen=True, kw_only=True, tag="step_started"):
    """One model request begins. `prompt_tokens` is the count before sending, null when unknown."""

    step: int
    """Counts from 1 within the turn."""
    prompt_tokens: int | None = None
    """Size of the prompt as counted before sending; null when unknown."""


class MessageStarted(_Event, frozen=True, kw_only=True, tag="message_started"):
    """The model begins to answer."""

    message_id: str
    """Names this answer until it has an entry."""
    role: Literal["assistant"] = "assistant"
    """Whose message it is."""


class MessageDelta(_Event, frozen=True, kw_only=True, tag="message_delta"):
    """More of an answer. Part numbers follow stream order. Delta class: may be joined or lost."""

    message_id: str
    """The answer that it belongs to."""
    part: int
    """Number of the part, in the order of the stream."""
    kind: DeltaKind
    """What the text is part of."""
    text: str
    """The new piece only."""


class MessageEnded(_Event, frozen=True, kw_only=True, tag="message_ended"):
    """A message is durable as entry `entry_id`: an answer, or a user message that was delivered.

    `message_id` is empty for user messages.
    """

    entry_id: str
    """The entry on disk."""
    message: Message
    """The whole message."""
    message_id: str = ""
    """That of `message_started`; empty for what a person said."""


class ToolStarted(_Event, frozen=True, kw_only=True, tag="tool_started"):
    """A tool begins to run. A call that doesn't run (refused, unknown, with wrong arguments) has only a `tool_ended`; its arguments are in the message."""

    call_id: str
    """The call, as the model's message names it."""
    name: str
    """The tool."""
    arguments: dict[str, Any] | None
    """As they were checked against the tool's schema."""


class ToolUpdate(_Event, frozen=True, kw_only=True, tag="tool_update"):
    """Live output of a running tool; never archived. Delta class."""

    call_id: str
    """The call."""
    text: str
    """New output only."""


class ToolEnded(_Event, frozen=True, kw_only=True, tag="tool_ended"):
    """A result is durable as entry `entry_id`. `details` are for people, never for the model."""

    entry_id: str
    """The entry on disk."""
    call_id: str
    """The call."""
    name: str
    """The tool."""
    is_error: bool
    """Whether the model reads it as a failure."""
    parts: tuple[Part, ...]
    """What the model reads."""
    cut: Cut | None = None
    """What was left out, if anything."""
    details: dict[str, Any] | None = None
    """For people and programs; the model never sees it. [What each tool puts there](tools.md); null when nothing."""


class ToolParked(_Event, frozen=True, kw_only=True, tag="tool_parked"):
    """A tool needs a person's answer; the turn parks once the other calls of the step are done."""

    entry_id: str
    """The entry that marks the call as waiting."""
    call_id: str
    """The call to answer."""
    name: str
    """The tool."""
    question: str
    """What the person is asked."""


class StepEnded(_Event, frozen=True, kw_only=True, tag="step_ended"):
    """One model request and the tools it called are done."""

    step: int
    """That of `step_started`."""
    stop_reason: StopReason
    """Why the model stopped."""
    usage: Usage | None = None
    """Tokens of this request; null when none were reported."""


class ContextEdited(_Event, frozen=True, kw_only=True, tag="context_edited"):
    """A context edit is durable as entry `entry_id`."""

    entry_id: str
    """The entry on disk."""
    kind: str
    """What was done."""
    targets: tuple[str, ...]
    """What it was done to."""
    reason: str
    """Why."""
    author: str
    """Who decided it."""
    before_tokens: int
    """Size of the context before."""
    after_tokens: int
    """And after."""


class BudgetChanged(_Event, frozen=True, kw_only=True, tag="budget_changed"):
    """Use of the window changed."""

    used_tokens: int | None
    """Size of the context; null when unknown."""
    window: int
    """Size of the model's window."""


class Retry(_Event, frozen=True, kw_only=True, tag="retry"):
    """A request failed and will be sent again after `wait_s` seconds. What it had streamed is void."""

    attempt: int
    """The number of the attempt that failed, from 1."""
    wait_s: float
    """Seconds until the next one."""
    kind: ErrorClass = msgspec.field(name="class")
    """Kind of failure."""
    message: str = ""
    """What the provider said."""


class VerifyEnded(_Event, frozen=True, kw_only=True, tag="verify_ended"):
    """The configured checks have run."""

    outcome: Literal["passed", "failed", "skipped", "not_configured"]
    """How the checks went."""
    round: int = 0
    """Which round of checks, from 1."""
    detail: str = ""
    """In words."""
    tampered: tuple[str, ...] = ()
    """[Protected files](usage.md#checks) that aren't as the person left them, each with what became of it: `tests/test_a.py was deleted`. The check ran with the old ones."""


class JobStarted(_Event, frozen=True, kw_only=True, tag="job_started"):
    """A command runs [in the background](jobs.md): it was started so, or another one left it running. A notice says so too."""

    job_id: str
    """Its id."""
    command: str
    """What runs."""
    pid: int
    """The process that leads its group."""
    by: str = ""
    """The subagent that started it; empty for the session's own model."""
    output_file: str | None = None
    """The file with all that it prints; null when nobody follows that."""


class JobEnded(_Event, frozen=True, kw_only=True, tag="job_ended"):
    """A command in the background and all that it started are over."""

    job_id: str
    """That of `job_started`, in this run or an earlier one."""
    ending: str
    """How, in words: `exit 0`, `timed out after 60 s`, `ended with the session`."""
    failed: bool
    """Whether it failed by itself: what somebody ended didn't."""
    took_s: float
    """Seconds that it ran."""
    text: str = ""
    """The end of what it printed: 20 lines and 2,000 characters at most."""
    output_file: str | None = None
    """The file with all of it."""


class Notice(_Event, frozen=True, kw_only=True, tag="notice"):
    """Something a person should know; nothing failed."""

    message: str
    """In words."""


class Error(_Event, frozen=True, kw_only=True, tag="error"):
    """Something failed for good. `class` names the kind, `hint` the next step."""

    kind: str = msgspec.field(name="class")
    """Kind of failure."""
    message: str
    """In words."""
    hint: str = ""
    """What to do next."""


class TurnEnded(_Event, frozen=True, kw_only=True, tag="turn_ended"):
    """The agent is idle again. `usage` is the sum over the turn's requests, those beside the conversation too."""

    reason: TurnReason
    """How it ended."""
    usage: Usage
    """Sum over the requests of the turn, and over those beside the conversation since the turn before."""
    summary_usage: Usage = Usage()
    """The part of `usage` that went to requests beside the conversation: summaries, names, reviews, descriptions of pictures, subagents."""


class Failure(msgspec.Struct, frozen=True):
    """What failed for good, as the `error` event says it."""

    kind: str = msgspec.field(name="class")
    """Kind of failure."""
    message: str
    """In words."""
    hint: str = ""
    """What to do next."""


class Result(_Event, frozen=True, kw_only=True, tag="result"):
    """Exactly one, the last line of JSON mode: the turn in one object."""

    reason: TurnReason
    """How the turn ended."""
    exit_code: int
    """[That of the process](exit-codes.md); after a signal it says so, whatever `reason` is."""
    text: str
    """Text of the last answer, without thinking; empty when there was none."""
    usage: Usage
    """Tokens, summed over the requests of the turn and those beside the conversation; requests that reported none count as 0."""
    cost_usd: float | None
    """Sum over the same requests in USD, each at the model's prices; null when a price is unknown, as for a model in no list."""
    steps: int
    """How many model requests the turn made; one that was sent again counts once."""
    session_id: str
    """The session, as `--resume` takes it."""
    session_file: str | None
    """Its file; null when nothing is kept."""
    summary_usage: Usage = Usage()
    """The part of `usage` that went to requests beside the conversation: summaries, names, reviews, descriptions of pictures, subagents."""
    summary_cost_usd: float | None = 0.0
    """The part of `cost_usd` that went to the same requests as `summary_usage`; null when a price is unknown."""
    verify: str = "not_configured"
    """Outcome of the checks, as in the last `verify_ended`; `skipped` also when they were turned off; `not_run` when the turn changed a file and ended before they could run."""
    tampered: tuple[str, ...] = ()
    """As in the last `verify_ended`, or found when the turn had ended."""
    error: Failure | None = None
    """What the last `error` event of the turn says, where it ended for that: `class`, `message` and `hint`."""
    output: Any = None
    """The last answer as a JSON value, where a schema was asked for and it fits."""
    changed_files: tuple[str, ...] = ()
    """Real absolute paths of the files that are different, there or gone by what the run did, its commands and subagents too, in the order of their first change. What commands change is seen where
    [checkpoints](usage.md#taking-turns-back) look: of ignored files, and in projects that are too large for them, only what tools and redirections wrote."""


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
    | JobStarted
    | JobEnded
    | Notice
    | Error
    | TurnEnded
    | Result
)
DELTAS = (MessageDelta, ToolUpdate)
