"""When a file was made, which a move to another name doesn't change: statx(2), since Python tells it on no Linux yet."""

import ctypes
import os
import struct
import sys

_AT_FDCWD = -100
_AT_SYMLINK_NOFOLLOW = 0x100
_STATX_BTIME = 0x800
_SIZE = 256
_SECONDS_AT = 80
"""Where in `struct statx` the time of birth begins: seconds (64 bits), nanoseconds (32)."""


def born_ns(path: str) -> int | None:
    """Nanoseconds since the epoch at which the file was made; None where nobody can tell."""
    try:
        if sys.platform != "linux":
            seconds = getattr(os.lstat(path), "st_birthtime", None)
            return None if seconds is None else int(seconds * 1_000_000_000)
        found = ctypes.create_string_buffer(_SIZE)
        flags, name = ctypes.c_int(_AT_SYMLINK_NOFOLLOW), ctypes.c_char_p(os.fsencode(path))
        told = ctypes.CDLL(None).statx(ctypes.c_int(_AT_FDCWD), name, flags, ctypes.c_uint(_STATX_BTIME), found)
    except (OSError, AttributeError, ValueError):  # gone, or a system without the call
        return None
    (mask,) = struct.unpack_from("=I", found.raw)
    if told != 0 or not mask & _STATX_BTIME:
        return None
    seconds, nanoseconds = struct.unpack_from("=qI", found.raw, _SECONDS_AT)
    return int(seconds) * 1_000_000_000 + int(nanoseconds)
