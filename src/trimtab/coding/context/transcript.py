"""The conversation as the loop sees it: the `Transcript` port over a session log and the context engine.

    append ──admit──▶ log, durable                                 an answer's usage teaches the engine first
    prompt ──prepare──▶ asks ──┬─ Record ──▶ log, durable
                               ├─ Keep ────▶ files that the model may read
                               ├─ Summarize ▶ a model, or the answer that the background waits for
                               └─ Consult ─▶ a policy elsewhere
           ◀── request, and what watchers should hear

Counting, folding and writing run in worker threads, one operation of the engine at a time.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeVar

import anyio
import anyio.from_thread

from trimtab.agent.events import BudgetChanged, ContextEdited, Event, MessageEnded, Notice
from trimtab.agent.ports import Prompt, Provider, Spent
from trimtab.coding.context.advice import Adviser
from trimtab.coding.context.ahead import Background
from trimtab.coding.context.around import Around, NobodyAround
from trimtab.coding.context.engine import summariser_of
from trimtab.coding.context.files import ArchiveFiles
from trimtab.coding.context.learned import Experience
from trimtab.coding.context.summaries import ProjectSummaries
from trimtab.coding.context.summariser import LONGEST, QUIET_S, Asked, Summarisers
from trimtab.coding.context.tokenizers import Tokenizers
from trimtab.coding.context.waiting import SummaryWait
from trimtab.context.asks import Answer, Ask, Consent, Consented, Consult, Failed, Keep, Record, Recorded, Summarize
from trimtab.context.counting.cut_prompt import CutWatch
from trimtab.context.cycle.refusals import LEAST
from trimtab.context.engine import Engine
from trimtab.context.pause import lend
from trimtab.context.prepared import Prepared
from trimtab.context.settings import EngineSettings
from trimtab.context.stores.log import SessionLog
from trimtab.context.window.view import View
from trimtab.types.edits import edit_kind
from trimtab.types.entries import CustomEntry, EditEntry, RevertEntry
from trimtab.types.errors import ContextFloor, ErrorInfo, TrimtabError
from trimtab.types.messages import Assistant, Message
from trimtab.types.models import ModelInfo, ModelRequest
from trimtab.types.usage import Usage

T = TypeVar("T")
_FILLING = 2
"""A request of the soft threshold's size divided by this may be followed by one above it."""
_MOST_NOTES = 20
"""Notes about one request that a person is told."""


