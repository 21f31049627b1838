"""What recall reads from. Apart from the search, so that a session that never searches doesn't load one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from trimtab.context.recall.index import Hit


class ArchiveReader(Protocol):
    """What recall needs of the archive."""

    def resolve(self, name: str) -> str | None:
        """Return the id of the item that `name` means (handle, call id, entry id, label), or None."""
        ...

    def near(self, name: str) -> Sequence[str]:
        """Return names of items that may have been meant by one that there isn't, the nearest first."""
        ...

    def text_of(self, name: str) -> str | None:
        """Return the recorded text of an item, whole, whatever the window shows of it; None when it has none."""
        ...

    def search(self, query: str, limit: int) -> "Sequence[Hit]":
        """Return hits, the best first, as `Index.search` does."""
        ...

    def count(self, text: str) -> int:
        """Return the tokens of `text`."""
        ...
