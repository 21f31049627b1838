"""What the demo prints in the end: what the engine did to the window, what was asked back, an undo, and the bill. Pure but for the undo."""

from collections.abc import Sequence

from trimtab.coding.demo import NEEDLE, WINDOW
from trimtab.coding.session import Session
from trimtab.coding.telling.tables import counted
from trimtab.context.naming import body_of
from trimtab.context.telling.explain import LogRow, context_log, listed
from trimtab.context.window.view import View
from trimtab.types.edits import Compact
from trimtab.types.messages import Message, ToolResult

_KEYS = 12
"""Characters of a name that are shown."""


_FACTS = (
    ("present", "stand in it"),
    ("added", "added because they were stated or used"),
    ("left_out", "had no room"),
    ("unused", "nobody has used"),
)
"""What the audit of a summary counts, and how that is said."""


async def account_lines(session: Session) -> list[str]:
    """The account of a session that has just ended its turn. Takes one edit back to show that it can be."""
    view = session.log.snapshot()
    rows = [row for row in context_log(session.log.archive.path(), whole=_same) if row.after is not None]
    lines = [f"What happened to the window of {WINDOW:,} tokens (trimtab context log shows it for any session):"]
    lines += [_row(row) for row in rows]
    lines += ["", *_audits(view), *_recalled(view), await _undone(session, rows), "", *_bill(session)]
    return lines


def _same(message: Message) -> Message:
    return message


def _row(row: LogRow) -> str:
    size = f"{row.before or 0:>6,} → {row.after or 0:>5,} tokens"
    return f"  step {row.step}  {row.kind:<8} {size}  {_names(row)}, by {row.author}"


def _names(row: LogRow) -> str:
    if not row.targets:
        return "a note at the end"
    return listed([name[:_KEYS] for name in row.targets[:2]]) + (
        f" and {len(row.targets) - 2} more" if len(row.targets) > 2 else ""
    )


def _audits(view: View) -> list[str]:
    """What of each compaction's source still stands in its summary."""
    lines = []
    for applied in view.applied:
        if isinstance(applied.edit, Compact):
            audit = applied.edit.meta.get("audit") or {}
            facts = ", ".join(f"{audit.get(name, 0)} {what}" for name, what in _FACTS) if audit else ""
            lines.append(
                f"Compaction: {counted(len(applied.edit.targets), 'item')}, {applied.edit.mode}; audit of facts: {facts or 'none was there'}."
            )
    return lines


def _recalled(view: View) -> list[str]:
    """The line that was asked back, as it stands in the archive and as it came."""
    for slot in reversed(tuple(view.slots.range(0, len(view.slots)))):
        if isinstance(slot.base, ToolResult) and slot.base.tool_name == "recall":
            line = next((line.strip() for line in body_of(slot.base).splitlines() if NEEDLE in line), "")
            return [f"Recall found the exact line: {line}"] if line else []
    return []


async def _undone(session: Session, rows: Sequence[LogRow]) -> str:
    """Take back the edit that brings back most of what still fits, and say what that changed."""
    context, view = session.context, session.log.snapshot()
    request, engine = context.request(), context.engine
    now = engine.look(view, request)
    trials = {row.entry_id: engine.look(view.with_revert("?", row.entry_id), request) for row in rows}
    fitting = [row for row in rows if now.used < trials[row.entry_id].used <= now.budget.hard]
    if not fitting:
        return "Undo: nothing that was hidden fits back in."
    row = max(fitting, key=lambda row: trials[row.entry_id].used)
    made = await context.transcript.run(engine.revert(view, request, row.entry_id, reason="the demo shows it"))
    if isinstance(made, str):
        return f"Undo: refused, because {made}."
    after = engine.look(session.log.snapshot(), request).estimate.tokens
    named = f"the {row.kind} of step {row.step} ({_names(row)})"
    return f"Undo: {named} taken back, {now.estimate.tokens:,} → {after:,} tokens in the next request; all later steps are kept."


def _bill(session: Session) -> list[str]:
    saved = session.context.engine.account.savings
    lines = [
        f"Sent {saved.prompt_tokens:,} prompt tokens in {saved.requests} requests; with everything kept it would have been {saved.kept_prompt_tokens:,}"
        f" (and no request over {WINDOW:,} fits)."
    ]
    if saved.usd is not None and saved.kept_usd is not None:
        lines.append(
            f"At the prices set for the script: ${saved.usd:.4f}, against ${saved.kept_usd:.4f} for keeping all: what is sent again unchanged"
            " is read from the cache at a tenth, and each edit breaks some of it."
        )
    return lines
