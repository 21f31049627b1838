"""Facts are looked for only where a text may begin one; what is found is what the shapes alone would find."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.summary.facts import _PATTERNS, _SHAPES

PIECES = [
    *"aEk0139 \t\n.,:/\\~@+-_=#$€%()[]'\"ſKポ番円",
    "port",
    "version",
    "rev",
    "revision",
    "status",
    "issue no. ",
    "HTTP",
    "Error",
    "exit code ",
    "SIGTERM",
    "0x",
    "https://",
    "s3://",
    "../",
    "C:\\",
    "src/a",
    ".py",
    "a_b",
    "camelCase",
    "v1.2",
    "deadbeef1",
    "--flag",
    "123",
    " ms",
    "x" * 81,
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.characters(), max_size=30).map("".join)


@pytest.mark.parametrize("number", range(len(_SHAPES)), ids=[kind for kind, *_ in _SHAPES])
@given(text=TEXTS)
def test_what_a_fact_begins_with_leaves_none_out(number: int, text: str) -> None:
    (_, _, shape, flags), (_, pattern) = _SHAPES[number], _PATTERNS[number]
    assert [found.span() for found in pattern.finditer(text)] == [
        found.span() for found in re.finditer(shape, text, flags)
    ]
