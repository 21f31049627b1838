"""Identifiers: new ones, and legal forms of foreign ones."""

import hashlib
import re
import secrets

_PORTABLE = re.compile(r"[A-Za-z0-9_-]{1,64}")


def new_id() -> str:
    """Return a fresh random id of 16 hexadecimal digits."""
    return secrets.token_hex(8)


def new_call_id() -> str:
    """Return a fresh tool-call id that every wire accepts."""
    return "call_" + secrets.token_hex(8)


def portable_call_id(call_id: str, *, legal: re.Pattern[str] = _PORTABLE) -> str:
    """Return `call_id` when it matches `legal` entirely, else a deterministic hash of it.

    Both sides of a call/result pair go through this function, so they stay paired; the same id always
    maps to the same text, so the mapping costs no cache.
    """
    if legal.fullmatch(call_id):
        return call_id
    return "tc_" + hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
