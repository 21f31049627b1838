"""What goes wrong with a server, in words that a model and a person may read."""

import re

from trimtab.coding.telling.hidden import without_invisible
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import shortened
from trimtab.types.text import scrub

_LONGEST = 400
_VALIDATION = re.compile(r": \d+ validation errors? for .*", re.S)
"""What the SDK adds of an answer that it can't read: pages about its own types."""


class McpFailure(Exception):
    """A server can't be started or asked, or didn't do what it was asked. `login`: it wants to know who asks."""

    def __init__(self, text: str, *, login: bool = False) -> None:
        super().__init__(text)
        self.text = text
        self.login = login


def in_words(error: BaseException) -> str:
    """A failure of foreign code in one harmless line: of a group of them, the first."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, McpFailure):
        return error.text
    if isinstance(error, TimeoutError):
        return "it didn't answer in time"
    if type(error).__name__ == "ValidationError":
        return "its answer isn't of the protocol"
    said = _VALIDATION.sub(": it isn't of the protocol", str(error))
    text = shortened(one_line(without_invisible(scrub(said))).strip(), _LONGEST)
    name = type(error).__name__
    if isinstance(error, OSError) and error.strerror and error.filename:
        return shortened(f"{one_line(str(error.filename))}: {error.strerror}", _LONGEST)
    if any(kind.__name__ == "TransportError" for kind in type(error).__mro__):
        return f"it can't be reached: {text or name}"
    plain = ("MCPError", "FileNotFoundError", "PermissionError", "OSError")
    return text if text and name in plain else f"{name}: {text}" if text else name
