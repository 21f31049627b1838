"""The desk: one query as it is worked on, without any I/O, so that any loop may drive it.

    desk = Desk(query, rules, model)
    while not desk.done:
        request = desk.request()          what goes to the model: edited, valid, with the tools that are offered
        desk.answer(message)              its one call runs; results, limits and pieces are kept
    desk.outcome

The same answers make the same desk, byte for byte: calls are named anew, nothing reads a clock and nothing is drawn. So a rollout goes on from any of its turns by giving the answers up to there again.

The rules' numbers are those of ContextPilot's question answering (arXiv 2608.28476); its habits at inference that hide mistakes (correcting wrong ids, leaving failed calls out of the history) are left out.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from msgspec import structs

from trimtab.context.shorten.compress import Compressor
from trimtab.context.tools.host import ToolReply
from trimtab.lab.docqa import calls, wording
from trimtab.lab.docqa.handlers import HANDLERS
from trimtab.lab.docqa.library import Library
from trimtab.lab.docqa.notebook import Notebook
from trimtab.lab.docqa.outcome import Ending, Outcome
from trimtab.lab.docqa.query import Query
from trimtab.lab.docqa.window import Window, text_result
from trimtab.lab.export.piece import Cutter, Piece
from trimtab.types.errors import ContextFloor, ErrorInfo
from trimtab.types.messages import Assistant, ToolCall, user
from trimtab.types.models import ModelInfo, ModelRequest, add_costs, cost_usd
from trimtab.types.usage import Usage

INDEX = "kept"
"""The label under which the list of what is kept is said."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a reader may do. Sizes in tokens.

    `turns`: then only `finish` is offered, and after `grace` more it is over. `window` and `max_output` as far as the model has no less. `patience`: replies without a call, or failed calls, in a row
    that end it; 1 for the first: a plain reply ends it, as in training. `restore`: `restoreContext` is offered.
    """

    turns: int = 50
    grace: int = 10
    window: int = 32_000
    max_output: int = 2_048
    chunk_tokens: int = 4_000
    back_tokens: int = 400
    hits: int = 10
    searches: int = 15
    patience: int = 3
    restore: bool = True


@dataclass(slots=True)
class Progress:
    """What happened so far. `called`: the names of the tools that were called, in order, with how each went."""

    turns: int = 0
    called: list[tuple[str, bool]] = field(default_factory=list)
    plain: int = 0
    plain_in_row: int = 0
    failed_in_row: int = 0
    used: Usage = field(default_factory=Usage)
    peak: int = 0
    cost: float | None = 0.0

    @property
    def failed(self) -> int:
        """Calls that failed."""
        return sum(not fine for _, fine in self.called)


class Harness(Protocol):
    """A script around a reader: see `cleanup`."""

    def before(self, desk: "Desk") -> None:
        """Do what is due in front of the next request."""
        ...

    def offered(self, desk: "Desk") -> Collection[str]:
        """Name the tools that the reader may call now."""
        ...

    def called(self, desk: "Desk", call: ToolCall, number: int, reply: ToolReply) -> None:
        """Hear of a call and its answer; `number` is that of the answer's message, the call's is one less."""
        ...


class Desk:
    """One query under one set of rules. `window`, `library` and `notebook` are what the tools work on; `pieces` are what is exported."""

    def __init__(
        self,
        query: Query,
        rules: Rules,
        model: ModelInfo,
        *,
        harness: Harness | None = None,
        compressor: Compressor | None = None,
    ) -> None:
        self.query, self.rules, self.harness = query, rules, harness
        window, most = min(rules.window, model.context_window), min(rules.max_output, model.max_output)
        self.model = structs.replace(model, context_window=window, max_output=most)
        self.window: Window = Window(self.model, name=query.name, compressor=compressor)
        self.library: Library = Library(
            query.document,
            self.window.count,
            size=rules.chunk_tokens,
            back=rules.back_tokens,
            hits=rules.hits,
            searches=rules.searches,
        )
        self.notebook: Notebook = Notebook()
        self.progress = Progress()
        self.ending: Ending | None = None
        self.said: str | None = None
        """The answer, once there is one."""
        self.error: ErrorInfo | None = None
        """Why the model couldn't be asked."""
        self.answers: list[Assistant] = []
        """All that the reader said, as it is recorded here."""
        self._cutter = Cutter()
        self._forced_edits = 0
        self._prompt = 0
        self._offered: tuple[str, ...] = ()
        self.window.take(user(wording.asked(query.question.text, rules.turns)))

    @property
    def done(self) -> bool:
        """Whether it is over."""
        return self.ending is not None

    @property
    def pieces(self) -> Sequence[Piece]:
        """The pieces that are complete; when it is over, all of them."""
        return tuple(self._cutter.pieces)

    @property
    def open_piece(self) -> bool:
        """Whether something was said since the last cut."""
        return self._cutter.open

    @property
    def outcome(self) -> Outcome:
        """What it came to, or has come to so far."""
        seen, progress = self.library.shown, self.progress
        return Outcome(
            query=self.query.name,
            ending=self.ending or "open",
            answer=self.said,
            verdict=self.query.judge(self.said),
            looked=all(text in seen for text in self.query.evidence),
            turns=progress.turns,
            calls=dict(Counter(name for name, _ in progress.called)),
            failed_calls=progress.failed,
            plain_replies=progress.plain,
            edits=self.window.edits,
            forced_edits=self.window.forced_edits,
            peak_tokens=progress.peak,
            usage=progress.used,
            cost_usd=progress.cost,
        )

    def request(self) -> ModelRequest | None:
        """Return the next request; None: it is over, because nothing fits any more. Answer it with `answer`, or end with `fail`."""
        self._require_open()
        if self.harness is not None:
            self.harness.before(self)
        self._offered = self._tools()
        wanted = ModelRequest(
            self.model,
            (),
            system=wording.SYSTEM,
            tools=tuple(calls.spec_of(name) for name in self._offered),
            max_output=self.model.max_output,
            session_id=self.query.name,
        )
        try:
            prepared = self.window.prepare(wanted)
        except ContextFloor:
            self._end("window")
            return None
        forced = self.window.forced_edits
        self._cutter.asked(prepared.request, prepared.tokens, forced_edits=forced - self._forced_edits)
        self._forced_edits, self._prompt = forced, prepared.tokens
        self.progress.peak = max(self.progress.peak, prepared.tokens)
        return prepared.request

    def answer(self, message: Assistant) -> None:
        """Take what the model said: run the call that it makes, and see whether it is over."""
        self._require_open()
        said = self._named(message)
        self.answers.append(said)
        self._pay(said)
        self.window.engine.answered(said)
        self.window.take(said)
        self.progress.turns += 1
        self._cutter.answered(said, free=len(self._offered) > 1)
        if said.tool_calls:
            self._call(said.tool_calls)
        else:
            self._plain()
        self._limits()

    def fail(self, error: ErrorInfo) -> None:
        """The model couldn't be asked: end here."""
        self.error = error
        self._end("provider")

    def _require_open(self) -> None:
        if self.done:
            raise RuntimeError(f"this query is over: {self.ending}")

    def _named(self, message: Assistant) -> Assistant:
        """The message with call ids of ours, for those of providers are drawn, or repeat."""
        number = len(self.window.numbers) + 1
        parts = []
        for place, part in enumerate(message.parts):
            renamed = isinstance(part, ToolCall)
            parts.append(structs.replace(part, id=f"call-{number}-{place}") if renamed else part)
        return structs.replace(message, parts=tuple(parts))

    def _tools(self) -> tuple[str, ...]:
        """Names of the tools that are offered now, in the order of the table."""
        if self.progress.turns >= self.rules.turns:
            return ("finish",)
        allowed = calls.TOOLS.keys() if self.harness is None else self.harness.offered(self)
        return tuple(
            name for name in calls.TOOLS if name in allowed and (name != "restoreContext" or self.rules.restore)
        )

    def _pay(self, message: Assistant) -> None:
        text = "\n".join([message.text, *(f"{call.name} {call.raw}" for call in message.tool_calls)])
        usage = message.usage or Usage(input=self._prompt, output=self.window.count(text))
        self.progress.used += usage
        self.progress.cost = add_costs(self.progress.cost, cost_usd(usage, self.model.prices))

    def _plain(self) -> None:
        self.progress.plain += 1
        self.progress.plain_in_row += 1
        if self.progress.plain_in_row >= self.rules.patience:
            self._end("format")
        else:
            self.window.take(user(wording.CALL_SOMETHING, origin="note"))

    def _call(self, made: Sequence[ToolCall]) -> None:
        """Run the first call; the others are answered that they weren't."""
        self.progress.plain_in_row = 0
        call, *others = made
        mine = len(self.window.numbers)
        reply = self._run(call)
        self.progress.called.append((call.name, not reply.is_error))
        self.progress.failed_in_row = self.progress.failed_in_row + 1 if reply.is_error else 0
        text = f"(your call: m{mine})\n{reply.text}"
        if [name for name, _ in self.progress.called[-3:]] == [call.name] * 3:
            text += f"\n{wording.THREE_TIMES}"
        number = self.window.take(text_result(call, text, is_error=reply.is_error))
        for other in others:
            self.window.take(text_result(other, wording.ONLY_ONE, is_error=True))
        if call.name in calls.KEEPING and not reply.is_error:
            self.window.say(self.notebook.listed, INDEX)
        if self.harness is not None:
            self.harness.called(self, call, number, reply)
        if call.name in calls.CUTS and not reply.is_error:
            self._cutter.cut()

    def _run(self, call: ToolCall) -> ToolReply:
        if call.name not in self._offered:
            return ToolReply(
                f"there is no tool {call.name!r} now; there are: {', '.join(self._offered)}", is_error=True
            )
        if call.arguments is None:
            return ToolReply("the arguments are no JSON object; nothing was done", is_error=True)
        if call.name in calls.KEEPING and (reason := self.window.refuse(call)):
            return ToolReply(reason, is_error=True)
        read = calls.read_call(call.name, call.arguments)
        return read if isinstance(read, ToolReply) else HANDLERS[type(read)](self, read)

    def _limits(self) -> None:
        if self.done:
            return
        if self.progress.failed_in_row >= self.rules.patience:
            self._end("errors")
        elif self.progress.turns >= self.rules.turns + self.rules.grace:
            self._end("turns")

    def _end(self, why: Ending) -> None:
        self.ending = why
        self._cutter.cut()

    def finish(self, call: calls.Finish) -> ToolReply:
        """End with an answer."""
        if not call.answer.strip():
            return ToolReply("answer is empty", is_error=True)
        self.said = call.answer.strip()
        self._end("finished")
        return ToolReply("done")

    def budget(self) -> ToolReply:
        """Say what is used and left."""
        rules, used = self.rules, self.progress.turns
        room = max(0, self.model.context_window - self._prompt - self.model.max_output)
        left = max(0, rules.turns - used)
        return ToolReply(
            f"turns: {used} used, {left} left; tokens: about {self._prompt:,} in your context, room for {room:,} more"
        )
