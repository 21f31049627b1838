"""Failures that the model reads: what went wrong, where, and what to do next.

A tool body raises `ToolFailure` (or lets an `OSError` through); `answering` turns either into an error result, so that every
tool fails in one voice. Anything else is a bug and passes.
"""

import errno
import functools
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from trimtab.agent.ports import ToolOutput, ToolRun
from trimtab.types.text import scrub

Handler: TypeAlias = Callable[[Mapping[str, Any], ToolRun], Awaitable[ToolOutput]]

_ADVICE = {
    errno.ENOENT: "no such file or folder",
    errno.EACCES: "permission denied",
    errno.EPERM: "operation not permitted",
    errno.ENOTDIR: "a part of the path is a file, not a folder",
    errno.EISDIR: "is a folder",
    errno.ELOOP: "too many symbolic links (a loop?)",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ENOSPC: "the disk is full; nothing was changed",
    errno.EDQUOT: "the disk quota is used up; nothing was changed",
    errno.EFBIG: "larger than a file may be here; nothing was changed",
    errno.EROFS: "the file system is read-only",
}


class ToolFailure(Exception):
    """A call can't be done; the text is for the model."""


def answering(handler: Handler) -> Handler:
    """Return `handler` with its `ToolFailure` and `OSError` turned into error results."""

    @functools.wraps(handler)
    async def run(arguments: Mapping[str, Any], run: ToolRun) -> ToolOutput:
        try:
            return await handler(arguments, run)
        except ToolFailure as failure:
            return ToolOutput.text(scrub(str(failure)), is_error=True)
        except OSError as error:
            return ToolOutput.text(scrub(os_failure(error)), is_error=True)

    return run


def os_failure(error: OSError, shown: str = "") -> str:
    """Say in words what the system refused. `shown` is the path as the model knows it."""
    where = shown or (os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else "")
    what = _ADVICE.get(error.errno or 0) or error.strerror or type(error).__name__
    return f"{where}: {what}" if where else what
