"""Runs the calls of one answer side by side and records their results in call order.

The path of a call: `_attend` (does it resolve? what does the hook say?) in call order, the next call once this one is decided or its hook waits
for a person (`ports.meanwhile`), while earlier calls already run → `_work` waits for earlier calls that touch the same things (`Access`) and runs
the tool → the `_Ledger` keeps the outcome until all earlier ones are there, then writes every consecutive outcome with one append, so that
parallel results share an fsync, and only then tells that they ended.

The one rule: when `run_calls` returns or raises, every call has exactly one recorded outcome (a result, or a mark that it waits for a
person), unless the transcript itself failed.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import anyio
from msgspec.structs import replace

from trimtab.agent.calls import Runnable, resolve
from trimtab.agent.events import ToolEnded, ToolParked, ToolStarted, ToolUpdate
from trimtab.agent.ports import (
    Access,
    Answer,
    Deferred,
    Emit,
    Everything,
    Hooks,
    Tool,
    ToolOutput,
    ToolRun,
    Transcript,
    set_meanwhile,
)
from trimtab.types.errors import TrimtabError
from trimtab.types.messages import Part, Text, ToolCall, ToolResult
from trimtab.types.text import scrub

CANCELLED = ToolOutput.text("cancelled", is_error=True)
"""The stored result of a call that was stopped, or never started, because the turn was cancelled."""

ERROR_CHARS = 2000
"""How much of a foreign exception's text a model is shown."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What calls are run with. `parked` maps the calls that wait for a person to their questions, and grows here."""

    tools: Mapping[str, Tool]
    hooks: Hooks
    transcript: Transcript
    emit: Emit
    parked: dict[str, str] = field(default_factory=dict)


Outcome: TypeAlias = ToolOutput | Deferred


@dataclass(frozen=True, slots=True)
class _Job:
    """A call that may run, once the calls it has to wait for are over."""

    runnable: Runnable
    access: Access
    over: anyio.Event = field(default_factory=anyio.Event)


async def run_calls(
    calls: Sequence[ToolCall],
    bench: Bench,
    *,
    answered: Mapping[str, ToolOutput] | None = None,
    shown: Collection[str] = (),
) -> None:
    """Run `calls`; those that `answered` has an output for are recorded with it and not run. `shown`: tools that the request offered.

    Raises what the transcript raised (`StoreError`); running tools are then cancelled, and nothing is said to be recorded.
    """
    ledger = _Ledger(calls, bench)
    for index, call in enumerate(calls):
        if answered and call.id in answered:
            ledger.put(index, answered[call.id])
    try:
        async with anyio.create_task_group() as group:
            ledger.give_up = group.cancel_scope.cancel
            earlier: list[_Job] = []
            for index, _ in ledger.open():
                passed = anyio.Event()
                group.start_soon(_attend, index, earlier, passed, bench, shown, ledger)
                await passed.wait()
            await ledger.flush()
    finally:
        with anyio.CancelScope(shield=True):
            for index, _ in ledger.open():
                ledger.put(index, CANCELLED)
            await ledger.flush()
        # Told even to who cancels at that moment: what is missing in the log isn't lost quietly.
        if ledger.failure is not None:
            raise ledger.failure


def conflict(a: Access, b: Access) -> bool:
    """True when one writes what the other reads or writes."""
    return _overlap(a.writes, b.writes) or _overlap(a.writes, b.reads) or _overlap(a.reads, b.writes)


def result_of(call_id: str, name: str, output: ToolOutput) -> ToolResult:
    """Return the message for an output; text is made encodable here, where it enters the conversation."""
    return ToolResult(
        call_id=call_id,
        tool_name=name,
        parts=tuple(_clean(part) for part in output.parts),
        is_error=output.is_error,
        details=output.details,
        cut=output.cut,
    )


def ended_event(entry_id: str, result: ToolResult) -> ToolEnded:
    """Return the event for a result that is durable as `entry_id`."""
    return ToolEnded(
        entry_id=entry_id,
        call_id=result.call_id,
        name=result.tool_name,
        is_error=result.is_error,
        parts=result.parts,
        cut=result.cut,
        details=result.details,
    )


def _overlap(a: frozenset[str] | Everything, b: frozenset[str] | Everything) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return bool(a) and bool(b)
    return not a.isdisjoint(b)


def _clean(part: Part) -> Part:
    if isinstance(part, Text) and (text := scrub(part.text)) is not part.text:
        return replace(part, text=text)
    return part


async def _attend(
    index: int,
    earlier: list[_Job],
    passed: anyio.Event,
    bench: Bench,
    shown: Collection[str],
    ledger: "_Ledger",
) -> None:
    """See one call through. `passed` is set once the next one may be looked at; `earlier` are the jobs before this one, which joins them."""
    call = ledger.calls[index]
    job = _prepared(call, bench, shown)
    if not isinstance(job, _Job):
        ledger.put(index, job)
        passed.set()
        return
    waits = [other.over for other in earlier if conflict(other.access, job.access)]
    earlier.append(job)
    set_meanwhile(passed.set)
    try:
        outcome = await _checked(call, job, passed, bench)
        if not isinstance(outcome, _Job):
            ledger.put(index, outcome)
            if passed.is_set():
                await ledger.flush()
            return
        if outcome is not job:  # changed by the hook, while nobody was let past
            waits = [other.over for other in earlier[:-1] if conflict(other.access, outcome.access)]
            earlier[-1] = outcome
        # Said before the next call is looked at, so that free calls start in call order on every event loop.
        if not waits:
            await _say_started(call, outcome, bench)
        passed.set()
        await _work(index, outcome, waits, bench, ledger)
    finally:
        job.over.set()
        passed.set()


