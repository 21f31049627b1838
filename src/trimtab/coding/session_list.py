"""Sessions as rows that a person can choose from."""

from dataclasses import dataclass
from datetime import datetime

from trimtab.coding.logs import now, session_folder
from trimtab.coding.models import resolve_model
from trimtab.coding.project import Project
from trimtab.context.stores.summary import SessionSummary
from trimtab.types.errors import TrimtabError
from trimtab.types.models import Price


@dataclass(frozen=True, slots=True)
class Row:
    """One session. `cost_usd` is None when a model's price is unknown; `age_s` since the last write, in seconds."""

    summary: SessionSummary
    age_s: float
    cost_usd: float | None


def list_sessions(project: Project, *, everywhere: bool) -> tuple[tuple[Row, ...], tuple[str, ...]]:
    """The sessions of this folder (or of all), newest first, and notes about files that can't be read."""
    listing = session_folder(project).listing(None if everywhere else str(project.cwd))
    at, prices = now(), _Prices(project)
    return tuple(_row(s, at, prices) for s in listing.sessions), listing.notes


def _row(summary: SessionSummary, at: datetime, prices: "_Prices") -> Row:
    return Row(summary, max((at - summary.modified).total_seconds(), 0.0), summary.cost_usd(prices.of))


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
