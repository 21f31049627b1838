"""What commands of `trimtab context` answer with, as text and as data for JSON."""

from typing import Any

import msgspec

from trimtab.coding.context.bisect import Bisected
from trimtab.coding.context.saved import SavedContext
from trimtab.coding.context.wishes import Granted
from trimtab.coding.telling.context_text import row_details, row_head
from trimtab.context.cycle.floor import floor_of
from trimtab.context.cycle.look import Look
from trimtab.context.telling.dropped import DroppedFact
from trimtab.context.telling.explain import LogRow
from trimtab.context.telling.layers import budget_data
from trimtab.types.edits import edit_kind


def budget(saved: SavedContext, look: Look) -> dict[str, Any]:
    """Return the budget of the next request, and what its fixed parts take."""
    floor = floor_of(look)
    return {
        "model": saved.engine.model.ref,
        "policy": saved.policy,
        "used": look.estimate.tokens,
        "at_most": look.used,
        "known": look.estimate.known,
        "system": floor.system,
        "tools": floor.tools,
        "pinned": floor.pinned,
        **budget_data(look.budget, look.used),
    }


def granted_lines(came: Granted) -> list[str]:
    """Return what came of a wish, as text."""
    if came.unchanged:
        return [f"{came.unchanged}; nothing was written"]
    lines = [f"{edit_kind(d.entry.edit)} {', '.join(came.names)}: edit {d.entry_id}" for d in came.done]
    lines += ["; ".join(part for part in (f"took back {came.revert}", came.unseen) if part)] if came.revert else []
    before, after = came.before, came.after
    size = f"{before.tokens:,} → {after.tokens:,}" if before != after else f"{after.tokens:,}"
    most = f" (at most {after.upper:,})" if after.upper > after.tokens else ""
    pinned = f"; pinned items have {came.pinned:,}" if came.pinned else ""
    lines += [f"note: {note}" for note in came.notes]
    return [*lines, f"the next request has {size}{most} of {came.limit:,} tokens{pinned}"]


def granted_data(session_id: str, came: Granted) -> dict[str, Any]:
    """Return what came of a wish, as data."""
    done = [
        {
            "entry_id": d.entry_id,
            "kind": edit_kind(d.entry.edit),
            "targets": list(d.entry.edit.targets),
            "before_tokens": d.entry.before_tokens,
            "after_tokens": d.entry.after_tokens,
        }
        for d in came.done
    ]
    return {
        "session_id": session_id,
        "done": done,
        "names": list(came.names),
        "reverted": came.revert,
        "unchanged": came.unchanged or None,
        "unseen": came.unseen or None,
        "notes": list(came.notes),
        "used_before": came.before.tokens,
        "used": came.after.tokens,
        "at_most": came.after.upper,
        "limit": came.limit,
        "pinned": came.pinned,
    }


def row_data(row: LogRow, time: str, dropped: dict[str, tuple[DroppedFact, ...]] | None) -> dict[str, Any]:
    """Return a row of the log, as data."""
    data: dict[str, Any] = {"time": time, **msgspec.to_builtins(row)}
    if dropped is not None:
        data["facts_dropped"] = msgspec.to_builtins(dropped.get(row.entry_id, ()))
    return data


def guilty_lines(done: Bisected, guilty: list[LogRow], times: dict[str, str], session: str) -> list[str]:
    """Return the edits to blame and what takes them back, as text."""
    one = len(guilty) == 1
    lines = [f"{'this edit' if one else 'these edits together'} broke it ({len(done.trials)} trials):"]
    for row in guilty:
        lines.append(f"  {row_head(row, times[row.entry_id])}")
        lines += [f"    {details}"] if (details := row_details(row)) else []
    lines += [] if done.found.proved else ["the search ended early: fewer of them may be enough"]
    lines += [f"trimtab context revert {session} {row.entry_id}" for row in guilty]
    return lines


def bisect_data(
    session_id: str, check: str, done: Bisected, guilty: list[LogRow], times: dict[str, str]
) -> dict[str, Any]:
    """Return what a search found and by which trials, as data."""
    return {
        "session_id": session_id,
        "check": check,
        "guilty": [row_data(row, times[row.entry_id], None) for row in guilty],
        "reason": done.found.reason,
        "proved": done.found.proved,
        "trials": [{"reverted": list(t.reverted), "verdict": t.verdict, "exit_code": t.code} for t in done.trials],
    }
