"""One prompt and its reply, for a program that isn't async."""

from os import PathLike
from typing import Unpack

import anyio

from trimtab.coding.sdk.options import OpenOptions
from trimtab.coding.sdk.reply import Reply
from trimtab.coding.session import Session
from trimtab.types.errors import UsageError
from trimtab.types.messages import User


def run(prompt: str | User, cwd: str | PathLike[str] = ".", **options: Unpack[OpenOptions]) -> Reply:
    """Open a session, say `prompt`, and return the reply. Raises as `Session.open` does; a failed turn is a reply."""
    if _in_a_loop():
        raise UsageError("`run` was called in an async program", hint="Use `async with Session.open(…)` there.")

    async def once() -> Reply:
        async with Session.open(cwd, **options) as session:
            return await session.prompt(prompt)

    return anyio.run(once)


def _in_a_loop() -> bool:
    try:
        anyio.current_time()
    except RuntimeError:
        return False
    return True
