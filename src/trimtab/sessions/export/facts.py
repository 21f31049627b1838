"""What stands at the head of an exported session."""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.context.stores.summary import SessionSummary
from trimtab.sessions.export.story import Edited, Said, Step


@dataclass(frozen=True, slots=True)
class Facts:
    """Title and facts, each a name and a value in words."""

    title: str
    rows: tuple[tuple[str, str], ...]


def facts_of(summary: SessionSummary, steps: Sequence[Step], *, cost_usd: float | None) -> Facts:
    """The head of a session; `cost_usd` is None when nobody knows it."""
    times = [step.time for step in steps if step.time]
    said = sum(isinstance(step, Said) for step in steps)
    edits = sum(isinstance(step, Edited) for step in steps)
    rows = (
        ("Session", summary.id),
        ("Folder", summary.cwd),
        ("Model", summary.model),
        ("Time", f"{moment(times[0])} – {moment(times[-1])} UTC" if times else ""),
        ("Messages", f"{said:,}"),
        ("Edits of the context", f"{edits:,}" if edits else ""),
        ("Tokens", f"{summary.tokens:,}" if summary.tokens else ""),
        ("Cost", f"${cost_usd:.2f}" if cost_usd is not None else ""),
        ("Forked from", summary.parent_session or ""),
    )
    return Facts(summary.title or "A session", tuple(row for row in rows if row[1]))


def moment(time: str) -> str:
    """A time of the log as a person writes it."""
    return time[:16].replace("T", " ")


def edit_line(step: Edited) -> str:
    """What an edit did, in a sentence."""
    many = "1 message" if step.targets == 1 else f"{step.targets:,} messages"
    size = f", {step.before:,} → {step.after:,} tokens" if step.before is not None and step.after is not None else ""
    why = f" ({step.reason})" if step.reason else ""
    back = "; taken back later" if step.reverted else ""
    return f"{step.author}: {many} {step.what}{size}{why}{back}"
