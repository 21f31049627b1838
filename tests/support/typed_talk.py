"""The line loop with a person at the keyboard, without a terminal."""

from collections.abc import Callable

from trimtab.coding.session import Session
from trimtab.frontends.cli.asking import LinePerson
from trimtab.frontends.cli.chat_loop import ChatLoop
from trimtab.frontends.cli.text import TextPrinter


def typing_loop(session: Session, printer: TextPrinter, start: Callable[..., object]) -> ChatLoop:
    """A loop over `session` whose lines a person types."""
    return ChatLoop(session, printer, LinePerson(printer.say, interactive=True), start=start)
