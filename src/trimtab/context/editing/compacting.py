"""Compacting: a run of messages gives way to one summary.

    run: chosen, or as much as it takes ──summarise──▶ text ──framed with sources and the way back──▶ Compact, recorded

What stays: the newest request, pinned items, and the end of the conversation. The border never falls into a group. A summary that nobody
writes well gives way to a digest, so this works with no model reachable; if even that gains nothing, the conversation stays as it is.
"""

from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace

from msgspec import structs

from trimtab.context.actions import Action
from trimtab.context.asks import Answer, Ask, Failed, Keep, Kept, Summarize, Summary
from trimtab.context.cycle.look import Look
from trimtab.context.editing.applying import Means, Outcome, bodies_of, record, shown_size
from trimtab.context.editing.checks import newest_request
from trimtab.context.editing.kit import Kit, number_in, params_of, words_in
from trimtab.context.editing.planning import plan
from trimtab.context.editing.stubs import standing_strings
from trimtab.context.markers import RECALL
from trimtab.context.naming import body_of, handle_number, name_of
from trimtab.context.shorten.names import names_line
from trimtab.context.strings import arguments_text, distinctive_strings
from trimtab.context.summary.blocks import compress_source
from trimtab.context.summary.cache import SummaryCache
from trimtab.context.summary.facts import Fact, facts_of
from trimtab.context.summary.frame import frame, unframed
from trimtab.context.summary.summarise import InPlace, Job, Summariser, SummaryOutcome, summarise
from trimtab.context.window.slots import Slot
from trimtab.context.window.view import View
from trimtab.types.edits import Compact, EditCost
from trimtab.types.messages import Assistant, Message, Text, ToolCall, ToolResult, User

