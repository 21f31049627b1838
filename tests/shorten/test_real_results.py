"""Shorteners on real tool results: what holds for made-up texts holds for them."""

import gzip
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from trimtab.context.shorten.cap import cap_text
from trimtab.context.shorten.compress import Extractive, compress
from trimtab.context.shorten.fold import fold
from trimtab.context.shorten.pieces import Refused, Shortened, lines_of

KEY = "4kq2m7xa"


def count(text: str) -> int:
    """A token for every four characters begun."""
    return -(-len(text) // 4)


def texts() -> Iterator[str]:
    """The results, or a loud skip."""
    folder = os.environ.get("TRIMTAB_DATA")
    if not folder:
        pytest.skip("NOT RUN: TRIMTAB_DATA names no folder with long-results/results.jsonl.gz")
    with gzip.open(Path(folder) / "long-results" / "results.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)["text"]


def folded(text: str) -> Shortened | Refused:
    """Folded by the default rule."""
    return fold(text, key=KEY)


def compressed(text: str) -> Shortened | Refused:
    """Three tokens in ten."""
    return compress(text, role="tool", share=0.3, compressor=Extractive(count), key=KEY)


def capped(text: str) -> Shortened | Refused:
    """A thousand tokens."""
    return Shortened(*cap_text(text, 1_000, count, key=KEY))


@pytest.mark.parametrize("shorten", [folded, compressed, capped])
def test_real_results_get_shorter_and_the_cut_says_exactly_what_is_shown(shorten: Callable[[str], Shortened | Refused]):
    for text in texts():
        made = shorten(text)
        if isinstance(made, Refused) or made.cut is None:
            continue
        assert len(made.text) < len(text)
        lines = lines_of(text)
        place = 0
        for first, last in made.cut.shown:
            part = "".join(lines[first - 1 : last]) if made.cut.unit == "lines" else text[first - 1 : last]
            place = made.text.find(part, place) + len(part)
            assert place >= len(part)


def test_a_compressed_real_result_has_the_share_that_was_asked_for():
    for text in texts():
        made = compressed(text)
        if isinstance(made, Shortened) and "```" not in text:
            assert count(made.text) <= 0.3 * count(text)
