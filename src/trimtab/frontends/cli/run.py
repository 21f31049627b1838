"""`trimtab [-p] WORDS…`: one turn in this folder; without words on a terminal, the talk of `chat.py`."""

import sys
from typing import Any

import click

from trimtab.frontends.cli import completers
from trimtab.frontends.cli.commands import COMMANDS
from trimtab.frontends.cli.options import Flags, session_options
from trimtab.frontends.cli.slips import refuse_slip


@click.command("run", add_help_option=False, context_settings={"ignore_unknown_options": False})
@click.argument("words", nargs=-1, shell_complete=completers.words)
@click.option("-p", "--print", "print_", is_flag=True, help="One turn, then exit.")
@click.option(
    "--mode", type=click.Choice(["text", "json"]), default="text", show_default=True, help="What goes to stdout."
)
@click.option(
    "--output-schema",
    metavar="FILE",
    shell_complete=completers.files,
    help="The answer has to be JSON that fits this JSON schema.",
)
@session_options
def command(words: tuple[str, ...], *, print_: bool, mode: str, output_schema: str | None, **flags: Any) -> int:
    """Ask for one thing, or talk."""
    options = Flags(**flags)
    if not print_:
        refuse_slip(words, COMMANDS)
    if (
        not words
        and not print_
        and mode == "text"
        and output_schema is None
        and sys.stdin is not None
        and sys.stdin.isatty()
    ):
        from trimtab.frontends.cli.chat import talk

        return talk(options)
    from trimtab.frontends.cli.turn import one_turn

    return one_turn(words, flags=options, mode=mode, output_schema=output_schema)
