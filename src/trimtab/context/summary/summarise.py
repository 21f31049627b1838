"""From a run of messages to a text that may stand in its place: who is asked, what is believed, what comes if nobody answers well.

    job ─▶ cached? ─▶ ways by their bill: in place | serialised (in passes) ─▶ ask ─▶ judge ─▶ audit ─▶ facts block ─▶ outcome
                                                          └ failed, rejected ─▶ the next way ─▶ … ─▶ digest ─▶ outcome | none

A generator that yields `Summarize` and is sent `Summary` or `Failed`. It changes nothing: the outcome is a value, and until somebody makes
an edit of it the history is what it was. Every way that led nowhere is named in `rejected`.
"""

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from trimtab.context.asks import Failed, Summarize, Summary
from trimtab.context.summary.accept import TELLING, Rejection, Verdict, judge, least_detail
from trimtab.context.summary.audit import audit, facts_block
from trimtab.context.summary.cache import KeptSummary, SummaryKey, content_hash
from trimtab.context.summary.digest import PER_MESSAGE, digest
from trimtab.context.summary.facts import facts_of
from trimtab.context.summary.fit import fit
from trimtab.context.summary.job import InPlace, Job, Mode, Retold, Summariser, SummaryOutcome
from trimtab.context.summary.language import language_of
from trimtab.context.summary.passes import Pass, plan_passes
from trimtab.context.summary.prompt import (
    SummaryPrompt,
    build_summary_prompt,
    in_place_instruction,
    prompt_version,
)
from trimtab.context.summary.redact import redact
from trimtab.context.summary.sources import Source, sources_of, spoken_text
from trimtab.types.models import Price, add_costs, cost_usd
from trimtab.types.usage import Usage

Asking: TypeAlias = Generator[Summarize, Summary | Failed, "SummaryOutcome"]

_MOST_LOST = 50
"""Facts without room in the block that the outcome still names, for a person who looks at the summary first."""


_DIGEST_SHARE = 0.6
"""Of the wanted size. A digest says less with each word than a model does, and its facts come on top: on recorded sessions more of it cost more than it saved."""


@dataclass(slots=True)
class _Asked:
    """What the asks so far came to."""

    prices: dict[str, tuple[Price, ...]]
    usage: Usage | None = None
    usd: float | None = 0.0
    ms: int = 0
    calls: int = 0
    model: str = ""
    version: str = ""
    cut: bool = False
    provider: dict[str, Any] = field(default_factory=dict)
    rejected: list[str] = field(default_factory=list)

    def note(self, answer: Summary) -> None:
        """Add up what an answer cost, whatever it is worth."""
        self.calls += 1
        self.ms += answer.ms
        self.model = answer.model or self.model
        self.provider.update(answer.meta or {})
        if answer.usage is None:
            self.usd = None
            return
        self.usage = answer.usage if self.usage is None else self.usage + answer.usage
        self.usd = add_costs(self.usd, cost_usd(answer.usage, self.prices.get(answer.model, ())))


_Way: TypeAlias = Generator[Summarize, Summary | Failed, Verdict | None]


def summarise(job: Job) -> Asking:
    """Return, in the end, what may stand in place of the job's messages."""
    job = _without_earlier_summary(job)
    asked = _Asked(_prices(job))
    key = _key(job)
    if job.cache is not None and (kept := job.cache.get(key)) is not None:
        made: Mode = "in_place" if kept.meta.get("mode") == "in_place" else "serialised"
        return SummaryOutcome(kept.text, made, kept.key.model, None, {**kept.meta, "cached": True})
    for mode in ways(job)[: max(0, job.attempts)]:
        verdict = yield from (_in_place(job, asked) if mode == "in_place" else _serialised(job, asked))
        if verdict is None:
            continue
        text, facts = _with_facts(job, verdict.summary)
        meta = _meta(job, key, asked) | facts | {"mode": mode, "analysis": verdict.analysis}
        if job.cache is not None:
            job.cache.put(KeptSummary(key, text, source=job.source, meta=meta))
        return SummaryOutcome(text, mode, asked.model or None, asked.usage, meta, tuple(asked.rejected), asked.usd)
    return _without_model(job, key, asked)


def _without_earlier_summary(job: Job) -> Job:
    """The job with the summaries among its messages as what they are: the previous summary, unless it is given."""
    sources = sources_of(job.messages, job.ids)
    earlier = "\n\n".join(source.text for source in sources if source.earlier_summary)
    ids = {id(source.message) for source in sources if not source.earlier_summary}
    told = [n for n, message in enumerate(job.messages) if id(message) in ids]
    return replace(
        job,
        messages=tuple(job.messages[n] for n in told),
        ids=tuple(job.ids[n] for n in told),
        recorded=tuple(job.recorded[n] for n in told) if job.recorded else (),
        previous=(earlier or None) if job.previous is None else job.previous,
    )


