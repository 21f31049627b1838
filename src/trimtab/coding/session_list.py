"""Sessions as rows that a person can choose from, and what was said in them."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from trimtab.coding.logs import now, session_folder
from trimtab.coding.models import resolve_model
from trimtab.coding.project import Project
from trimtab.context.stores.summary import SessionSummary
from trimtab.sessions.index.index import SessionIndex
from trimtab.sessions.index.query import parse
from trimtab.sessions.index.searching import Hits
from trimtab.types.errors import TrimtabError
from trimtab.types.models import Price


@dataclass(frozen=True, slots=True)
class Row:
    """One session. `cost_usd` is None when a model's price is unknown; `age_s` since the last write, in seconds."""

    summary: SessionSummary
    age_s: float
    cost_usd: float | None


def ended_in_words(summary: SessionSummary) -> str:
    """How a session ended, where a person who looks for one should know; empty where it was answered, or nothing was said."""
    return "" if summary.ended in ("answered", "empty") else summary.ended


Tell = Callable[[str], None]


def session_index(project: Project, *, tell: Tell | None = None) -> SessionIndex:
    """The index over all sessions of this user."""
    return SessionIndex(project.home.index, session_folder(project), tell=tell)


def list_sessions(
    project: Project, *, everywhere: bool, archived: bool = False, tell: Tell | None = None
) -> tuple[tuple[Row, ...], tuple[str, ...]]:
    """The sessions of this folder (or of all), newest first, and notes about files that can't be read. `archived`: those that were put away, and no others; `tell` hears when that takes a while."""
    listing = session_index(project, tell=tell).listing(None if everywhere else str(project.cwd))
    at, prices = now(), _Prices(project)
    return tuple(_row(s, at, prices) for s in listing.sessions if s.archived == archived), listing.notes


def search_sessions(project: Project, query: str, *, everywhere: bool, limit: int, tell: Tell | None = None) -> Hits:
    """What was said in the sessions of this folder (or of all) that fits `query`. Raises `TrimtabError` where this Python can't search."""
    index = session_index(project, tell=tell)
    if tell is not None:
        for note in index.folder.unread(None if everywhere else str(project.cwd)):
            tell(note)
    return index.search(parse(query), None if everywhere else str(project.cwd), limit=limit)


def _row(summary: SessionSummary, at: datetime, prices: "_Prices") -> Row:
    return Row(summary, max((at - summary.modified).total_seconds(), 0.0), summary.cost_usd(prices.of))


def cost_of(project: Project, summary: SessionSummary) -> float | None:
    """What a session cost, in USD, at the prices of now; None when one isn't known."""
    return summary.cost_usd(_Prices(project).of)


def prices_of(project: Project) -> Callable[[str], tuple[Price, ...]]:
    """What gives the prices of a `provider/model`; none where they aren't known."""
    return _Prices(project).of


class _Prices:
    """Looks each model up once, as a session does: settings first, then the catalogue. One that there is no more has no price."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[str, tuple[Price, ...]] = {}

    def of(self, ref: str) -> tuple[Price, ...]:
        if ref not in self._known:
            try:
                self._known[ref] = resolve_model(self._project, ref).model.prices
            except TrimtabError:
                self._known[ref] = ()
        return self._known[ref]
