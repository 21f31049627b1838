"""`/queue [TEXT|clear]`: words for after the running turn; what waits; all of it taken back.

    /queue TEXT ──while a turn runs──▶ the inbox ──the turn is done──▶ a turn of its own
                └─nothing runs──▶ a prompt, now

The one rule: what is taken back is shown, so that nothing typed is lost.
"""

from collections.abc import Sequence
from functools import partial

import anyio

from trimtab.agent.run import AgentBusy
from trimtab.coding.attachments import attached
from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.commands.saying import Said, expand, prompt
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import shortened
from trimtab.types.messages import Text, User
from trimtab.types.text import scrub

_SHOWN = 200
_MOST = 1_000


async def _run(desk: Desk, rest: str) -> None:
    session, inbox = desk.session, desk.session.agent.inbox
    waiting = _told((*inbox.steering, *inbox.follow_ups))
    if rest == "clear":
        inbox.recall()
        desk.tell("\n".join(["taken back:", *waiting]) if waiting else "nothing waits")
    elif not rest:
        desk.tell("\n".join(waiting) or "nothing waits; /queue TEXT says TEXT once the running turn is done")
    elif len(waiting) >= _MOST:
        raise AgentBusy(f"{_MOST:,} messages wait already", hint="/queue clear takes them back.")
    else:
        said = await anyio.to_thread.run_sync(_meant, rest, session)
        for note in said.notes:
            desk.tell(note)
        if session.busy:
            session.agent.follow_up(User(said.parts, origin="follow_up", typed=said.typed))
            desk.tell("(will be said once the turn is done; /queue clear takes it back)")
        else:
            desk.work(partial(prompt, session, said))


def _meant(typed: str, session: Session) -> Said:
    """A template or skill filled in, or the words with the files that they name."""
    if (said := expand(typed, session)) is not None:
        return said
    files = attached(typed, session.project)
    return Said((Text(scrub(typed) + ("\n\n" if files.parts else "")), *files.parts), None, files.notes)


def _told(waiting: Sequence[User]) -> list[str]:
    when = {"steering": "before the next step", "follow_up": "after the turn"}
    return [
        f"  {when.get(m.origin, m.origin)}: {shortened(one_line(' '.join(m.said).strip()), _SHOWN)}" for m in waiting
    ]


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    return [Completion("clear", "take back all that waits")] if session.agent.inbox.follow_ups else []


COMMAND = Command("queue", "[TEXT|clear]", "say TEXT once the turn is done; what waits; take it back", _run, _complete)
