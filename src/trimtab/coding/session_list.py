"""Sessions as rows that a person can choose from."""

from dataclasses import dataclass
from datetime import datetime

from trimtab.coding.logs import now, session_folder
from trimtab.coding.project import Project
from trimtab.context.stores.summary import SessionSummary
from trimtab.providers.catalogue import Catalogue
from trimtab.types.models import cost_usd


@dataclass(frozen=True, slots=True)
class Row:
    """One session. `cost_usd` is None when a model's price is unknown; `age_s` since the last write, in seconds."""

    summary: SessionSummary
    age_s: float
    cost_usd: float | None


def list_sessions(project: Project, *, everywhere: bool) -> tuple[tuple[Row, ...], tuple[str, ...]]:
    """The sessions of this folder (or of all), newest first, and notes about files that can't be read."""
    listing = session_folder(project).listing(None if everywhere else str(project.cwd))
    at = now()
    return tuple(_row(s, at) for s in listing.sessions), listing.notes


def _row(summary: SessionSummary, at: datetime) -> Row:
    costs = [_cost(ref, summary) for ref in summary.usage]
    known = [c for c in costs if c is not None]
    total = sum(known) if len(known) == len(costs) and costs else None
    return Row(summary, max((at - summary.modified).total_seconds(), 0.0), total)


def _cost(ref: str, summary: SessionSummary) -> float | None:
    provider, _, model_id = ref.partition("/")
    info = Catalogue.load().find(provider, model_id)
    return cost_usd(summary.usage[ref], info.prices) if info else None
