"""`/compact [WISHES]`: replace all but the end of the conversation by a summary.

It runs as a plan of the engine through the session's transcript, one operation at a time, with the model asked for the summary like anyone else.
"""

from collections.abc import Generator
from functools import partial

from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.context.open import OpenContext
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import counted
from trimtab.context.actions import Action
from trimtab.context.asks import Answer, Ask
from trimtab.context.editing.applying import Done, Outcome
from trimtab.context.reasons import all_in_words
from trimtab.types.edits import Compact
from trimtab.types.errors import TrimtabError

_KEPT = 4
"""One part in so many of what is shown stays as it is at the end, or what a policy would keep where that is less."""


async def _run(desk: Desk, rest: str) -> None:
    desk.work(partial(compact, desk, rest), is_turn=False)


async def compact(desk: Desk, instructions: str) -> None:
    """Replace all but the end of the conversation by a summary; `instructions` go to whoever writes it. Raises `TrimtabError` when nothing comes of it."""
    context = desk.session.context
    outcome = await context.transcript.run(_compacted(context, instructions))
    if not outcome.done:
        why = outcome.failed or all_in_words(outcome.refused) or "nothing came of it"
        raise TrimtabError(why, hint="The conversation is as it was.")
    for event in context.transcript.take_news():
        await desk.session.feed.publish(event)
    for done in outcome.done:
        desk.tell(one_line(_compaction(done)))


def _compaction(done: Done) -> str:
    """What a compaction came to, whose words it is, and why not the model's where a digest had to do."""
    entry, edit = done.entry, done.entry.edit
    by = f", written by {edit.model}" if isinstance(edit, Compact) and edit.model else ""
    rejected = edit.meta.get("rejected") if isinstance(edit, Compact) else None
    why = f", a digest without a model ({all_in_words(map(str, rejected))})" if rejected and not by else ""
    size = f"{entry.before_tokens or 0:,} → {entry.after_tokens or 0:,} tokens"
    return f"compacted {counted(len(edit.targets), 'item')}: {size}{by}{why}; /revert {done.entry_id} takes it back"


def _compacted(context: OpenContext, instructions: str) -> Generator[Ask, Answer, Outcome]:
    engine, request = context.engine, context.request()
    view = context.transcript.log.snapshot()
    params: dict[str, object] = {"instructions": instructions} if instructions else {}
    shown = sum(map(engine.tally.message, view.messages()))
    params["keep_tokens"] = min(shown, engine.budget.target) // _KEPT
    action = Action("compact", params=params, reason="asked for by the user")
    return (yield from engine.act(view, request, [action], author="user"))


COMMAND = Command("compact", "[WISHES]", "replace all but the end by a summary; WISHES go to whoever writes it", _run)
