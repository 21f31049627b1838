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
    """One item of the active context. Sizes are tokens, ages are model requests; shares and degrees lie between 0 and 1."""

    id: str
    """What an action may name; so are `handle` and `call_id`."""
    kind: ItemKind
    """What it is; a `note` is a text that an edit says at the end."""
    state: ItemState
    """As it was recorded, shortened, a summary, or the line that stands for it; what is `gone` isn't shown."""
    tokens: int
    """As it is shown now."""
    full_tokens: int
    """As it was recorded."""
    age: int
    """Requests since it came; 0: no request has been answered since."""
    position: int
    """Its place among the messages shown, from 0."""
    offset: int
    """Tokens of the messages in front of it."""
    turn: int = 0
    """The turn in which it came, from 1."""
    handle: str | None = None
    """The short name of a large result, such as `r7`."""
    tool: str | None = None
    """Of a result: which tool gave it."""
    call_id: str | None = None
    """Of a result: the call that it answers."""
    group: str | None = None
    """Of a result: the id of the assistant item whose call it answers."""
    resource: str | None = None
    """Of a result: what it is about. Two of one text were asked for the same thing."""
    arguments: int = 0
    """Of an assistant item: tokens of its calls' arguments."""
    sent: bool = False
    """A request has carried its present bytes, so changing them may cost cache."""
    pinned: bool = False
    """Nothing but an `unpin` may touch it."""
    is_error: bool = False
    """Of a result: the tool failed."""
    failed_input: bool = False
    """Of an assistant item: all its calls failed, so their arguments are worth little."""
    superseded_by: str | None = None
    """The id of a newer item that makes it stale: the file was read or written since, or the note said anew."""
    duplicate_of: str | None = None
    """The id of an earlier result that said the same of the same thing."""
    expired: bool = False
    """An `expire` has come due."""
    restored: int | None = None
    """Requests since somebody brought it back or fetched it again; null: nobody has, or it is long ago."""
    fetched: bool = False
    """It was brought back by a call that fetched it again. Policies leave it alone as they do what somebody restored; recovery takes it like what is new, where nothing else is left."""
    referenced: int = 0
    """Later requests whose calls used something that this result showed first."""
    last_used: int | None = None
    """Requests since that was last; null: never."""
    goal_overlap: float = 0.0
    """Of a result: the share of its words that are also in what the user asked for."""
    recent_overlap: float = 0.0
    """Of a result: the share of its words that are also in the last three answers."""
    regret: float = 0.0
    """Of a result: how often hiding results of its tool was regretted. 0: as usual, 1: half of them were fetched again."""


class Prices(msgspec.Struct, frozen=True):
    """USD per million tokens."""

    input: float
    """Of the prompt, not from the cache."""
    cache_read: float
    """Of the prompt, from the cache."""
    cache_write: float
    """Of the prompt, written to the cache."""
    output: float
    """Of the answer."""


class Observation(msgspec.Struct, frozen=True, omit_defaults=True):
    """The context before a request. Sizes are tokens of whole requests, system prompt and tools included."""

    step: int
    """Requests that were answered so far."""
    used: int
    """The size of the request as it stands: the upper end of what it may be."""
    fixed: int
    """The part of it that is system prompt and tools."""
    window: int
    """What a request and its answer may have together."""
    room: int
    """What a request may have: the window less `reserve` and a margin of safety."""
    soft: int
    """The size from which on a policy may act."""
    target: int
    """The size that it aims at."""
    hard: int
    """The size that no request exceeds: above it, the ladder acts."""
    items: tuple[ItemFacts, ...]
    """What is shown, in order."""
    reserve: int = 0
    """What is kept free for the answer."""
    soft_given: bool = False
    """A person chose `soft`, so a policy of ours keeps to it."""
    target_given: bool = False
    """A person chose `target`, so a policy of ours keeps to it."""
    prices: Prices | None = None
    """Null: no price is known."""
    cached: int = 0
    """Tokens at the head of the request that the provider's cache probably serves."""
    cold: bool = False
    """That cache probably holds nothing any more."""
    remaining: float = 0.0
    """How many further requests are expected."""
    since: dict[str, int] = {}
    """For each kind of action, how many requests ago it last happened; kinds that never happened are absent."""
    last_actions: tuple[Action, ...] = ()
    """What was wanted lately, by whomever, newest last; five at most."""
    goal: str = ""
    """The beginning of what the user asked for first and last."""
    extra: dict[str, Any] = {}
    """Whatever a program that makes observations itself adds; the engine adds nothing."""
