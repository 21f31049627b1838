"""One turn and out: prompt in, answer on standard output, exit code.

Signals end it in an orderly way: SIGINT and SIGTERM cancel the turn, what was said is kept, the result is still written, and the exit code says
which one it was (130, 143). A second one doesn't wait.
"""

import os
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence

import anyio

from trimtab.agent.loop import Turn
from trimtab.coding.session import Session, open_session
from trimtab.frontends.cli.inputs import prompt_parts
from trimtab.frontends.cli.json_lines import write_events
from trimtab.frontends.cli.options import Flags
from trimtab.frontends.cli.start import open_flags
from trimtab.frontends.cli.text import TextPrinter
from trimtab.types.messages import User

_CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


def one_turn(words: Sequence[str], *, flags: Flags, mode: str) -> int:
    """Run one prompt; return the exit code. Raises `TrimtabError` for what is wrong before the turn begins."""
    project = open_flags(flags)
    parts, notices = prompt_parts(words, project)

    async def work(session: Session) -> Turn:
        for text in notices:
            await session.tell(text)
        return await session.prompt(User(parts))

    return anyio.run(drive, flags, mode, work)


async def drive(flags: Flags, mode: str, work: Callable[[Session], Awaitable[Turn]]) -> int:
    """Open the session that `flags` mean, show its events in `mode` while `work` runs, and return the exit code."""
    async with open_session(open_flags(flags), flags.choice(), takeover=flags.takeover) as session:
        received: list[signal.Signals] = []
        async with anyio.create_task_group() as listening:
            listening.start_soon(_heed_signals, session, received)
            async with anyio.create_task_group() as showing:
                watcher = session.feed.subscribe()
                if mode == "json":
                    showing.start_soon(write_events, watcher, _to_stdout)
                else:
                    showing.start_soon(TextPrinter().follow, watcher)
                await session.announce()
                turn = await work(session)
                result = session.result(turn, code=_CODES[received[0]] if received else None)
                if mode == "json":
                    await session.feed.publish(result)
                session.feed.close()
            listening.cancel_scope.cancel()
        return result.exit_code


async def _heed_signals(session: Session, received: list[signal.Signals]) -> None:
    """Cancel the turn at the first signal; leave at once at the second."""
    with anyio.open_signal_receiver(*_CODES) as signals:
        async for number in signals:
            received.append(number)
            if len(received) > 1:
                os._exit(_CODES[number])
            session.cancel()


def _to_stdout(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
