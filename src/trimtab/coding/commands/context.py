"""`/context`: how full the window is, and what takes the most of it."""

from collections.abc import Generator

from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.context.open import OpenContext
from trimtab.coding.telling.context_text import biggest_lines, meter_lines, waiting_lines
from trimtab.coding.telling.printable import one_line
from trimtab.context.asks import Answer, Ask

_BIGGEST = 8


async def _run(desk: Desk, rest: str) -> None:
    context = desk.session.context
    desk.tell("\n".join(map(one_line, await context.transcript.run(_looked(context)))))


def _looked(context: OpenContext) -> Generator[Ask, Answer, list[str]]:
    engine = context.engine
    look = engine.look(context.transcript.log.snapshot(), context.request())
    observation = engine.observe(look)
    yield from ()  # a plan that asks for nothing
    manager = engine.manager
    meter = meter_lines(look, observation, policy=context.policy)
    return [*meter, *waiting_lines(manager.waiting), *biggest_lines(observation, _BIGGEST)]


COMMAND = Command("context", "", "how full the window is, and what takes the most", _run)
