"""Keep this process's secrets from the programs that it starts.

A program of the same user may read `/proc/PID/environ` of its parent: the environment as it was at the start, whatever was removed
since. So the values themselves are overwritten in place, and the process is made one that others can't look into (Linux: neither
its memory nor its environment; root still can see the memory). `os.environ` keeps the values: it is a copy.

For a process that is Trimtab's own, called once at its start: a program that merely uses Trimtab as a library may rely on its
children getting its environment.
"""

import ctypes
import os
import sys
from collections.abc import Collection

_PR_SET_DUMPABLE = 4


def hide_variables(names: Collection[str]) -> None:
    """Overwrite the values of the variables `names` where the system shows them, and close this process to others. Linux only."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    wanted = {os.fsencode(name) for name in names}
    block = ctypes.POINTER(ctypes.c_void_p).in_dll(libc, "environ")
    at = 0
    while block and (address := block[at]) is not None:
        name, _, value = ctypes.string_at(address).partition(b"=")
        if name in wanted:
            ctypes.memset(address + len(name) + 1, ord("*"), len(value))
        at += 1
