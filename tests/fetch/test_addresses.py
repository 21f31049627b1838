"""Addresses: what is judged is what is asked for."""

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.coding.tools.failures import ToolFailure
from trimtab.coding.web.address import address_of

_PIECES = ("http", "https", "://", "//", "a.org", "b.org", "127.0.0.1", "[::1]", ":", "8080", "@", "\\", "/", "?", "#", "%2f", "..", ".", "\t", " ", "é", "x")  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES), max_size=9).map("".join))
def test_whoever_sends_it_finds_the_host_that_was_judged(text: str) -> None:
    try:
        address = address_of(text)
    except ToolFailure:
        return
    sent = httpx2.URL(address.url)
    assert (sent.scheme, sent.host, sent.port or address.port) == (address.scheme, address.host, address.port)
    assert not sent.userinfo
    assert address_of(address.url) == address


@pytest.mark.parametrize(
    ("text", "url", "authority"),
    [
        ("https://Docs.Python.org", "https://docs.python.org/", "docs.python.org"),
        ("https://docs.python.org:443/3/?q=a b#top".replace(" ", "+"), "https://docs.python.org/3/?q=a+b", "docs.python.org"),
        ("http://a.org:8080/x", "http://a.org:8080/x", "a.org:8080"),
        ("https://münchen.de/é", "https://xn--mnchen-3ya.de/%C3%A9", "xn--mnchen-3ya.de"),
        ("http://[::1]:80/", "http://[::1]/", "[::1]"),
        ("http://a.org./", "http://a.org/", "a.org"),
    ],
)  # fmt: skip
def test_an_address_has_one_spelling(text: str, url: str, authority: str) -> None:
    address = address_of(text)
    assert (address.url, address.authority) == (url, authority)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("docs.python.org", "has to begin with https://"),
        ("file:///etc/passwd", "has to begin with https://"),
        ("https://me:secret@a.org/", "a name or a password"),
        ("https://a.org\\@b.org/", "backslashes"),
        ("https://a.org/ x", "blanks"),
        ("https://a.org/\u202egpj", "nobody sees"),
        ("https:///x", "no host"),
        ("https://a b.org", "blanks"),
        ("https://a.org:99999/", "no address"),
        ("http://[::1/", "no address"),
        ("https://-/", "no host"),
        ("https://" + "a" * 5_000, "5,008 characters"),
    ],
)
def test_what_can_be_read_in_two_ways_is_refused_in_words(text: str, why: str) -> None:
    with pytest.raises(ToolFailure, match=why):
        address_of(text)


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("localhost", True),
        ("app.localhost", True),
        ("127.0.0.1", True),
        ("10.1.2.3", True),
        ("169.254.169.254", True),
        ("[::1]", True),
        ("[fd00::1]", True),
        ("[::ffff:10.0.0.1]", True),
        ("8.8.8.8", False),
        ("a.org", False),
        ("2130706433", False),
    ],
)
def test_what_is_near_is_known_by_its_name(host: str, local: bool) -> None:
    assert address_of(f"http://{host}/").is_local is local
