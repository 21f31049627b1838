"""What a summary costs before anybody is asked: the bills of the two ways, so that the cheaper one is taken and the gate knows its price.

    in place     the request up to the end of the run, read from the cache as far as that holds it, + instruction, + the answer
    serialised   the transcript in as many passes as the summariser's window takes, none of it cached, + the answer at that model's own prices

Without prices the two ways to one model are compared in units of fresh tokens. Between two models of which one has no price nothing can be
compared: then the one that a person named for summaries writes them.
"""

from dataclasses import replace

from trimtab.context.economics.bill import bill_of
from trimtab.context.summary.job import InPlace, Job, Summariser
from trimtab.context.summary.passes import MOST_PASSES
from trimtab.context.summary.summarise import in_place_size, room_of, ways
from trimtab.types.models import Price, cost_usd
from trimtab.types.usage import Usage

_UNITS = (Price(input=1.0, output=5.0, cache_read=0.1),)
"""Fresh tokens in place of money, at the discounts that the large providers give."""
_ANALYSIS = 1.5
"""Of the summary's size: what its answer takes, notes included."""
_THOUGHTS = 2.5
_PROMPT = 800
"""Tokens of the instructions around a transcript, about; the summary that is updated stands there too."""


def with_bills(job: Job) -> Job:
    """Return the job with what each of its ways is expected to cost."""
    place, writer = job.in_place, job.summariser
    if place is None or writer is None:
        return job
    own, other = place.request.model.prices, writer.prices
    if writer.model == place.request.model.ref:
        own = other = own or _UNITS
    if not own or not other:
        return replace(job, cost_in_place=None, cost_serialised=0.0)
    return replace(
        job, cost_in_place=_in_place(job, place, own), cost_serialised=_serialised(job, writer, other) or 0.0
    )


def expected_usd(job: Job) -> float:
    """What the way that is tried first is expected to cost; 0 where no model would be asked, or where no price is known."""
    first = next(iter(ways(job)), None)
    if first == "in_place" and job.in_place is not None:
        return _in_place(job, job.in_place, job.in_place.request.model.prices) or 0.0
    if first == "serialised" and job.summariser is not None:
        return _serialised(job, job.summariser, job.summariser.prices) or 0.0
    return 0.0


def _in_place(job: Job, place: InPlace, prices: tuple[Price, ...]) -> float | None:
    rules = place.request.model.cache
    total = in_place_size(job, place)
    # Where the request names its breakpoints they stand where the cache is read; else the wire puts some at its end, which are written.
    marked = 0 if place.request.cache_marks else total
    prompt = bill_of(min(place.cached, total), total, marked, rules, prices)
    output = _output(job, thinks=place.request.thinking is not None)
    return cost_usd(Usage(prompt.fresh, output, prompt.read, prompt.written, prompt.written_1h), prices)


def _serialised(job: Job, writer: Summariser, prices: tuple[Price, ...]) -> float | None:
    room = max(1, room_of(job, writer))
    transcript = min(job.replaces_tokens, MOST_PASSES * room)
    passes = max(1, -(-transcript // room))
    around = _PROMPT + (job.wanted if job.previous or passes > 1 else 0)
    usage = Usage(transcript + passes * around, passes * _output(job, thinks=writer.thinks))
    return cost_usd(usage, prices)


def _output(job: Job, *, thinks: bool) -> int:
    return int(job.wanted * (_THOUGHTS if thinks else _ANALYSIS))
