"""What a person has been told and needs no second time in this home, such as what is assumed of a model in no list.

text ──▶ its hash, in a file of the cache? ──no──▶ told, and kept there

The one rule: when in doubt (the file can't be read or written) it is told.
"""

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from trimtab.context.stores.disk import make_folder
from trimtab.types.errors import StoreError

_MOST = 1 << 16
"""Bytes of the file; one that grew larger begins anew."""
_DIGITS = 16


def is_news(file: Path, text: str, *, keep: bool) -> bool:
    """Whether `text` wasn't told in this home yet; `keep` makes it told from now on."""
    mark = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:_DIGITS].encode() + b"\n"
    known = b""
    with suppress(OSError):
        if file.is_file():
            known = file.read_bytes()[: _MOST + 1]
    if mark in known.splitlines(keepends=True):
        return False
    if keep:
        with suppress(OSError, StoreError):
            make_folder(file.parent)
            anew = os.O_TRUNC if len(known) > _MOST else os.O_APPEND
            fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC | anew, 0o600)
            try:
                os.write(fd, mark)
            finally:
                os.close(fd)
    return True
