"""`trimtab answer SESSION CALL_ID TEXT`: a person answers a parked call, and the turn goes on."""

from dataclasses import replace
from functools import partial
from typing import Any

import anyio
import click

from trimtab.agent.loop import Turn
from trimtab.coding.session import Session
from trimtab.frontends.cli.options import Flags, session_options
from trimtab.frontends.cli.start import open_flags
from trimtab.frontends.cli.turn import drive


@click.command("answer")
@click.argument("ref", metavar="SESSION")
@click.argument("call_id")
@click.argument("text")
@click.option(
    "--mode", type=click.Choice(["text", "json"]), default="text", show_default=True, help="What goes to stdout."
)
@session_options
def command(ref: str, call_id: str, text: str, *, mode: str, **flags: Any) -> int:
    """Answer a call that waits for a person, and go on. SESSION is an id, the start of one, a path, or last."""

    async def work(opened: Session) -> Turn:
        return await opened.answer(call_id, text)

    wanted = replace(Flags(**flags), resume=ref)
    return anyio.run(partial(drive, open_flags(wanted), wanted.choice(), mode, work, takeover=wanted.takeover))
