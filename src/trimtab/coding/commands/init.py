"""`/init`: have the model look around and write an AGENTS.md for this project."""

from functools import partial

from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.prompts import load_prompt


async def _run(desk: Desk, rest: str) -> None:
    wishes = f"\nThe person adds: {rest}\n" if rest else ""
    desk.work(partial(desk.session.prompt, load_prompt("init", {}) + wishes))


COMMAND = Command("init", "[WISHES]", "let the model write an AGENTS.md for this project", _run)