class ManagedTranscript:
    """Records into a session log, and shows what the engine makes of it."""

    def __init__(
        self,
        log: SessionLog,
        engine: Engine,
        *,
        summarisers: Summarisers | None = None,
        files: ArchiveFiles | None = None,
        adviser: Adviser | None = None,
        experience: Experience | None = None,
        tokenizers: Tokenizers | None = None,
        summaries: ProjectSummaries | None = None,
    ) -> None:
        self.log = log
        self.engine = engine
        self._untold: list[Event] = []
        self._sent: ModelRequest | None = None
        self._asked: Prepared | None = None
        self._cut_watch = CutWatch()
        self._departed: Asked | None = None
        self._switch: _Switch | None = None
        self._summarisers = summarisers
        self._files = files
        self._adviser = adviser
        self._experience = experience
        self._tokenizers = tokenizers
        self._summaries = summaries
        self.around: Around = NobodyAround()
        self._made: list[tuple[str, EditEntry]] = []
        """Edits that whoever is around wasn't told yet."""
        self._turn = anyio.Lock()
        self._bare: ModelRequest | None = None
        """What was asked for last, before any message was put in."""
        self._tokens = 0
        """The size of that request."""
        self.background = Background()
        quiet_s = summarisers.quiet_s if summarisers is not None else QUIET_S
        self.wait = SummaryWait(quiet_s=quiet_s, most_s=LONGEST * quiet_s)

    async def append(self, messages: Sequence[Message]) -> tuple[str, ...]:
        """Record messages; durable when this returns. Raises `StoreError`."""
        async with self._turn:
            ids = await anyio.to_thread.run_sync(self._append, messages)
        bare, writers = self._bare, self._summarisers
        if writers and bare and self._is_filling(bare) and self.background.begins_after(messages):
            self.background.begin(partial(self._prepare_ahead, bare, writers))
        return ids

    async def park(self, call_id: str, question: str) -> str:
        """Record that a call waits for a person."""
        return await anyio.to_thread.run_sync(self.log.park, call_id, question)

    def view(self) -> tuple[Message, ...]:
        """The conversation as it stands."""
        return self.log.view()

    async def prompt(self, request: ModelRequest) -> Prompt:
        """Return `request` with the messages of the view, made to fit."""
        if notes := await self.around.before_request(request, self.log.view):
            with anyio.CancelScope(shield=True):
                ids = await self.append(notes)
            self._untold += [MessageEnded(entry_id=i, message=note) for i, note in zip(ids, notes, strict=True)]
        return await self._prepared(request, None)

    async def reduce(self, request: ModelRequest, refusal: ErrorInfo) -> Prompt | None:
        """Return a smaller request than the one that the server refused; None when nothing got smaller."""
        refused = self._sent
        prompt = await self._prepared(request, refusal)
        if refused is not None and _same_size(refused, prompt.request):
            self._untold = [*prompt.news, *self._untold]
            return None
        told = Notice(message=f"the server refused the request; {_what(refusal, self.engine.model.context_window)}")
        return replace(prompt, news=(*prompt.news, told))

    def switch_to(self, model: ModelInfo, settings: EngineSettings, *, departed: Provider | None) -> None:
        """From its first request on, manage for `model`. `departed` reaches the one that it takes over from; None: nobody does."""
        first = self._switch.departed if self._switch is not None and departed is not None else departed
        self._switch = _Switch(model, settings, first)

    async def settle_switch(self) -> None:
        """Do what `switch_to` announced now, before any request: for when no turn is running."""
        async with self._turn:
            await self._take_over()

    def take_news(self) -> tuple[Event, ...]:
        """What happened to the context and was not told yet, once. What nobody takes is told with the next request, or at the end of the turn."""
        news, self._untold = self._untold, []
        return tuple(news)

    async def run(self, plan: Generator[Ask, Answer, T]) -> T:
        """Run a plan of the engine, answering what it asks."""
        async with self._turn:
            return await self._drive(plan)

    def book(self, usage: Usage | None, model: ModelInfo, *, role: str = "beside") -> None:
        """Something was asked beside the conversation, by whoever; None: the server didn't say what it took."""
        if self._summarisers is not None:
            self._summarisers.spending.book(usage, model, role=role)

    def book_spent(self, usage: Usage, usd: float | None, ref: str) -> None:
        """A session that works for this one asked the model `ref`; `usd` is None when a price isn't known."""
        if self._summarisers is not None:
            self._summarisers.spending.add(usage, usd, ref)

    @property
    def beside(self) -> Mapping[tuple[str, str], Spent]:
        """What went to requests beside the conversation since the session was opened, by role and model."""
        return self._summarisers.spending.rows if self._summarisers is not None else {}

    def unsettled(self) -> Spent:
        """What requests for summaries took since that was settled last."""
        return self._summarisers.spending.spent if self._summarisers is not None else Spent()

    async def settle_up(self) -> Spent:
        """What requests for summaries took since this was asked last; the log then tells all of it."""
        if self._summarisers is None:
            return Spent()
        spending = self._summarisers.spending
        async with self._turn:
            spent = spending.take()
            if entries := spending.unwritten():
                try:
                    await anyio.to_thread.run_sync(self.log.append, entries)
                except TrimtabError as problem:
                    self._untold.append(Notice(message=f"what summaries took is not in the log: {problem.message}"))
        return spent

    def _is_filling(self, request: ModelRequest) -> bool:
        """Whether the last request was so large that a closer look may find a summary to prepare; while there is room, nothing is counted for that."""
        return request.model == self.engine.model and self._tokens >= self.engine.budget.soft // _FILLING

    async def _prepare_ahead(self, request: ModelRequest, summarisers: Summarisers) -> None:
        """Have the summary written that the policy is about to need. The engine works under the lock, the model outside of it."""
        async with self._turn:
            view = await anyio.to_thread.run_sync(self.log.snapshot)
            plan = self.engine.prepare_ahead(view, request)
            step = await anyio.to_thread.run_sync(_advance, plan, None)
        try:
            while not isinstance(step, _Result):
                answer = await self.background.ask(step, summarisers.ask, self._consent)
                async with self._turn:
                    step = await anyio.to_thread.run_sync(_advance, plan, answer)
        finally:
            plan.close()
        if step.value:
            summarisers.notes.append(
                f"no summary could be prepared in the background ({step.value}); from now on one is written when it is needed"
            )

    async def _prepared(self, request: ModelRequest, refusal: ErrorInfo | None) -> Prompt:
        async with self._turn:
            self._bare = request
            if self._switch is not None and self._switch.model == request.model:
                await self._take_over()
            view = await anyio.to_thread.run_sync(self.log.snapshot)
            departed, self._departed = self._departed, None
            if departed is None:
                plan = self.engine.prepare(view, request, after=refusal)
            else:
                plan = self._after_leave(view, request, refusal, departed)
            try:
                prepared = await self._drive(plan)
            except ContextFloor as floor:
                from trimtab.coding.context.floor_words import with_options  # noqa: PLC0415 - it ends the turn

                raise with_options(floor) from floor
            finally:
                plan.close()
            self._sent, self._asked, self._tokens = prepared.request, prepared, prepared.tokens
        return Prompt(prepared.request, prepared.tokens, self._news(prepared))

    async def _take_over(self) -> None:
        """Let the engine manage for the other model. One whose window was larger is asked for a summary before the next request, if that must shrink."""
        switch, self._switch = self._switch, None
        if switch is None:
            return
        before = self.engine.model
        if self._experience is not None:
            self._experience.note(self.engine)
        await anyio.to_thread.run_sync(partial(self.engine.use_model, switch.model, settings=switch.settings))
        if switch.departed is not None and switch.model.context_window < before.context_window:
            self._departed = (switch.departed, before)

    def _after_leave(
        self, view: View, request: ModelRequest, refusal: ErrorInfo | None, departed: Asked
    ) -> Generator[Ask, Answer, Prepared]:
        """Let the larger model summarise what the new one can't take, then make the request: one plan, so that who doesn't want to wait says so once.

        Whatever comes of the summary, the ladder does the rest.
        """
        look = self.engine.look(view, request)
        summarisers = self._summarisers
        if look.used > look.budget.hard and summarisers is not None and self.engine.policy_name != "none":
            from trimtab.context.actions import Action  # noqa: PLC0415 - a switch to a smaller window is rare

            _, model = departed
            wish = Action(
                "compact", reason=f"the window of {self.engine.model.ref} is smaller than that of {model.ref}"
            )
            manager, usual = self.engine.manager, self.engine.manager.compactor
            # What the engine knows of a cache and a window is of the model that takes over, so the one before gets the messages as a transcript.
            manager.compactor = replace(usual, summariser=summariser_of(model), in_place=False)
            summarisers.instead = departed
            try:
                view = (yield from self.engine.act(view, request, [wish], author="recovery")).view
            finally:
                manager.compactor = usual
                summarisers.instead = None
        return (yield from self.engine.prepare(view, request, after=refusal))

    def _news(self, prepared: Prepared) -> tuple[Event, ...]:
        """What watchers should hear about how a request was made, and what the model's own tools edited before it."""
        news: list[Event] = [*self.take_news()]
        tellers = (self._summarisers, self._experience, self._tokenizers)
        notes = [*prepared.notes, *(note for teller in tellers if teller for note in teller.take_notes())]
        if notes:
            from trimtab.context.editing.writing import ANOTHER_WRITER  # noqa: PLC0415 - hardly any request has notes

            notes = [note.replace(ANOTHER_WRITER, f"{ANOTHER_WRITER} (context.summary_model)") for note in notes]
        if (more := len(notes) - _MOST_NOTES) > 0:
            notes[_MOST_NOTES:] = [f"and {more:,} more notes about this request"]
        if news:
            news.append(BudgetChanged(used_tokens=prepared.tokens, window=self.engine.budget.window))
        return (*news, *(Notice(message=note) for note in notes))

    def _append(self, messages: Sequence[Message]) -> tuple[str, ...]:
        admitted = []
        for message in messages:
            if isinstance(message, Assistant) and not message.superseded:
                self.engine.answered(message)
                self._watch(message)
            admitted.append(self.engine.admit(message))
        return self.log.append_messages(admitted)

    def _watch(self, answer: Assistant) -> None:
        """Tell a person when the server seems to have cut the request that `answer` answers."""
        asked, self._asked = self._asked, None
        if asked is None or answer.usage is None or answer.stop_reason in ("error", "cancelled"):
            return
        said = self._cut_watch.observe(
            counted=asked.tokens, reported=answer.usage.prompt, edits=len(asked.view.applied) + len(asked.view.reverts)
        )
        if said:
            self._untold.append(Notice(message=said))

    async def _drive(self, plan: Generator[Ask, Answer, T]) -> T:
        self.wait.begin()
        if self._summarisers is not None:
            self._summarisers.begin()
        answer: Answer | None = None
        while True:
            step = await anyio.to_thread.run_sync(_advance, plan, answer)
            if isinstance(step, _Result):
                break
            answer = await self._answer(step)
        made, self._made = self._made, []
        for entry_id, entry in made:
            await self.around.edited(entry_id, entry)
        if self._summaries is not None and (note := await anyio.to_thread.run_sync(self._summaries.save)):
            self._untold.append(Notice(message=note))
        return step.value

    async def _answer(self, ask: Ask) -> Answer:
        match ask:
            case Record(values=values):
                return await self._record(values)
            case Keep(texts=texts):
                if self._files is None:
                    return Failed("this session has no folder for its archive")
                return await anyio.to_thread.run_sync(self._files.keep, texts)
            case Summarize():
                if self._summarisers is None:
                    return Failed("no model writes summaries here")
                return await self.wait.over(
                    partial(self._summary, ask, self._summarisers), writer=self._summarisers.first(ask)
                )
            case Consent():
                shared = await self.background.share_consent() if ask.author != "user" else None
                # A text for what was to be prepared says nothing of what came since.
                return shared if isinstance(shared, Consented) and not shared.text else await self._consent(ask)
            case Consult():
                if self._adviser is None:
                    return Failed("no policy elsewhere is reachable here")
                return await self._adviser.ask(ask)

    async def _consent(self, ask: Consent) -> Answer:
        return await self.around.before_compaction(self.engine.model.ref, ask)

    async def _record(self, values: Sequence[EditEntry | RevertEntry | CustomEntry]) -> Answer:
        try:
            ids = await anyio.to_thread.run_sync(self.log.append, values)
        except TrimtabError as problem:
            return Failed(problem.message)
        made = [(i, v) for i, v in zip(ids, values, strict=True) if isinstance(v, EditEntry)]
        self._untold += [edited(i, v) for i, v in made]
        self._made += made
        if self._summarisers is not None:
            for _, edit in made:
                self._summarisers.spending.told(edit)
        return Recorded(ids)

    async def _summary(self, ask: Summarize, summarisers: Summarisers) -> Answer:
        """What the background gets to hear, if it has asked the same, or what a model says."""
        shared = await self.background.share(ask)
        return await summarisers.ask(ask) if shared is None else shared


