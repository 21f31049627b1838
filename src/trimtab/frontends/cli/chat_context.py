"""What a person does about the context in a talk: look at the meter, compact, take an edit back.

Everything runs as a plan of the engine through the session's transcript, one operation at a time, with the model asked for a summary like anyone else.
"""

from collections.abc import Generator
from typing import Protocol

from trimtab.agent.run import AgentBusy
from trimtab.coding.context.open import OpenContext
from trimtab.coding.context.wishes import unseen
from trimtab.coding.session import Session
from trimtab.context.actions import Action
from trimtab.context.asks import Answer, Ask
from trimtab.context.editing.applying import Done, Outcome
from trimtab.context.reasons import all_in_words
from trimtab.frontends.cli.context_text import biggest_lines, meter_lines, waiting_lines
from trimtab.frontends.cli.printable import one_line
from trimtab.frontends.cli.screen import counted
from trimtab.types.edits import Compact
from trimtab.types.errors import TrimtabError, UsageError

_BIGGEST = 8
_KEPT = 4
"""One part in so many of what is shown stays as it is at the end, or what a policy would keep where that is less."""


class ContextTalk(Protocol):
    """What these commands act on."""

    session: Session

    def tell(self, text: str) -> None:
        """Say something to the person."""
        ...


async def show_context(talk: ContextTalk) -> None:
    """Tell the meter and the biggest items."""
    context = talk.session.context
    talk.tell("\n".join(map(one_line, await context.transcript.run(_looked(context)))))


async def compact(talk: ContextTalk, instructions: str) -> None:
    """Replace all but the end of the conversation by a summary; `instructions` go to whoever writes it. Raises `TrimtabError` when nothing comes of it."""
    context = talk.session.context
    outcome = await context.transcript.run(_compacted(context, instructions))
    if not outcome.done:
        why = outcome.failed or all_in_words(outcome.refused) or "nothing came of it"
        raise TrimtabError(why, hint="The conversation is as it was.")
    for event in context.transcript.take_news():
        await talk.session.feed.publish(event)
    for done in outcome.done:
        talk.tell(one_line(_compaction(done)))


def _compaction(done: Done) -> str:
    """What a compaction came to, whose words it is, and why not the model's where a digest had to do."""
    entry, edit = done.entry, done.entry.edit
    by = f", written by {edit.model}" if isinstance(edit, Compact) and edit.model else ""
    rejected = edit.meta.get("rejected") if isinstance(edit, Compact) else None
    why = f", a digest without a model ({all_in_words(map(str, rejected))})" if rejected and not by else ""
    size = f"{entry.before_tokens or 0:,} → {entry.after_tokens or 0:,} tokens"
    return f"compacted {counted(len(edit.targets), 'item')}: {size}{by}{why}; /revert {done.entry_id} takes it back"


async def revert(talk: ContextTalk, target: str) -> None:
    """Take an edit back, the last one that holds for `last` and by default. Raises `UsageError` when there is none, and `TrimtabError` when it can't be."""
    require_idle(talk.session)
    context = talk.session.context
    view = talk.session.log.snapshot()
    standing = [applied.id for applied in view.applied if applied.id not in view.reverted]
    target = "" if target == "last" else target
    if not target and not standing:
        raise UsageError("no edit of the context holds", hint="/context shows what the model sees.")
    target = target or standing[-1]
    made = await context.transcript.run(context.engine.revert(view, context.request(), target))
    if isinstance(made, str):
        raise TrimtabError(made, hint="The conversation is as it was.")
    talk.tell(one_line("; ".join(part for part in (f"took back {target}", unseen(view, made, target)) if part)))


def _looked(context: OpenContext) -> Generator[Ask, Answer, list[str]]:
    engine = context.engine
    look = engine.look(context.transcript.log.snapshot(), context.request())
    observation = engine.observe(look)
    yield from ()  # a plan that asks for nothing
    manager = engine.manager
    meter = meter_lines(look, observation, policy=context.policy)
    return [*meter, *waiting_lines(manager.waiting), *biggest_lines(observation, _BIGGEST)]


def _compacted(context: OpenContext, instructions: str) -> Generator[Ask, Answer, Outcome]:
    engine, request = context.engine, context.request()
    view = context.transcript.log.snapshot()
    params: dict[str, object] = {"instructions": instructions} if instructions else {}
    shown = sum(map(engine.tally.message, view.messages()))
    params["keep_tokens"] = min(shown, engine.budget.target) // _KEPT
    action = Action("compact", params=params, reason="asked for by the user")
    return (yield from engine.act(view, request, [action], author="user"))


def require_idle(session: Session) -> None:
    """Raise `AgentBusy` while a turn runs: its next request must not change under it."""
    if session.busy:
        raise AgentBusy("a turn runs", hint="Wait until it is done, or stop it with Ctrl-C.")
