"""What requests beside the conversation take, those for summaries above all: told once to whoever sums up, and written to the log as far as no edit tells of it.

    a request for a summary ──booked──▶ Spending ──taken──▶ the turn's totals
    an edit that shows one  ──told────▶     └────unwritten──▶ an entry of the log, at the end of each turn

The one rule: what the log tells (answers, edits, these entries) and what was booked add up to the same. A summary that was rejected, or is prepared and not used yet, stands in
no edit; one that was booked in an earlier turn and is used now stands in two places, so the entry of this turn takes it off again: its counts may be below zero.
"""

from dataclasses import dataclass, field

from trimtab.agent.ports import Spent
from trimtab.context.stores.written import Written, entry_of_spent, written_by
from trimtab.types.entries import CustomEntry, EditEntry
from trimtab.types.models import ModelInfo, cost_usd
from trimtab.types.usage import Usage

_NOTHING = 1e-12
"""USD that are only rounding."""


@dataclass(slots=True)
class _Owed:
    """What one model was asked for and no entry tells yet. `unpriced`: a price isn't known, and no entry shows that."""

    usage: Usage = field(default_factory=Usage)
    usd: float = 0.0
    unpriced: bool = False


class Spending:
    """Adds up, for one session."""

    def __init__(self) -> None:
        self._spent = Spent()
        self._owed: dict[str, _Owed] = {}
        self.rows: dict[tuple[str, str], Spent] = {}
        """What was spent since the session was opened, by role and model; nothing is ever taken off."""

    def book(self, usage: Usage | None, model: ModelInfo, *, role: str = "summary") -> None:
        """One request was answered, for `role`. None: the server didn't say what it took."""
        usd = None if usage is None else cost_usd(usage, model.prices)
        self.add(usage or Usage(), usd, model.ref, role=role)

    def add(self, usage: Usage, usd: float | None, ref: str, *, role: str = "subagent") -> None:
        """Requests to the model `ref` took this; None: a price isn't known."""
        spent = Spent(usage, usd)
        self._spent = self._spent + spent
        self.rows[(role, ref)] = self.rows.get((role, ref), Spent()) + spent
        owed = self._owed.setdefault(ref, _Owed())
        owed.usage, owed.usd, owed.unpriced = owed.usage + usage, owed.usd + (usd or 0.0), owed.unpriced or usd is None

    def told(self, entry: EditEntry) -> None:
        """An edit was recorded."""
        if (written := written_by(entry.edit, entry.cost)) is None:
            return
        owed = self._owed.setdefault(written.model, _Owed())
        owed.usage, owed.usd = owed.usage - written.usage, owed.usd - (written.usd or 0.0)
        owed.unpriced = owed.unpriced and written.usd is not None

    @property
    def spent(self) -> Spent:
        """What was spent since it was taken last."""
        return self._spent

    def take(self) -> Spent:
        """What was spent since this was asked last."""
        spent, self._spent = self._spent, Spent()
        return spent

    def unwritten(self) -> tuple[CustomEntry, ...]:
        """What the log doesn't tell yet, to be recorded now."""
        owed, self._owed = self._owed, {}
        return tuple(
            entry_of_spent(Written(model, one.usage, None if one.unpriced else one.usd))
            for model, one in owed.items()
            if one.usage != Usage() or one.unpriced or abs(one.usd) > _NOTHING
        )
