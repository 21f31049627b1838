"""`trimtab chat`: a plain line loop over one session after the other; also what runs where no full-screen interface is possible.

    choice ─▶ a session is opened ─▶ its loop (chat_loop.py) ─▶ another one, opened before this one is let go ─▶ its loop ─▶ …

Ctrl-C leaves a question unanswered or ends a wait for a summary, else it stops the running turn; when nothing runs, a second one in a row leaves (the first may have been meant for a half-typed line). The
terminal's own line editing works, and the loop never waits for a person.
"""

import sys
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any, TextIO

import anyio
import click

from trimtab.coding.choose import Choice, New
from trimtab.coding.context.ahead import Start
from trimtab.coding.first_model import NoModel
from trimtab.coding.project import Project
from trimtab.coding.services import bare_group
from trimtab.coding.session import Session
from trimtab.coding.switching import Candidate, carry_over, prepare, words_of
from trimtab.coding.telling.tables import shortened
from trimtab.coding.toolset import removed_variables
from trimtab.config.hide import hide_variables
from trimtab.frontends.cli.asking import LinePerson, asked_by
from trimtab.frontends.cli.chat_loop import ChatLoop, Reopening, colours_of
from trimtab.frontends.cli.hidden import unshown
from trimtab.frontends.cli.lines import MARK_PASTES, UNMARK_PASTES, Lines
from trimtab.frontends.cli.options import Flags, session_options
from trimtab.frontends.cli.own_output import own_output
from trimtab.frontends.cli.start import open_flags
from trimtab.frontends.cli.talk_signals import TalkSignals
from trimtab.frontends.cli.text import TextPrinter
from trimtab.types.errors import TrimtabError
from trimtab.types.messages import Assistant, Message, User

_RECALLED = 400
"""Characters shown of the last prompt and the last answer of a session that goes on."""


@click.command("chat")
@session_options
def command(**flags: Any) -> int:
    """Talk line by line in this folder."""
    return talk(Flags(**flags))


def talk(flags: Flags) -> int:
    """Run the line loop until the person leaves; return the exit code."""
    return anyio.run(partial(converse, open_flags(flags), flags.choice(), takeover=flags.takeover))


async def converse(project: Project, choice: Choice, *, takeover: bool = False) -> int:
    """Talk over the session that `choice` means, and those that the person switches to, until they leave; return the exit code."""
    with own_output() as out:
        return await _conversed(project, choice, out, takeover=takeover)


async def _conversed(project: Project, choice: Choice, out: TextIO, *, takeover: bool) -> int:
    printer = TextPrinter(out=out, live=True, progress=True, mark="> " if sys.stdin.isatty() else "")
    typed = sys.stdin.isatty()
    hide = partial(unshown, sys.stdin.fileno()) if typed else None
    person = LinePerson(printer.say, interactive=typed, hide=hide)
    lines, signals = Lines(sys.stdin.fileno()), TalkSignals()
    marks = typed and project.env.get("TERM", "dumb") != "dumb" and printer.control(MARK_PASTES)
    try:
        async with bare_group() as start:
            start(signals.heed)
            try:
                failed = await _sittings(
                    project, choice, printer, person, lines, signals, takeover=takeover, start=start
                )
            finally:
                signals.close()
    finally:
        if marks:
            with suppress(OSError):  # a terminal that was hung up
                printer.control(UNMARK_PASTES)
    printer.leave()
    return signals.code or (1 if failed and not typed else 0)


