"""Pictures in a request: what they weigh, which break a limit, and which give way to a note.

    pictures ──▶ each alone: kind, bytes, side, age ──▶ together: side in a request of many, count, bytes ──▶ (picture, why)

A picture that a provider refuses is refused again with every later request, so it is taken out before it is sent. The newest stay
longest. Where pictures go because there are too many, they go in batches: the next ones then change nothing that was sent before. Pure, and
a longer history makes the same choice again; who records the notes as edits keeps even that from mattering.
"""

import base64
import binascii
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from msgspec.structs import replace

from trimtab.context.validate.problems import ProblemKind
from trimtab.context.validate.rules import MediaRules
from trimtab.types.messages import Assistant, Image, Message, Part, Text, Thinking, ToolCall, ToolResult
from trimtab.types.tools import ToolSpec

Handle: TypeAlias = Callable[[int], str | None]
"""The name under which a model can ask for the message of that index again."""

_BATCH = 4
"""A fourth of the count goes at once."""
_SLACK = 1.1
"""JSON around and inside texts, as a factor of their bytes."""
_NOTE = 400
"""Bytes of a note, at most."""
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
)


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that the wire will send. `age`: how many answers came after it."""

    message: int
    part: int
    image: Image
    age: int

    @property
    def size(self) -> int:
        """Bytes as sent."""
        return len(self.image.data)

    @property
    def side(self) -> int:
        """The longer side in pixels; 0 when unknown."""
        width, height = self.image.width, self.image.height
        if not width or not height:
            width, height = _png_sides(self.image.data)
        return max(width, height)


@dataclass(frozen=True, slots=True)
class Fault:
    """A limit that is broken: by one picture, or (None) by all together."""

    kind: ProblemKind
    picture: Picture | None
    text: str


def pictures(messages: Sequence[Message]) -> tuple[Picture, ...]:
    """Return the pictures of users and results that hold their bytes, oldest first. Every wire turns all others into words."""
    found: list[Picture] = []
    answers = sum(isinstance(m, Assistant) for m in messages)
    for i, message in enumerate(messages):
        if isinstance(message, Assistant):
            answers -= 1
            continue
        for n, part in enumerate(message.parts):
            if isinstance(part, Image) and part.data:
                found.append(Picture(i, n, part, answers))
    return tuple(found)


def media_faults(messages: Sequence[Message], media: MediaRules, *, fixed_bytes: int) -> Iterator[Fault]:
    """Yield every limit that the pictures or the bytes of these messages break."""
    shown = pictures(messages) if media.seen else ()
    for picture in shown:
        yield from _alone(picture, media)
    if media.many is not None and media.many_side is not None and len(shown) > media.many:
        for picture in shown:
            if media.many_side < picture.side <= (media.side or picture.side):
                said = f"{picture.side} pixels; a request of more than {media.many} pictures takes {media.many_side}"
                yield Fault("image_side", picture, said)
    if media.count is not None and len(shown) > media.count:
        yield Fault("image_count", None, f"{len(shown)} pictures; the provider takes {media.count}")
    if media.request_bytes is not None:
        total = fixed_bytes + sum(text_bytes(m) for m in messages) + sum(p.size for p in shown)
        if total > media.request_bytes:
            kind: ProblemKind = "media_bytes" if shown else "request_bytes"
            yield Fault(kind, None, f"about {total} bytes; the provider takes {media.request_bytes}")


def to_hide(
    messages: Sequence[Message], media: MediaRules, *, fixed_bytes: int = 0, max_age: int | None = None
) -> dict[tuple[int, int], str]:
    """Return which pictures must go, by (message, part), and why: what is left breaks no limit of pictures.

    `max_age` in answers since the picture.
    """
    if not media.seen:
        return {}
    hidden: dict[tuple[int, int], str] = {}

    def hide(gone: Sequence[Picture], why: str) -> None:
        hidden.update({(p.message, p.part): why for p in gone})

    left: list[Picture] = []
    for picture in pictures(messages):
        fault = next(_alone(picture, media), None)
        if fault is not None:
            hide([picture], fault.text)
        elif max_age is not None and picture.age > max_age:
            hide([picture], f"older than {max_age} answers")
        else:
            left.append(picture)
    words = fixed_bytes + sum(text_bytes(m) for m in messages)
    for choose in (_large_among_many, _over_count, _over_bytes):
        gone, why = choose(left, media, words + _NOTE * len(hidden))
        hide(gone, why)
        left = [p for p in left if p not in gone]
    return hidden


def after_refusal(messages: Sequence[Message]) -> dict[tuple[int, int], str]:
    """Return what to take out when a provider refused the media of this request and no limit says why: what came since it last answered.

    When nothing came since, all of it: a request without pictures can't be refused for them.
    """
    shown = pictures(messages)
    fresh = [p for p in shown if p.age == 0]
    return {(p.message, p.part): "the provider refused it" for p in fresh or shown}


def note_for(image: Image, why: str, *, handle: str | None = None) -> str:
    """Say in one line what picture stood here, why it is gone, and under which name it can be asked for."""
    facts = [(image.name or "")[-80:], image.media_type[:40]]
    if image.width and image.height:
        facts.append(f"{image.width}x{image.height}")
    facts.append(f"{len(image.data.rstrip('=')) * 3 // 4} bytes")
    back = f"; handle {handle}" if handle else ""
    return f"[image not shown: {', '.join(f for f in facts if f)}; {why}{back}]"


def without_pictures(
    messages: Sequence[Message], hidden: dict[tuple[int, int], str], *, handle: Handle | None = None
) -> list[Message]:
    """Return the messages with a note in place of each picture in `hidden` ((message, part) to the reason)."""
    out = list(messages)
    for i in sorted({i for i, _ in hidden}):
        message = out[i]
        name = (handle(i) if handle is not None else None) or (
            message.handle if isinstance(message, ToolResult) else None
        )
        parts: list[Part] = []
        for n, part in enumerate(message.parts):
            why = hidden.get((i, n))
            if why is None or not isinstance(part, Image):
                parts.append(part)
            else:
                between = "\n" if n and isinstance(message, ToolResult) else ""  # the texts of a result are read as one
                parts.append(Text(between + note_for(part, why, handle=name)))
        out[i] = _with_parts(message, tuple(parts))
    return out


def _with_parts(message: Message, parts: tuple[Part, ...]) -> Message:
    return replace(message, parts=parts)


def _alone(picture: Picture, media: MediaRules) -> Iterator[Fault]:
    """What is wrong with one picture, whatever stands beside it."""
    kind, real = picture.image.media_type, _kind(picture.image.data)
    if media.types and kind not in media.types:
        yield Fault("image_type", picture, f"{kind} is a kind that the provider doesn't take")
    elif media.types and real is not None and real != kind:
        yield Fault("image_type", picture, f"the bytes are {real}, not {kind}")
    if media.image_bytes is not None and picture.size > media.image_bytes:
        yield Fault("image_bytes", picture, f"{picture.size} bytes as sent; the provider takes {media.image_bytes}")
    if media.side is not None and picture.side > media.side:
        yield Fault("image_side", picture, f"{picture.side} pixels; the provider takes {media.side}")


def _large_among_many(left: list[Picture], media: MediaRules, _: int) -> tuple[list[Picture], str]:
    """Large ones, unless they just came: for those, the oldest make room."""
    if media.many is None or media.many_side is None or len(left) <= media.many:
        return [], ""
    large = [p for p in left if p.side > media.many_side]
    if not large:
        return [], ""
    newest = left[-1].message
    gone = [p for p in large if p.message != newest]
    rest = [p for p in left if p not in gone]
    if len(gone) < len(large) and len(rest) > media.many:
        older = [p for p in rest if p.message != newest]
        room = len(rest) - media.many
        gone += older[:room] if room <= len(older) else [p for p in large if p.message == newest]
    return gone, f"a request of more than {media.many} pictures takes none above {media.many_side} pixels"


def _over_count(left: list[Picture], media: MediaRules, _: int) -> tuple[list[Picture], str]:
    if media.count is None or len(left) <= media.count:
        return [], ""
    excess = len(left) - media.count
    batch = max(1, media.count // _BATCH)
    older = sum(p.message != left[-1].message for p in left)
    take = max(excess, min(-(-excess // batch) * batch, older))
    return left[:take], f"the provider takes {media.count} pictures"


def _over_bytes(left: list[Picture], media: MediaRules, text_bytes: int) -> tuple[list[Picture], str]:
    """The oldest, down to three fourths of the limit; of those that just came only as many as must."""
    limit = media.request_bytes
    total = text_bytes + sum(p.size for p in left)
    if limit is None or total <= limit:
        return [], ""
    gone: list[Picture] = []
    for picture in left:
        goal = limit if picture.message == left[-1].message else limit * 3 // 4
        if total <= goal:
            break
        gone.append(picture)
        total -= picture.size - _NOTE
    return gone, f"the provider takes requests of {limit} bytes"


def text_bytes(message: Message) -> int:
    """About what the words of a message take in the request."""
    return int(_SLACK * sum(_part_bytes(part) for part in message.parts))


def front_bytes(system: str, tools: Sequence[ToolSpec]) -> int:
    """About what system prompt and tools take in the request."""
    told = (f"{tool.name}{tool.description}{json.dumps(tool.parameters, ensure_ascii=False)}" for tool in tools)
    return int(_SLACK * (_utf8(system) + sum(map(_utf8, told))))


def _part_bytes(part: Part) -> int:
    if isinstance(part, Text):
        return _utf8(part.text)
    if isinstance(part, Thinking):
        return _utf8(part.text) + len(part.signature or "")
    return _utf8(part.raw) if isinstance(part, ToolCall) else 0


def _utf8(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _head(data: str) -> bytes:
    try:
        return base64.b64decode(data[:32])
    except (binascii.Error, ValueError):
        return b""


def _kind(data: str) -> str | None:
    """The kind that the first bytes announce; None when they announce none that is known here."""
    head = _head(data)
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _MAGIC if head.startswith(magic)), None)


def _png_sides(data: str) -> tuple[int, int]:
    """Width and height from the first chunk of a PNG, which is what screenshots are. Source: W3C, PNG, third edition, 11.2.1."""
    head = _head(data)
    if not head.startswith(_MAGIC[0][0]) or head[12:16] != b"IHDR" or len(head) < 24:
        return 0, 0
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
