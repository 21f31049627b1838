"""Pictures by their bytes: which kind, how large, and whether they can be decoded.

A picture that a provider refuses would stay in the history and break every later request, so a damaged one never enters it. The
checks go as far as the standard library does: PNG chunks and their pixel data, JPEG segments to the end mark, GIF blocks to the trailer, the
RIFF frame of WebP. Names are never looked at. Formats: PNG (W3C, third edition), JPEG (ITU T.81 annex B), GIF89a, WebP (RFC 9649).
"""

import zlib
from dataclasses import dataclass

_OTHER_BRANDS = {
    b"avif": "AVIF",
    b"avis": "AVIF",
    b"heic": "HEIC",
    b"heix": "HEIC",
    b"hevc": "HEIC",
    b"mif1": "HEIF",
    b"msf1": "HEIF",
}
_PNG_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_PIXELS = 100_000_000
"""More pixels than this aren't unpacked to see whether they are there."""


class BadImage(Exception):
    """The bytes begin like a picture but can't be decoded; the text says why."""


@dataclass(frozen=True, slots=True)
class ImageInfo:
    """A sound picture. `width` and `height` in pixels."""

    media_type: str
    width: int
    height: int


def image_kind(head: bytes) -> str | None:
    """Return the media type that the first 16 bytes announce, for the four kinds that models take."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return None


def foreign_image(head: bytes) -> str | None:
    """Return the name of a picture format that models don't take, when the first 16 bytes announce one."""
    if head[4:8] == b"ftyp":
        return _OTHER_BRANDS.get(head[8:12])
    if head.startswith(b"BM") and head[6:10] == bytes(4):
        return "BMP"
    if head.startswith((b"II*\0", b"MM\0*")):
        return "TIFF"
    if head.startswith((b"\xff\x0a", b"\0\0\0\x0cJXL ")):
        return "JPEG XL"
    return None


def examine(data: bytes) -> ImageInfo:
    """Return what the whole picture is. Raises `BadImage` when it is damaged or of no known kind."""
    kind = image_kind(data[:16])
    readers = {"image/png": _png, "image/jpeg": _jpeg, "image/gif": _gif, "image/webp": _webp}
    if kind is None:
        raise BadImage("no picture of a known kind")
    try:
        width, height = readers[kind](data)
    except IndexError:
        raise BadImage("the file ends too early") from None
    if width < 1 or height < 1:
        raise BadImage("it has no pixels")
    return ImageInfo(kind, width, height)


def _png(data: bytes) -> tuple[int, int]:
    at, header, pixels = 8, b"", []
    while True:
        size, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        body, check = data[at + 8 : at + 8 + size], data[at + 8 + size : at + 12 + size]
        if len(check) < 4:
            raise BadImage("the file ends too early")
        if zlib.crc32(kind + body) != int.from_bytes(check, "big"):
            raise BadImage(f"the checksum of its {kind.decode('ascii', 'replace')} part is wrong")
        if kind == b"IHDR":
            header = body
        elif kind == b"IDAT":
            pixels.append(body)
        elif kind == b"IEND":
            break
        at += 12 + size
    if len(header) != 13 or not pixels:
        raise BadImage("it has no pixel data")
    width, height = int.from_bytes(header[:4], "big"), int.from_bytes(header[4:8], "big")
    _png_pixels(b"".join(pixels), header, width, height)
    return width, height


def _png_pixels(packed: bytes, header: bytes, width: int, height: int) -> None:
    """Unpack the pixel data, never more than it must hold, and see that it is complete."""
    depth, colour, interlaced = header[8], header[9], header[12]
    if colour not in _PNG_CHANNELS:
        raise BadImage("its colour type is unknown")
    if width * height > _PIXELS:
        return
    row = (width * depth * _PNG_CHANNELS[colour] + 7) // 8 + 1
    wanted = 1 if interlaced else row * height
    unpack = zlib.decompressobj()
    have = 0
    try:
        while have < wanted:
            piece = unpack.decompress(packed, 1 << 20)
            if not piece:
                break
            have += len(piece)
            packed = unpack.unconsumed_tail
    except zlib.error:
        raise BadImage("its pixel data is damaged") from None
    if have < wanted:
        raise BadImage("its pixel data ends too early")


def _jpeg(data: bytes) -> tuple[int, int]:
    at, size = 2, (0, 0)
    while True:
        if data[at] != 0xFF:
            raise BadImage("a segment is missing")
        while data[at] == 0xFF:
            at += 1
        mark = data[at]
        length = int.from_bytes(bytes((data[at + 1], data[at + 2])), "big")
        if 0xC0 <= mark <= 0xCF and mark not in (0xC4, 0xC8, 0xCC):
            size = (data[at + 6] << 8 | data[at + 7], data[at + 4] << 8 | data[at + 5])
        at += 1 + length
        if mark == 0xDA:
            break
    if size == (0, 0):
        raise BadImage("its size is missing")
    if data.rfind(b"\xff\xd9", at) < 0:
        raise BadImage("the file ends too early")
    return size


def _gif(data: bytes) -> tuple[int, int]:
    size = (data[6] | data[7] << 8, data[8] | data[9] << 8)
    at = 13 + _gif_colours(data[10])
    frames = 0
    while data[at] != 0x3B:
        if data[at] == 0x2C:
            frames += 1
            at += 10 + _gif_colours(data[at + 9]) + 1
        elif data[at] == 0x21:
            at += 2
        else:
            raise BadImage("a block is damaged")
        while data[at]:
            at += data[at] + 1
        at += 1
    if not frames:
        raise BadImage("it has no pixel data")
    return size


def _gif_colours(flags: int) -> int:
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _webp(data: bytes) -> tuple[int, int]:
    end = int.from_bytes(data[4:8], "little") + 8
    if len(data) < end:
        raise BadImage("the file ends too early")
    at, size = 12, (0, 0)
    while at + 8 <= end:
        kind, body = data[at : at + 4], at + 8
        if kind == b"VP8X":
            size = _little(data, body + 4, 3) + 1, _little(data, body + 7, 3) + 1
        elif kind == b"ANMF":
            return size
        elif kind == b"VP8L" and data[body] == 0x2F:
            bits = _little(data, body + 1, 4)
            return size if size != (0, 0) else ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        elif kind == b"VP8 " and data[body + 3 : body + 6] == b"\x9d\x01\x2a":
            return (
                size if size != (0, 0) else (_little(data, body + 6, 2) & 0x3FFF, _little(data, body + 8, 2) & 0x3FFF)
            )
        length = _little(data, at + 4, 4)
        at = body + length + length % 2
    raise BadImage("it has no pixel data")


def _little(data: bytes, at: int, size: int) -> int:
    if at + size > len(data):
        raise IndexError
    return int.from_bytes(data[at : at + size], "little")
