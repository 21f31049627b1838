"""One history for every provider: what of it a given model may be shown.

A session may have been answered by many models. Before a wire renders it, `adapt` removes what only its maker understands and
makes the rest legal for the target. Every wire calls it first, so the rules stand here once:

    superseded answer        gone, and with it what answered its calls
    thinking                 maker's provider and model: verbatim; same provider: its text; other providers: gone
    text, call, opaque       stay; `wire` only for the maker's provider and model, an opaque item only for its provider
    call ids                 legal for the target and new: kept; otherwise a deterministic hash, on both sides of the pair
    images                   for a model that sees none: a text note that says what was there
    blank text, empty turns  gone (a tool result stays, however empty: its call needs it)

`wire` follows the stricter rule of signatures because some APIs put signatures on text and calls.

The one rule of the file: each output depends only on what came before it, so a longer history only appends to the output of a
shorter one, and prompt caches hold.
"""

import hashlib
import re
from collections import deque

from msgspec.structs import replace

from trimtab.types.ids import portable_call_id
from trimtab.types.messages import Assistant, Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult, User
from trimtab.types.models import ModelInfo

LEGAL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""The strictest id rule of the large APIs; a server with a stricter one passes its own."""

_SNAPSHOT = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)")


def adapt(
    messages: tuple[Message, ...],
    model: ModelInfo,
    *,
    legal_id: re.Pattern[str] = LEGAL_ID,
    own_id: re.Pattern[str] | None = None,
) -> tuple[Message, ...]:
    """Return `messages` as `model` may be shown them: pairs intact, ids legal for `legal_id` and unique, nothing foreign.

    An id that the model's own provider made may instead match `own_id`, for servers whose ids have a form of their own that they expect
    back. Pure, linear, idempotent for one model. Takes unpaired input without failing: an orphan result keeps its (legal) id.
    """
    return tuple(m for _, m in adapt_numbered(messages, model, legal_id=legal_id, own_id=own_id))


def adapt_numbered(
    messages: tuple[Message, ...],
    model: ModelInfo,
    *,
    legal_id: re.Pattern[str] = LEGAL_ID,
    own_id: re.Pattern[str] | None = None,
) -> list[tuple[int, Message]]:
    """The same, each message with the index that it has in `messages`."""
    ids = _CallIds(legal_id, own_id or legal_id)
    sees_images = "image" in model.input
    out: list[tuple[int, Message]] = []
    for number, message in enumerate(messages):
        adapted = _adapt_one(message, model, ids, sees_images=sees_images)
        if adapted is not None:
            out.append((number, adapted))
    return out


def describe_image(image: Image) -> str:
    """Say in one line what a picture is, for a place that can't hold the picture itself."""
    facts = [image.name or "", image.media_type]
    if image.width and image.height:
        facts.append(f"{image.width}x{image.height}")
    if image.data:
        facts.append(f"{len(image.data.rstrip('=')) * 3 // 4} bytes")
    return f"[image not shown: {', '.join(f for f in facts if f)}]"


def same_model(made_by: str, wanted: str) -> bool:
    """True when two model ids name one model: equal, or one is a dated snapshot (or `-latest`) of the other."""
    short, long = sorted((made_by.removeprefix("models/"), wanted.removeprefix("models/")), key=len)
    return bool(short) and long.startswith(short) and (long == short or bool(_SNAPSHOT.fullmatch(long[len(short) :])))


def _adapt_one(message: Message, model: ModelInfo, ids: "_CallIds", *, sees_images: bool) -> Message | None:
    if isinstance(message, User):
        parts = _visible(message.parts, sees_images=sees_images)
        return replace(message, parts=parts) if parts else None
    if isinstance(message, ToolResult):
        call_id = ids.answered(message.call_id)
        if call_id is None:
            return None
        kept = tuple(p for p in message.parts if not isinstance(p, Text) or p.text)
        # The texts of a result are read as one, so a note begins a line of its own.
        return replace(message, call_id=call_id, parts=_seen(kept, sees_images=sees_images, between="\n"))
    if message.superseded:
        for call in message.tool_calls:
            ids.dropped(call.id)
        return None
    parts = _visible(_own(message, model, ids), sees_images=sees_images)
    return replace(message, parts=parts) if parts else None


def _own(message: Assistant, model: ModelInfo, ids: "_CallIds") -> tuple[Part, ...]:
    """The parts of an answer without what only another provider or model could read."""
    home = message.provider == model.provider
    maker = home and same_model(message.model, model.id)
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolCall):
            wire = part.wire if maker else None
            parts.append(replace(part, id=ids.called(part.id, own=home), wire=wire))
        elif isinstance(part, Opaque):
            if part.provider == model.provider:
                parts.append(part)
        elif isinstance(part, Thinking):
            if maker:
                parts.append(part)
            elif home and not part.redacted:
                parts.append(Thinking(part.text))
        elif isinstance(part, Text) and not maker:
            parts.append(replace(part, wire=None))
        else:
            parts.append(part)
    return tuple(parts)


def _visible(parts: tuple[Part, ...], *, sees_images: bool) -> tuple[Part, ...]:
    return _seen(tuple(p for p in parts if not _blank(p)), sees_images=sees_images)


def _seen(parts: tuple[Part, ...], *, sees_images: bool, between: str = "") -> tuple[Part, ...]:
    if sees_images:
        return parts
    return tuple(
        Text((between if n else "") + describe_image(p)) if isinstance(p, Image) else p for n, p in enumerate(parts)
    )


def _blank(part: Part) -> bool:
    """True for what says nothing: APIs refuse whitespace as a text block. What carries a signature or wire fields says something."""
    if isinstance(part, Text):
        return not part.text.strip() and part.wire is None
    if isinstance(part, Thinking):
        return not part.text.strip() and part.wire is None and part.signature is None
    return False


class _CallIds:
    """Names calls in the order they were made; each result gets the name of the oldest unanswered call with its id."""

    def __init__(self, legal: re.Pattern[str], own: re.Pattern[str]) -> None:
        self._legal = legal
        self._own = own
        self._used: set[str] = set()
        self._open: dict[str, deque[str | None]] = {}

    def called(self, call_id: str, *, own: bool) -> str:
        """Return the name of a new call; `own`: made by the provider that will read it."""
        kept = self._legal.fullmatch(call_id) or (own and self._own.fullmatch(call_id))
        name, n = call_id if kept else self._hash(call_id), 1
        while name in self._used:
            n += 1
            name = self._hash(f"{call_id} #{n}")
        self._used.add(name)
        self._open.setdefault(call_id, deque()).append(name)
        return name

    def dropped(self, call_id: str) -> None:
        """A call that isn't shown: neither is its result."""
        self._open.setdefault(call_id, deque()).append(None)

    def answered(self, call_id: str) -> str | None:
        """Return the name of the call that this result answers, or None when that call isn't shown."""
        waiting = self._open.get(call_id)
        if waiting:
            return waiting.popleft()
        return call_id if self._legal.fullmatch(call_id) else self._hash(call_id)

    def _hash(self, seed: str) -> str:
        """A legal id made of `seed`: the portable form, or where that isn't legal, as much of a hash as is."""
        portable = portable_call_id(seed, legal=_NOTHING)
        if self._legal.fullmatch(portable):
            return portable
        digest = hashlib.sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()
        return next((digest[:n] for n in range(len(digest), 0, -1) if self._legal.fullmatch(digest[:n])), portable)


_NOTHING = re.compile(r"(?!)")
