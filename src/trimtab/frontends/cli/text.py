"""Text mode: the answer on standard output, everything else on standard error.

On a terminal the answer streams as it comes and tools show one line each; in a pipe, standard output holds the last answer only, so
that a script can use it as it is. Whatever comes from outside is stripped of terminal control first.
"""

import json
import sys
from collections.abc import AsyncIterator
from typing import Any, TextIO

from trimtab.agent.events import (
    Error,
    Event,
    MessageDelta,
    MessageEnded,
    MessageStarted,
    Notice,
    Retry,
    ToolEnded,
    ToolParked,
    TurnEnded,
)
from trimtab.coding.outcome import ending
from trimtab.types.messages import Assistant, Text
from trimtab.types.text import strip_terminal

_SUBJECT = ("command", "path", "pattern", "key", "query")


class TextPrinter:
    """Shows events to a person. `live` streams answers to `out` as they come; `progress` shows tools and steps on `err`.

    `mark` is shown after each turn: whose turn it is now.
    """

    def __init__(
        self,
        *,
        out: TextIO | None = None,
        err: TextIO | None = None,
        live: bool | None = None,
        progress: bool | None = None,
        mark: str = "",
    ) -> None:
        self.out = out or sys.stdout
        self.err = err or sys.stderr
        self.live = self.out.isatty() if live is None else live
        self.progress = self.err.isatty() if progress is None else progress
        self.mark = mark
        self._answer = ""
        self._open_line = False
        self._names: dict[str, str] = {}

    async def follow(self, events: AsyncIterator[Event]) -> None:
        """Show events until they end."""
        async for event in events:
            self.show(event)

    def show(self, event: Event) -> None:
        """Show one event."""
        match event:
            case MessageDelta(kind="text"):
                if self.live:
                    self._write(strip_terminal(event.text))
            case MessageStarted():
                self._answer = ""
            case MessageEnded(message=Assistant() as message) if not message.superseded:
                self._answer = message.text
                self._names |= {c.id: f"{c.name} {_subject(c.arguments)}".strip() for c in message.tool_calls}
                self._end_line()
            case ToolEnded():
                self._tool(event)
            case Retry():
                self._say(f"retrying in {event.wait_s:.0f} s (attempt {event.attempt}, {event.kind}): {event.message}")
            case Notice():
                self._say(f"note: {event.message}")
            case Error():
                self._say(f"error: {event.message}" + (f"\n  {event.hint}" if event.hint else ""))
            case ToolParked():
                self._say(f"waiting for an answer to {event.call_id}: {event.question}")
            case TurnEnded():
                self._finish(event)
            case _:
                pass

    def _tool(self, event: ToolEnded) -> None:
        if not self.progress:
            return
        first = next((p.text for p in event.parts if isinstance(p, Text)), "").strip().split("\n", 1)[0]
        mark = "failed" if event.is_error else "ok"
        name = self._names.pop(event.call_id, event.name)
        self._say(f"  {name}  [{mark}]" + (f" {first[:120]}" if event.is_error else ""))

    def _finish(self, event: TurnEnded) -> None:
        if not self.live and self._answer:
            self._write(strip_terminal(self._answer))
            self._answer = ""
        self._end_line()
        self.out.flush()
        if why := ending(event.reason):
            self._say(why)
        self.show_mark()

    def show_mark(self) -> None:
        """Say that it is the person's turn."""
        self.err.write(self.mark)
        self.err.flush()

    def _write(self, text: str) -> None:
        if not text:
            return
        self.out.write(text)
        self._open_line = not text.endswith("\n")
        if self.live:
            self.out.flush()

    def _end_line(self) -> None:
        if self._open_line:
            self.out.write("\n")
            self._open_line = False

    def _say(self, text: str) -> None:
        self._end_line()
        self.out.flush()
        self.err.write(strip_terminal(text) + "\n")
        self.err.flush()


def _subject(arguments: dict[str, Any] | None) -> str:
    """What a call is about, on one short line."""
    if not arguments:
        return ""
    value = next((arguments[k] for k in _SUBJECT if k in arguments), None)
    text = value if isinstance(value, str) else json.dumps(arguments, ensure_ascii=False)
    line = " ".join(text.split())
    return line if len(line) <= 80 else line[:79] + "…"
