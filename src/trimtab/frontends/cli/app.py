"""The command line's front door: which words are commands, and what happens when something goes wrong.

`trimtab COMMAND …` runs a command; anything else is a prompt, run by `run.py`. Commands live one a file and are imported when they are used. Each
returns its exit code; a `TrimtabError` becomes one message with its next step, never a traceback.
"""

import errno
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from trimtab import __version__
from trimtab.coding.telling.printable import indented
from trimtab.frontends.cli.commands import COMMANDS
from trimtab.frontends.cli.completers import attached
from trimtab.frontends.cli.screen import width_of, wrapped
from trimtab.frontends.cli.slips import FOREIGN, meant_by, refuse_slip
from trimtab.types.errors import TrimtabError
from trimtab.types.near import near

_RUN = "run"
_NO_COMMAND = re.compile(r"No such command '(.*)'\.?", re.DOTALL)


class Root(click.Group):
    """Dispatches to a command, or to `run` when the first word is none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands that help lists."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS and cmd_name != _RUN:
            return None
        module = import_module(f"trimtab.frontends.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Send everything that is no command to `run`."""
        completing = ctx.resilient_parsing and not args  # the first word is still being typed
        if args[:1] == ["help"] and (len(args) == 1 or (len(args) == 2 and args[1] in COMMANDS)):
            args = [*args[1:], "--help"]
        if not completing and (not args or args[0] not in (*COMMANDS, "--help", "-h", "--version")):
            if not ctx.resilient_parsing and not {"-p", "--print"} & set(args):
                refuse_slip(args, COMMANDS)  # before options are looked at: those may be the meant command's
            args = [_RUN, *args]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List commands without importing them, then the options of `run`."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))
        run = self.get_command(ctx, _RUN)
        if run is not None:
            with formatter.section("Options of a run"):
                formatter.write_dl([r for p in run.get_params(ctx) if (r := p.get_help_record(ctx))])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Complete commands, and the options of `run`."""
        found = [*super().shell_complete(ctx, incomplete), *attached(incomplete)]
        run = self.get_command(ctx, _RUN) if incomplete.startswith("-") else None
        if run is not None:
            with run.make_context(_RUN, [], parent=ctx, resilient_parsing=True) as sub:
                found += [c for c in run.shell_complete(sub, incomplete) if c.value != "--help"]
        return found


@click.group(
    cls=Root,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog='One turn: trimtab -p "fix the failing test". More: trimtab COMMAND --help, docs/usage.md.',
)
@click.version_option(__version__, prog_name="trimtab", message="%(prog)s %(version)s")
def root() -> None:
    """A coding agent for the terminal. `trimtab` alone talks; `trimtab -p TEXT` does one turn and exits."""


def main(argv: Sequence[str]) -> int:
    """Run one command line; return the exit code."""
    try:
        code = root.main(args=list(argv), prog_name="trimtab", standalone_mode=False)
    except (*_EXPECTED, OSError, BaseExceptionGroup) as error:
        return _ended_by(error, talked=argv[:1] == [] or argv[0] not in COMMANDS)
    return code if isinstance(code, int) else 0


_EXPECTED = (TrimtabError, click.exceptions.Exit, click.Abort, click.ClickException, BrokenPipeError, KeyboardInterrupt)


_HELD, _ROOM = "The session holds what was said.", "Send it where there is room."
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


def _is_expected(error: BaseException) -> bool:
    return isinstance(error, _EXPECTED) or (isinstance(error, OSError) and error.errno in _NO_ROOM)


def _ended_by(error: BaseException, *, talked: bool) -> int:
    """Say what a person should know of `error`, and return the exit code. `talked`: in a session, which is kept. A group that holds a bug is raised again."""
    match error:
        case TrimtabError():
            _complain(error.message, error.hint)
            return error.exit_code
        case click.exceptions.Exit():
            return error.exit_code
        case click.exceptions.NoSuchOption():
            known = _options_of(error.ctx)
            if (ours := FOREIGN.get(error.option_name)) and "--takeover" in known:
                _complain(f"no such option: {error.option_name}", ours)
                return 2
            close = near(error.option_name, known, most=2)
            guess = f"; did you mean {' or '.join(close)}?" if close else ""
            _complain(f"no such option: {error.option_name}{guess}", _help_for(error))
            return 2
        case click.ClickException():
            _complain(f"{error.format_message()}{_meant(error)}", _help_for(error))
            return 2
        case BrokenPipeError():
            # The reader is gone: nothing more can be said, and Python must not say so at exit.
            sys.stdout = None
            return 1
        case OSError() if error.errno in _NO_ROOM:
            # Sessions and tools say themselves what they can't write: what is left is our own output.
            sys.stdout = None
            _complain(f"standard output can't be written: {error.strerror}", _HELD if talked else _ROOM)
            return 1
        case OSError() if error.errno == errno.ENAMETOOLONG:
            _complain(f"{str(error.filename)[:60]}… is no name of a file: {error.strerror}", "Give a shorter one.")
            return 2
        case BaseExceptionGroup():
            if error.split(_is_expected)[1] is not None:
                raise error
            return _ended_by(error.exceptions[0], talked=talked)  # a task group wraps even a lone error
        case OSError():
            raise error
        case _:
            return 130


def _help_for(error: click.ClickException) -> str:
    """Where the command that was meant, or the group of commands, says what there is."""
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    path = [] if ctx is None else [word for word in ctx.command_path.split()[1:] if word != _RUN]
    return f"{' '.join(('trimtab', *path))} --help lists what there is."


def _meant(error: click.ClickException) -> str:
    """The subcommand that was probably meant where a group has none of that name; empty otherwise."""
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    unknown = _NO_COMMAND.fullmatch(error.message)
    if ctx is None or unknown is None or not isinstance(ctx.command, click.Group):
        return ""
    meant = meant_by(unknown[1], ctx.command.list_commands(ctx))
    return f" Did you mean: {ctx.command_path} {meant}" if meant else ""


def _options_of(ctx: click.Context | None) -> list[str]:
    return [name for param in ctx.command.get_params(ctx) for name in param.opts] if ctx is not None else []


def _complain(message: str, hint: str) -> None:
    text = f"trimtab: {indented(message)}" + (f"\n  {indented(hint)}" if hint else "")
    sys.stderr.write(wrapped(text, width_of(sys.stderr)) + "\n")
