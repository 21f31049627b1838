"""Refuse what must not enter the repository: large files, private keys, conflict marks.

Usage: hygiene.py FILE… (all tracked files without arguments). Exit 1 when something was found.
"""

import re
import subprocess
import sys
from pathlib import Path

LIMIT = 512 * 1024
FORBIDDEN = {
    "a private key": re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "a provider key": re.compile(rb"\b(?:sk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,}|AIza[0-9A-Za-z_-]{35})"),
    "a conflict mark": re.compile(rb"^(?:<{7}|>{7}) ", re.M),
}


def problems(path: Path) -> list[str]:
    """What is wrong with one file."""
    if not path.is_file() or path.is_symlink():
        return []
    data = path.read_bytes()
    found = [f"{path}: {len(data)} bytes, over {LIMIT}"] if len(data) > LIMIT else []
    return found + [f"{path}: {name}" for name, pattern in FORBIDDEN.items() if pattern.search(data)]


def main(argv: list[str]) -> int:
    """Check the files named, or every tracked one."""
    names = argv or subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.splitlines()
    found = [line for name in names for line in problems(Path(name))]
    print("\n".join(found) if found else f"{len(names)} files are clean")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
