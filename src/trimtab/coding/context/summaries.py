"""The summaries of a project's documents: read from their file when the first one is needed, written after one was made.

    first compactor ──▶ SummaryCache ◀──fill── FILE        a summary was made ──take_unsaved──▶ FILE

A session that keeps no file of its own keeps none of these either.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trimtab.types.errors import StoreError

if TYPE_CHECKING:
    from trimtab.context.summary.cache import SummaryCache


@dataclass(slots=True)
class ProjectSummaries:
    """The cache of a session over the file at `path`; None: in memory alone."""

    path: Path | None = None
    _cache: "SummaryCache | None" = None
    _told: bool = False

    def cache(self) -> "SummaryCache":
        """The one cache of this session, whoever writes its summaries."""
        if self._cache is None:
            from trimtab.context.summary.cache import SummaryCache  # noqa: PLC0415 - not needed while there is room

            self._cache = SummaryCache()
            if self.path is not None:
                from trimtab.context.stores.summary_file import SummaryFile  # noqa: PLC0415 - as above

                self._cache.fill(SummaryFile(self.path).load())
        return self._cache

    def save(self) -> str:
        """Write down what is new; return what a person should know of a disk that refuses, once."""
        unsaved = self._cache.take_unsaved() if self._cache is not None else ()
        if not unsaved or self.path is None:
            return ""
        from trimtab.context.stores.summary_file import SummaryFile  # noqa: PLC0415 - as above

        try:
            SummaryFile(self.path).keep(unsaved)
        except StoreError as problem:
            told, self._told = self._told, True
            return "" if told else f"summaries are not kept for other sessions: {problem.message}"
        return ""
