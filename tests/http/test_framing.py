"""What kind of body a 200 answer has."""

import pytest

from trimtab.providers.framing import BodyFramer
from trimtab.providers.wire import WireFailure


def frame(*chunks: bytes) -> list[tuple[str, bytes]]:
    framer = BodyFramer()
    events = [e for c in chunks for e in framer.feed(c)]
    return events + framer.close()


def test_the_first_byte_that_is_not_blank_decides():
    assert frame(b"\r\n", b" ", b"data: x\n", b"\n") == [("", b"x")]
    assert frame(b"\xef\xbb\xbf", b"data: x\n\n") == [("", b"x")]
    assert frame(b" \n", b'{"a":', b"\n1}\n") == [("", b'{"a":\n1}')]
    assert frame(b": hi\n\ndata: {}\n\n") == [("", b"{}")]
    assert frame() == []
    assert frame(b" ", b"\n") == []


def test_a_web_page_is_refused_at_its_first_byte():
    with pytest.raises(WireFailure, match="web page"):
        BodyFramer().feed(b"\n<html>")


def test_plain_words_are_shown_at_the_end():
    with pytest.raises(WireFailure, match="upstream connect error"):
        frame(b"upstream connect error\n", b"or reset")
    assert frame(b": waiting\n\n") == []
    assert frame(b"event: ping") == []
