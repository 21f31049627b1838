"""What each API refuses, as data: one row per family, fitted to a model.

    rules_for(model) = row of model.api  +  media of model.provider  +  what model.compat says otherwise

A row speaks of the neutral messages, before a wire shapes them. For every family alike each call has exactly one result, the results of a batch stand
together in call order right behind it, and no message is empty; only the differences are fields. Where one of our wires
stands behind (`wired`), what that wire repairs by itself (foreign ids, two turns of one role, an opening, a result without words) is
no problem; `plain` gives the row for messages that go out as they are.

`compat.media` sets limits by hand: {"count", "side", "many", "many_side", "image_bytes", "request_bytes"}.

Sources: docs.claude.com, "Vision", "Extended thinking"; platform.openai.com, "Images and vision", "Reasoning models"; ai.google.dev, "Image
understanding", "Thought signatures"; console.groq.com, docs.mistral.ai, docs.x.ai, docs.z.ai, "Vision". Where a page is silent,
the figure is the smallest that was seen refused.
"""

import re
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from trimtab.types.models import Api, ModelInfo

Span = Literal["none", "loop", "all"]
"""Of which answers: of none, of those in the tool loop that is going on, of all."""

_MB = 1_000_000
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class ThinkingRules:
    """What of signed thinking must stay. Nowhere may it be changed.

    `mandatory`: where it may not be missing. `counted`: where the provider counts it as input. `frozen`: where the rest of a signed
    answer, the arguments of its calls included, may not change either. `unsigned`: thinking without a signature comes back too.
    `proofs` are fields in the `wire` of texts and calls that are signatures. `followers`: a reasoning item needs what came behind it.
    """

    mandatory: Span = "none"
    counted: Span = "none"
    frozen: Span = "none"
    unsigned: bool = False
    proofs: frozenset[str] = frozenset()
    followers: bool = False


@dataclass(frozen=True, slots=True)
class MediaRules:
    """How many pictures of what size. None: no limit. Sides in pixels, bytes as sent (base64).

    A request of more than `many` pictures takes none with a side above `many_side`. `seen` false: the wire sends no picture at all.
    An empty `types` takes any.
    """

    seen: bool = True
    count: int | None = None
    side: int | None = None
    many: int | None = None
    many_side: int | None = None
    image_bytes: int | None = None
    request_bytes: int | None = None
    types: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class WireRules:
    """One family's row. `provider` is who will read the request; thinking that another one made never reaches it, so it is left alone."""

    api: Api
    provider: str = ""
    first_user: bool = False
    alternates: bool = False
    legal_id: re.Pattern[str] = re.compile(r"(?s).+")
    thinking: ThinkingRules = field(default_factory=ThinkingRules)
    media: MediaRules = field(default_factory=MediaRules)
    wired: bool = True


_COMMON = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_STILL = _COMMON - {"image/gif"}

ROWS: dict[Api, WireRules] = {
    "openai-chat": WireRules(
        "openai-chat",
        legal_id=re.compile(r"[A-Za-z0-9_-]{1,40}"),
        thinking=ThinkingRules(mandatory="loop", frozen="loop", proofs=frozenset({"extra_content"})),
        media=MediaRules(types=_COMMON),
    ),
    "openai-responses": WireRules(
        "openai-responses",
        legal_id=re.compile(r"[A-Za-z0-9_-]{1,64}"),
        thinking=ThinkingRules(mandatory="loop", counted="loop", frozen="loop", followers=True),
        media=MediaRules(types=_COMMON),
    ),
    "anthropic": WireRules(
        "anthropic",
        first_user=True,
        alternates=True,
        legal_id=re.compile(r"[A-Za-z0-9_-]{1,64}"),
        thinking=ThinkingRules(mandatory="loop", counted="loop", frozen="loop"),
        media=MediaRules(
            count=100,
            side=8_000,
            many=20,
            many_side=2_000,
            image_bytes=5 * _MIB,
            request_bytes=32 * _MB,
            types=_COMMON,
        ),
    ),
    "google": WireRules(
        "google",
        first_user=True,
        alternates=True,
        thinking=ThinkingRules(mandatory="loop", counted="loop", frozen="loop", proofs=frozenset({"thoughtSignature"})),
        media=MediaRules(count=900, request_bytes=20 * _MB, types=_STILL | {"image/heic", "image/heif"}),
    ),
    "bridge": WireRules(
        "bridge",
        thinking=ThinkingRules(mandatory="loop", counted="loop", frozen="loop", proofs=frozenset({"provider_details"})),
    ),
    "scripted": WireRules("scripted"),
    "recorded": WireRules("recorded"),
}
"""By API. A server behind a compatible API may have no limit or a stricter one, so those of media stand with the provider."""

