"""What another model would make of the session as it is: whether it fits, what it can't take, what the switch costs. Changes nothing.

    log's view, request, the other model ──count by its rules──▶ Preview: window, pictures, thinking, tools, USD ──▶ lines for a person

The one rule: a model whose window can't hold what has to stay is refused with the numbers; anything else is told, and the person decides.
"""

from collections.abc import Collection
from dataclasses import dataclass

from trimtab.coding.context.engine import context_settings, engine_settings
from trimtab.coding.project import Project
from trimtab.context.stores.log import SessionLog
from trimtab.types.messages import Assistant, Image, Message, Opaque, Thinking
from trimtab.types.models import ModelInfo, ModelRequest, cost_usd
from trimtab.types.usage import Usage


@dataclass(frozen=True, slots=True)
class Preview:
    """The session as `model` would get it. Counts in tokens, USD for the next request; None where a price isn't known.

    `too_small`: why it can't be used at all; empty otherwise. `switch_usd`: all of it read anew; `stay_usd`: by the model in use, as far as its cache holds it.
    """

    model: ModelInfo
    used: int
    hard: int
    too_small: str = ""
    pictures: int = 0
    thinking: int = 0
    tools: tuple[str, ...] = ()
    """Tools that the session has now, and wouldn't have."""
    switch_usd: float | None = None
    stay_usd: float | None = None
    caches: bool = False
    """Whether the model in use keeps a cache that the switch gives up."""

    @property
    def extra_usd(self) -> float:
        """What the switch costs beyond going on; 0 where nobody knows."""
        return max(0.0, (self.switch_usd or 0.0) - (self.stay_usd or 0.0)) if self.caches else 0.0


def preview_of(
    project: Project,
    log: SessionLog,
    request: ModelRequest,
    model: ModelInfo,
    *,
    tools: Collection[str] | None = None,
) -> Preview:
    """Look at the session with the eyes of `model`; `request` is the next one, by the model in use. `tools`: the names of those that it would have. Reads the log: call it in a thread."""
    from trimtab.context.budget import budget_for  # noqa: PLC0415 - few sessions change their model
    from trimtab.context.cycle.floor import floor_of  # noqa: PLC0415 - as above
    from trimtab.context.cycle.look import look  # noqa: PLC0415 - as above
    from trimtab.context.cycle.tally import MeterTally  # noqa: PLC0415 - as above

    view = log.snapshot()
    settings = engine_settings(context_settings(project, model), profile="off")
    budget = budget_for(model, settings.thresholds)
    seen = look(view, request, budget, MeterTally(model))
    floor = floor_of(seen).total
    most = _at_most(floor, seen.used, seen.estimate.tokens)
    messages = view.messages()
    here = request.model
    caches = here.cache.kind != "none" and here.ref != model.ref and any(isinstance(m, Assistant) for m in messages)
    return Preview(
        model,
        seen.used,
        budget.hard,
        too_small=""
        if most <= budget.hard
        else f"what has to stay is {floor:,} tokens{f', at most {most:,}' if most > floor else ''}, and a request to {model.ref} may have {budget.hard:,} (window {model.context_window:,})",
        pictures=0 if "image" in model.input else sum(map(_pictures, messages)),
        thinking=sum(_foreign(message, model) for message in messages),
        tools=tuple(t.name for t in request.tools if tools is not None and t.name not in tools),
        switch_usd=_anew(min(seen.used, budget.hard), model),
        stay_usd=cost_usd(Usage(cache_read=seen.used), here.prices),
        caches=caches,
    )


def _at_most(tokens: int, upper: int, estimate: int) -> int:
    """The upper end for a part of a request of `estimate` tokens and at most `upper`, by which a request is refused or sent."""
    return max(tokens, -(-tokens * upper // estimate)) if estimate > 0 else tokens


def lines_of(preview: Preview, here: ModelInfo, *, vision: str | None = None) -> tuple[str, ...]:
    """What a person should know before the switch; `vision` is the model that says what is in pictures."""
    ref = preview.model.ref
    lines = []
    if preview.used > preview.hard:
        lines.append(
            f"the conversation has about {preview.used:,} tokens, and a request to {ref} may have {preview.hard:,}: the older part is summed up or hidden; it stays in the log"
        )
    if preview.pictures:
        told = (
            f"new ones are told in words by {vision}" if vision else "roles.vision names one that tells them in words"
        )
        lines.append(f"{ref} isn't known to take pictures: {_many(preview.pictures, 'picture')} won't be seen; {told}")
    if preview.thinking:
        lines.append(
            f"the thinking of {_many(preview.thinking, 'answer')} stays behind: only the model that made it reads it"
        )
    if preview.tools:
        lines.append(f"tools that {ref} doesn't have: {', '.join(preview.tools)}")
    if preview.caches and preview.switch_usd:
        kept = f", by {here.ref} from its cache ${preview.stay_usd:.4f}" if preview.stay_usd is not None else ""
        lines.append(
            f"the cache is lost: the next request is read anew, about {min(preview.used, preview.hard):,} tokens, ${preview.switch_usd:.4f}{kept}"
        )
    return tuple(lines)


def _anew(tokens: int, model: ModelInfo) -> float | None:
    written = model.cache.kind == "explicit"
    return cost_usd(Usage(cache_write=tokens) if written else Usage(input=tokens), model.prices)


def _pictures(message: Message) -> int:
    return sum(isinstance(part, Image) for part in message.parts)


def _foreign(message: Message, model: ModelInfo) -> bool:
    """Whether an answer holds thinking, or an item of a provider, that `model` isn't shown."""
    if not isinstance(message, Assistant):
        return False
    from trimtab.providers.history import same_model  # noqa: PLC0415 - as above

    own = message.provider == model.provider and same_model(message.model, model.id)
    return not own and any(isinstance(part, Thinking | Opaque) for part in message.parts)


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
