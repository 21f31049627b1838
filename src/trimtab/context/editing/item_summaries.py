"""Summaries of single items: one for each target, in place of its body.

    target ──job──▶ the model, or what another session had written of the same document ──no answer──▶ the blocks that the body has

What is summarised may be a document: a file or an address that a call read. Then its text alone decides whether a summary of it is found again.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

from trimtab.context.actions import Action
from trimtab.context.asks import Answer, Ask
from trimtab.context.editing.applying import Means, Outcome, Passed, record
from trimtab.context.editing.kit import Kit, number_in, words_in
from trimtab.context.editing.planning import plan
from trimtab.context.editing.writing import cost_of, placeholder, rejections, relayed
from trimtab.context.naming import body_of, name_of
from trimtab.context.seeing.documents import document_of
from trimtab.context.summary.bills import expected_usd
from trimtab.context.summary.blocks import compress_source
from trimtab.context.summary.cache import SummaryCache
from trimtab.context.summary.job import Job, Summariser, SummaryOutcome
from trimtab.context.summary.prompt import Profile
from trimtab.context.summary.redact import redact
from trimtab.context.summary.summarise import ways
from trimtab.context.window.slots import Slot
from trimtab.context.window.view import View
from trimtab.types.edits import Edit, EditCost
from trimtab.types.models import add_costs
from trimtab.types.usage import Usage

_FREE = SummaryOutcome("", "none")


@dataclass(frozen=True, slots=True)
class _Item:
    """A target and what is to be summarised of it."""

    name: str
    slot: Slot
    job: Job


@dataclass(frozen=True, slots=True)
class ItemWriter:
    """Writes them: `summariser` is the model that is asked; None: nobody."""

    summariser: Summariser | None
    profile: Profile
    cache: SummaryCache | None

    def summarize(
        self, view: View, action: Action, means: Means, *, author: str, batch: str
    ) -> Generator[Ask, Answer, Outcome]:
        """Do a `summarize` that comes without a text.

        Parameters of the action: `max_tokens`, `instructions`, `mode` `digest` (ask no model), `keep_first`, `keep_last`, `keep_fields`.
        """
        refused: list[str] = [] if action.targets else ["summarize needs targets"]
        items: list[_Item] = []
        for name in action.targets:
            address = view.find(name)
            if address is None:
                refused.append(f"there is no item {name!r} in this conversation")
                continue
            slot = view.slots[address.index]
            items.append(_Item(name, slot, self._job(view, slot, action, means.kit)))
        passed = _weighed(view, items, means)
        if passed is not None and not passed.edits:
            return Outcome(view, refused=tuple(refused), waiting=passed.waiting)
        wanted: list[tuple[Edit, str]] = []
        notes: tuple[str, ...] = ()
        total = _FREE
        for item in items:
            text, outcome = yield from _text_for(item, action)
            notes += yield from rejections(outcome, author=author)
            total = _both(total, outcome)
            if not text:
                refused.append(f"{item.name}: no summary of {_most(item.job):,} tokens or fewer can be made of it")
                continue
            params = {**action.params, "summary": text, "mode": outcome.mode}
            made = plan(Action("summarize", (item.name,), params, action.reason), view, means.kit)
            wanted += [(edit, action.reason) for edit in made.edits]
            refused += made.refused
        means, cost = replace(means, gate=None), _shared(cost_of(total, passed), max(1, len(wanted)))
        done = yield from record(view, wanted, means, author=author, batch=batch, refused=refused, cost=cost)
        return replace(done, notes=notes)

    def _job(self, view: View, slot: Slot, action: Action, kit: Kit) -> Job:
        size = kit.count(body_of(slot.base))
        document = document_of(view, slot)
        source = None if document is None else redact(document)
        return Job(
            messages=(slot.base,),
            # Another session that reads the document knows it by its path or address alone.
            ids=(source or name_of(slot),),
            count=kit.count,
            replaces_tokens=size,
            wanted=number_in(action.params, "max_tokens", 0) or max(200, size // 5),
            instructions=str(action.params.get("instructions") or ""),
            profile=self.profile,
            purpose="summarize",
            summariser=None if action.params.get("mode") == "digest" else self.summariser,
            digest_allowed=False,
            source=source,
            cache=self.cache,
        )


def _weighed(view: View, items: Sequence[_Item], means: Means) -> Passed | None:
    """Whether summaries that a model writes would pay, all together. None: nobody asks, or they cost no request."""
    asked = [item for item in items if ways(item.job)]
    if means.gate is None or not asked:
        return None
    drafts: list[Edit] = []
    for item in asked:
        params = {"summary": placeholder(item.job.wanted)}
        drafts += plan(Action("summarize", (item.name,), params), view, means.kit).edits
    return means.gate(view, drafts, sum(expected_usd(item.job) for item in asked)) if drafts else None


def _text_for(item: _Item, action: Action) -> Generator[Ask, Answer, tuple[str, SummaryOutcome]]:
    """The text in place of one body, and how it was made."""
    job, outcome = item.job, _FREE
    if job.summariser is not None:
        outcome = yield from relayed(job)
        if outcome.text:
            return outcome.text, outcome
    made = compress_source(
        redact(body_of(item.slot.base)),
        max_tokens=_most(job),
        count=job.count,
        keep_first=number_in(action.params, "keep_first", 0),
        keep_last=number_in(action.params, "keep_last", 0),
        keep_fields=words_in(action.params.get("keep_fields")),
    )
    # Reading JSON can undo an escape that hid a secret from the first look.
    return redact(made.text), replace(outcome, mode="blocks")


def _most(job: Job) -> int:
    """Tokens that a summary without a model may have: fewer than what it replaces."""
    return min(job.wanted, max(1, job.replaces_tokens - 1))


def _shared(cost: EditCost, edits: int) -> EditCost:
    """What each of so many edits bears of it; the cache that they break is shared already."""
    usd = None if cost.model_usd is None else cost.model_usd / edits
    return EditCost(cost.cache_usd, cost.model_tokens // edits, usd, cost.ms // edits)


def _both(one: SummaryOutcome, other: SummaryOutcome) -> SummaryOutcome:
    """What two summaries cost together."""
    ms = int(one.meta.get("ms") or 0) + int(other.meta.get("ms") or 0)
    usage = (one.usage or Usage()) + (other.usage or Usage()) if one.usage or other.usage else None
    return replace(one, usage=usage, usd=add_costs(one.usd, other.usd), meta={"ms": ms})
