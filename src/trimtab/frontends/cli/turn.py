"""One turn and out: prompt in, answer on standard output, exit code.

Signals end it in an orderly way: SIGINT and SIGTERM cancel the turn, what was said is kept, the result is still written, and the exit code says
which one it was (130, 143). A second one doesn't wait.
"""

import os
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import anyio

from trimtab.agent.loop import Turn
from trimtab.coding.choose import Choice
from trimtab.coding.commands.saying import Said, expand, prompt
from trimtab.coding.opening import open_session
from trimtab.coding.output_schema import json_in, load_schema
from trimtab.coding.project import Project
from trimtab.coding.session import Session
from trimtab.frontends.cli.inputs import prompt_parts
from trimtab.frontends.cli.json_lines import write_events
from trimtab.frontends.cli.options import Flags
from trimtab.frontends.cli.own_output import own_output
from trimtab.frontends.cli.start import open_flags
from trimtab.frontends.cli.text import TextPrinter
from trimtab.frontends.signals import CODES, heeded, let_go_of_terminal
from trimtab.types.messages import Part, Text
from trimtab.types.usage import Usage


def one_turn(words: Sequence[str], *, flags: Flags, mode: str, output_schema: str | None = None) -> int:
    """Run one prompt; return the exit code. Raises `TrimtabError` for what is wrong before the turn begins."""
    schema = load_schema(Path(output_schema)) if output_schema is not None else None
    if words and words[0].startswith("!"):
        from trimtab.frontends.cli.one_command import refuse_own

        refuse_own(" ".join(words))
    lines: list[str] = []
    project = open_flags(flags)
    parts, notices = prompt_parts(words, project)

    async def work(session: Session) -> Turn:
        for text in notices:
            await session.tell(text)
        said = await _of_server(words, parts, session)
        if said is None:
            said = await anyio.to_thread.run_sync(_filled, words, parts, session)
        if said is None and (ended := await _alone(words, parts, session, lines)) is not None:
            return ended
        return await prompt(session, said or Said(parts))

    run = partial(drive, project, flags.choice(), mode, work, takeover=flags.takeover, output_schema=schema)
    return anyio.run(partial(run, lines=lines))


async def _of_server(words: Sequence[str], parts: tuple[Part, ...], session: Session) -> Said | None:
    """What a prompt of a server says, where the words begin with its command. Raises `UsageError`."""
    line = _line(words, parts)
    if line is None or not session.mcp.servers or not line.startswith("/mcp:"):
        return None
    from trimtab.coding.commands.mcp import said_by_server

    name, typed = (*line[1:].split(maxsplit=1), "", "")[:2]
    said = await said_by_server(session, name, typed)
    return None if said is None else _with_rest(said, parts)


def _line(words: Sequence[str], parts: tuple[Part, ...]) -> str | None:
    """The words as a line that may be a command. Piped text is never one."""
    first = parts[0]
    return first.text.strip() if words and words[0].startswith("/") and isinstance(first, Text) else None


def _with_rest(said: Said, parts: tuple[Part, ...]) -> Said:
    rest = tuple(part for part in parts[1:] if part not in said.parts)
    gap = (Text("\n\n"),) if rest else ()
    return replace(said, parts=(*said.parts, *gap, *rest))


def _filled(words: Sequence[str], parts: tuple[Part, ...], session: Session) -> Said | None:
    """What a template's or a skill's command says, where the words begin with one."""
    line = _line(words, parts)
    said = expand(line, session) if line is not None else None
    return None if said is None else _with_rest(said, parts)


async def _alone(words: Sequence[str], parts: tuple[Part, ...], session: Session, said: list[str]) -> Turn | None:
    """Run the command that the words are, where they are one that needs no person. Raises `UsageError` for others, and for what is the name of none."""
    if (line := _line(words, parts)) is None:
        return None
    from trimtab.frontends.cli.one_command import command_in, run_alone  # loads all commands: a prompt needs none

    command = command_in(line, session)
    return None if command is None else await run_alone(session, *command, said)


async def drive(
    project: Project,
    choice: Choice,
    mode: str,
    work: Callable[[Session], Awaitable[Turn]],
    *,
    takeover: bool = False,
    output_schema: Mapping[str, Any] | None = None,
    lines: Sequence[str] = (),
) -> int:
    """Open the session that `choice` means, show its events in `mode` while `work` runs, and return the exit code. `lines` hold then what a command said."""
    with own_output() as out:
        return await _driven(
            project, choice, mode, work, out, takeover=takeover, output_schema=output_schema, lines=lines
        )


async def _driven(
    project: Project,
    choice: Choice,
    mode: str,
    work: Callable[[Session], Awaitable[Turn]],
    out: TextIO,
    *,
    takeover: bool,
    output_schema: Mapping[str, Any] | None,
    lines: Sequence[str],
) -> int:
    async with open_session(project, choice, takeover=takeover, output_schema=output_schema) as session:
        stop = _Stop(session)
        async with anyio.create_task_group() as listening:
            listening.start_soon(stop.heed)
            session.work_beside(listening.start_soon)
            async with anyio.create_task_group() as showing:
                watcher = session.feed.subscribe()
                if mode == "json":
                    showing.start_soon(write_events, watcher, partial(_write, out))
                else:
                    live, answer_of = (None, str) if output_schema is None else (False, json_in)
                    whole = mode == "transcript"
                    printer = TextPrinter(
                        out=out,
                        live=False if whole else live,
                        answer_of=str if whole else answer_of,
                        transcript=whole,
                    )
                    printer.title_of, printer.body_of = session.extensions.title_of, session.extensions.body_of
                    showing.start_soon(printer.follow, watcher)
                await session.announce()
                turn = Turn("cancelled", None, Usage(), 0, cost_usd=0.0)
                with stop.scope:
                    turn = await work(session)
                if mode == "json":
                    for text in lines:
                        await session.tell(text)
                await session.take_leave()
                result = session.result(turn, code=stop.code)
                if mode == "json":
                    await session.feed.publish(result)
                session.feed.close()
            if mode != "json" and lines:
                out.write("\n".join(lines) + "\n")
                out.flush()
            listening.cancel_scope.cancel()
        return result.exit_code


class _Stop:
    """What signals do: the first one cancels the turn, or the way to it; a second one ends the process at once."""

    def __init__(self, session: Session) -> None:
        self.scope = anyio.CancelScope()
        self.code: int | None = None
        self._session = session

    async def heed(self) -> None:
        """Wait for signals. `code` is the exit code of the first one."""
        with anyio.open_signal_receiver(*heeded()) as signals:
            async for number in signals:
                if self.code is not None:
                    if number == signal.SIGHUP:
                        continue  # a closed terminal sends it, and the shell in it once more
                    os._exit(CODES[number])
                self.code = CODES[number]
                if number == signal.SIGHUP:
                    let_go_of_terminal()
                if self._session.busy:
                    self._session.cancel()
                else:
                    self.scope.cancel()


def _write(out: TextIO, data: bytes) -> None:
    out.buffer.write(data)
    out.buffer.flush()