def ways(job: Job) -> tuple[Literal["in_place", "serialised"], ...]:
    """The ways that are open, cheapest first. In place is open when the request, the instruction and the answer fit its window."""
    found: list[tuple[float, Literal["in_place", "serialised"]]] = []
    unknown = float("inf")
    if job.in_place is not None and _fits_in_place(job, job.in_place):
        found.append((unknown if job.cost_in_place is None else job.cost_in_place, "in_place"))
    if job.summariser is not None and room_of(job, job.summariser) > 0:
        found.append((unknown if job.cost_serialised is None else job.cost_serialised, "serialised"))
    return tuple(mode for _, mode in sorted(found, key=lambda way: way[0]))


def output_limit(wanted: int, *, most: int, window: int, thinks: bool = False) -> int:
    """Output tokens to ask for: the text and its analysis (twice the text), thoughts besides, never over the model's cap or a third of its window."""
    return max(1, min(wanted * (5 if thinks else 3), most, window // 3))


def _in_place(job: Job, asked: _Asked) -> _Way:
    place = job.in_place
    assert place is not None
    limit = _in_place_limit(job, place)
    language = _language(job)
    instruction = in_place_instruction(
        instructions=job.instructions,
        profile=job.profile,
        language=language,
        least_words=_least_words(job, limit),
        turn_goes_on=job.turn_goes_on,
    )
    asked.version = prompt_version(job.profile)
    most = limit
    if place.request.thinking is not None:
        # What a model may think can hang on the output that is asked for, and with another allowance the cache is another one.
        most = max(limit, min(place.max_output, place.window - in_place_size(job, place) - _margin(place.window)))
    answer = yield Summarize((instruction,), "in_place", most, purpose=job.purpose, request=place.request)
    return _judged("in_place", answer, job, asked, limit, last=True, language=language)


def _serialised(job: Job, asked: _Asked) -> _Way:
    writer = job.summariser
    assert writer is not None
    limit = output_limit(job.wanted, most=writer.max_output, window=writer.window, thinks=writer.thinks)
    language = _language(job)
    room = room_of(job, writer)
    summary = job.previous
    verdict: Verdict | None = None
    for step in plan_passes(job.messages, room=room, count=job.count, turn_goes_on=job.turn_goes_on):
        prompt = _prompt(job, step, summary, room, language, limit)
        asked.version = prompt.version
        asked.cut = asked.cut or prompt.cut
        answer = yield Summarize(prompt.messages, "serialised", limit, system=prompt.system, purpose=job.purpose)
        verdict = _judged("serialised", answer, job, asked, limit, last=step.number == step.of, language=language)
        if verdict is None:
            return None
        summary = verdict.summary
    return verdict


def _prompt(job: Job, step: Pass, previous: str | None, room: int, language: str, limit: int) -> SummaryPrompt:
    return build_summary_prompt(
        job.messages[step.first : step.last],
        ids=job.ids[step.first : step.last],
        previous=previous,
        instructions=job.instructions,
        profile=job.profile,
        language=language,
        least_words=_least_words(job, limit) if step.number == step.of else 0,
        part=(step.number, step.of),
        turn_goes_on=step.turn_goes_on,
        max_tokens=room,
        count=job.count,
    )


def _judged(
    mode: str, answer: Summary | Failed, job: Job, asked: _Asked, limit: int, *, last: bool, language: str
) -> Verdict | None:
    """The verdict on an answer if it is a good one; else None, and the reasons are noted. Only the last pass owes the full detail."""
    if isinstance(answer, Failed):
        asked.rejected.append(f"{mode}: {answer.reason}")
        return None
    asked.note(answer)
    strict = mode == "in_place" or job.summariser is None or job.summariser.strict
    verdict = judge(
        answer,
        replaces_tokens=job.replaces_tokens,
        count=job.count,
        language=language if strict else "",
        least_tokens=least_detail(job.replaces_tokens, max_output=limit) if last and strict else 0,
    )
    if (
        verdict.accepted
        and last
        and strict
        and job.purpose == "compact"
        and (why := _says_nothing(job, verdict.summary))
    ):
        verdict = replace(verdict, rejections=(why,))
    if verdict.accepted:
        return Verdict(redact(verdict.summary), redact(verdict.analysis))
    asked.rejected += [f"{mode}: {rejection}" for rejection in verdict.rejections]
    return None


def _says_nothing(job: Job, summary: str) -> Rejection | None:
    """Why a summary of a conversation that holds facts can't be one: it holds none of them. (Of a single document a sentence may be right.)"""
    facts = facts_of(job.messages, ids=job.ids, later=job.later)
    told = len({fact.text for fact in facts})
    if told < TELLING or audit(summary, facts).present:
        return None
    return Rejection("nothing_of_it", f"none of the {told} facts that were looked for")


def _with_facts(job: Job, summary: str) -> tuple[str, dict[str, Any]]:
    """The summary with the facts that it lost, and what the audit found. It stays smaller than what it replaces."""
    found = audit(summary, (*job.facts, *facts_of(job.recorded or job.messages, ids=job.ids, later=job.later)))
    room = min(int(job.wanted * job.facts_share), job.replaces_tokens - job.count(summary) - 2)
    block = facts_block(found.missing, max_tokens=max(0, room), count=job.count, texts=_texts(job))
    text = f"{summary}\n\n{redact(block.text)}" if block.text else summary
    told = {
        "present": found.present,
        "added": len(block.shown),
        "left_out": len(block.left_out),
        "unused": found.unimportant,
        "lost": [redact(f"{fact.kind}: {fact.text} [{fact.source}]") for fact in block.left_out[:_MOST_LOST]],
    }
    return text, {"audit": told}


def _texts(job: Job) -> dict[str, str]:
    """By the id of a source, what it says: a figure alone states nothing, its line does."""
    pairs = [*zip(job.ids, job.recorded or job.messages, strict=True)]
    if job.retold is not None:
        pairs += zip(job.retold.ids, job.retold.messages, strict=True)
    return {name: Source(name, message).text for name, message in reversed(pairs)}


def _without_model(job: Job, key: SummaryKey, asked: _Asked) -> SummaryOutcome:
    """The digest with its facts; or nothing, if it isn't smaller."""
    meta = _meta(job, key, asked)
    if job.digest_allowed and (text := _digest(job)):
        text, facts = _with_facts(job, text)
        meta |= facts
        if job.count(text) < job.replaces_tokens:
            return SummaryOutcome(text, "digest", None, asked.usage, meta, tuple(asked.rejected), asked.usd)
    return SummaryOutcome("", "none", None, asked.usage, meta, tuple(asked.rejected), asked.usd)


def _digest(job: Job) -> str:
    """Of all that the run stands for, behind what others wrote of its beginning, where there is room for that."""
    retold = Retold(job.messages, job.ids, job.previous or "") if job.retold is None else job.retold
    room = max(0, min(int(job.wanted * _DIGEST_SHARE), job.replaces_tokens * 3 // 4 - 1))
    earlier = fit(redact(retold.written), max_tokens=room // 2, count=job.count).text
    rest = max(0, room - job.count(earlier) - 2)
    told = digest(retold.messages, ids=retold.ids, max_tokens=rest, per_message=PER_MESSAGE, count=job.count)
    return "\n\n".join(part for part in (earlier, told) if part)


def _prices(job: Job) -> dict[str, tuple[Price, ...]]:
    """By the models that may answer."""
    prices = {job.summariser.model: job.summariser.prices} if job.summariser else {}
    if job.in_place is not None:
        prices[job.in_place.request.model.ref] = job.in_place.request.model.prices
    return prices


def _key(job: Job) -> SummaryKey:
    steering = content_hash(f"{job.wanted} {job.instructions}")[:12]
    model = job.summariser.model if job.summariser else job.in_place.request.model.ref if job.in_place else "digest"
    if job.source is not None and len(job.messages) == 1:
        content = content_hash(Source("", job.messages[0]).text)
    else:
        content = content_hash(job.messages, previous=job.previous)
    return SummaryKey(content, f"{prompt_version(job.profile)}-{steering}", model)


def _meta(job: Job, key: SummaryKey, asked: _Asked) -> dict[str, Any]:
    meta: dict[str, Any] = {
        "prompt": asked.version,
        "content": key.content,
        "calls": asked.calls,
        "ms": asked.ms,
        "cut": asked.cut,
    }
    return meta | ({"provider": asked.provider} if asked.provider else {})


def _language(job: Job) -> str:
    """Of what the user wrote, or of the earlier summary where a run holds nothing of the user."""
    said = spoken_text((*sources_of(job.messages, job.ids), *sources_of(job.later)))
    return language_of(said) or language_of(job.previous or "")


def _least_words(job: Job, limit: int) -> int:
    """The least detail in words, with a margin: a model counts badly."""
    return least_detail(job.replaces_tokens, max_output=limit)


def in_place_size(job: Job, place: InPlace) -> int:
    """Tokens of the request in place, with its instruction."""
    instruction = in_place_instruction(instructions=job.instructions, profile=job.profile)
    return place.tokens + job.count(Source("", instruction).text)


def _in_place_limit(job: Job, place: InPlace) -> int:
    thinks = place.request.thinking is not None
    return output_limit(job.wanted, most=place.max_output, window=place.window, thinks=thinks)


def _fits_in_place(job: Job, place: InPlace) -> bool:
    return in_place_size(job, place) + _in_place_limit(job, place) + _margin(place.window) <= place.window


def room_of(job: Job, writer: Summariser) -> int:
    """Tokens for the transcript in the summariser's own window."""
    limit = output_limit(job.wanted, most=writer.max_output, window=writer.window, thinks=writer.thinks)
    empty = build_summary_prompt((), previous=job.previous, instructions=job.instructions, profile=job.profile)
    fixed = job.count(empty.system) + sum(job.count(source.text) for source in sources_of(empty.messages))
    return writer.window - limit - fixed - job.wanted - _margin(writer.window)


def _margin(window: int) -> int:
    return max(256, window // 50)
