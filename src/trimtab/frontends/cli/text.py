"""Text mode: the answer on standard output, everything else on standard error.

On a terminal the answer streams as it comes and tools show one line each; in a pipe, standard output holds the last answer only, so
that a script can use it as it is; a transcript holds every answer and the calls between them. Whatever comes from outside is stripped of terminal control first.

In a talk a mark (`> `) says that it is the person's turn. It stands only while nothing else does: what is printed while the person could
type goes on a line of its own, and the mark comes back after it.
"""

import json
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TextIO, assert_never

from trimtab.agent.events import (
    ContextEdited,
    Error,
    Event,
    MessageDelta,
    MessageEnded,
    MessageStarted,
    Notice,
    Retry,
    SessionOpened,
    ToolEnded,
    ToolParked,
    ToolStarted,
    ToolUpdate,
    TurnEnded,
    TurnStarted,
    VerifyEnded,
)
from trimtab.agent.feed import Watcher
from trimtab.coding.outcome import ending
from trimtab.coding.refusals import DENIED
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import counted, shortened
from trimtab.frontends.cli.colours import Colours, Role
from trimtab.frontends.cli.screen import width_of, wrapped
from trimtab.types.messages import Assistant, Message, Text, ToolCall, User
from trimtab.types.text import strip_terminal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trimtab.coding.extensions.api import Body
    from trimtab.coding.extensions.bodies import Sort

_LINE = 300
"""Characters of one line of a failed call's result."""
_FIRST, _LAST = 2, 7
"""And how many lines: of the beginning, and of the end, where a failure mostly says what it is."""
_REFUSED = "not allowed"
_DETAIL = 10
"""Lines of what a failed check says that are shown from its beginning, and as many from its end."""
_PLAIN = Colours()
_ROLES: "Mapping[Sort, Role]" = {"added": "added", "removed": "removed"}
_SUBJECT = ("command", "path", "pattern", "key", "query", "prompt")


def edit_words(event: ContextEdited) -> str:
    """An edit of the context in a line: what, of how many items, from what size to what, by whom."""
    what = f"of {counted(len(event.targets), 'item')}" if event.targets else "at the end"
    return f"{event.kind} {what}, {event.before_tokens:,} → {event.after_tokens:,} tokens ({event.author})"


