"""Rows: one snapshot of one rollout, as it is written to disk.

The shape of messages, calls and tools is that of Chat Completions, since every chat template reads it: `content` is always a text, and `arguments` are JSON as they were written. What is not in a row can't be
learned from it, so a row says everything: whose it is, where it stands in its tree, what came of it and what that is worth. A reader overlooks fields that it doesn't know.
"""

import math
from collections.abc import Iterable
from typing import Any, Literal

import msgspec

FORMAT: Literal[1] = 1
"""Of rows that this version writes."""
Role = Literal["system", "user", "assistant", "tool"]


class ChatFunction(msgspec.Struct, frozen=True):
    """What a call calls."""

    name: str
    """The tool."""
    arguments: str
    """A JSON object, as the model wrote it."""


class ChatCall(msgspec.Struct, frozen=True):
    """A call of a tool."""

    id: str
    """Unique in its messages."""
    function: ChatFunction
    """What is called, and with what."""
    type: Literal["function"] = "function"
    """Always that."""


class ChatMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message as it was rendered."""

    role: Role
    """Whose it is."""
    content: str
    """Its text; empty where there are only calls."""
    reasoning_content: str = ""
    """Of an answer: what the model thought, as far as its provider showed it."""
    tool_calls: tuple[ChatCall, ...] = ()
    """Of an answer: its calls, in order."""
    tool_call_id: str = ""
    """Of a result: the call that it answers."""
    name: str = ""
    """Of a result: the tool."""


class ToolFunction(msgspec.Struct, frozen=True):
    """A tool as the model saw it."""

    name: str
    """What it is called by."""
    description: str
    """What the model reads about it."""
    parameters: dict[str, Any]
    """A JSON Schema object."""


class ChatTool(msgspec.Struct, frozen=True):
    """A tool in a request."""

    function: ToolFunction
    """The tool."""
    type: Literal["function"] = "function"
    """Always that."""


class Terminal(msgspec.Struct, frozen=True):
    """The end of a rollout that came by this snapshot."""

    rollout: str
    """The rollout."""
    node: str
    """Where it ended."""
    reward: float
    """R(T)."""


class RowPrice(msgspec.Struct, frozen=True, omit_defaults=True):
    """USD per million tokens, as the whole group was charged."""

    input: float
    """Of a fresh token of a prompt."""
    output: float
    """Of a token of an answer."""
    cache_read: float | None = None
    """Of a token read from a cache; null: as a fresh one."""
    cache_write: float | None = None
    """Of a token written to one; null: as a fresh one."""


class SnapshotRow(msgspec.Struct, frozen=True, kw_only=True):
    """What a model saw at a snapshot, what it wrote until the next one, and what that was worth."""

    format: Literal[1] = FORMAT
    """Of the row."""
    source: str
    """Where it comes from: `docqa` for readers of a document, `lab` for a policy in a story."""
    tier: Literal["T0", "T1", "T2", "T3"]
    """Generated, recorded, scripted in a real repository, live."""
    query: str
    """The group: rows of one query are compared with each other and with nothing else."""
    rollout: str
    """The rollout that sampled this row."""
    node: str
    """The snapshot behind the row, which is its name in the query."""
    parent: str
    """The snapshot in front of it."""
    prefix: tuple[str, ...]
    """All snapshots from the root to `node`, both included."""
    terminals: tuple[Terminal, ...]
    """All ends at `node` or below it: those that vote for it."""
    value: float
    """R(S): the mean reward of the terminals; under `traj` the reward of its own rollout."""
    votes: int
    """n_S: how many there are."""
    advantage: float
    """What its log-probability is multiplied with."""
    weight: float
    """What its loss is multiplied with; 0: it isn't trained on."""
    credit: str
    """Which variant made the advantage: `snapshot`, `traj` or `parent`."""
    forced: bool
    """Whoever ran the model left it no choice."""
    forced_edits: int
    """Edits in front of the row that weren't the model's."""
    seed: int
    """Of the query's group: task, prices and all that was drawn."""
    price: RowPrice | None
    """Null where none is known."""
    sampler: str
    """Who wrote the completion."""
    log_prob: float | None
    """Of the whole completion under the sampler; null where that isn't known."""
    prompt_tokens: int
    """Of the prompt, as the engine counted it."""
    messages: tuple[ChatMessage, ...]
    """The prompt as it was rendered."""
    tools: tuple[ChatTool, ...]
    """The tools that were offered."""
    completion: tuple[ChatMessage, ...]
    """What was written since the snapshot, with the results in between; the last message is an answer."""
    mask: tuple[int, ...]
    """For each message of the completion: 1, the model wrote it, it is trained; 0, it isn't."""


def why_wrong(row: SnapshotRow) -> tuple[str, str] | None:
    """Return the field that contradicts the others, and why; None when the row is sound."""
    for field, wrong, why in _checks(row):
        if wrong:
            return field, why
    return _pairing(row)


def _checks(row: SnapshotRow) -> Iterable[tuple[str, bool, str]]:
    said, rewards = row.completion, [terminal.reward for terminal in row.terminals]
    yield "prefix", row.prefix[-2:] != (row.parent, row.node), "doesn't end with parent and node"
    yield "prefix", len(set(row.prefix)) < len(row.prefix), "names a node twice"
    yield "terminals", not rewards, "is empty: a row without an end has no value"
    numbers = [row.value, row.advantage, row.weight, *rewards, *([] if row.log_prob is None else [row.log_prob])]
    yield "value", not all(map(math.isfinite, numbers)), "or another number of the row isn't finite"
    yield "votes", row.votes != len(rewards), f"says {row.votes}, and there are {len(rewards)} terminals"
    mean = math.fsum(rewards) / max(1, len(rewards))
    off = row.credit != "traj" and not math.isclose(row.value, mean, rel_tol=1e-9, abs_tol=1e-9)
    yield "value", off, f"is {row.value:g}, and the terminals have a mean of {mean:g}"
    yield "weight", row.weight < 0, "is below 0"
    yield "log_prob", row.log_prob is not None and row.log_prob > 0, "is above 0"
    yield "messages", not row.messages, "is empty"
    yield "mask", len(row.mask) != len(said), f"has {len(row.mask)} entries for {len(said)} messages"
    yield "mask", not set(row.mask) <= {0, 1}, "holds something else than 0 and 1"
    mine = [message.role == "assistant" for message in said]
    yield (
        "mask",
        any(bit and not own for bit, own in zip(row.mask, mine, strict=True)),
        "trains a message that no model wrote",
    )
    yield "completion", not said or said[-1].role != "assistant", "doesn't end with an answer"
    yield "mask", not any(row.mask), "trains nothing"


def _pairing(row: SnapshotRow) -> tuple[str, str] | None:
    """A result stands behind the call that it answers, and a call has an id of its own."""
    made: set[str] = set()
    for field, messages in (("messages", row.messages), ("completion", row.completion)):
        for at, message in enumerate(messages):
            if message.tool_call_id and message.tool_call_id not in made:
                return f"{field}[{at}]", f"answers call {message.tool_call_id!r}, which nobody made before"
            for call in message.tool_calls:
                if call.id in made:
                    return f"{field}[{at}]", f"makes a second call of the id {call.id!r}"
                made.add(call.id)
    return None
