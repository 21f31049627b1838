"""The line loop over one session: lines in, turns out.

    a line ─▶ the answer of a question that is open (asking.py)
           ─▶ /command (coding/commands), !command of the person's own
           ─▶ text, with the files it names by @ ─▶ a turn, or, while one runs, a word to it before its next step

The one rule: it never waits for a person, and what was meant for a question goes to no model.
"""

import os
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial

import anyio

from trimtab.agent.loop import Turn
from trimtab.agent.run import AgentBusy
from trimtab.coding.choose import Choice
from trimtab.coding.clipboard import MOST_BYTES, by_program, harmless, is_remote, osc52, program_of
from trimtab.coding.commands.own import read_own, run_line
from trimtab.coding.commands.registry import commands_of, parse, run_command
from trimtab.coding.context.ahead import Start
from trimtab.coding.outcome import exit_code
from trimtab.coding.project import Project
from trimtab.coding.session import Session
from trimtab.coding.switching import Candidate, prepare, same_again
from trimtab.coding.telling.tables import shortened
from trimtab.frontends.cli.asking import LinePerson, Read, asked_by
from trimtab.frontends.cli.colours import Colours, colours_for
from trimtab.frontends.cli.inputs import line_parts
from trimtab.frontends.cli.lines import LONGEST, Lines
from trimtab.frontends.cli.text import TextPrinter
from trimtab.types.errors import TrimtabError, UsageError
from trimtab.types.messages import User

_LEAVING = {
    "exit": "/quit leaves, and so does Ctrl-D",
    "quit": "/quit leaves, and so does Ctrl-D",
    "help": "/help lists the commands",
}
"""What people type who want no model to hear it."""
_KEYS = (
    ("Enter", "says the line; while the agent works, tells it before its next step"),
    ("a paste", "is one message, with its lines, once you press Enter; Ctrl-C drops it"),
    (
        "Ctrl-C",
        "leaves a question unanswered, ends a wait for a summary, stops the turn; twice when nothing runs, it leaves",
    ),
    ("Ctrl-D", "on an empty line: leaves; while a turn runs, after that"),
    ("Ctrl-U, Ctrl-W", "take the line, the last word, away (your terminal does that)"),
)


_NAME = 100
"""Characters that are shown of the name of a file which made trouble."""


@dataclass(frozen=True, slots=True)
class Reopening:
    """The same session again, in `project`, or in the one `before`."""

    project: Project
    before: Project
    choice: Choice


def colours_of(project: Project, theme: str) -> Colours:
    """The colours of a theme, where this terminal shows any."""
    return colours_for(theme, terminal=sys.stderr.isatty(), no_color=project.env.get("NO_COLOR", ""))


@contextmanager
def _about_files() -> Iterator[None]:
    """Let a command that was given a name which no disk takes, or a file that is closed to us, say so: the talk goes on. Raises `UsageError`."""
    try:
        yield
    except OSError as e:
        if e.filename is None:
            raise
        raise UsageError(f"{shortened(os.fsdecode(e.filename), _NAME)}: {e.strerror}", hint="Name another file.") from e


