"""What some frontends can and others can't; a desk has the methods of those that it can.

a command that needs one ──isinstance──▶ it is asked to │ the person is told that this frontend can't, and what else there is
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable


@runtime_checkable
class Copying(Protocol):
    """Reaches the person's clipboard."""

    async def copy(self, text: str) -> str:
        """Put `text` there and say how, in words. Raises `TrimtabError` when there is no way."""
        ...


@runtime_checkable
class Keyed(Protocol):
    """Has keys that do something."""

    def keys(self) -> Sequence[tuple[str, str]]:
        """Each key, as it is written on a keyboard, and what it does now."""
        ...


@runtime_checkable
class Themed(Protocol):
    """Shows colours: those of `theme`."""

    theme: str

    def use_theme(self, name: str) -> None:
        """Show them by another theme from now on."""
        ...
