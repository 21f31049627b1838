"""Pictures by the providers' formulas."""

import base64
import struct

import pytest

from trimtab.context.counting.media import image_tokens, size_of
from trimtab.types.messages import Image


def picture(width: int, height: int) -> Image:
    return Image("image/png", width=width, height=height)


@pytest.mark.parametrize(
    ("rule", "size", "tokens"),
    [
        ("anthropic", (200, 200), 54),
        ("anthropic", (1000, 1000), 1334),
        ("anthropic", (4000, 1000), 820),
        ("anthropic", (8000, 8000), 1600),
        ("anthropic_large", (1000, 1000), 1334),
        ("anthropic_large", (8000, 8000), 4784),
        ("openai_tiles", (1024, 1024), 765),
        ("openai_tiles", (2048, 4096), 1105),
        ("openai_tiles", (100, 100), 255),
        ("openai_patches", (1024, 1024), 1762),
        ("openai_patches", (4000, 4000), 2642),
        ("openai_patches_nano", (1024, 1024), 2520),
        ("google", (384, 384), 258),
        ("google", (960, 540), 1548),
    ],
)
def test_a_picture_costs_what_the_formula_says(rule, size, tokens):
    assert image_tokens(picture(*size), rule) == tokens


@pytest.mark.parametrize("rule", ["anthropic", "anthropic_large", "openai_tiles", "openai_patches", "google"])
def test_a_picture_of_unknown_size_counts_as_a_large_one(rule):
    assert image_tokens(Image("image/png"), rule) >= image_tokens(picture(700, 700), rule)


PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480)
GIF = b"GIF89a" + struct.pack("<HH", 320, 200)
JPEG = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08" + struct.pack(">HH", 300, 400) + b"\x03" * 10
WEBP_LOSSY = b"RIFF\x00\x00\x00\x00WEBPVP8 " + b"\x00" * 7 + b"\x9d\x01\x2a" + struct.pack("<HH", 64, 48)
WEBP_LOSSLESS = b"RIFF\x00\x00\x00\x00WEBPVP8L\x00\x00\x00\x00\x2f" + ((99) | (49 << 14)).to_bytes(4, "little")
WEBP_EXTENDED = b"RIFF\x00\x00\x00\x00WEBPVP8X" + b"\x00" * 8 + b"\x57\x02\x00" + b"\x8f\x01\x00"


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (PNG, (640, 480)),
        (GIF, (320, 200)),
        (JPEG, (400, 300)),
        (WEBP_LOSSY, (64, 48)),
        (WEBP_LOSSLESS, (100, 50)),
        (WEBP_EXTENDED, (600, 400)),
        (b"", None),
        (PNG[:18], None),
        (b"\xff\xd8\xff\xe0\x00\x00\xff\xe0", None),
        (b"no picture at all", None),
    ],
)
def test_the_size_is_read_from_the_head_of_the_bytes(data, size):
    assert size_of(Image("image/png", base64.b64encode(data).decode())) == size


def test_a_stated_size_needs_no_bytes():
    assert size_of(picture(3, 4)) == (3, 4)


def test_bytes_that_are_no_base64_have_no_size():
    assert size_of(Image("image/png", "é" * 8)) is None
