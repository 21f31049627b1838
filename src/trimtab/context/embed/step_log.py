"""The log of a program's steps: what was seen and decided, small enough to keep.

    look, actions ──add──▶ {"obs": {used_tokens, max_tokens, budget, active_context: [{id, kind, state}, …]}, "action": {…}}
    records ──data──▶ each with only the rows that differ from those of the record before ──load──▶ records

A record stands for itself, but rows that haven't changed are the same objects in all of them, so a step costs what is new in it. Texts, sizes of
single items and what stands in their place are in `observe()` while they hold, and in the log of edits. Only the last records are kept.
"""

from collections.abc import Mapping, Sequence
from itertools import takewhile
from operator import eq
from typing import Any

from trimtab.context.actions import Action
from trimtab.context.cycle.look import Look
from trimtab.context.seeing.observing import kind_of
from trimtab.context.telling.layers import action_data, budget_data
from trimtab.context.window.view import View

KEPT = 1_000
"""Records that are kept: the last ones."""


class StepLog:
    """`records` are the last of `total`; whoever has no use for them may empty the list."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []
        self.total = 0
        self._rows: dict[str, dict[str, str]] = {}

    def add(self, look: Look, actions: Sequence[Action]) -> None:
        """Log what stood in the context before `actions`, for each of them."""
        seen = {
            "used_tokens": look.used,
            "max_tokens": look.budget.window,
            "budget": budget_data(look.budget, look.used),
            "active_context": self._active(look.view),
        }
        self.records += [{"obs": seen, "action": action_data(action)} for action in actions]
        self.total += len(actions)
        del self.records[:-KEPT]

    def data(self) -> dict[str, Any]:
        """The log as JSON values; of each record's rows, those behind the first that differs from the record before."""
        before: list[dict[str, str]] = []
        steps: list[dict[str, Any]] = []
        for record in self.records:
            rows = record["obs"]["active_context"]
            same = sum(1 for _ in takewhile(bool, map(eq, before, rows)))
            obs = {**record["obs"], "active_context": {"as_before": same, "then": rows[same:]}}
            steps.append({"obs": obs, "action": record["action"]})
            before = rows
        return {"total": self.total, "steps": steps}

    def load(self, data: Mapping[str, Any]) -> None:
        """Take over what `data` gave. Raises `ValueError`, `KeyError` or `TypeError` for anything else."""
        total = data["total"]
        if type(total) is not int:
            raise TypeError("the log has no number of steps")
        before: list[dict[str, str]] = []
        records: list[dict[str, Any]] = []
        for step in data["steps"]:
            coded = step["obs"]["active_context"]
            before = [
                *before[: coded["as_before"]],
                *(self._row(r["id"], r["kind"], r["state"]) for r in coded["then"]),
            ]
            records.append({"obs": {**step["obs"], "active_context": before}, "action": step["action"]})
        self.records, self.total = records, total

    def _active(self, view: View) -> list[dict[str, str]]:
        rows: list[dict[str, str]] = []
        for shown in view.shown():
            slot = view.slots[shown.place]
            if shown.lead:
                rows.append(self._row(slot.lead or slot.id, "summary", "summary"))
            else:
                rows.append(self._row(slot.id, kind_of(slot), slot.state))
        self._rows = {row["id"]: row for row in rows}
        return rows

    def _row(self, item: str, kind: str, state: str) -> dict[str, str]:
        row = {"id": item, "kind": kind, "state": state}
        known = self._rows.get(item)
        if known == row:
            return known
        self._rows[item] = row
        return row