def _prepared(call: ToolCall, bench: Bench, shown: Collection[str]) -> _Job | ToolOutput:
    """Resolve a call: a job, or the outcome that stands instead of running it."""
    runnable = resolve(call, bench.tools, shown=shown)
    return runnable if isinstance(runnable, ToolOutput) else _job(runnable)


def _job(runnable: Runnable) -> _Job | ToolOutput:
    try:
        return _Job(runnable, runnable.tool.access(runnable.arguments))
    except Exception as exc:  # noqa: BLE001 - foreign code: its failure is the model's to read
        return ToolOutput.text(f"Not run: {runnable.call.name} failed before it started ({_said(exc)}).", is_error=True)


async def _checked(call: ToolCall, job: _Job, passed: anyio.Event, bench: Bench) -> _Job | Outcome:
    """Ask the hook: the job as it is to run, or the outcome that stands instead."""
    try:
        verdict = await bench.hooks.before_tool(replace(call, arguments=dict(job.runnable.arguments)))
    except Deferred as deferred:
        return deferred
    except Exception as exc:  # noqa: BLE001 - foreign code: a hook that fails must not let the call through
        return ToolOutput.text(f"Not run: the check before {call.name} failed ({_said(exc)}).", is_error=True)
    if isinstance(verdict, Answer):
        return verdict.output
    if verdict.call is None:
        return job
    if passed.is_set():  # what it touches now, later calls didn't wait for
        return ToolOutput.text(f"Not run: the check before {call.name} changed it too late.", is_error=True)
    return _prepared(verdict.call, bench, ())


async def _work(index: int, job: _Job, waits: Sequence[anyio.Event], bench: Bench, ledger: "_Ledger") -> None:
    call = ledger.calls[index]
    try:
        for earlier in waits:
            await earlier.wait()
        if waits:
            await _say_started(call, job, bench)
        ledger.put(index, await _run(call, job.runnable, bench))
    finally:
        job.over.set()
    await ledger.flush()


async def _say_started(call: ToolCall, job: _Job, bench: Bench) -> None:
    name, arguments = job.runnable.call.name, dict(job.runnable.arguments)
    await bench.emit(ToolStarted(call_id=call.id, name=name, arguments=arguments))


async def _run(call: ToolCall, runnable: Runnable, bench: Bench) -> Outcome:
    async def update(text: str) -> None:
        await bench.emit(ToolUpdate(call_id=call.id, text=scrub(text)))

    try:
        output = await runnable.tool.run(runnable.arguments, ToolRun(call.id, update))
    except Deferred as deferred:
        return deferred
    except Exception as exc:  # noqa: BLE001 - foreign code: its failure is the model's to read
        output = ToolOutput.text(f"{call.name} failed: {_said(exc)}", is_error=True)
    try:
        return await bench.hooks.after_tool(replace(call, arguments=dict(runnable.arguments)), output)
    except Exception as exc:  # noqa: BLE001 - foreign code: what a failed check didn't pass isn't shown
        text = f"{call.name} ran, but its output is withheld: the check after it failed ({_said(exc)})."
        return ToolOutput.text(text, is_error=True)


def _said(exc: Exception) -> str:
    text = str(exc)[:ERROR_CHARS]
    return f"{type(exc).__name__}: {text}" if text else type(exc).__name__


class _Ledger:
    """Outcomes by place; writes them in order, and holds the first failure of the transcript."""

    def __init__(self, calls: Sequence[ToolCall], bench: Bench) -> None:
        self.calls = calls
        self.failure: TrimtabError | None = None
        self.give_up: Callable[[], None] = lambda: None
        self._bench = bench
        self._outcomes: dict[int, Outcome] = {}
        self._next = 0
        self._lock = anyio.Lock()

    def open(self) -> list[tuple[int, ToolCall]]:
        """The calls without an outcome, in order."""
        return [(i, call) for i, call in enumerate(self.calls) if i not in self._outcomes]

    def put(self, index: int, outcome: Outcome) -> None:
        """Hold an outcome until its turn comes."""
        self._outcomes[index] = outcome

    async def flush(self) -> None:
        """Write what is next in order. What came while another flush was writing goes out together with the next append."""
        async with self._lock:
            # An append that is cut in half would leave a result that nobody knows to be durable.
            with anyio.CancelScope(shield=True):
                try:
                    while self.failure is None and self._next in self._outcomes:
                        await self._write()
                except TrimtabError as failure:
                    self.failure = failure
                    self.give_up()

    async def _write(self) -> None:
        first = self._outcomes[self._next]
        if isinstance(first, Deferred):
            call = self.calls[self._next]
            entry_id = await self._bench.transcript.park(call.id, first.question)
            self._bench.parked[call.id] = first.question
            self._next += 1
            await self._bench.emit(
                ToolParked(entry_id=entry_id, call_id=call.id, name=call.name, question=first.question)
            )
            return
        results: list[ToolResult] = []
        for call in self.calls[self._next :]:
            outcome = self._outcomes.get(self._next + len(results))
            if not isinstance(outcome, ToolOutput):
                break
            results.append(result_of(call.id, call.name, outcome))
        entry_ids = await self._bench.transcript.append(results)
        self._next += len(results)
        for entry_id, result in zip(entry_ids, results, strict=True):
            await self._bench.emit(ended_event(entry_id, result))
