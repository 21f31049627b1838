"""Exact token counts of the vocabularies that are at hand, through `toktok`; without it, guesses by classes of characters.

    texts, vocabulary ──▶ toktok.batch_count ──▶ tokens          the wheel is there
                     └──▶ classes · ALONE[vocabulary] ──▶ tokens   it isn't (no wheel for the platform, a broken install)

The library holds four vocabularies in its wheel and is loaded on first use (0.35 s, 64 MB); its counts are those of tiktoken and linear in
the text, also in a megabyte without a blank. It counts outside of the interpreter's lock; one thread is asked for, because texts are short
and the cores are the user's.

The one rule: counting never fails. What a tokenizer can't take, it is not given.
"""

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from math import ceil
from typing import TypeAlias

from trimtab.context.counting.classes import weigh
from trimtab.context.counting.weights import ALONE
from trimtab.types.text import scrub

VOCABULARIES = ("o200k_base", "o200k_harmony", "cl100k_base", "qwen3.5")
"""What the library holds, by its own names."""

BatchCount: TypeAlias = Callable[[Sequence[str], str, int], list[int]]
"""Texts, the name of a vocabulary, threads → tokens of each text."""


@cache
def load() -> BatchCount | None:
    """Return the library's counting function, or None when it isn't installed."""
    try:
        found: BatchCount = import_module("toktok").batch_count
    except (ImportError, AttributeError):
        return None
    return found


def count(texts: Sequence[str], vocabulary: str) -> list[int]:
    """Return the tokens of each text: exact where the vocabulary is at hand, else by classes of characters. Unknown names are o200k.

    Text that spells a special token (`<|endoftext|>`) counts as ordinary text, which is what providers make of it.
    """
    name = vocabulary if vocabulary in VOCABULARIES else VOCABULARIES[0]
    batch_count = load()
    if batch_count is None:
        return [guess(text, name) for text in texts]
    try:
        return batch_count(texts, name, 1)
    except UnicodeEncodeError:
        return batch_count([scrub(text) for text in texts], name, 1)


def guess(text: str, vocabulary: str) -> int:
    """Return what `text` has in `vocabulary`, by classes of characters alone; at least 1 for a text that isn't empty."""
    return max(1, ceil(weigh(text, ALONE[vocabulary]))) if text else 0
