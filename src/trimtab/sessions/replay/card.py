"""The report card: what a person's own sessions say about their context.

    recordings ──recorded usage──▶ what was paid, what cache breaks cost
         ├──calls and results────▶ files read again unchanged, results that nothing used
         ├──compactions──────────▶ facts that were fetched again
         └──replay───────────────▶ the bill under each policy

All of it is counted from files, and none of it is sent anywhere. Money is null where a model's price isn't known.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from trimtab.context.counting.counter import Counter
from trimtab.context.economics.cold import is_break
from trimtab.context.policies.base import Policy
from trimtab.context.policies.peer_table import PEERS
from trimtab.context.seeing.resources import resource_of
from trimtab.context.strings import arguments_text, distinctive_strings
from trimtab.sessions.detect import read_recordings
from trimtab.sessions.recorded import Answered, Came, Compacted, Recording
from trimtab.sessions.replay.batch import Input
from trimtab.sessions.replay.models import Terms, model_of
from trimtab.sessions.replay.needs import texts_of, used_results
from trimtab.sessions.replay.report import Figures, figures_of, total_of
from trimtab.sessions.replay.run import Plan, prepare, replay
from trimtab.sessions.replay.steps import Step
from trimtab.sessions.source import ImportFailed
from trimtab.types.messages import ToolCall, ToolResult
from trimtab.types.models import ModelInfo, add_costs, cost_usd
from trimtab.types.usage import Usage

COMPARED = ("none", "rules", "mask", "summary", "truncate", *(row.name for row in PEERS))
"""Names of the policies under which the bill is made where nobody names any: ours and those of other agents."""
LARGE = 400
"""Tokens from which on a result that nothing used counts."""
AFTER = 30
"""Calls behind a compaction in which a fact counts as used again."""


class Breaks(msgspec.Struct, frozen=True, kw_only=True):
    """Cache breaks: calls that read under half of what the call before had sent."""

    calls: int = 0
    """How many there were."""
    tokens: int = 0
    """Tokens that were paid in full again."""
    usd: float | None = 0.0
    """What they cost more than a cached read."""


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """What came of tool results."""

    count: int = 0
    """All of at least 400 tokens."""
    tokens: int = 0
    """What they hold."""
    unused: int = 0
    """Those of which no later call used anything."""
    unused_tokens: int = 0
    """What those hold."""
    repeated_reads: int = 0
    """Reads of a file, or of the same lines of it, that was read before and not changed since."""
    repeated_tokens: int = 0
    """What those brought in again."""


class Compactions(msgspec.Struct, frozen=True, kw_only=True):
    """What became of facts when the client compacted. A fact is a distinctive string that a call used within 30 calls behind the compaction."""

    count: int = 0
    """Compactions."""
    facts: int = 0
    """Facts from before it that were used behind it."""
    in_summary: int = 0
    """Those that stood in the summary."""
    fetched_again: int = 0
    """Those that a new result had to bring back first."""


class CardRow(msgspec.Struct, frozen=True, kw_only=True):
    """One session, or all of them."""

    requests: int = 0
    """API messages with usage."""
    paid_usd: float | None = 0.0
    """What the recorded requests cost, by the catalogue's prices."""
    breaks: Breaks = Breaks()
    """Cache breaks."""
    results: Results = Results()
    """Tool results."""
    compactions: Compactions = Compactions()
    """The client's own compactions."""


@dataclass(frozen=True, slots=True)
class Card:
    """The whole card: sums over `sessions` sessions, and figures under each policy."""

    sessions: int
    row: CardRow
    policies: tuple[tuple[str, Figures], ...]
    unreadable: tuple[str, ...] = ()

    def as_data(self) -> dict[str, Any]:
        """The card as plain data."""
        return {
            "sessions": self.sessions,
            **msgspec.to_builtins(self.row),
            "policies": [{"policy": name, **msgspec.to_builtins(figures)} for name, figures in self.policies],
            "unreadable": list(self.unreadable),
        }


def card_of(inputs: Iterable[Input], policies: Mapping[str, Policy], terms: Terms) -> Card:
    """Read sessions one after the other and fill in the card. A file that can't be read is named and passed over."""
    rows: list[CardRow] = []
    figures: dict[str, list[Figures]] = {name: [] for name in policies}
    unreadable: list[str] = []
    for one in inputs:
        try:
            recordings = read_recordings(one.origin, name=one.name)
        except ImportFailed:
            unreadable.append(one.name)
            continue
        for recording in recordings:
            prepared, model = prepare(recording), model_of(recording, terms)
            counter = Counter(model)
            rows.append(row_of(recording, prepared.steps, model, counter))
            for name, policy in policies.items():
                figures[name].append(figures_of(replay(prepared, Plan(policy, model, counter=counter))))
    totals = tuple((name, total_of(parts)) for name, parts in figures.items())
    return Card(len(rows), summed(rows), totals, tuple(unreadable))