@dataclass(frozen=True, slots=True)
class _Switch:
    """A model that takes over, how the engine behaves for it, and who reaches the one before."""

    model: ModelInfo
    settings: EngineSettings
    departed: Provider | None


def edited(entry_id: str, entry: EditEntry) -> ContextEdited:
    """The event for an edit that was recorded."""
    return ContextEdited(
        entry_id=entry_id,
        kind=edit_kind(entry.edit),
        targets=entry.edit.targets,
        reason=entry.reason,
        author=entry.author,
        before_tokens=entry.before_tokens or 0,
        after_tokens=entry.after_tokens or 0,
    )


def _same_size(refused: ModelRequest, request: ModelRequest) -> bool:
    """Whether nothing of `request` is smaller than it was: the same messages, and as much room for the answer."""
    return refused.messages == request.messages and (request.max_output or 0) >= (refused.max_output or 0)


def _what(refusal: ErrorInfo, window: int) -> str:
    """What was done about it, in words. A limit that no window has is not repeated."""
    match refusal.kind:
        case "output_cap":
            return "a shorter answer is asked for"
        case "media":
            return "the pictures that it doesn't take are left out"
        case _:
            believed = LEAST <= (refusal.limit or 0) <= window
            limit = f"to the {refusal.limit:,} tokens that it takes" if believed else "by a fifth or more"
            return f"the context was made smaller, {limit}"


@dataclass(frozen=True, slots=True)
class _Result(Generic[T]):
    value: T


def _advance(plan: Generator[Ask, Answer, T], answer: Answer | None) -> Ask | _Result[T]:
    """Take one step of a plan: what it asks, or its result. `StopIteration` must not leave a thread. Who no longer waits for it stops it where it breathes."""
    lend(anyio.from_thread.check_cancelled)
    try:
        return next(plan) if answer is None else plan.send(answer)
    except StopIteration as stop:
        return _Result(stop.value)
