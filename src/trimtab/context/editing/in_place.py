"""In place: the request behind which the session's own model can be asked for a summary, as the provider's cache knows it.

    look, run ──▶ the messages up to the end of the run ──valid with a question behind it?──▶ InPlace, with what the cache serves of it

Same model, system prompt, tools and thinking, and not a byte in front of the question that was not sent before: so the cache pays. The only
breakpoint stands where the cache is read; what comes behind it is asked once and isn't worth writing.
"""

from collections.abc import Sequence

from msgspec import structs

from trimtab.context.cycle.account import Account
from trimtab.context.cycle.faults import Faultfinder
from trimtab.context.cycle.look import Look
from trimtab.context.economics.breakpoints import message_marks
from trimtab.context.economics.shapes import RequestShape
from trimtab.context.summary.job import InPlace
from trimtab.context.summary.sources import Source
from trimtab.types.messages import Assistant, Message, Thinking, user


def in_place(
    look: Look, run: Sequence[int], *, faults: Faultfinder, account: Account, now: float | None
) -> InPlace | None:
    """Return the request up to the last message of `run`; None where the wire wouldn't take it with a question behind it."""
    places = set(run)
    upto = 1 + max((n for n, shown in enumerate(look.view.shown()) if shown.place in places), default=-1)
    question = user("?", origin="command")
    if not upto or not faults.takes(look.view, upto, question):
        return None
    messages = look.view.messages()[:upto]
    whole = account.shape(look)
    prefix = whole.edited(dict.fromkeys(range(upto + whole.fixed, whole.size)))
    boundary, cached = _served(prefix, messages, account, now)
    model = look.request.model
    # The band of the count holds for a part of the request as it does for the whole.
    tokens = max(prefix.total, prefix.total * look.used // max(1, whole.total))
    request = structs.replace(
        look.request,
        messages=messages,
        cache_marks=message_marks((boundary,), prefix.fixed) if model.cache.kind == "explicit" else (),
    )
    most = min(look.request.max_output or model.max_output, model.max_output)
    return InPlace(request, tokens, look.budget.window, most, cached)


def _served(prefix: RequestShape, messages: Sequence[Message], account: Account, now: float | None) -> tuple[int, int]:
    """The boundary up to which the cache serves such a request, and the tokens in front of it."""
    if account.is_cold(now):
        return 0, 0
    rules, state = account.model.cache, account.state
    limit = _first_thought(messages) if rules.drops_thinking else None
    limit = None if limit is None else limit + prefix.fixed
    return state.boundary(prefix, rules, limit=limit, now=now), state.readable(prefix, rules, limit=limit, now=now)


def _first_thought(messages: Sequence[Message]) -> int | None:
    """The first message of the turn that goes on whose thinking the provider takes out when a question follows; None: none."""
    asked = max((n for n, message in enumerate(messages) if Source("", message).by_user), default=-1)
    thinking = (
        n
        for n, message in enumerate(messages)
        if n > asked and isinstance(message, Assistant) and any(isinstance(part, Thinking) for part in message.parts)
    )
    return next(thinking, None)
