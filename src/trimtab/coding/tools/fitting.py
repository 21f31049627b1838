"""Pictures as models take them: as they are where they fit, else made smaller, or another format, by Pillow.

    bytes ──examine──▶ small enough, of a kind that models take ──▶ as they are
                          └─ else ──Pillow, within bounds──▶ upright, ≤ 2,000 pixels a side, PNG where it was exact, JPEG where that is too large

A picture is decoded only after its head has said how many pixels that makes. The one rule: what comes out is examined as what comes in is, and what can't be made to fit is said, with why.
"""

import io
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trimtab.coding.tools.caps import Caps
from trimtab.coding.tools.images import BadImage, ImageInfo, examine, foreign_image, image_kind
from trimtab.types.extras import install_hint

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

MOST_BYTES = 50_000_000
"""Of a picture that is looked at to be made smaller."""
_PIXELS = 40_000_000
_BOMB = f"it has more than {_PIXELS:,} pixels: make it smaller first"
_SIDE = 2_000
"""Pixels a side of what was made smaller; providers scale down what is larger than about this anyway."""
_TRIES = 12
_QUALITY = (85, 70, 50)
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "AVIF")
"""What Pillow is asked to read; its other readers see no bytes of a stranger's."""
_EXACT = frozenset({"PNG", "GIF", "BMP"})


class NoFit(Exception):
    """The picture is sound as far as anybody looked, and can't be sent; the text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A picture that may be sent. `note` says how it is another one than was given; empty when it isn't."""

    data: bytes
    info: ImageInfo
    note: str = ""


def may_fit(head: bytes) -> bool:
    """Whether the first 16 bytes announce a picture that could be sent, as it is or as another format."""
    return image_kind(head) is not None or foreign_image(head) in ("BMP", "TIFF", "AVIF")


def fitted(data: bytes, caps: Caps) -> Fitted:
    """The picture as it may be sent. Raises `BadImage` for a damaged one, `NoFit` for one that is too large or foreign where nothing can be done. Takes seconds: call it in a thread."""
    if not may_fit(data[:16]):
        raise BadImage("no picture of a known kind")
    given = examine(data) if image_kind(data[:16]) else None
    if given is not None and _fits(data, given, caps):
        return Fitted(data, given)
    name = foreign_image(data[:16]) or "picture"
    was = f"{given.width}x{given.height}" if given else name
    limit = f"a side may have {caps.image_pixels_a_side:,} pixels, all of it {caps.image_bytes:,} bytes"
    if len(data) > MOST_BYTES:
        raise NoFit(f"{limit}, and above {MOST_BYTES:,} bytes it isn't made smaller here: make it smaller first")
    if given is not None and given.width * given.height > _PIXELS:
        raise NoFit(_BOMB)
    try:
        from PIL import Image as Pillow  # noqa: PLC0415 - an extra, and slow to load
    except ImportError:
        do = (
            "models take PNG, JPEG, GIF or WebP: convert it first"
            if given is None
            else f"{limit}: make it smaller first"
        )
        raise NoFit(f"{do}, or let Trimtab do it. {install_hint('images')}") from None
    warnings.filterwarnings("ignore", module="PIL")  # what it thinks of odd bytes would stand in the middle of a talk
    try:
        with Pillow.open(io.BytesIO(data), formats=_FORMATS) as picture:
            if picture.width * picture.height > _PIXELS:
                raise NoFit(_BOMB)
            frames = int(getattr(picture, "n_frames", 1))
            made, info = _made(picture, caps)
    except NoFit:
        raise
    except Pillow.DecompressionBombError:
        raise NoFit(_BOMB) from None
    except Exception:  # noqa: BLE001 - a decoder fails on damage in ways of its own
        raise BadImage("it can't be decoded") from None
    first = f", the first of {frames:,} frames" if frames > 1 else ""
    return Fitted(
        made, info, f"sent as {info.media_type}, {info.width}x{info.height}, {len(made):,} bytes{first}; it was {was}"
    )


def _fits(data: bytes, info: ImageInfo, caps: Caps) -> bool:
    return len(data) <= caps.image_bytes and max(info.width, info.height) <= caps.image_pixels_a_side


def _made(picture: "Picture", caps: Caps) -> tuple[bytes, ImageInfo]:
    """Upright, small enough in pixels, then in bytes: exact where that is enough, else ever less so."""
    from PIL import ImageOps  # noqa: PLC0415 - as above

    exact = picture.format in _EXACT
    upright = ImageOps.exif_transpose(picture)
    clear = upright.mode in ("RGBA", "LA", "PA") or "transparency" in upright.info
    plain = upright.convert("RGBA" if clear else "RGB")
    side = min(_SIDE, caps.image_pixels_a_side)
    for _ in range(_TRIES):
        small = plain.copy()
        small.thumbnail((side, side))
        for kind, quality in (*((("PNG", 0),) if exact or clear else ()), *(("JPEG", q) for q in _QUALITY)):
            data = _saved(small, kind, quality)
            info = examine(data)
            if _fits(data, info, caps):
                return data, info
        side = max(int(side * 0.75), 1)
    raise NoFit(f"it can't be made smaller than {caps.image_bytes:,} bytes")


def _saved(picture: "Picture", kind: str, quality: int) -> bytes:
    out = io.BytesIO()
    if kind == "PNG":
        picture.save(out, "PNG", optimize=False)
    else:
        if picture.mode == "RGBA":
            from PIL import Image as Pillow  # noqa: PLC0415 - as above

            ground = Pillow.new("RGB", picture.size, "white")
            ground.paste(picture, mask=picture.getchannel("A"))
            picture = ground
        picture.save(out, "JPEG", quality=quality)
    return out.getvalue()
