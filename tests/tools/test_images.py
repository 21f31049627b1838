"""Pictures by their bytes: whatever the bytes are, the answer is a size or `BadImage`."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.pictures import gif, jpeg, png, webp
from trimtab.coding.tools.images import BadImage, ImageInfo, examine

SOUND = [png(), jpeg(), gif(), webp()]


def riff(*chunks: tuple[bytes, bytes]) -> bytes:
    body = b"WEBP" + b"".join(k + struct.pack("<I", len(d)) + d + b"\0" * (len(d) % 2) for k, d in chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


@pytest.mark.parametrize(
    "data",
    [
        riff((b"VP8 ", b"\x30\x01\x00\x9d\x01\x2a" + struct.pack("<HH", 7, 6) + bytes(8))),
        riff((b"VP8X", bytes(4) + b"\x06\0\0\x05\0\0"), (b"ICCP", b"abc"), (b"VP8L", b"\x2f" + bytes(9))),
        riff((b"VP8X", bytes(4) + b"\x06\0\0\x05\0\0"), (b"ANIM", bytes(6)), (b"ANMF", bytes(30))),
    ],
)
def test_every_layout_of_webp_tells_its_size(data: bytes) -> None:
    assert examine(data) == ImageInfo("image/webp", 7, 6)


def test_a_webp_without_pixels_is_bad() -> None:
    with pytest.raises(BadImage, match="no pixel data"):
        examine(riff((b"VP8X", bytes(10))))


@given(
    st.sampled_from(SOUND),
    st.lists(st.tuples(st.integers(0, 120), st.integers(0, 255)), max_size=4),
    st.integers(0, 130),
)
def test_damage_of_any_kind_is_answered_never_a_crash(data: bytes, hits: list[tuple[int, int]], size: int) -> None:
    damaged = bytearray(data)
    for at, value in hits:
        damaged[at % len(damaged)] = value
    assert answer(bytes(damaged[: max(size, 16)]))


@given(st.sampled_from(SOUND).map(lambda d: d[:12]), st.binary(max_size=80))
def test_any_bytes_after_a_magic_number_are_answered(magic: bytes, rest: bytes) -> None:
    assert answer(magic + rest)


def answer(data: bytes) -> str:
    """What a person would be told; empty only for a picture of no size."""
    try:
        info = examine(data)
    except BadImage as problem:
        return str(problem)
    return f"{info.width}x{info.height}" if min(info.width, info.height) >= 1 else ""
