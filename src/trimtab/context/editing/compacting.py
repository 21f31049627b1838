"""Compacting: a run of messages gives way to one summary.

    run: chosen, or as much as it takes ──job──▶ does it pay, the request for the summary included? ──summarise──▶ text
        ──framed with sources and the way back──▶ Compact, recorded

What stays: the newest request, pinned items, and the end of the conversation. A summary that nobody writes well gives way to a digest, so this
works with no model reachable; if even that gains nothing, the conversation stays as it is. What was rejected on the way, and why, goes to the log
and to the person. The text may have been written before it was needed (`ahead`).
"""

from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass, field, replace

from msgspec import structs

from trimtab.context.actions import Action
from trimtab.context.asks import Answer, Ask, Consented, Failed, Keep, Kept
from trimtab.context.cycle.look import Look
from trimtab.context.editing.ahead import Ahead, is_enough, shown_by
from trimtab.context.editing.applying import Means, Outcome, Passed, record, shown_size
from trimtab.context.editing.beneath import ATTACHED
from trimtab.context.editing.consent import MUST, asked, given, is_plain, wishing, without_model
from trimtab.context.editing.framing import framed, index_name, names_of, with_index
from trimtab.context.editing.item_summaries import ItemWriter
from trimtab.context.editing.kit import params_of
from trimtab.context.editing.runs import kept_of, places_of, told
from trimtab.context.editing.writing import cost_of, placeholder, rejections, relayed
from trimtab.context.markers import RECALL
from trimtab.context.pause import breathe
from trimtab.context.reasons import all_in_words
from trimtab.context.summary.bills import expected_usd, with_bills
from trimtab.context.summary.cache import SummaryCache
from trimtab.context.summary.job import Job, Summariser, SummaryOutcome
from trimtab.context.summary.prompt import Profile
from trimtab.context.summary.summarise import ways
from trimtab.context.window.view import View
from trimtab.types.edits import Compact

WORTHWHILE = 0.85
"""Of what it replaces: a summary larger than this isn't worth the cache that it breaks."""
MOST_LEFT = 0.9
"""The same for the ladder, which has no choice but wants to get somewhere: a summary hardly smaller loses words for nothing."""

_BAREST = 40
"""Tokens to ask for at the least: enough, with the share that a digest takes of them, to say how many messages of which kind there were."""


