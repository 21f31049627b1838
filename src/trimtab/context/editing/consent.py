"""Consent: what others have against a compaction, or want of it, asked once before anything is written.

    run, job ──Consent──▶ Consented ──┬─ cancelled ──▶ nothing is compacted; a request that doesn't fit gets its digest all the same
                                      ├─ no model ───▶ a digest
                                      ├─ a text ─────▶ it stands in, if it is smaller than what it replaces
                                      └─ wishes ─────▶ go to whoever writes

The one rule: nobody who is asked can keep a request from being made.
"""

from collections.abc import Generator, Sequence
from dataclasses import replace

from trimtab.context.asks import Answer, Ask, Consent, Consented
from trimtab.context.cycle.look import Look
from trimtab.context.summary.job import Job, SummaryOutcome
from trimtab.context.summary.redact import redact
from trimtab.context.summary.summarise import ways

MUST = "recovery"
"""The author of what is done because a request doesn't fit."""


def asked(
    look: Look, run: Sequence[int], job: Job, *, author: str, ahead: bool = False
) -> Generator[Ask, Answer, Consented]:
    """Ask, and return what was said; whoever can't be asked has nothing against it."""
    shown = tuple(message for index in run for message in look.view.slots[index].shown)
    ask = Consent(
        shown, job.replaces_tokens, look.used, look.budget.hard, author, bool(ways(job)), job.instructions, ahead
    )
    answer = yield ask
    return answer if isinstance(answer, Consented) else Consented()


def is_plain(said: Consented) -> bool:
    """Whether it leaves all as it was, but for wishes."""
    return not (said.cancelled or said.no_model or said.text)


def wishing(job: Job, said: Consented) -> Job:
    """The job with the wishes behind those that it has."""
    return replace(job, instructions="\n".join(part for part in (job.instructions, said.wishes) if part))


def without_model(job: Job) -> Job:
    """The job for a digest."""
    return replace(job, summariser=None, in_place=None, digest_allowed=True)


def given(job: Job, said: Consented, *, most: float) -> SummaryOutcome | None:
    """The text that was given, as an outcome; None where it has more than `most` tokens."""
    text = redact(said.text)
    if not text.strip() or job.count(text) > most:
        return None
    return SummaryOutcome(text, "given", None, None, {"by": said.by})
