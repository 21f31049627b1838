"""Encodings: what is text, and the exact way back."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.coding.tools.text_files import TextEncoding, decode, encode, line_end, sniff, visible, with_line_end


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"", TextEncoding()),
        ("é 🌍\n".encode(), TextEncoding()),
        (codecs.BOM_UTF8 + b"x", TextEncoding("utf-8", codecs.BOM_UTF8)),
        (
            codecs.BOM_UTF16_LE + "hé".encode("utf-16-le"),
            TextEncoding("utf-16-le", codecs.BOM_UTF16_LE, "surrogatepass"),
        ),
        (
            codecs.BOM_UTF16_BE + "hé".encode("utf-16-be"),
            TextEncoding("utf-16-be", codecs.BOM_UTF16_BE, "surrogatepass"),
        ),
        (codecs.BOM_UTF32_LE + "hé".encode("utf-32-le"), TextEncoding("utf-32-le", codecs.BOM_UTF32_LE)),
        (b"# caf\xe9\nx = 1\n", TextEncoding("cp1252")),
        (b"# caf\xe9 \x81\n", TextEncoding("latin-1")),
        ("ünïcödé ".encode() + b"\xff\n", TextEncoding("utf-8", errors="surrogateescape")),
    ],
)
def test_the_encoding_is_told_by_content(data: bytes, encoding: TextEncoding) -> None:
    assert sniff(data) == encoding
    assert encode(decode(data, encoding), encoding) == data


@pytest.mark.parametrize("data", [bytes(range(256)) * 40, b"abc\0def", bytes(range(1, 256)) * 40, b"\xff\xfe\x00"])
def test_binary_is_not_text(data: bytes) -> None:
    assert sniff(data) is None


def test_the_start_of_a_file_may_end_inside_a_code_point() -> None:
    assert sniff("é".encode()[:1], complete=False) == TextEncoding()
    assert sniff(codecs.BOM_UTF16_LE + b"a\0b", complete=False) is not None


def test_line_ends_are_named_and_never_doubled() -> None:
    assert [line_end(t) for t in ("a", "a\n", "a\r\n", "a\r\nb\n")] == ["", "\n", "\r\n", "mixed"]
    assert with_line_end("a\r\nb\n", "\r\n") == "a\r\nb\r\n"
    assert with_line_end("a\r\nb\n", "\n") == "a\nb\n"


def test_what_cannot_be_in_a_message_becomes_a_mark() -> None:
    assert visible("a\0b\udce9\r\n") == "a\ufffdb\ufffd\n"


@given(st.binary(max_size=300) | st.text(max_size=80).map(lambda t: t.encode("cp1252", "ignore")))
def test_text_goes_back_to_the_same_bytes(data: bytes) -> None:
    encoding = sniff(data)
    if encoding is not None:
        assert encode(decode(data, encoding), encoding) == data
