"""Writing: a summary is asked for, what was rejected on the way is told, and what it cost is booked.

job ──relayed──▶ outcome ──rejections──▶ a row in the log, a note for the person
                         └─cost_of────▶ EditCost: tokens, money and time of the requests, beside the cache that the edit breaks
"""

from collections.abc import Generator

from trimtab.context.asks import Answer, Ask, Failed, Record, Summarize, Summary
from trimtab.context.editing.applying import BLANK, Passed
from trimtab.context.reasons import all_in_words
from trimtab.context.summary.job import Job, SummaryOutcome
from trimtab.context.summary.summarise import summarise
from trimtab.types.edits import EditCost
from trimtab.types.entries import CustomEntry

_INSTEAD = {
    "in_place": "another answer, asked for in place, stands in",
    "serialised": "another answer, from a transcript, stands in",
    "digest": "a digest without a model stands in",
    "given": "a text that was given stands in",
    "blocks": "the text was shortened without a model",
    "none": "the messages stay as they are",
}
ANOTHER_WRITER = "let another model write summaries"
"""What helps where a model's summaries are rejected; whoever has a setting for that may name it behind these words."""
_NEXT = f"Nothing is lost; if it goes on, {ANOTHER_WRITER}."


def relayed(job: Job) -> Generator[Ask, Answer, SummaryOutcome]:
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


def rejections(outcome: SummaryOutcome, *, author: str) -> Generator[Ask, Answer, tuple[str, ...]]:
    """Say in the log which summaries were rejected and what came in their place; return the same for a person."""
    if not outcome.rejected:
        return ()
    instead = _INSTEAD[outcome.mode]
    data = {"event": "summary_rejected", "author": author, "reasons": list(outcome.rejected), "instead": outcome.mode}
    yield Record((CustomEntry(**BLANK, kind="context", data=data),))
    return (f"a summary was rejected ({all_in_words(outcome.rejected)}); {instead}. {_NEXT}",)


def cost_of(outcome: SummaryOutcome, passed: Passed | None) -> EditCost:
    """What the edit costs: the requests that wrote its text, and the cache that it breaks where the gate said so."""
    tokens = outcome.usage.prompt + outcome.usage.output if outcome.usage else 0
    return EditCost(
        cache_usd=passed.cost.cache_usd if passed else None,
        model_tokens=tokens,
        model_usd=outcome.usd if tokens else None,
        ms=int(outcome.meta.get("ms") or 0),
    )


def placeholder(tokens: int) -> str:
    """A text of about so many tokens, for a summary that isn't written yet."""
    return "word " * tokens
