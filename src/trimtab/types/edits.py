"""Context edits: reversible changes of what a model sees, as data.

An edit is appended to the log like a message. It names its targets and stores every text that it shows, so the view that it makes is
the same in every later version. Targets are addresses: the id of a message's entry, or `ENTRY#N` for the part of index N (from 0).

    hides or shortens      Elide Summarize Fold Truncate Compress   one text for each target, in place of its body
    takes out              Drop                                     targets show nothing; a call goes with its result
    brings back            Restore                                  the recorded text, or one page of it
    of arguments           Offload                                  argument text of calls, with pointers in place of content
    of a run               Compact                                  all targets give way to one summary in front of them
    at the end             Restate                                  a text that stands where the edit stands
    marks                  Pin Unpin Expire                         change no byte
"""

from typing import Any, TypeAlias

import msgspec

from trimtab.types.usage import Usage


class EditCost(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an edit cost: the cache that it breaks, the tokens of a model that wrote its text, and time."""

    cache_usd: float | None = None
    """Price of writing again what stands behind the earliest change; null when no price is known."""
    model_tokens: int = 0
    """Tokens that a model used to write the text."""
    model_usd: float | None = None
    """Price of the requests that wrote the text; null when no price is known, or nothing was asked."""
    ms: int = 0
    """Milliseconds."""


class _Edit(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind"):
    targets: tuple[str, ...]
    """Addresses."""
    params: dict[str, Any] = {}
    """What was asked for, apart from texts."""


class _Text(_Edit, frozen=True, omit_defaults=True, kw_only=True):
    texts: dict[str, str] = {}
    """Target to the text that stands in place of its body."""


class Elide(_Text, frozen=True, omit_defaults=True, kw_only=True, tag="elide"):
    """Hides bodies behind stubs."""


class Summarize(_Text, frozen=True, omit_defaults=True, kw_only=True, tag="summarize"):
    """Puts a summary in place of a body."""


class Fold(_Text, frozen=True, omit_defaults=True, kw_only=True, tag="fold"):
    """Keeps head, tail and matching lines of a body."""


class Truncate(_Text, frozen=True, omit_defaults=True, kw_only=True, tag="truncate"):
    """Keeps the span between two sentences of a body."""


class Compress(_Text, frozen=True, omit_defaults=True, kw_only=True, tag="compress"):
    """Keeps a share of a body's tokens."""


class Drop(_Edit, frozen=True, omit_defaults=True, kw_only=True, tag="drop"):
    """Takes messages out, results together with their calls."""


class Restore(_Edit, frozen=True, omit_defaults=True, kw_only=True, tag="restore"):
    """Brings the recorded body back, or `texts` (a page of it)."""

    texts: dict[str, str] = {}
    """Target to the page that is shown; a target without one is shown whole."""


class Offload(_Edit, frozen=True, omit_defaults=True, kw_only=True, tag="offload"):
    """Puts pointers in place of large arguments. Targets are parts: `ENTRY#N`."""

    arguments: dict[str, str]
    """Target to the argument text (JSON) that is shown."""


class Compact(_Edit, frozen=True, omit_defaults=True, kw_only=True, tag="compact"):
    """Puts one summary in place of a run of messages. Targets are all that it replaces, in order; an earlier summary among them stands for what it hides by then."""

    summary: str
    """The whole text that is shown, facts and sources included."""
    first_kept: str | None = None
    """The first message behind the run."""
    parent_summary: str | None = None
    """The earlier Compact whose summary this one updates."""
    mode: str = ""
    """`digest`, `in_place` or `serialised`."""
    model: str | None = None
    """Who wrote it."""
    usage: Usage | None = None
    """Of the request that wrote it."""
    meta: dict[str, Any] = {}
    """What else is known of that request: analysis, prompt version, source hash, rejected attempts."""


class Restate(_Edit, frozen=True, omit_defaults=True, kw_only=True, tag="restate"):
    """Says again, near the end, what stands far above: the goal, a plan, an index. Targets are where it comes from; may be empty."""

    text: str
    """What is said."""
    label: str = ""
    """What it is, such as `goal`, `plan`, `memo`; a newer one of the same label makes the older one stale."""


class Pin(_Edit, frozen=True, omit_defaults=True, kw_only=True, tag="pin"):
    """No policy may touch the targets."""


class Unpin(_Edit, frozen=True, omit_defaults=True, kw_only=True, tag="unpin"):
    """Takes pins away."""


class Expire(_Edit, frozen=True, omit_defaults=True, kw_only=True, tag="expire"):
    """Marks targets: an edit that follows makes it real after `after_steps`, or when something newer replaces them."""

    after_steps: int | None = None
    """Model requests from here on; null: only when superseded."""
    when_superseded: bool = False
    """Also when a newer result replaces it."""


Edit: TypeAlias = (
    Elide | Summarize | Fold | Truncate | Compress | Drop | Restore | Offload | Compact | Restate | Pin | Unpin | Expire
)


def edit_kind(edit: Edit) -> str:
    """The name of the edit's kind, as in the log."""
    return str(edit.__struct_config__.tag)