KEEP_SHARE = 0.4
"""Of the target: how much of the end of the conversation stays when nobody says how much."""
WORTHWHILE = 0.85
"""Of what it replaces: a summary larger than this isn't worth the cache that it breaks."""
MOST_LEFT = 0.9
"""The same for the ladder, which has no choice but wants to get somewhere: a summary hardly smaller loses words for nothing."""


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
        self,
        look: Look,
        action: Action,
        means: Means,
        *,
        author: str,
        batch: str,
        immune: Collection[str] = (),
    ) -> Generator[Ask, Answer, Outcome]:
        """Do a `compact` (or a `summarize` of single items) that comes without a text. `immune`: see `run`.

        Parameters of the action: `keep_tokens` (of the end), `whole` (keep nothing of it), `mode` `digest` (ask no model), `instructions` (wishes
        about the summary).
        """
        if action.action == "summarize":
            return (yield from self._summarize(look, action, means, author=author, batch=batch))
        view = look.view
        run = self.run(look, action, immune=immune)
        if not run:
            return Outcome(view, refused=("compact: there is nothing old enough to compact",))
        if action.params.get("whole") is not True and all(view.slots[i].lead is not None for i in run):
            # A summary of a summary alone says less and saves next to nothing.
            return Outcome(view, refused=("compact: nothing came since the last summary",))
        outcome = yield from self._written(look, run, action, means.kit)
        if not outcome.text:
            return Outcome(view, refused=("compact: no summary was smaller than what it replaces", *outcome.rejected))
        names = _names(view, run, outcome.text, action, means.kit)
        state = self.reattached(view)
        attached = "\n\n".join(part for part in (names, state) if part)
        index = None
        if means.keep_files and (way := means.kit.way_back(view.slots[run[0]])) and way != RECALL:
            # What stands for many messages names one file that lists theirs: folders can't be read.
            kept = yield Keep(_with_index(view, run, means.kit))
            if not isinstance(kept, Kept):
                why = kept.reason if isinstance(kept, Failed) else "unexpected answer"
                return Outcome(view, failed=f"the archive can't be written: {why}")
            index = kept.paths.get(_index_name(view, run))
        # A digest carries the summary before it along, with what was attached to that.
        said = outcome.text.replace(state, "") if state else outcome.text
        text = _framed(view, run, said, attached, means.kit, index=index)
        whole = action.params.get("whole") is True
        most = 1.0 if whole else MOST_LEFT if author == "recovery" else WORTHWHILE
        if means.kit.count(text) >= most * shown_size(view, run, means.size):
            return Outcome(view, refused=("compact: the summary would not be much smaller than what it replaces",))
        edit = self._edit(view, run, text, outcome, action)
        tokens = outcome.usage.prompt + outcome.usage.output if outcome.usage else 0
        cost = EditCost(model_tokens=tokens, ms=int(outcome.meta.get("ms") or 0))
        reason = action.reason or "the window fills up"
        return (yield from record(view, [(edit, reason)], means, author=author, batch=batch, cost=cost))

    def run(self, look: Look, action: Action, *, immune: Collection[str] = ()) -> list[int]:
        """The indices of the slots that a compaction takes: those of the action's targets, or all but the end.

        `immune` are ids of slots that somebody has just brought back: they stay, unless they are named or everything has to go.
        """
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
            found = [address.index for name in immune if (address := view.find(name)) is not None]
            wanted.difference_update(index for start in found for index in view.group(start))
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
                messages.append(_unframed(message))
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

    def _edit(self, view: View, run: Sequence[int], text: str, outcome: SummaryOutcome, action: Action) -> Compact:
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
            params=params_of(action),
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
        refused: list[str] = [] if action.targets else ["summarize needs targets"]
        view = look.view
        for name in action.targets:
            address = view.find(name)
            if address is None:
                refused.append(f"there is no item {name!r} in this conversation")
                continue
            slot = view.slots[address.index]
            text, mode, rejected = yield from self._text_for(slot, action, means.kit)
            params = {**action.params, "summary": text, "mode": mode}
            made = plan(Action("summarize", (name,), params, action.reason), view, means.kit)
            wanted += [(edit, action.reason) for edit in made.edits]
            refused += [*made.refused, *rejected]
        return (yield from record(view, wanted, means, author=author, batch=batch, refused=refused))

    def _text_for(
        self, slot: Slot, action: Action, kit: Kit
    ) -> Generator[Ask, Answer, tuple[str, str, tuple[str, ...]]]:
        """The summary of one body, how it was made, and what led nowhere: by the model, else of the blocks that the body has."""
        body = body_of(slot.base)
        size = kit.count(body)
        wanted = number_in(action.params, "max_tokens", 0) or max(200, size // 5)
        rejected: tuple[str, ...] = ()
        if self.summariser is not None and action.params.get("mode") != "digest":
            job = Job(
                messages=(slot.base,),
                ids=(name_of(slot),),
                count=kit.count,
                replaces_tokens=size,
                wanted=wanted,
                instructions=str(action.params.get("instructions") or ""),
                purpose="summarize",
                summariser=self.summariser,
                digest_allowed=False,
                cache=self.cache,
            )
            outcome = yield from _relayed(job)
            if outcome.text:
                return outcome.text, outcome.mode, outcome.rejected
            rejected = outcome.rejected
        made = compress_source(
            body,
            max_tokens=min(wanted, max(1, size - 1)),
            count=kit.count,
            keep_first=number_in(action.params, "keep_first", 0),
            keep_last=number_in(action.params, "keep_last", 0),
            keep_fields=words_in(action.params.get("keep_fields")),
        )
        return made.text, "blocks", rejected


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


def _index_name(view: View, run: Sequence[int]) -> str:
    """The name of the file that lists what a compaction of `run` stands for."""
    return f"messages-{view.slots[run[0]].id}-{view.slots[run[-1]].id}"


def _with_index(view: View, run: Sequence[int], kit: Kit) -> dict[str, str]:
    """The texts of `run`, and of what earlier summaries in it stand for, by name, with a list of their files."""
    below = {
        place
        for index in run
        if (lead := view.slots[index].lead) is not None and (applied := view.edit(lead)) is not None
        for place in applied.slots
    }
    slots = [view.slots[index] for index in sorted(below.union(run))]
    bodies = bodies_of(slots, kit)
    rows = [f"{name_of(slot)}  {_said_by(slot)}  {kit.way_back(slot)}" for slot in slots if name_of(slot) in bodies]
    return {**bodies, _index_name(view, run): "\n".join(["NAME  FROM  FILE", *rows])}


def _said_by(slot: Slot) -> str:
    base = slot.base
    return base.tool_name if isinstance(base, ToolResult) else "user" if isinstance(base, User) else "assistant"


def _framed(view: View, run: Sequence[int], text: str, attached: str, kit: Kit, *, index: str | None) -> str:
    """The text as it is shown: what it stands for, the way back (`index`: a file that lists it), and what is attached from state."""
    slots = [view.slots[i] for i in run]
    handles = [slot.base.handle for slot in slots if isinstance(slot.base, ToolResult) and slot.base.handle]
    way_back = f"To read any of them, find its file in this list: read path={index}" if index else ""
    if kit.way_back(slots[0]) == RECALL:
        way_back = "To read any of them: recall id=ID; to find something: recall query=WORDS."
    body = "\n\n".join(part for part in (text.strip(), attached.strip()) if part)
    sources = _ranges([*handles, *_handles_below(view, run)])
    return frame(body, replaced=sum(len(slot.shown) for slot in slots), sources=sources, way_back=way_back)


def _names(view: View, run: Sequence[int], text: str, action: Action, kit: Kit) -> str:
    """A line with the names that would go with the run, as many as the action's `names` (tokens) allow; first those that calls wrote."""
    most = action.params.get("names")
    if not isinstance(most, int) or isinstance(most, bool) or most <= 0:
        return ""
    shown = [message for index in run for message in view.slots[index].shown]
    written = [arguments_text(part) for message in shown for part in message.parts if isinstance(part, ToolCall)]
    read = [part.text for m in shown if not isinstance(m, Assistant) for part in m.parts if isinstance(part, Text)]
    standing = standing_strings(view, but=set(run)).union(distinctive_strings(text))
    taken = [string for one in written for string in distinctive_strings(one)]
    return names_line("\n".join((*written, *read)), standing=standing, max_tokens=most, count=kit.count, taken=taken)


def _unframed(message: Message) -> Message:
    """An earlier summary without its frame."""
    if not isinstance(message, User) or message.origin != "summary":
        return message
    parts = tuple(structs.replace(p, text=unframed(p.text)) if isinstance(p, Text) else p for p in message.parts)
    return structs.replace(message, parts=parts)


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


def _ranges(handles: Iterable[str]) -> list[str]:
    """`r3-r9`, `r12`: handles of running numbers, in order."""
    spans: list[list[int]] = []
    for number in sorted({number for handle in handles if (number := handle_number(handle)) is not None}):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return [f"r{a}" if a == b else f"r{a}-r{b}" for a, b in spans]