@dataclass(slots=True)
class Compactor:
    """Writes summaries for one session. `summariser` is the model that is asked; None: digests only.

    `reattached` gives what is attached from state to a summary that stands for slots of those indices: rules, plan, to-dos. `in_place`: the session's own model may be asked behind
    the request as it was, where that is cheaper. `ahead`: the run whose summary is prepared; `gave_up`: a preparation failed, so none is tried again.
    `asks_first`: whether others are asked before a text is written (`consent`); `refused`: what they had against preparing one, which counts for the compaction that comes.
    """

    summariser: Summariser | None = None
    profile: Profile = "coding"
    in_place: bool = False
    wanted_tokens: int = 4_000
    reattached: Callable[[View, Collection[int]], str] = field(default=lambda _view, _gone: "")
    cache: SummaryCache | None = None
    ahead: Ahead | None = None
    gave_up: bool = False
    asks_first: Callable[[], bool] = field(default=lambda: False)
    refused: Consented | None = None
    compactions: int = 0
    """How many were begun: a preparation that took longer than the next is for nothing."""

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
        """Do a `compact` (or a `summarize` of single items) that comes without a text. `immune`: see `places_of`.

        Parameters of the action: `keep_tokens` (of the end), `whole` (keep nothing of it, and be as short as the room demands), `mode` `digest` (ask no model), `instructions` (wishes
        about the summary). With a gate among the means, what a model would write is only asked for when it pays, its own price included.
        """
        if action.action == "summarize":
            writer = ItemWriter(self.summariser, self.profile, self.cache)
            return (yield from writer.summarize(look.view, action, means, author=author, batch=batch))
        view = look.view
        run = places_of(look, action, immune=immune)
        if why := _nothing_in(view, run, action):
            return Outcome(view, refused=(why,))
        breathe()
        ready = self._prepared(look, run, action, immune=immune)
        run = run if ready is None else ready[1]
        job = self._job(look, run, action, means) if ready is None else replace(ready[0].job, digest_allowed=True)
        done = None if ready is None else ready[0].outcome
        passed = _weighed(look, run, job, means, usd=0.0 if done is not None else expected_usd(job))
        if passed is not None and not passed.edits:
            return Outcome(view, waiting=passed.waiting)
        self.ahead = None
        self.compactions += 1
        said = yield from self._consent(look, run, job, ready, author=author)
        if said.cancelled and author != MUST:
            return Outcome(view, refused=(f"compact: {said.cancelled}",))
        if done is None or not is_plain(said):
            most = MOST_LEFT * job.replaces_tokens if action.params.get("whole") is not True else _room_left(look, run)
            done = yield from _written(job, said, most=most)
        outcome = done
        notes = yield from rejections(outcome, author=author)
        if not outcome.text:
            why = "compact: no summary was smaller than what it replaces"
            return Outcome(view, refused=(why, *outcome.rejected), notes=notes)
        made = yield from self._made(look, run, outcome, action, means, author=author)
        if isinstance(made, Outcome):
            return replace(made, notes=notes)
        cost = cost_of(outcome, passed)
        reason = action.reason or "the window fills up"
        means = replace(means, gate=None)
        breathe()
        recorded = yield from record(view, [(made, reason)], means, author=author, batch=batch, cost=cost)
        return replace(recorded, notes=notes)

    def prepare(
        self, look: Look, action: Action, means: Means, *, lead: int, immune: Collection[str] = ()
    ) -> Generator[Ask, Answer, str]:
        """Have the summary written that `action` will need when the request has grown by `lead` tokens; return why that failed, once.

        Nothing is asked where no model would write it, where it wouldn't pay, or while an earlier one still serves.
        """
        keep = kept_of(look, action)
        most = _keeping(action, max(keep - lead, keep // 2))
        run = places_of(look, most, immune=immune)
        if self.gave_up or _nothing_in(look.view, run, action) or not is_enough(look, run, run, lead=lead):
            return ""
        if self.refused is not None or (self.ahead is not None and self.ahead.begins(look.view, run) is not None):
            return ""
        job = replace(self._job(look, run, action, means), digest_allowed=False)
        passed = _weighed(look, run, job, means, usd=expected_usd(job))
        if not ways(job) or (passed is not None and not passed.edits):
            return ""
        said: Consented | None = None
        if self.asks_first():
            begun = self.compactions
            said = yield from asked(look, run, job, author="policy", ahead=True)
            if begun != self.compactions:
                return ""
            if said.cancelled or said.no_model:
                self.refused = said
                return ""
            job = wishing(job, said)
        mine = self.ahead = Ahead(shown_by(look.view, run), job, said=said)
        if said is not None and said.text:
            mine.outcome = given(job, said, most=MOST_LEFT * job.replaces_tokens)
            mine.said = Consented(wishes=said.wishes)
        try:
            if mine.outcome is not None:
                return ""
            outcome = yield from relayed(job)
            if outcome.text:
                mine.outcome = replace(outcome, meta={**outcome.meta, "ahead": True})
                return ""
            self.gave_up = True
            return all_in_words(outcome.rejected)
        finally:
            if mine.outcome is None and self.ahead is mine:
                self.ahead = None

    def _consent(
        self, look: Look, run: Sequence[int], job: Job, ready: tuple[Ahead, list[int]] | None, *, author: str
    ) -> Generator[Ask, Answer, Consented]:
        """What others say of a compaction: what they said as it was prepared, if it was, and they weren't asked by a person since."""
        refused, self.refused = self.refused, None
        if ready is not None and ready[0].said is not None:
            return ready[0].said
        if refused is not None and author != "user":
            return refused
        if not self.asks_first():
            return Consented()
        return (yield from asked(look, run, job, author=author))

    def _prepared(
        self, look: Look, run: Sequence[int], action: Action, *, immune: Collection[str]
    ) -> tuple[Ahead, list[int]] | None:
        """What was prepared, with the run that it stands for, if it serves this action."""
        asks_more = action.params.get("instructions") or action.params.get("mode") == "digest"
        if self.ahead is None or asks_more or action.params.get("whole") is True:
            return None
        most = places_of(look, _keeping(action, kept_of(look, action) // 2), immune=immune)
        part = self.ahead.begins(look.view, most)
        return None if part is None or not is_enough(look, part, run) else (self.ahead, part)

    def _made(
        self, look: Look, run: Sequence[int], outcome: SummaryOutcome, action: Action, means: Means, *, author: str
    ) -> Generator[Ask, Answer, Compact | Outcome]:
        """The edit that shows the text, or why there is none."""
        view = look.view
        breathe()
        names = names_of(view, run, outcome.text, action, means.kit)
        breathe()
        state = self.reattached(view, run).strip()
        index = None
        if means.keep_files and (way := means.kit.way_back(view.slots[run[0]])) and way != RECALL:
            # What stands for many messages names one file that lists theirs: folders can't be read.
            kept = yield Keep(with_index(view, run, means.kit))
            if not isinstance(kept, Kept):
                why = kept.reason if isinstance(kept, Failed) else "unexpected answer"
                return Outcome(view, failed=f"the archive can't be written: {why}")
            index = kept.paths.get(index_name(view, run))
        written = "\n\n".join(part for part in (outcome.text.strip(), names) if part)
        text = framed(view, run, written, state, means.kit, index=index)
        whole = action.params.get("whole") is True
        if whole and state and means.kit.count(text) > _room_left(look, run):
            state = ""
            text = framed(view, run, written, state, means.kit, index=index)
        most = 1.0 if whole else MOST_LEFT if author == "recovery" else WORTHWHILE
        if means.kit.count(text) >= most * shown_size(view, run, means.size):
            return Outcome(view, refused=("compact: the summary would not be much smaller than what it replaces",))
        if state:
            outcome = replace(outcome, meta={**outcome.meta, ATTACHED: len(state)})
        return _edit(view, run, text, outcome, action)

    def _job(self, look: Look, run: Sequence[int], action: Action, means: Means) -> Job:
        view, digest = look.view, action.params.get("mode") == "digest"
        what = told(view, run)
        wanted = min(self.wanted_tokens, max(200, look.budget.room // 10))
        if action.params.get("whole") is True:
            way = means.kit.way_back(view.slots[run[0]])
            # Where its file will lie is only known once it is written; those of single messages lie beside it.
            bare = means.kit.count(framed(view, run, "", "", means.kit, index=way and way + index_name(view, run)))
            wanted = min(wanted, max(_BAREST, _room_left(look, run) - bare))
        job = Job(
            messages=what.messages,
            recorded=what.recorded,
            ids=what.ids,
            count=means.kit.count,
            replaces_tokens=shown_size(view, run, look.tally.message),
            facts=what.facts,
            retold=what.retold,
            later=what.later,
            instructions=str(action.params.get("instructions") or ""),
            profile=self.profile,
            wanted=wanted,
            summariser=None if digest else self.summariser,
            in_place=means.in_place(look, run) if self.in_place and not digest else None,
            turn_goes_on=what.turn_goes_on,
            cache=self.cache,
        )
        return with_bills(job)


def _written(job: Job, said: Consented, *, most: float) -> Generator[Ask, Answer, SummaryOutcome]:
    """The text: the one that was given, a model's, or a digest. What came to nothing of what was said stands among what was rejected."""
    why = said.cancelled or said.no_model
    if why:
        outcome = yield from relayed(without_model(job))
        return replace(outcome, rejected=(why, *outcome.rejected)) if ways(job) else outcome
    if said.text and (text := given(job, said, most=most)) is not None:
        return text
    outcome = yield from relayed(wishing(job, said))
    if not said.text:
        return outcome
    return replace(outcome, rejected=(f"the text of {said.by} is not smaller than what it replaces", *outcome.rejected))


def _room_left(look: Look, run: Sequence[int]) -> int:
    """Tokens that a request has for what stands in place of `run`, counted without the band that decisions leave."""
    tokens = look.estimate.tokens
    return look.budget.hard * tokens // max(1, look.used) - tokens + shown_size(look.view, run, look.tally.message)


def _keeping(action: Action, tokens: int) -> Action:
    """The action with so many tokens of the end that stay; one that names its targets says itself what it takes."""
    return action if action.targets else structs.replace(action, params={**action.params, "keep_tokens": tokens})


def _nothing_in(view: View, run: Sequence[int], action: Action) -> str:
    """Why there is nothing to compact in `run`; empty when there is something."""
    if not run:
        return "compact: there is nothing old enough to compact"
    if action.params.get("whole") is not True and all(view.slots[i].lead is not None for i in run):
        # A summary of a summary alone says less and saves next to nothing.
        return "compact: nothing came since the last summary"
    return ""


def _weighed(look: Look, run: Sequence[int], job: Job, means: Means, *, usd: float) -> Passed | None:
    """Whether a compaction whose text a model writes would pay. None: nobody asks, or it costs no request."""
    if means.gate is None or not ways(job):
        return None
    draft = _edit(look.view, run, placeholder(job.wanted), SummaryOutcome("", "none"), Action("compact"))
    return means.gate(look.view, (draft,), usd)


def _edit(view: View, run: Sequence[int], text: str, outcome: SummaryOutcome, action: Action) -> Compact:
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