async def _sittings(
    project: Project,
    choice: Choice,
    printer: TextPrinter,
    person: LinePerson,
    lines: Lines,
    signals: TalkSignals,
    *,
    takeover: bool,
    start: Start,
) -> bool:
    """One session after the other; return whether a turn of one failed. `start` is where what runs beside them lives."""
    goes_on, news, failed = not isinstance(choice, New), "", False
    here: Candidate | None = None
    with signals.opening(), person.reading(lines.next):
        begin = partial(prepare, project, choice, person=asked_by(person), takeover=takeover, start=start)
        here = await _begun(begin, project, person, printer)
    while here is not None:
        left = here.session
        async with here.stack:
            sitting = await _sit(left, printer, person, lines, signals, goes_on=goes_on, news=news, start=start)
        if signals.code is not None:
            await sitting.give_back()
        following, failed = sitting.following, failed or sitting.failed
        if isinstance(following, Reopening):
            here, goes_on = None, False
            with signals.opening(), person.reading(lines.next):
                here = await _reopened(following, printer, person, start)
        else:
            here, goes_on = following, True
        if here is not None:
            reopened = isinstance(following, Reopening)
            carried = await carry_over(left, here.session, reopened=reopened)
            news = "\n".join((words_of(left, here.session, reopened=reopened), *carried))
    return failed


async def _begun(
    begin: Callable[[], Awaitable[Candidate]], project: Project, person: LinePerson, printer: TextPrinter
) -> Candidate:
    """The first session; where nothing lets one in, once the person has logged in."""
    try:
        return await begin()
    except NoModel:
        if not person.interactive:
            raise
        from trimtab.frontends.cli.first_login import offered_login

        if not await offered_login(project, person, printer.say):
            raise
    return await begin()


async def _sit(
    session: Session,
    printer: TextPrinter,
    person: LinePerson,
    lines: Lines,
    signals: TalkSignals,
    *,
    goes_on: bool,
    news: str,
    start: Start,
) -> "ChatLoop":
    """Talk over one session; return the loop at its end: what to go on with, and whether a turn failed. `news`: what is said first, where one came here from another."""
    hide_variables(removed_variables(session.project))  # a project that is trusted by now may name more
    printer.colours = colours_of(session.project, session.project.settings.theme)
    events = session.feed.subscribe()
    printer.title_of, printer.body_of = session.extensions.title_of, session.extensions.body_of
    await session.announce()
    printer.show_all(events.pending())
    if news:
        printer.say(news)
    if goes_on and (end := recalled(session.agent.messages)):
        printer.say(end)
    printer.say(f"{session.model.ref} in {session.project.cwd}. /help lists commands, Ctrl-D leaves.")
    async with anyio.create_task_group() as group:
        group.start_soon(printer.follow, events)
        session.work_beside(group.start_soon, between_turns=sys.stdin.isatty())
        session.context.transcript.wait.way_out = "Ctrl-C ends the wait"
        loop = ChatLoop(session, printer, person, start=group.start_soon, services=start)
        with signals.sitting(loop, group.cancel_scope.cancel):
            await loop.run(lines)
            if isinstance(loop.following, Reopening):
                await session.jobs.carry()
            await session.take_leave()
        for event in events.pending():
            printer.show(event)
        group.cancel_scope.cancel()
    if loop.left:
        await loop.give_back()
    return loop


async def _reopened(again: Reopening, printer: TextPrinter, person: LinePerson, start: Start) -> Candidate:
    """The same session in its project as it is now, or as it was when that can't be."""
    try:
        return await prepare(again.project, again.choice, person=asked_by(person), start=start)
    except TrimtabError as e:
        printer.say(f"error: {e.message}; it goes on as it was" + (f"\n  {e.hint}" if e.hint else ""))
        return await prepare(again.before, again.choice, person=asked_by(person), start=start)


def recalled(messages: Iterable[Message]) -> str:
    """The end of a talk that goes on, shortened: what was asked last and what the answer was. Empty when nothing was said."""
    asked = answered = ""
    for message in messages:
        match message:
            case User(origin="prompt"):
                asked, answered = next(iter(message.said), ""), ""
            case Assistant() if message.text.strip():
                answered = message.text
            case _:
                pass
    said = [("you", asked), ("model", answered)]
    lines = [f"  {who}: {shortened(' '.join(text.split()), _RECALLED)}" for who, text in said if text.strip()]
    return "\n".join(["This session goes on. It ended with:", *lines]) if lines else ""
