"""`trimtab [-p] WORDS…`: one turn in this folder; without words on a terminal, the talk of `chat.py`."""

import sys
from typing import Any

import click

from trimtab.frontends.cli import completers
from trimtab.frontends.cli.commands import COMMANDS
from trimtab.frontends.cli.options import Flags, session_options
from trimtab.frontends.cli.slips import refuse_slip
from trimtab.types.errors import UsageError


@click.command("run", add_help_option=False, context_settings={"ignore_unknown_options": False})
@click.argument("words", nargs=-1, shell_complete=completers.words)
@click.option("-p", "--print", "print_", is_flag=True, help="One turn, then exit.")
@click.option(
    "--mode",
    type=click.Choice(["text", "transcript", "json", "rpc"]),
    default="text",
    show_default=True,
    help="What goes to stdout; transcript: calls with the ends of their results too; rpc: JSON lines both ways, for other programs.",
)
@click.option("--provider", metavar="NAME", help="The provider of --model, where that names none.")
@click.option(
    "--output-schema",
    metavar="FILE",
    shell_complete=completers.files,
    help="The answer has to be JSON that fits this JSON schema.",
)
@session_options
def command(
    words: tuple[str, ...], *, print_: bool, mode: str, provider: str | None, output_schema: str | None, **flags: Any
) -> int:
    """Ask for one thing, or talk."""
    options = Flags(**{**flags, "model": _model(provider, flags["model"])})
    if mode == "rpc":
        return _serve(words, options, print_=print_, output_schema=output_schema)
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


def _model(provider: str | None, model: str | None) -> str | None:
    """The model that the two flags name together. Raises `UsageError`."""
    if provider is None or model is None:
        if provider is not None:
            raise UsageError(
                "--provider names no model",
                hint=f"Add --model, as in --model {provider}/MODEL; trimtab models {provider} lists them.",
            )
        return model
    return model if model.startswith(f"{provider}/") else f"{provider}/{model}"


def _serve(words: tuple[str, ...], flags: Flags, *, print_: bool, output_schema: str | None) -> int:
    """Serve another program. Raises `UsageError` for what belongs to a single turn."""
    if words or print_ or output_schema is not None:
        raise UsageError("prompts come as lines with --mode rpc", hint="Leave the words, -p and --output-schema out.")
    from trimtab.frontends.cli.start import open_flags
    from trimtab.frontends.rpc.serve import serve

    return serve(open_flags(flags), flags.choice(), takeover=flags.takeover)