class TextPrinter:
    """Shows events to a person. `live` streams answers to `out` as they come; `progress` shows tools and steps on `err`.

    `mark` says, in a talk, that it is the person's turn; `answer_of` gives what of the last answer is written, where it doesn't stream and is what was wanted; else it is said on `err`.
    """

    def __init__(
        self,
        *,
        out: TextIO | None = None,
        err: TextIO | None = None,
        live: bool | None = None,
        progress: bool | None = None,
        mark: str = "",
        answer_of: Callable[[str], str] = str,
        colours: Colours = _PLAIN,
        transcript: bool = False,
    ) -> None:
        """`transcript`: every answer, each call and the ends of what it gave go to `out`, in the order in which they came."""
        self.colours = colours
        self._transcript = transcript
        self._answer_of = answer_of
        self.title_of: Callable[[str, dict[str, Any] | None], str] = lambda _tool, _arguments: ""
        """What stands for a call, where an extension says so."""
        self.body_of: Callable[[str], Body] = lambda _tool: "text"
        """What the output of a tool is, where an extension says so."""
        self.out = out or sys.stdout
        self.err = err or sys.stderr
        self.live = self.out.isatty() if live is None else live
        self.progress = self.err.isatty() if progress is None else progress
        self.mark = mark
        self._answer = ""
        self._open_line = False
        self._open_call = ""
        """The call whose line stands open on the screen, with the cursor at its end."""
        self._names: dict[str, str] = {}
        self._tasks: set[str] = set()
        """Calls of subagents: what those do is told while they work."""
        self._session_id, self._kept = "last", True
        self._idle = False
        self._mark_stands = False

    async def follow(self, events: Watcher) -> None:
        """Show events until they end; those that came together are shown together."""
        async for event in events:
            self.show_all((event, *events.pending()))

    def show_all(self, events: Iterable[Event]) -> None:
        """Show events, then whose turn it is."""
        for event in events:
            self.show(event)
        if self._idle:
            self.show_mark()

    def show(self, event: Event) -> None:
        """Show one event."""
        match event:
            case MessageDelta(kind="text"):
                if self.live:
                    self._write(strip_terminal(event.text))
            case MessageStarted():
                self._answer = ""
            case MessageEnded():
                self._ended(event.message)
            case ToolStarted() | ToolEnded():
                self._call(event)
            case Error():
                self._show_answer(fits=False)  # what the model said comes before what went wrong with it
                self.say(f"error: {event.message}" + (f"\n  {event.hint}" if event.hint else ""), role="error")
            case SessionOpened():
                self._session_id, self._kept = event.id, event.session_file is not None
            case TurnStarted():
                self._idle = False
            case TurnEnded():
                self._show_answer(fits=event.reason == "stop")
                if why := ending(event.reason, "talk" if self.mark else "shell" if self._kept else "unkept"):
                    self.say(why)
                self._idle = True
            case Retry() | Notice() | ToolParked() | ToolUpdate() | ContextEdited() | VerifyEnded():
                self._tell(self._words(event))
            case _:
                pass

    def _ended(self, message: Message) -> None:
        if isinstance(message, Assistant) and not message.superseded:
            self._said(message)
        elif isinstance(message, User) and message.origin == "follow_up":
            self.say(f"(now: {shortened(one_line(' '.join(message.said).strip()), _LINE)})")

    def _said(self, message: Assistant) -> None:
        self._answer = message.text
        self._names |= {c.id: self._named(c) for c in message.tool_calls}
        self._tasks |= {c.id for c in message.tool_calls if c.name == "task"}
        if self._transcript:
            self._show_answer(fits=True)
        self._end_line()

    def _tell(self, words: str) -> None:
        if words:
            self.say(words, role="note")

    def _words(self, event: Retry | Notice | ToolParked | ToolUpdate | ContextEdited | VerifyEnded) -> str:
        match event:
            case ToolUpdate():
                told = self.progress and event.call_id in self._tasks
                return "\n".join(f"  {shortened(line, _LINE)}" for line in event.text.splitlines()) if told else ""
            case VerifyEnded(outcome="failed"):
                return f"verify failed (round {event.round}): {_detail(event.detail)}"
            case VerifyEnded(outcome="passed"):
                return f"verify passed: {event.detail}" if self.progress else ""
            case VerifyEnded():
                return ""
            case ContextEdited():
                said = self.mark and event.author == "user"  # by the command of the talk that did it
                return f"context: {edit_words(event)}" if self.progress and not said else ""
            case Retry():
                when = f"in {event.wait_s:.0f} s" if event.wait_s >= 1 else "now"
                return f"retrying {when} (attempt {event.attempt}, {event.kind}): {event.message}"
            case Notice():
                return f"note: {event.message}"
            case ToolParked():
                how = "/answer" if self.mark else f"trimtab answer {self._session_id}"
                return f"{event.call_id} waits for your answer: {event.question}\n  {how} {event.call_id} TEXT"
            case _:
                assert_never(event)

    def _named(self, call: ToolCall) -> str:
        return self.title_of(call.name, call.arguments) or f"{call.name} {_subject(call.arguments)}".strip()

    def _call(self, event: ToolStarted | ToolEnded) -> None:
        if isinstance(event, ToolStarted):
            self._begin(event)
        else:
            self._tasks.discard(event.call_id)
            self._tool(event)

    def _begin(self, event: ToolStarted) -> None:
        """Where a person watches, say what runs: the line stays open for how it ends, until something else is said."""
        if self.progress and self.err.isatty() and not self._transcript:
            name = self._names.get(event.call_id, event.name)
            self.say(f"  {name}", role="tool", open_for=event.call_id)

    def _tool(self, event: ToolEnded) -> None:
        if not self.progress and not self._transcript:
            return
        mark, body = "failed" if event.is_error else "ok", self.body_of(event.name)
        output = "".join(p.text for p in event.parts if isinstance(p, Text))
        told = (event.is_error or (self._transcript and body == "text")) and body != "none"
        lines = output.strip().split("\n") if told else [""]
        if (event.details or {}).get("permission") == DENIED:
            mark = _REFUSED
        name = self._names.pop(event.call_id, event.name)
        beside = event.is_error and (len(lines) == 1 or mark == _REFUSED)  # what a program printed has lines of its own
        head = f"[{mark}] {shortened(lines[0], _LINE) if beside else ''}".rstrip()
        more = [f"    {shortened(line, _LINE)}" for line in _ends(lines[1:] if beside else lines) if line.strip()]
        role: Role = "failed" if event.is_error else "tool"
        if self._open_call == event.call_id:
            width = width_of(self.err)
            if beside and width and len(f"  {name}  {head}") > width:  # there is no room for it behind the call
                head, more = f"[{mark}]", [f"    {shortened(lines[0], _LINE)}", *more]
            if width and len(f"  {name}  {head}") > width:
                head = f"\n    {head}"
            self.err.write(self.colours.of(role, strip_terminal(head)) + "\n")
            self._open_call = ""
        else:
            more = [f"  {name}  {head}", *more]
        if more:
            self._say_tool("\n".join(more), role=role)
        if body not in ("text", "none") and not event.is_error:
            self._body(body, output)

    def _body(self, body: "Body", output: str) -> None:
        from trimtab.coding.extensions.bodies import body_lines  # only who has extensions pays for it

        for line in body_lines(body, output):
            self._say_tool(f"    {shortened(line.text, _LINE)}", role=_ROLES.get(line.sort))

    def _say_tool(self, text: str, *, role: Role | None) -> None:
        if not self._transcript:
            return self.say(text, role=role)
        self._end_line()
        self._write(strip_terminal(text) + "\n")
        return None

    def _show_answer(self, *, fits: bool) -> None:
        if not self.live and self._answer:
            if fits or self._answer_of is str:
                self._write(strip_terminal(self._answer_of(self._answer)))
            else:
                self.say(strip_terminal(self._answer))
        self._answer = ""
        self._end_line()
        self.out.flush()

    def control(self, sequence: str) -> bool:
        """Send a control sequence of ours to the terminal; False where there is none."""
        if not self.err.isatty():
            return False
        self.err.write(sequence)
        self.err.flush()
        return True

    def show_mark(self) -> None:
        """Say that it is the person's turn, unless that is what the screen says last."""
        self._idle = True
        if not self._mark_stands:
            self.err.write(self.colours.of("mark", self.mark))
            self.err.flush()
            self._mark_stands = bool(self.mark)

    def line_taken(self) -> None:
        """The person pressed Enter: the cursor is on a fresh line, and it isn't the person's turn any more."""
        self._open_call = ""
        self._idle = self._mark_stands = False

    def leave(self) -> None:
        """The talk ends: no mark any more, and the cursor on a fresh line."""
        if self._mark_stands or self._open_call:
            self.err.write("\n")
            self.err.flush()
        self._open_call = ""
        self.mark, self._mark_stands = "", False

    def _write(self, text: str) -> None:
        if not text:
            return
        if self._open_call:
            self._end_line()
        self.out.write(text)
        self._open_line = not text.endswith("\n")
        if self.live:
            self.out.flush()

    def _end_line(self) -> None:
        if self._open_call:
            self.err.write("\n")
            self._open_call = ""
        if self._open_line:
            self.out.write("\n")
            self._open_line = False

    def say(self, text: str, *, role: Role | None = None, open_for: str = "") -> None:
        """Write `text` on lines of its own on standard error; the last one stays open for how the call `open_for` ends."""
        self._end_line()
        self.out.flush()
        if self._mark_stands:
            self.err.write("\n")
            self._mark_stands = False
        shown = wrapped(strip_terminal(text), width_of(self.err))
        self.err.write((self.colours.of(role, shown) if role else shown) + ("  " if open_for else "\n"))
        self._open_call = open_for
        self.err.flush()


def _detail(text: str) -> str:
    """What a check says: the first lines and the last ones, where a test run sums up, each set in and not too long."""
    first, *more = [line for line in text.splitlines() if line.strip()] or [""]
    head, tail = more[:_DETAIL], more[_DETAIL:][-_DETAIL:]
    if len(more) > len(head) + len(tail):
        tail = ["…", *tail]
    return "\n".join((shortened(first, _LINE), *(f"    {shortened(line, _LINE)}" for line in (*head, *tail))))


def _ends(lines: list[str]) -> list[str]:
    """The first and the last of many lines: there a failure says what it is."""
    return lines if len(lines) <= _FIRST + _LAST + 1 else [*lines[:_FIRST], "…", *lines[-_LAST:]]


def _subject(arguments: dict[str, Any] | None) -> str:
    """What a call is about, on one short line."""
    if not arguments:
        return ""
    value = next((arguments[k] for k in _SUBJECT if k in arguments), None)
    text = value if isinstance(value, str) else json.dumps(arguments, ensure_ascii=False)
    return shortened(" ".join(text.split()), 80)
