"""Console entry: answer `--version` before anything of weight is imported, then import exactly one frontend."""

import sys


def main() -> int:
    """Run the command line; return the exit code."""
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


if __name__ == "__main__":
    raise SystemExit(main())
