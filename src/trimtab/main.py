"""Console entry: answer `--version` before anything of weight is imported, then import exactly one frontend."""

import io
import os
import sys


def main() -> int:
    """Run the command line; return the exit code."""
    _settle_standard_streams()
    argv = sys.argv[1:]
    if argv in (["--version"], ["-V"]):
        from trimtab import __version__

        sys.stdout.write(f"trimtab {__version__}\n")
        return 0
    try:
        from trimtab.frontends.cli.app import main as cli

        return cli(argv)
    except KeyboardInterrupt:  # while the modules load; later the commands see to it themselves
        return 130


def _settle_standard_streams() -> None:
    """Make a stream that the caller closed lead nowhere, and let none fail for a character that its encoding lacks.

    A number left free would go to the next file that is opened: a session, which then took what was meant for the terminal.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:
            handle = os.open(os.devnull, os.O_RDWR)
            if handle != number:
                os.dup2(handle, number)
                os.close(handle)
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115
        elif number and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    raise SystemExit(main())
