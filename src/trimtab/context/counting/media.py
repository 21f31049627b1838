"""What a picture costs, by the provider's own formula.

    Image ──(width, height: stated, or read from the head of its bytes)──▶ rule ──▶ tokens

Sources: the providers' documentation of vision input. Anthropic: pixels / 750 after shrinking to a long side of 1,568 px (2,576 px for models
from Opus 4.7 on). OpenAI: fit into 2,048 px, short side to 768 px, then a base and a price for each tile of 512 px; its small models since GPT-4.1 count
patches of 32 px, at most 1,536, times 1.62 to 1.72 (mini) or 2.46 (nano). Google: 258 for each tile, tiles of about two thirds of the short side, at least 256 and at most 768 px.
Where a size isn't known, the largest picture that fits is assumed: a meter may be too careful, not too careless.
"""

import base64
import binascii
import struct
from math import ceil, sqrt
from typing import Literal, TypeAlias, assert_never

from trimtab.types.messages import Image

MediaRule: TypeAlias = Literal[
    "anthropic", "anthropic_large", "openai_tiles", "openai_patches", "openai_patches_nano", "google"
]
"""The formulas."""

_HEAD = 131_072
"""Base64 characters that are looked at for the size of a picture: a JPEG may keep a thumbnail in front of its frame header."""


def image_tokens(image: Image, rule: MediaRule) -> int:
    """Return the tokens of `image` under `rule`."""
    size = size_of(image)
    match rule:
        case "anthropic":
            return _anthropic(size or (1568, 1568), long_side=1568, most=1600)
        case "anthropic_large":
            return _anthropic(size or (2576, 2576), long_side=2576, most=4784)
        case "openai_tiles":
            return _tiles(size or (2048, 2048))
        case "openai_patches":
            return ceil(1.72 * _patches(size or (2048, 2048)))
        case "openai_patches_nano":
            return ceil(2.46 * _patches(size or (2048, 2048)))
        case "google":
            return _google(size or (1536, 1536))
        case _:
            assert_never(rule)


def size_of(image: Image) -> tuple[int, int] | None:
    """Return width and height in pixels: as stated, else from the head of a PNG, GIF, JPEG or WebP; None when neither says."""
    if image.width and image.height:
        return image.width, image.height
    text = image.data[:_HEAD]
    try:
        head = base64.b64decode(text[: len(text) // 4 * 4], validate=False)
        size = _png(head) or _gif(head) or _webp(head) or _jpeg(head)
    except (binascii.Error, ValueError, struct.error, IndexError):
        return None
    return size if size and min(size) > 0 else None


def _anthropic(size: tuple[int, int], *, long_side: int, most: int) -> int:
    width, height = _fit(size, long_side)
    return max(1, min(most, ceil(width * height / 750)))


def _tiles(size: tuple[int, int]) -> int:
    width, height = _fit(size, 2048)
    shrink = min(1.0, 768 / min(width, height))
    return 85 + 170 * ceil(width * shrink / 512) * ceil(height * shrink / 512)


def _patches(size: tuple[int, int]) -> int:
    width, height = size
    patches = ceil(width / 32) * ceil(height / 32)
    if patches > 1536:
        shrink = sqrt(1536 * 32 * 32 / (width * height))
        patches = min(1536, ceil(width * shrink / 32) * ceil(height * shrink / 32))
    return patches


def _google(size: tuple[int, int]) -> int:
    width, height = size
    if max(size) <= 384:
        return 258
    unit = min(768, max(256, int(min(size) / 1.5)))
    return 258 * ceil(width / unit) * ceil(height / unit)


def _fit(size: tuple[int, int], long_side: int) -> tuple[float, float]:
    shrink = min(1.0, long_side / max(size))
    return max(1.0, size[0] * shrink), max(1.0, size[1] * shrink)


def _png(head: bytes) -> tuple[int, int] | None:
    if not head.startswith(b"\x89PNG\r\n\x1a\n"):
        return None
    width, height = struct.unpack(">II", head[16:24])
    return width, height


def _gif(head: bytes) -> tuple[int, int] | None:
    if not head.startswith((b"GIF87a", b"GIF89a")):
        return None
    width, height = struct.unpack("<HH", head[6:10])
    return width, height


def _webp(head: bytes) -> tuple[int, int] | None:
    if head[:4] != b"RIFF" or head[8:12] != b"WEBP":
        return None
    kind = head[12:16]
    if kind == b"VP8X":
        return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    if kind == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = struct.unpack("<HH", head[26:30])
    return width & 0x3FFF, height & 0x3FFF


def _jpeg(head: bytes) -> tuple[int, int] | None:
    """Walk the segments to the frame header (SOF0-SOF15, without the three that are something else)."""
    if not head.startswith(b"\xff\xd8"):
        return None
    at = 2
    while at + 9 < len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", head[at + 5 : at + 9])
            return width, height
        at += 2 + struct.unpack(">H", head[at + 2 : at + 4])[0]
    return None