MEDIA: dict[tuple[Api, str], MediaRules] = {
    ("openai-chat", "openai"): MediaRules(count=500, image_bytes=25 * _MB, request_bytes=50 * _MB, types=_COMMON),
    ("openai-responses", "openai"): MediaRules(count=500, image_bytes=25 * _MB, request_bytes=50 * _MB, types=_COMMON),
    ("openai-chat", "groq"): MediaRules(count=5, side=5_760, request_bytes=4 * _MB, types=_STILL),
    ("openai-chat", "mistral"): MediaRules(count=8, side=8_000, image_bytes=10 * _MB, types=_COMMON),
    ("openai-chat", "xai"): MediaRules(
        count=100, side=8_000, image_bytes=20 * _MB, types=frozenset({"image/png", "image/jpeg"})
    ),
    ("openai-responses", "xai"): MediaRules(
        count=100, side=8_000, image_bytes=20 * _MB, types=frozenset({"image/png", "image/jpeg"})
    ),
    ("openai-chat", "zai"): MediaRules(count=100, side=8_000, image_bytes=20 * _MB, types=_COMMON),
    ("openai-chat", "openrouter"): MediaRules(count=40, image_bytes=10 * _MB, types=_COMMON),
}
"""By API and provider, where they are known."""

_LIMITS = ("count", "side", "many", "many_side", "image_bytes", "request_bytes")


def rules_for(model: ModelInfo) -> WireRules:
    """Return the rules of the wire and the server that will read `model`'s requests."""
    row = ROWS[model.api]
    length = model.compat.get("call_id_length")
    legal_id = row.legal_id
    if model.api == "openai-chat" and isinstance(length, int) and 0 < length <= 64:
        legal_id = re.compile(rf"[A-Za-z0-9]{{{length}}}")
    return replace(
        row, provider=model.provider, legal_id=legal_id, thinking=_thinking(row, model), media=_media(row, model)
    )


def plain(rules: WireRules) -> WireRules:
    """Return the rules for messages that no wire of ours will repair: an embedder sends them as they are."""
    return replace(rules, wired=False)


def _thinking(row: WireRules, model: ModelInfo) -> ThinkingRules:
    if model.api == "openai-chat" and model.compat.get("reasoning_content"):
        return replace(
            row.thinking, unsigned=True, counted="loop", frozen="none"
        )  # nothing is signed, so nothing checked
    if model.api == "anthropic" and model.thinking_style in ("adaptive", "effort"):
        return replace(row.thinking, counted="all")  # these models keep the thinking of earlier turns in view
    return row.thinking


def _media(row: WireRules, model: ModelInfo) -> MediaRules:
    if row.api in ("scripted", "recorded"):
        return row.media
    media = MEDIA.get((model.api, model.provider), row.media)
    said = model.compat.get("media")
    if isinstance(said, dict):
        limits: dict[str, Any] = {k: v for k, v in said.items() if k in _LIMITS and isinstance(v, int)}
        media = replace(media, **limits)
    return replace(media, seen="image" in model.input)
