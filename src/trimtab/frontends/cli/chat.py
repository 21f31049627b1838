"""`trimtab chat`: a plain line loop over a session; also what runs where no full-screen interface is possible.

A line typed while the agent works steers it (delivered before its next step). Ctrl-C stops the running turn; when nothing runs, or a second time, it
leaves. The terminal's own line editing works, and the loop never waits for a person.
"""

import signal
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import anyio
import click

from trimtab.coding.choose import Choice
from trimtab.coding.project import Project
from trimtab.coding.session import Session, open_session
from trimtab.frontends.cli.lines import Lines
from trimtab.frontends.cli.options import Flags, session_options
from trimtab.frontends.cli.start import open_flags
from trimtab.frontends.cli.text import TextPrinter
from trimtab.types.errors import TrimtabError
from trimtab.types.messages import user

_HELP = """/model P/M   switch to another model
/answer ID TEXT   answer a call that waits for you
/help   this list
/quit   leave (Ctrl-D does too)
Anything typed while the agent works steers it. Ctrl-C stops it."""


@click.command("chat")
@session_options
def command(**flags: Any) -> int:
    """Talk line by line in this folder."""
    return talk(Flags(**flags))


def talk(flags: Flags) -> int:
    """Run the line loop until the person leaves; return the exit code."""
    return anyio.run(partial(converse, open_flags(flags), flags.choice(), takeover=flags.takeover))


async def converse(project: Project, choice: Choice, *, takeover: bool = False) -> int:
    """Talk over the session that `choice` means, until the person leaves; return the exit code."""
    async with open_session(project, choice, takeover=takeover) as session:
        printer = TextPrinter(live=True, progress=True, mark="> " if sys.stdin.isatty() else "")
        async with anyio.create_task_group() as group:
            group.start_soon(printer.follow, session.feed.subscribe())
            await session.announce()
            _greet(session)
            loop = _Loop(session, printer, leave=group.cancel_scope.cancel)
            group.start_soon(loop.watch_interrupts)
            await loop.run(group.start_soon)
            group.cancel_scope.cancel()
    return 0


def _greet(session: Session) -> None:
    sys.stderr.write(f"{session.model.ref} in {session.project.cwd}. /help lists commands, Ctrl-D leaves.\n")
    sys.stderr.flush()


class _Loop:
    """Lines in, turns out."""

    def __init__(self, session: Session, printer: TextPrinter, *, leave: Callable[[], None]) -> None:
        self.session = session
        self.printer = printer
        self.leave = leave

    async def run(self, start: Callable[..., object]) -> None:
        """Take lines until the input ends or the person quits; a running turn is then finished first."""
        idle = anyio.Event()
        idle.set()

        async def turn(text: str) -> None:
            nonlocal idle
            try:
                await self.session.prompt(user(text))
            except TrimtabError as e:
                _say(e)
            finally:
                idle.set()

        lines = Lines(sys.stdin.fileno())
        self.printer.show_mark()
        while True:
            line = await lines.next()
            if line is None:
                break
            text = line.strip()
            if not text:
                if not self.session.busy:
                    self.printer.show_mark()
                continue
            if text.startswith("/"):
                if not await self._command(text):
                    break
                if not self.session.busy:
                    self.printer.show_mark()
            elif self.session.busy:
                self.session.steer(text)
                sys.stderr.write("(will be told before its next step)\n")
            else:
                idle = anyio.Event()
                start(turn, text)
                # Without a person at the keyboard the lines are a list of prompts: one after the other.
                if not sys.stdin.isatty():
                    await idle.wait()
        await idle.wait()

    async def _command(self, text: str) -> bool:
        """Run one slash command; False means leave."""
        name, _, rest = text[1:].partition(" ")
        try:
            match name:
                case "quit" | "exit" | "q":
                    return False
                case "help":
                    sys.stderr.write(_HELP + "\n")
                case "model" if rest.strip():
                    await self.session.set_model(rest.strip())
                    sys.stderr.write(f"model: {self.session.model.ref}\n")
                case "model":
                    sys.stderr.write(f"model: {self.session.model.ref}\n")
                case "answer":
                    call_id, _, answer = rest.strip().partition(" ")
                    await self.session.answer(call_id, answer)
                case _:
                    sys.stderr.write(
                        f"no command /{name}; /help lists them. To send it as text, put a space before it.\n"
                    )
        except TrimtabError as e:
            _say(e)
        return True

    async def watch_interrupts(self) -> None:
        """Ctrl-C: stop the turn, or leave when nothing runs."""
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for number in signals:
                if number == signal.SIGINT and self.session.busy:
                    self.session.cancel()
                else:
                    self.leave()
                    return


def _say(error: TrimtabError) -> None:
    sys.stderr.write(f"error: {error.message}" + (f"\n  {error.hint}" if error.hint else "") + "\n")
    sys.stderr.flush()