class ChatLoop:
    """Lines in, turns out. `start` runs a function beside the loop, `services` beside the session; `person` types the lines, or nobody does."""

    def __init__(
        self,
        session: Session,
        printer: TextPrinter,
        person: LinePerson,
        *,
        start: Callable[..., object],
        services: Start | None = None,
    ) -> None:
        self._services = services
        self.session = session
        self._printer = printer
        self._person = person
        self._start = start
        self._interactive = person.interactive
        self._read: Read | None = None
        self._forget: Callable[[], None] = lambda: None
        self._idle = anyio.Event()
        self._idle.set()
        self._scope = anyio.CancelScope()
        self._switch: anyio.CancelScope | None = None
        self._in_turn = False
        self.left = False
        self._warned = False
        self.following: Candidate | Reopening | None = None
        """What to go on with, once the person has switched."""
        self.theme: str = session.project.settings.theme
        """Whose colours are shown."""
        self.failed = False
        """Whether a turn ended otherwise than well."""

    @property
    def working(self) -> bool:
        """Whether a turn runs."""
        return not self._idle.is_set()

    async def run(self, lines: Lines) -> None:
        """Take lines until the input ends or the person quits; a running turn is then finished first."""
        self._read, self._forget = lines.next, lines.forget
        self._printer.show_mark()
        while not self.left and self.following is None and (line := await lines.next()) is not None:
            self._printer.line_taken()
            self._warned = False
            try:
                if lines.cut:
                    raise UsageError(
                        f"that was not taken: a terminal cuts a line after {LONGEST:,} bytes",
                        hint="Put the text into a file, and say @FILE.",
                    )
                with _about_files():
                    await self._take(line)
            except TrimtabError as e:
                self._complain(e)
            if not self.working and not self.left and self.following is None:
                self._printer.show_mark()
            # Without a person at the keyboard the lines are a list of prompts: one after the other.
            if not self._interactive:
                await self._idle.wait()
        self._person.give_up()  # nobody types any more
        await self._idle.wait()

    async def _take(self, line: str) -> None:
        if self._person.waiting:
            self._person.hear(line)
        elif (command := parse(line.rstrip(), commands_of(self.session))) is not None:
            await run_command(self, *command)
        elif self._person.late(line, working=self.working):
            self.tell(
                "that question is over, so nothing was answered, and the model wasn't told; to tell it, type it again"
            )
        elif (own := read_own(line)) is not None:
            self.work(partial(run_line, self, own[0], shared=own[1]), is_turn=False)
        elif (word := line.strip().lower()) in _LEAVING:
            self.tell(f"that wasn't sent to the model: {_LEAVING[word]}")
        elif text := line.strip():
            said = line_parts(text, self.session.project)
            for note in said.notes:
                self.tell(note)
            parts = said.parts
            if self.working and not self._in_turn:
                raise AgentBusy("the context is being worked on", hint="Say it again when that is done.")
            if self.working:
                self.session.steer(User(parts, origin="steering"))
                self.tell("(will be told before its next step)")
            else:
                self.work(partial(self.session.prompt, User(parts)))

    def tell(self, text: str) -> None:
        """Say something to the person."""
        self._printer.say(text)

    async def copy(self, text: str) -> str:
        """Put `text` on the person's clipboard: by the terminal where it is another machine's, else by a program."""
        env, text = self.session.project.env, harmless(text)
        program = None if is_remote(env) else program_of(env)
        if program is not None and await by_program(program, text, env):
            return f"with {os.path.basename(program[0])}"
        sequence = osc52(text)
        if sequence is None or not self._printer.control(sequence):
            why = f"a terminal takes at most {MOST_BYTES:,} bytes" if sequence is None else "this is no terminal"
            raise UsageError(f"there is no way to your clipboard: {why}", hint="Install wl-copy, xclip or xsel.")
        return "by your terminal; if it isn't there, the terminal (or tmux) doesn't allow OSC 52"

    def keys(self) -> Sequence[tuple[str, str]]:
        """What the keys do."""
        return _KEYS

    def use_theme(self, name: str) -> None:
        """Show its colours from now on."""
        self.theme = name
        self._printer.colours = colours_of(self.session.project, name)

    def answer(self, call_id: str, text: str) -> None:
        """Answer a parked call; the turn goes on meanwhile."""
        self.work(partial(self.session.answer, call_id, text))

    def work(self, turn: Callable[[], Awaitable[object]], *, is_turn: bool = True) -> None:
        """Run a turn beside the loop, or other work that takes a while. No event tells of the end of that, so the mark comes back here."""
        if self.working:
            raise AgentBusy("something runs already", hint="Wait until it is done, or stop it with Ctrl-C.")
        self._idle, self._scope, self._in_turn = anyio.Event(), anyio.CancelScope(), is_turn

        async def run(idle: anyio.Event, scope: anyio.CancelScope) -> None:
            try:
                with scope, nullcontext() if is_turn else _about_files():
                    ended = await turn()
                    self.failed |= isinstance(ended, Turn) and exit_code(ended.reason) != 0
                if scope.cancelled_caught:
                    self.tell("stopped before it began" if is_turn else "stopped")
                elif scope.cancel_called and self._interactive:
                    self._warn()  # it was over already
                if scope.cancelled_caught or not is_turn:
                    self._printer.show_mark()
            except TrimtabError as e:
                self.failed |= is_turn
                self._complain(e)
                self._printer.show_mark()
            finally:
                idle.set()

        self._start(run, self._idle, self._scope)

    async def switch(self, project: Project, choice: Choice) -> None:
        """Open another session and go on with it."""
        self._require_idle()
        try:
            with (
                anyio.CancelScope() as self._switch,
                self._person.reading(self._read),
            ):  # the loop takes no lines meanwhile
                self.following = await prepare(project, choice, person=asked_by(self._person), start=self._services)
            if self._switch.cancelled_caught:
                self.tell("stopped; this session goes on")
        finally:
            self._switch = None

    def reload(self, project: Project) -> None:
        """Go on with this session, opened again in `project`."""
        self._require_idle()
        self.following = Reopening(project, self.session.project, same_again(self.session))

    async def give_back(self) -> None:
        """Close what was opened to go on with and won't be."""
        following, self.following = self.following, None
        if isinstance(following, Candidate):
            with anyio.CancelScope(shield=True):
                await following.aclose()

    def _require_idle(self) -> None:
        if self.working:
            raise AgentBusy("something runs", hint="Wait until it is done, or stop it with Ctrl-C.")

    def leave(self) -> None:
        """Take no more lines."""
        self.left = True
        self._printer.leave()
        if self.working:
            self.tell("leaving after this turn (Ctrl-C stops it)")

    def interrupt(self) -> bool:
        """Ctrl-C: leave a question unanswered, go on without a summary that is waited for, else stop the turn, or warn. Returns False when it means to leave."""
        self._forget()
        if self._switch is not None:  # a question on the way there goes with it
            self._person.give_up()
            self._switch.cancel()
            return True
        if self._person.give_up():
            self.tell("not answered" + ("; Ctrl-C again stops the turn" if self.session.busy else ""))
            return True
        if self.session.skip_summary():
            self.tell("going on without that summary; Ctrl-C again stops the turn")
            return True
        if self.session.busy:
            self.session.cancel()
            return True
        if self.working:  # on the way to the turn
            self._scope.cancel()
            return True
        if self._warned or not self._interactive:
            return False
        self._warn()
        return True

    def _warn(self) -> None:
        self._warned = True
        self.tell("Ctrl-C again leaves")
        self._printer.show_mark()

    def _complain(self, error: TrimtabError) -> None:
        self._printer.say(f"error: {error.message}" + (f"\n  {error.hint}" if error.hint else ""), role="error")
