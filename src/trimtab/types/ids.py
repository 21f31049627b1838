"""Identifiers: new ones, and legal forms of foreign ones."""

import hashlib
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_PORTABLE = re.compile(r"[A-Za-z0-9_-]{1,64}")


class _Source:
    """Where new ids come from: chance, but for a show that is to be the same each time."""

    def __init__(self) -> None:
        self.draw: Callable[[int], str] = secrets.token_hex


_source = _Source()


def new_id() -> str:
    """Return a fresh random id of 16 hexadecimal digits."""
    return _source.draw(8)


def new_call_id() -> str:
    """Return a fresh tool-call id that every wire accepts."""
    return "call_" + _source.draw(8)


@contextmanager
def drawn_from(seed: str) -> Iterator[None]:
    """Draw the ids of the whole process from `seed` in here, the same ones each time: for a demonstration or a measurement with a home of its own."""
    drawn = 0

    def draw(size: int) -> str:
        nonlocal drawn
        drawn += 1
        return hashlib.sha256(f"{seed} {drawn}".encode()).hexdigest()[: 2 * size]

    usual, _source.draw = _source.draw, draw
    try:
        yield
    finally:
        _source.draw = usual


def portable_call_id(call_id: str, *, legal: re.Pattern[str] = _PORTABLE) -> str:
    """Return `call_id` when it matches `legal` entirely, else a deterministic hash of it.

    Both sides of a call/result pair go through this function, so they stay paired; the same id always
    maps to the same text, so the mapping costs no cache.
    """
    if legal.fullmatch(call_id):
        return call_id
    return "tc_" + hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
