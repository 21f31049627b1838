"""Playing a query with a model: any provider of this package, or anything of its shape.

desk.request() ──provider.stream──▶ events ──Assembler──▶ message ──desk.answer()──▶ …
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trimtab.lab.docqa.desk import Desk
from trimtab.lab.docqa.outcome import Outcome
from trimtab.lab.export.piece import Piece
from trimtab.providers.provider import Provider
from trimtab.types.messages import Assistant
from trimtab.types.models import ModelRequest
from trimtab.types.stream import Assembler, Ended, Retrying

NewDesk = Callable[[], Desk]
"""Makes the desk of a query, as often as somebody wants to begin it."""


@dataclass(frozen=True, slots=True)
class Rollout:
    """One query as one reader worked on it. `answers` make it again: see `resumed`."""

    name: str
    answers: tuple[Assistant, ...]
    pieces: tuple[Piece, ...]
    outcome: Outcome


async def play(desk: Desk, provider: Provider, *, name: str = "r0") -> Rollout:
    """Work on a query to its end, from wherever the desk is."""
    while not desk.done:
        request = desk.request()
        if request is not None:
            await _turn(desk, provider, request)
    return Rollout(name, tuple(desk.answers), tuple(desk.pieces), desk.outcome)


def resumed(new: NewDesk, answers: Sequence[Assistant]) -> Desk:
    """Return a desk at which these answers were given again: where a rollout was after so many turns."""
    desk = new()
    for message in answers:
        if desk.request() is None:
            break
        desk.answer(message)
    return desk


async def _turn(desk: Desk, provider: Provider, request: ModelRequest) -> None:
    heard = Assembler(provider=request.model.provider, model=request.model.id)
    async for event in provider.stream(request):
        if isinstance(event, Retrying):  # what was streamed so far is void
            heard = Assembler(provider=request.model.provider, model=request.model.id)
            continue
        heard.feed(event)
        if isinstance(event, Ended) and event.error is not None:
            desk.fail(event.error)
            return
    desk.answer(heard.message())
