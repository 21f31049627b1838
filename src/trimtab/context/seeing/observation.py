"""What a policy sees: the context as plain data, without a text that it doesn't need.

A policy is any function from an observation to actions; so an observation is a value that JSON can hold, and the same one reaches
rules, a learned policy, a remote server and the log.
"""

from typing import Any, Literal

import msgspec

from trimtab.context.actions import Action

ItemKind = Literal["user", "assistant", "result", "summary", "note"]
ItemState = Literal["full", "folded", "summary", "stub", "gone"]


class ItemFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """One item of the active context. `id` is what an action may name; sizes are tokens; ages are model requests.

    `position` counts from the start of the messages. `offset` is how many tokens of messages stand in front of it. `sent`: a request
    has carried its present bytes, so changing them may cost cache. `referenced` counts later calls that used something first seen in
    it; `last_used` is how many requests ago that was last. `goal_overlap` and `recent_overlap` are shares of its own words, 0 to 1.
    `arguments` are tokens of its calls' arguments (assistant items). `group` is the id of the assistant item whose calls it answers.
    """

    id: str
    kind: ItemKind
    state: ItemState
    tokens: int
    full_tokens: int
    age: int
    position: int
    offset: int
    turn: int = 0
    handle: str | None = None
    tool: str | None = None
    call_id: str | None = None
    group: str | None = None
    resource: str | None = None
    arguments: int = 0
    sent: bool = False
    pinned: bool = False
    is_error: bool = False
    failed_input: bool = False
    superseded_by: str | None = None
    duplicate_of: str | None = None
    expired: bool = False
    restored: int | None = None
    referenced: int = 0
    last_used: int | None = None
    goal_overlap: float = 0.0
    recent_overlap: float = 0.0
    regret: float = 0.0


class Prices(msgspec.Struct, frozen=True):
    """USD per million tokens: fresh input, a cached read, a cache write, output."""

    input: float
    cache_read: float
    cache_write: float
    output: float


class Observation(msgspec.Struct, frozen=True, omit_defaults=True):
    """The context before a request. Token fields count whole requests, overhead included (`fixed`: system prompt and tools). `reserve` is what is kept free for the answer; what `window` has beyond it and `room` is a safety margin.

    `soft_given` and `target_given`: a person chose those two, so a policy of ours keeps to them. `used` is the upper end of the estimate's band. `since` tells for each kind of action how many requests ago it last happened.
    `cold`: the provider's cache probably holds nothing. `remaining` is the expected number of further requests.
    """

    step: int
    used: int
    fixed: int
    window: int
    room: int
    soft: int
    target: int
    hard: int
    items: tuple[ItemFacts, ...]
    reserve: int = 0
    soft_given: bool = False
    target_given: bool = False
    prices: Prices | None = None
    cached: int = 0
    cold: bool = False
    remaining: float = 0.0
    since: dict[str, int] = {}
    last_actions: tuple[Action, ...] = ()
    goal: str = ""
    extra: dict[str, Any] = {}
