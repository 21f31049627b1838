"""Console entry: answer `--version` before anything of weight is imported, then import exactly one frontend."""

import sys


def main() -> int:
    """Run the command line; return the exit code."""
    argv = sys.argv[1:]
    if argv == ["--version"]:
        from trimtab import __version__

        print(f"trimtab {__version__}")
        return 0
    print("not built yet")
    return 2
