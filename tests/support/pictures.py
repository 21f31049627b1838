"""Small pictures made by hand, so that tests need no picture library."""

import struct
import zlib


def png(width: int = 3, height: int = 2) -> bytes:
    """A sound 8-bit RGB PNG."""
    rows = b"".join(b"\0" + bytes((x * 40 % 256, y * 40 % 256, 7)) * width for y in range(height) for x in (y,))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows)) + _chunk(b"IEND", b"")


def png_with_pixels(packed: bytes, width: int = 3, height: int = 2) -> bytes:
    """A PNG with sound checksums around any pixel data."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", packed) + _chunk(b"IEND", b"")


def jpeg(width: int = 8, height: int = 8) -> bytes:
    """The segments of a baseline JPEG; its scan data are arbitrary."""
    frame = b"\xff\xc0" + struct.pack(">HBHHB", 11, 8, height, width, 1) + b"\x01\x11\0"
    scan = b"\xff\xda" + struct.pack(">HB", 8, 1) + b"\x01\0\0\x3f\0" + b"\x12\x34\xff\0\x56"
    return (
        b"\xff\xd8\xff\xe0" + struct.pack(">H", 16) + b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0" + frame + scan + b"\xff\xd9"
    )


def gif(width: int = 1, height: int = 1) -> bytes:
    """A GIF89a with two colours and one frame."""
    head = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
    comment = b"\x21\xfe\x02hi\0"
    frame = b"\x2c" + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x02\x02\x44\x01\0"
    return head + comment + frame + b"\x3b"


def webp(width: int = 5, height: int = 4) -> bytes:
    """A lossless WebP frame; its pixel data are arbitrary."""
    bits = (width - 1) | (height - 1) << 14
    body = b"WEBPVP8L" + struct.pack("<I", 10) + b"\x2f" + struct.pack("<I", bits) + bytes(5)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
