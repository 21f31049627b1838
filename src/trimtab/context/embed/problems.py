"""What went wrong in an embedded conversation without ending it, for the program that wants to know.

    log ──▶ events that failed, summaries that were rejected ──▶ [{"kind", "reason", "entry"}, …], oldest first

Read off the log, so a dump carries it. The one rule: whatever gives way to something else (a policy to the rules, a summary to a digest, a count or a compressor to ours, a result
to a message) is told here.
"""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from trimtab.context.editing.applying import BLANK
from trimtab.context.reasons import all_in_words
from trimtab.types.codec import Entry
from trimtab.types.entries import CustomEntry

Problem: TypeAlias = dict[str, str]
"""`kind`: `policy_failed`, `summarizer_failed`, `summary_rejected`, `counter_failed`, `compressor_failed`, `result_without_call`, `usage_not_believed`, `not_applied`, `settings_replaced`. `entry`: its id in
the log, or ""."""
KEPT = 100
"""Problems that are told: the last ones."""
_FINE = frozenset({"dry_run", "shadow"})


def event(kind: str, reason: str) -> CustomEntry:
    """Return the entry of the log that tells of a problem."""
    return CustomEntry(**BLANK, kind="context", data={"event": kind, "reason": reason})


def problem(kind: str, reason: str, entry: str = "") -> Problem:
    """Return one as plain data."""
    return {"kind": kind, "reason": reason, "entry": entry}


def problems_in(entries: Iterable[Entry]) -> list[Problem]:
    """Return those that a log tells of; what came to nothing for the same reason again and again is told once, where it came last."""
    found: list[Problem] = []
    for one in (one for entry in entries for one in _told(entry)):
        if one["kind"] == "not_applied" and found and {**found[-1], "entry": ""} == {**one, "entry": ""}:
            found.pop()
        found.append(one)
    return found[-KEPT:]


def _told(entry: Entry) -> Iterator[Problem]:
    if entry.type == "custom" and isinstance(note := entry.value, CustomEntry) and note.kind == "context":
        kind = note.data.get("event")
        if isinstance(kind, str) and kind not in _FINE:
            yield problem(kind, _reason(note.data), entry.id)


def _reason(data: dict[str, object]) -> str:
    reasons = data.get("reasons")
    return all_in_words(map(str, reasons if isinstance(reasons, list) else (data.get("reason", ""),)))
