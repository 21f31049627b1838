"""Compacting: a run of messages gives way to one summary.

    run: chosen, or as much as it takes ──summarise──▶ text ──framed with sources and the way back──▶ Compact, recorded

What stays: the newest request, pinned items, and the end of the conversation. The border never falls into a group. A summary that nobody
writes well gives way to a digest, so this works with no model reachable; if even that gains nothing, the conversation stays as it is.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace

from msgspec import structs

from trimtab.context.actions import Action
from trimtab.context.applying import Means, Outcome, record, shown_size
from trimtab.context.asks import Answer, Ask, Failed, Summarize, Summary
from trimtab.context.checks import newest_request
from trimtab.context.look import Look
from trimtab.context.markers import RECALL
from trimtab.context.planning import Kit, body_of, name_of, plan
from trimtab.context.summary.cache import SummaryCache
from trimtab.context.summary.facts import Fact, facts_of
from trimtab.context.summary.summarise import InPlace, Job, Summariser, SummaryOutcome, summarise
from trimtab.context.view import View
from trimtab.types.edits import Compact, EditCost
from trimtab.types.messages import Assistant, Message, ToolResult, User

KEEP_SHARE = 0.4
"""Of the target: how much of the end of the conversation stays when nobody says how much."""
_HEAD = "[summary of {count} messages{sources}; to read any of them: {way}]"


@dataclass(slots=True)
class Compactor:
    """Writes summaries for one session. `summariser` is the model that is asked; None: digests only.

    `reattached` gives what is attached to each summary from state: plan, to-dos, rules. `in_place`: the session's own model may be asked behind
    the request as it was.
    """

    summariser: Summariser | None = None
    profile: str = "coding"
    in_place: bool = False
    wanted_tokens: int = 4_000
    reattached: Callable[[View], str] = field(default=lambda _view: "")
    cache: SummaryCache | None = None

    def compact(
        self, look: Look, action: Action, means: Means, *, author: str, batch: str
    ) -> Generator[Ask, Answer, Outcome]:
        """Do a `compact` (or a `summarize` of single items) that comes without a text.

        Parameters of the action: `keep_tokens` (of the end), `whole` (keep nothing of it), `mode` `digest` (ask no model), `instructions` (wishes
        about the summary).
        """
        if action.action == "summarize":
            return (yield from self._summarize(look, action, means, author=author, batch=batch))
        view = look.view
        run = self.run(look, action)
        if not run:
            return Outcome(view, refused=("compact: there is nothing old enough to compact",))
        outcome = yield from self._written(look, run, action, means.kit)
        if not outcome.text:
            return Outcome(view, refused=("compact: no summary was smaller than what it replaces", *outcome.rejected))
        text = _framed(view, run, outcome.text, self.reattached(view), means.kit)
        if means.kit.count(text) >= shown_size(view, run, means.size):
            return Outcome(view, refused=("compact: the summary would not be smaller than what it replaces",))
        edit = self._edit(view, run, text, outcome)
        tokens = outcome.usage.prompt + outcome.usage.output if outcome.usage else 0
        cost = EditCost(model_tokens=tokens, ms=int(outcome.meta.get("ms") or 0))
        reason = action.reason or "the window fills up"
        return (yield from record(view, [(edit, reason)], means, author=author, batch=batch, cost=cost))

    def run(self, look: Look, action: Action) -> list[int]:
        """The indices of the slots that a compaction takes: those of the action's targets, or all but the end."""
        view = look.view
        if action.targets:
            found = [address.index for name in action.targets if (address := view.find(name)) is not None]
            wanted = {index for start in found for index in view.group(start)}
        elif action.params.get("whole") is True:
            wanted = set(range(len(view.slots)))
        else:
            keep = action.params.get("keep_tokens")
            tokens = keep if isinstance(keep, int) else int(look.budget.target * KEEP_SHARE)
            wanted = set(range(_end(look, tokens)))
        newest = newest_request(view)
        return [i for i in sorted(wanted) if i != newest and _compactable(view, i)]

    def _written(
        self, look: Look, run: Sequence[int], action: Action, kit: Kit
    ) -> Generator[Ask, Answer, SummaryOutcome]:
        view = look.view
        messages: list[Message] = []
        ids: list[str] = []
        for index in run:
            slot = view.slots[index]
            for message in slot.shown:
                messages.append(message)
                ids.append(name_of(slot))
        taken = set(run)
        later = tuple(m for index, slot in enumerate(view.slots) if index not in taken for m in slot.shown)
        job = Job(
            messages=tuple(messages),
            ids=tuple(ids),
            count=kit.count,
            replaces_tokens=shown_size(view, run, look.tally.message),
            facts=_facts_below(view, run, later),
            later=later,
            instructions=str(action.params.get("instructions") or ""),
            wanted=min(self.wanted_tokens, max(200, look.budget.room // 10)),
            summariser=None if action.params.get("mode") == "digest" else self.summariser,
            in_place=self._in_place(look) if action.params.get("mode") != "digest" else None,
            turn_goes_on=_turn_goes_on(view, run),
            cache=self.cache,
        )
        if self.profile == "general":
            job = replace(job, profile="general")
        return (yield from _relayed(job))

    def _in_place(self, look: Look) -> InPlace | None:
        if not self.in_place:
            return None
        model = look.request.model
        request = structs.replace(look.request, messages=look.view.messages())
        return InPlace(request, look.used, model.context_window, model.max_output, thinks=bool(model.thinking))

    def _edit(self, view: View, run: Sequence[int], text: str, outcome: SummaryOutcome) -> Compact:
        targets: list[str] = []
        parent = None
        for index in run:
            slot = view.slots[index]
            if slot.lead is not None:
                targets.append(slot.lead)
                parent = slot.lead
            if slot.state != "gone":
                targets.append(slot.id)
        kept = next((s.id for s in view.slots.range(run[-1] + 1, len(view.slots)) if s.shown), None)
        return Compact(
            targets=tuple(targets),
            summary=text,
            first_kept=kept,
            parent_summary=parent,
            mode=outcome.mode,
            model=outcome.model,
            usage=outcome.usage,
            meta={**outcome.meta, **({"rejected": list(outcome.rejected)} if outcome.rejected else {})},
        )

    def _summarize(
        self, look: Look, action: Action, means: Means, *, author: str, batch: str
    ) -> Generator[Ask, Answer, Outcome]:
        """One summary for each target, in place of its body."""
        wanted = []
        refused: list[str] = []
        view = look.view
        for name in action.targets:
            address = view.find(name)
            if address is None:
                refused.append(f"there is no item {name!r} in this conversation")
                continue
            slot = view.slots[address.index]
            job = Job(
                messages=(slot.base,),
                ids=(name_of(slot),),
                count=means.kit.count,
                replaces_tokens=means.kit.count(body_of(slot.base)),
                wanted=int(action.params.get("max_tokens") or max(200, means.kit.count(body_of(slot.base)) // 5)),
                instructions=str(action.params.get("instructions") or ""),
                purpose="summarize",
                summariser=self.summariser,
                cache=self.cache,
            )
            outcome = yield from _relayed(job)
            made = plan(Action("summarize", (name,), {"summary": outcome.text}, action.reason), view, means.kit)
            wanted += [(edit, action.reason) for edit in made.edits]
            refused += [*made.refused, *outcome.rejected]
        return (yield from record(view, wanted, means, author=author, batch=batch, refused=refused))


def _relayed(job: Job) -> Generator[Ask, Answer, SummaryOutcome]:
    """Drive the summariser's generator through the engine's, whose answers may be of more kinds."""
    asking = summarise(job)
    answer: Summary | Failed | None = None
    while True:
        try:
            ask: Summarize = next(asking) if answer is None else asking.send(answer)
        except StopIteration as stop:
            outcome: SummaryOutcome = stop.value
            return outcome
        got = yield ask
        answer = got if isinstance(got, Summary | Failed) else Failed(f"unexpected answer {type(got).__name__}")


def _end(look: Look, keep_tokens: int) -> int:
    """The index behind which at least `keep_tokens` stand, at a border between groups; the last group always stays."""
    view = look.view
    kept = 0
    index = len(view.slots)
    while index > 0:
        group = view.group(index - 1)
        if kept and kept >= keep_tokens:
            break
        kept += shown_size(view, group, look.tally.message)
        index = group.start
    return index


def _compactable(view: View, index: int) -> bool:
    members = [view.slots[i] for i in view.group(index)]
    if any(slot.pinned or (isinstance(slot.base, ToolResult) and not slot.answered) for slot in members):
        return False
    slot = view.slots[index]
    return bool(slot.shown)


def _turn_goes_on(view: View, run: Sequence[int]) -> bool:
    """Whether the run ends within a turn: what stands behind it is an answer, not something the user said."""
    behind = next((s for s in view.slots.range(run[-1] + 1, len(view.slots)) if s.shown), None)
    return behind is not None and isinstance(behind.base, Assistant)


def _framed(view: View, run: Sequence[int], text: str, attached: str, kit: Kit) -> str:
    """The text with a head that says what it stands for, and what is attached from state."""
    slots = [view.slots[i] for i in run]
    handles = [slot.base.handle for slot in slots if isinstance(slot.base, ToolResult) and slot.base.handle]
    handles += _handles_below(view, run)
    sources = f", results {_ranges(handles)}" if handles else ""
    way = kit.way_back(slots[0])
    if way == RECALL:
        way = "recall id=ID, or recall query=WORDS"
    else:
        way = f"read the files in {way.rpartition('/')[0] or way}"
    count = sum(1 for slot in slots for _ in slot.shown)
    head = _HEAD.format(count=count, sources=sources, way=way)
    return "\n\n".join(part for part in (f"{head}\n{text.strip()}", attached.strip()) if part)


def _handles_below(view: View, run: Sequence[int]) -> list[str]:
    """Handles of what earlier summaries in the run stand for."""
    handles: list[str] = []
    for index in run:
        lead = view.slots[index].lead
        applied = view.edit(lead) if lead else None
        for place in applied.slots if applied else ():
            base = view.slots[place].base
            if isinstance(base, ToolResult) and base.handle:
                handles.append(base.handle)
    return handles


def _facts_below(view: View, run: Sequence[int], later: tuple[Message, ...]) -> tuple[Fact, ...]:
    """What the user said in messages that earlier summaries of the run stand for: it outlives any number of compactions."""
    leads = (view.edit(lead) for index in run if (lead := view.slots[index].lead) is not None)
    places = sorted({place for applied in leads if applied is not None for place in applied.slots})
    said = [view.slots[place] for place in places if isinstance(view.slots[place].base, User)]
    return facts_of([slot.base for slot in said], ids=[slot.id for slot in said], later=later) if said else ()


def _ranges(handles: Iterable[str]) -> str:
    """`r3-r9, r12` for handles of running numbers; others as they are."""
    numbers = sorted({int(h[1:]) for h in handles if h[1:].isdecimal()})
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(f"r{a}" if a == b else f"r{a}-r{b}" for a, b in spans)
