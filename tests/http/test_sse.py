"""Framing of server-sent events."""

import time

from hypothesis import given
from hypothesis import strategies as st

from trimtab.providers.sse import SseParser


def frame(*chunks: bytes) -> list[tuple[str, bytes]]:
    parser = SseParser()
    events = [e for c in chunks for e in parser.feed(c)]
    return events + parser.close()


def test_only_lf_cr_and_crlf_end_lines():
    text = "data: a\u2028b\u2029c\x85d\x0be\x0cf\n\n".encode()
    assert frame(text) == [("", "a\u2028b\u2029c\x85d\x0be\x0cf".encode())]
    assert frame(b"data: 1\r\rdata: 2\r\n\r\ndata: 3\n\n") == [("", b"1"), ("", b"2"), ("", b"3")]


def test_comments_ids_and_retry_lines_say_nothing():
    assert frame(b": keep-alive\n\nid: 7\nretry: 100\n\ndata: x\n\n:\n\n") == [("", b"x")]


def test_data_lines_of_one_event_are_joined_and_lose_one_space():
    assert frame(b"event: ping\ndata:a\ndata:  b\ndata\n\n") == [("ping", b"a\n b\n")]


def test_a_byte_order_mark_is_skipped_even_when_it_is_split():
    assert frame(b"\xef", b"\xbb\xbfdata: x\n\n") == [("", b"x")]


def test_an_event_name_holds_for_one_event():
    assert frame(b"event: a\n\ndata: 1\n\nevent: b\ndata: 2\n\ndata: 3\n\n") == [("", b"1"), ("b", b"2"), ("", b"3")]


def test_an_event_without_its_blank_line_is_delivered_at_the_end():
    assert frame(b"data: 1\n\ndata: [DONE]") == [("", b"1"), ("", b"[DONE]")]
    assert frame(b"data: 1\n") == [("", b"1")]
    assert frame(b"") == []


def test_bare_json_lines_and_error_fields_are_events():
    assert frame(b'{"error": 1}\n\nerror: {"code": 500}\n\n') == [("", b'{"error": 1}'), ("error", b'{"code": 500}')]


def test_a_huge_line_in_small_chunks_takes_linear_time():
    pieces = 100_000  # joining the line again for every piece would copy 320 GB
    start = time.process_time()
    assert len(frame(b"data: ", *[b"x" * 64] * pieces, b"\n\n")[0][1]) == 64 * pieces
    assert time.process_time() - start < 10


LINES = st.lists(
    st.one_of(
        st.text(alphabet="ab é\u2028🌍:{}", max_size=8).map(lambda t: "data: " + t),
        st.sampled_from(["", "event: x", ": note", "data", "id: 1", "data:é"]),
    ),
    max_size=12,
)


@given(lines=LINES, end=st.sampled_from(["\n", "\r", "\r\n"]), data=st.data())
def test_any_cut_gives_the_same_events(lines, end, data):
    body = end.join(lines).encode() + end.encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=6)))
    chunks = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    assert frame(*chunks) == frame(body)
    assert frame(*[bytes([b]) for b in body]) == frame(body)
