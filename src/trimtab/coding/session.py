"""An open session, as frontends use it: say something, answer, undo, go elsewhere in it, change what it works with.

    prompt → Agent.prompt → loop → provider, tools → ManagedTranscript → engine, SessionLog; events → feed → whoever watches

Frontends get events from `feed` and call methods here; they decide nothing. `opening.py` makes one.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import anyio

from trimtab.agent.events import Notice, Result, SessionOpened
from trimtab.agent.feed import Feed
from trimtab.agent.loop import Turn
from trimtab.agent.ports import Hooks, Spent, ToolOutput
from trimtab.agent.run import Agent, AgentBusy
from trimtab.coding.attachments import unseen_pictures
from trimtab.coding.changed import Changed
from trimtab.coding.checkpoints.open import Checkpoints
from trimtab.coding.checkpoints.undo import Outcome, What
from trimtab.coding.choices import Choices
from trimtab.coding.closing import Ending
from trimtab.coding.context.ahead import Start
from trimtab.coding.context.open import OpenContext
from trimtab.coding.extensions.acting import Acting
from trimtab.coding.jobs.open import close_jobs
from trimtab.coding.kit import Kit
from trimtab.coding.mcp.hub import Mcp
from trimtab.coding.naming import Naming
from trimtab.coding.past import Past
from trimtab.coding.permissions.hooks import PermissionHooks
from trimtab.coding.permissions.policy import Mode
from trimtab.coding.project import Project
from trimtab.coding.results import Results
from trimtab.coding.role_models import Roles
from trimtab.coding.roles import members_of
from trimtab.coding.sdk.prompts import require_words
from trimtab.coding.sdk.reply import Reply
from trimtab.coding.services import Services
from trimtab.coding.under import Under
from trimtab.context.stores.log import SessionLog
from trimtab.types.errors import SessionError, StoreError, TrimtabError
from trimtab.types.messages import Message, User
from trimtab.types.models import ModelInfo
from trimtab.types.text import scrub
from trimtab.types.usage import Usage

if TYPE_CHECKING:
    from trimtab.coding.sdk.commanding import Commanded
    from trimtab.coding.sdk.options import OpenOptions
    from trimtab.coding.sdk.stream import Stream
    from trimtab.context.summary.job import SummaryOutcome


class Session:
    """One open session. A program makes one with `Session.open`, a frontend with `open_session`. `services` run work beside it; `mcp` are the servers that it has tools of.

    `feed` carries every event; subscribe before `announce`. One turn at a time: `steer`, `follow_up` and `cancel` are for meanwhile.
    """

    def __init__(
        self,
        project: Project,
        log: SessionLog,
        agent: Agent,
        kit: "Kit",
        context: OpenContext,
        stack: AsyncExitStack,
        services: Services,
        extensions: Acting,
        mcp: Mcp,
        *,
        notices: tuple[str, ...],
        once: tuple[str, ...],
        closing: Ending,
        roles: Roles,
        checkpoints: Checkpoints | None = None,
        moved: bool = False,
        under: Under | None = None,
        hooks: Hooks | None = None,
    ) -> None:
        self._closing = closing
        self._past = Past(log, agent, context, checkpoints)
        self.keeper = under.checkpoints if under else checkpoints.recorder if checkpoints else None
        """Who records what is changed here."""
        changed = Changed(kit.hooks, self.keeper, f"{log.header.id}:" if under else "")
        self._results = Results(log, changed, closing)
        self.project = project
        self.log = log
        self.agent = agent
        self.context = context
        self.instructions = kit.instructions
        self.kit = kit
        self._stack = stack
        self.services = services
        self.extensions = extensions
        self.mcp = mcp
        self.jobs = kit.jobs
        self.crew = kit.crew
        self.under = under
        self.hooks = hooks
        """What a program looks at each call with, before ours do."""
        self.crew.attach(self)
        self._notices = (*once, *notices)
        self._once = (*once, *kit.model.notes)
        self.favourites = project.settings.favourites
        """Models that lists put first."""
        self.roles = roles
        """Who does what beside the session's model, and in its place."""
        self.choices = Choices(project, log, agent, kit, context, stack, extensions, roles, moved=moved, tell=self.tell)
        """What it works with."""
        writer = project.settings.context.summary_model
        small = roles.named(writer) if writer else roles.of("small")
        book = partial(context.transcript.book, role="name")
        self._naming = Naming(project, log, book, self._settle, small=small or None)
        self._beside: Start | None = None
        context.transcript.wait.tell = self.tell
        extensions.announce_by(self.tell)
        self.permissions.tell = self.tell
        if under is None:
            mcp.tell = self.tell

    @staticmethod
    def open(
        cwd: str | PathLike[str] = ".", **options: Unpack["OpenOptions"]
    ) -> AbstractAsyncContextManager["Session"]:
        """Open a session in the folder `cwd`, to be used in `async with`. Without options it is a new one, with the settings of the command line.

        What is left out holds as it does there: `model` (from settings), `resume`, `fork`, `file` or `ephemeral` (a new session), `tools`, `person`, `policy`, …;
        `OpenOptions` lists all. Raises `TrimtabError`s with a hint, and then nothing was written.
        """
        from trimtab.coding.sdk.opened import opened  # noqa: PLC0415 - it imports this module

        return opened(cwd, options)

    @property
    def id(self) -> str:
        """The session's id, as `resume` takes it."""
        return self.log.header.id

    @property
    def file(self) -> Path | None:
        """The session's file; None when nothing is kept."""
        return self.log.path

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation as it stands."""
        return self.agent.messages

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person should know of how the session was opened."""
        return self._notices

    @property
    def feed(self) -> Feed:
        """Where events are."""
        return self.agent.feed

    @property
    def model(self) -> ModelInfo:
        """The model in use."""
        return self.agent.model

    @property
    def permissions(self) -> PermissionHooks:
        """What may run: mode, rules, and what answers added to them."""
        return self.kit.permissions

    @property
    def busy(self) -> bool:
        """True while a turn runs."""
        return self.agent.busy

    @property
    def spent(self) -> Spent:
        """What was spent since the session was opened, by whomever: answers, and what was asked beside them."""
        return self.agent.allowance.spent + self.context.transcript.unsettled()

    def spent_by(self) -> dict[tuple[str, str], Spent]:
        """The same by role and model; it adds up to `spent`. Answers of the conversation have the role `main`."""
        answers = {("main", ref): one for ref, one in self.agent.allowance.answers.items()}
        return {**answers, **self.context.transcript.beside}

    async def announce(self) -> None:
        """Publish the header and what a person should know; always the first events."""
        header = self.log.header
        file = str(self.log.path) if self.log.path else None
        await self.feed.publish(
            SessionOpened(
                format=header.format,
                id=header.id,
                cwd=scrub(str(self.project.cwd)) if self.choices.moved else self.log.cwd,
                created=header.created,
                parent_session=header.parent_session,
                session_file=file,
            )
        )
        for text in self._notices:
            if text in self._once:
                await self.choices.tell_once(text, ever=text in self.kit.model.assumed)
            else:
                await self.tell(text)

    async def tell(self, text: str) -> None:
        """Publish a notice."""
        await self.feed.publish(Notice(message=text))

    def stream(self, prompt: str | User) -> "Stream":
        """Say something, and get what happens as events: `async for event in session.stream(…)`; the last one is a `Result`."""
        from trimtab.coding.sdk.stream import Stream  # noqa: PLC0415 - frontends subscribe to the feed

        return Stream(self, prompt)

    async def prompt(self, prompt: str | User) -> Reply:
        """Say something and run until idle. Raises `AgentBusy` while a turn runs, and `UsageError` when nothing is said; failures end the turn instead of raising."""
        require_words(prompt)
        if not self.busy:
            heard = await self.extensions.hear(prompt)
            if heard is None:
                return self._results.begin()(Turn("stop", None, Usage(), 0))
            prompt = heard
            await self.choices.standby.begin_turn(self.tell)
        await self.choices.record()
        if not self.busy:
            await self.choices.begin_turn(prompt)
        with suppress(StoreError, SessionError):  # as above
            await self.context.recollect()
        seen = bool(members_of(self.project.settings, "vision"))
        if isinstance(prompt, User) and not seen and (note := unseen_pictures(prompt, self.model)):
            await self.tell(note)
        reply = self._results.begin()
        try:
            turn = await self.agent.prompt(self._past.with_news(prompt))
        finally:
            await self._tell_rest()
        with anyio.CancelScope(shield=True):
            beside = self._beside if self._may_spend() else None
            await self._naming.after_turn(self.agent.provider, self.model, beside)
        return reply(turn)

    def _may_spend(self) -> bool:
        """Whether the limits of the run leave room for what nobody waits for."""
        try:
            self.agent.allowance.check(self.context.transcript.unsettled())
        except TrimtabError:
            return False
        return True

    async def answer(self, call_id: str, text: str) -> Reply:
        """Answer a parked call and go on. Raises `UsageError` when no such call waits."""
        reply = self._results.begin()
        try:
            turn = await self.agent.answer(call_id, text)
        finally:
            await self._tell_rest()
        return reply(turn)

    def work_beside(self, start: Start, *, between_turns: bool = False) -> None:
        """Lend a task group (its `start_soon`) for summaries that are written before they are needed, and for a name; `between_turns`: a person talks on after a turn.

        Cancel the group before the session closes.
        """
        self.context.transcript.background.lend(start, between_turns=between_turns)
        self._beside = start if between_turns else None

    async def _settle(self) -> None:
        """What was asked beside the conversation stands in the log, though no turn may follow; one that runs sees to it itself."""
        if not self.busy:
            spent = await self.context.transcript.settle_up()
            self.agent.allowance.spend(spent.usage, spent.usd)

    async def _tell_rest(self) -> None:
        """After each turn, what no later request told: news of the context, and one notice about the calls that weren't allowed."""
        if not self.busy:
            self.instructions.end_turn()
        with anyio.CancelScope(shield=True):
            for event in self.context.transcript.take_news():
                await self.feed.publish(event)
            for note in (self.kit.refusals.take_notice(), self.kit.confiner.take_notice()):
                if note:
                    await self.tell(note)
            if (checkpoints := self._past.checkpoints) is not None:
                await checkpoints.recorder.settle()
                for note in checkpoints.recorder.take_notes():
                    await self.tell(note)
            if not self.busy:
                await self._closing.verifier.end(self.feed.publish)

    async def undo(
        self, number: int | None = None, *, what: What = "both", force: bool = False, preview: bool = False
    ) -> Outcome:
        """Take the last `number` turns back, one if it is left out: what was said, what was changed in files, or both; `force`: files too that were changed since
        (without a number, right behind an undo that left such files: those of it); `preview`: touch nothing, and say what would come of it.

        Raises `AgentBusy`, or `UsageError` when there is nothing to take back.
        """
        return await self._past.undo(number, what=what, force=force, preview=preview)

    async def redo(self) -> Outcome:
        """Do again what was taken back last. Raises as `undo` does."""
        return await self._past.redo()

    async def diff(self, number: int | None = 1) -> tuple[str, ...]:
        """What the last turns (None: all) changed in files, a diff of git's a file, named from the project's folder, against how the files are now."""
        return await self._past.diff(number)

    async def go_to(self, entry_id: str | None, *, summary: bool = False, wishes: str = "") -> "SummaryOutcome | None":
        """Go on from another entry of the session (None: before the first): the log keeps where, so a quit doesn't lose it.

        `summary`: what was said on the branch that is left is summed up for the other one; `wishes` go to whoever writes that. Returns what was made of it.
        Raises `AgentBusy`, or `UsageError` for an unknown entry.
        """
        return await self._past.go_to(entry_id, summary=summary, wishes=wishes)

    async def verify(self) -> str:
        """Check now, as at the end of a turn; return what is wrong, in words, and nothing when the checks succeeded. Raises `AgentBusy`, or `UsageError` when none are configured."""
        if self.busy:
            raise AgentBusy("a turn runs", hint="Wait until it is done, or stop it with Ctrl-C.")
        try:
            return await self._closing.verifier.check(self.feed.publish)
        finally:
            with anyio.CancelScope(shield=True):
                await self._settle()

    async def accept_protected(self) -> tuple[str, ...]:
        """Let checks take the protected files as they are from now on; return what became of them, in words. Raises `AgentBusy`, or `UsageError` when nothing is protected."""
        if self.busy:
            raise AgentBusy("a turn runs", hint="Wait until it is done, or stop it with Ctrl-C.")
        return await self._closing.verifier.accept()

    async def run_command(
        self, command: str, *, shared: bool = True, update: Callable[[str], Awaitable[None]] | None = None
    ) -> ToolOutput:
        """Run a command for the person, as it stands and asked about by nobody; `shared`: the model reads it. `update` gets what it prints. Raises `AgentBusy`."""
        if self.busy:
            raise AgentBusy("a turn runs", hint="Wait until it is done, or stop it with Ctrl-C.")
        from trimtab.coding.own_command import run_own  # noqa: PLC0415 - most sessions need none

        return await run_own(self, command, shared=shared, update=update or _unheard)

    async def command(self, line: str) -> "Commanded":
        """Run a slash command (`/compact keep the port`, a template, a skill) and the turn that it may begin; return what it said, and the reply.

        Raises `UsageError` for what is no command, and for those that open or end a session.
        """
        from trimtab.coding.sdk.commanding import commanded  # noqa: PLC0415 - it imports this module

        return await commanded(self, line)

    async def take_leave(self) -> None:
        """Nothing more is said here: end the jobs that aren't kept, then tell the hooks at the end, and say what fails while somebody watches. Closing the session does it too."""
        await self.choices.keep()
        await close_jobs(self.jobs, self.agent)
        await self.extensions.end()

    def steer(self, text: str | User) -> None:
        """Tell the running turn something before its next step."""
        if isinstance(text, User):
            self.instructions.named.append(text)
        self.agent.steer(text)

    def follow_up(self, text: str) -> None:
        """Say something once the turn is done."""
        self.agent.follow_up(text)

    def cancel(self) -> None:
        """Stop the running turn."""
        self.agent.cancel()

    def skip_summary(self) -> bool:
        """Let the running turn go on without the summary that it waits for; False when it waits for none."""
        return self.busy and self.context.transcript.wait.skip()

    async def set_model(self, ref: str) -> None:
        """Use another model from the next turn on. Raises `UnknownModel` or `ConfigError`, and then nothing changes.

        The old provider stays open until the session closes: a turn may be running on it.
        """
        await self.choices.set_model(ref)

    def set_thinking(self, level: str | None) -> None:
        """Let the model think at another of its levels from the next turn on; None: its default. Raises `UsageError` for one that it hasn't, and then nothing changes."""
        self.choices.set_thinking(level)

    def set_mode(self, mode: Mode) -> None:
        """Let another permission mode hold from the next call on. A running turn is told before its next step; later ones find it in front."""
        self.choices.set_mode(mode)

    def result(self, turn: Turn, *, code: int | None = None) -> Result:
        """The last event of JSON mode. `code` overrides the exit code (a signal)."""
        return self._results.last(turn, code=code)


async def _unheard(_text: str) -> None:
    """Nobody watches."""
