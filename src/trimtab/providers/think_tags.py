"""Takes inline thinking out of text: `<think>…</think>` at the very start of an answer.

Servers without a reasoning parser stream it as content, cut anywhere. Later tags are text: a model may well write about them.
Pure; what is fed comes out once, in order, without the tags and without the blank space beside them.
"""

from typing import Literal, TypeAlias

Piece: TypeAlias = tuple[Literal["text", "thinking"], str]

_OPEN = "<think>"
_CLOSE = "</think>"


class ThinkTags:
    """Splits the text of one answer: `feed` every delta, then `close` once."""

    __slots__ = ("_held", "_state")

    def __init__(self) -> None:
        self._state: Literal["start", "thinking", "after", "text"] = "start"
        self._held = ""

    @property
    def passive(self) -> bool:
        """True once everything that comes is text, so that `feed` needn't be called."""
        return self._state == "text"

    def feed(self, text: str) -> list[Piece]:
        """Take a delta; return what it decides."""
        if self._state == "text":
            return [("text", text)] if text else []
        text = self._held + text
        self._held = ""
        if self._state == "start":
            head = text.lstrip()
            if len(head) < len(_OPEN) and _OPEN.startswith(head):
                self._held = text
                return []
            if not head.startswith(_OPEN):
                self._state = "text"
                return [("text", text)]
            self._state = "thinking"
            text = head[len(_OPEN) :]
        pieces: list[Piece] = []
        if self._state == "thinking":
            thought, found, text = text.partition(_CLOSE)
            if not found:
                keep = _overlap(thought)
                self._held = thought[len(thought) - keep :]
                thought = thought[: len(thought) - keep]
            else:
                self._state = "after"
            if thought:
                pieces.append(("thinking", thought))
        if self._state == "after" and (text := text.lstrip()):
            self._state = "text"
            pieces.append(("text", text))
        return pieces

    def close(self) -> list[Piece]:
        """The answer is over: return what was held back."""
        held, self._held = self._held, ""
        return [("thinking" if self._state == "thinking" else "text", held)] if held else []


def _overlap(text: str) -> int:
    """Length of the longest end of `text` that may be the start of the closing tag."""
    for size in range(min(len(_CLOSE) - 1, len(text)), 0, -1):
        if _CLOSE.startswith(text[-size:]):
            return size
    return 0