def row_of(recording: Recording, steps: Sequence[Step], model: ModelInfo, counter: Counter) -> CardRow:
    """Return what one recording says. `model` prices it, `counter` counts its results."""
    usages = [s.answer.message.usage for s in steps if s.answer.message.usage and s.answer.message.usage.prompt]
    return CardRow(
        requests=len(usages),
        paid_usd=add_costs(*(cost_usd(usage, model.prices) for usage in usages)),
        breaks=_breaks(recording, model),
        results=_results(steps, counter),
        compactions=_compactions(recording),
    )


def summed(rows: Iterable[CardRow]) -> CardRow:
    """Return many rows as one."""
    rows = list(rows)
    return CardRow(
        requests=sum(row.requests for row in rows),
        paid_usd=add_costs(*(row.paid_usd for row in rows)),
        breaks=_sum([row.breaks for row in rows], Breaks),
        results=_sum([row.results for row in rows], Results),
        compactions=_sum([row.compactions for row in rows], Compactions),
    )


def _sum(parts: Sequence[Any], kind: Callable[..., Any]) -> Any:
    names = parts[0].__struct_fields__ if parts else ()
    values = {n: [getattr(part, n) for part in parts] for n in names}
    return kind(**{n: add_costs(*v) if n == "usd" else sum(v) for n, v in values.items()})


def _breaks(recording: Recording, model: ModelInfo) -> Breaks:
    calls = tokens = 0
    usd: float | None = 0.0
    before = 0
    for event in recording.events:
        if isinstance(event, Compacted):
            before = 0  # the context is another one: nothing of it could be cached
        usage = event.message.usage if isinstance(event, Answered) else None
        if usage is None or not usage.prompt:
            continue
        if before and is_break(before, usage.cache_read):
            lost = max(0, min(before, usage.prompt) - usage.cache_read)
            written = min(lost, usage.cache_write)
            calls, tokens = calls + 1, tokens + lost
            paid = cost_usd(Usage(lost - written, 0, 0, written, min(written, usage.cache_write_1h)), model.prices)
            cached = cost_usd(Usage(0, 0, lost), model.prices)
            usd = None if usd is None or paid is None or cached is None else usd + paid - cached
        before = usage.prompt
    return Breaks(calls=calls, tokens=tokens, usd=usd)


def _results(steps: Sequence[Step], counter: Counter) -> Results:
    used = used_results(steps)
    sizes: dict[int, int] = {}
    repeated: list[int] = []
    reads: dict[str, str] = {}
    calls: dict[str, ToolCall] = {}
    for step in steps:
        for number, came in enumerate(step.came, step.first):
            if not isinstance(came.message, ToolResult):
                continue
            sizes[number] = counter.message(came.message)
            call = calls.get(came.message.call_id)
            if call is not None and not came.message.is_error and _read_before(call, reads):
                repeated.append(number)
        calls.update((call.id, call) for call in step.answer.message.tool_calls)
    large = {number: size for number, size in sizes.items() if size >= LARGE}
    unused = [size for number, size in large.items() if number not in used]
    return Results(
        count=len(large),
        tokens=sum(large.values()),
        unused=len(unused),
        unused_tokens=sum(unused),
        repeated_reads=len(repeated),
        repeated_tokens=sum(sizes[number] for number in repeated),
    )


def _read_before(call: ToolCall, reads: dict[str, str]) -> bool:
    """Whether this read shows what an earlier one showed. `reads`: what is known of which file; a change of the file forgets it."""
    resource = resource_of(call)
    if resource.path is None:
        return False
    if resource.writes:
        for key in [key for key, path in reads.items() if path == resource.path]:
            del reads[key]
        return False
    known = resource.key in reads
    reads[resource.key] = resource.path
    return known and resource.reads


@dataclass(slots=True)
class _Behind:
    """The calls behind a compaction: facts from before it, those that the summary or a result holds, those that were used."""

    before: frozenset[str]
    summary: frozenset[str]
    shown: set[str]
    used: set[str]
    left: int = AFTER


def _compactions(recording: Recording) -> Compactions:
    count = facts = kept = fetched = 0
    known: set[str] = set()
    behind: _Behind | None = None
    for event in recording.events:
        if isinstance(event, Compacted):
            count += 1
            said = [event.summary, *(text for message in event.replacement or () for text in texts_of(message))]
            behind = _Behind(frozenset(known), _strings(said), set(), set())
            continue
        strings = _strings(texts_of(event.message))
        if behind is not None and isinstance(event, Came):
            behind.shown |= strings
        elif behind is not None and isinstance(event, Answered):
            used = _strings(arguments_text(call) for call in event.message.tool_calls) & behind.before - behind.used
            facts += len(used)
            kept += len(used & behind.summary)
            fetched += len((used & behind.shown) - behind.summary)
            behind.used |= used
            behind.left -= 1
            behind = behind if behind.left else None
        known |= strings
    return Compactions(count=count, facts=facts, in_summary=kept, fetched_again=fetched)


def _strings(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(string for text in texts for string in distinctive_strings(text))
