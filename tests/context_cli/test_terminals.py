"""What `trimtab context` prints on a narrow terminal, without colours, into a pipe that somebody closes, and of a long session."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from support.cli import Cli
from support.saved_session import write_masked_session

READERS = [["show", "--text"], ["show", "--json"], ["log", "--diff"], ["blame", "option_7"]]
COMMANDS = pytest.mark.parametrize("command", READERS, ids=" ".join)


@pytest.fixture
def long(cli: Cli) -> str:
    """The path of a session whose output is larger than a pipe holds."""
    return str(write_masked_session(cli.root / "long.jsonl", cwd=str(cli.project), edits=300))


def on_terminal(cli: Cli, width: int, *args: str) -> tuple[int, str]:
    """Run a command on a terminal of that width; return its exit code and what it showed."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "trimtab", *args],
        cwd=cli.project,
        env=cli.environment(),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65_536):
            shown += piece
    except OSError:  # so a terminal says that nobody holds its other end
        pass
    finally:
        os.close(ours)
    return process.wait(30), shown.decode().replace("\r\n", "\n")


@COMMANDS
def test_a_reader_that_leaves_ends_the_command_without_a_word(cli: Cli, long: str, command: list[str]) -> None:
    verb, *rest = command
    process = cli.start("context", verb, long, *rest)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(30) in (0, 1)
    process.stderr.close()


@pytest.mark.parametrize("command", READERS[1:3], ids=" ".join)
def test_a_full_disk_is_told_in_a_line(cli: Cli, fixed: str, command: list[str]) -> None:
    verb, *rest = command
    with Path("/dev/full").open("wb") as full:
        process = subprocess.run(
            [sys.executable, "-m", "trimtab", "context", verb, fixed, *rest],
            cwd=cli.project,
            env=cli.environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert process.returncode == (1 if b"can't be written" in process.stderr else 2), process.stderr
    assert b"Traceback" not in process.stderr


@pytest.mark.parametrize(
    ("width", "command"), [(1, ["show"]), (20, ["show"]), (20, ["log", "--diff"]), (20, ["explain", "r1"])], ids=str
)
def test_a_narrow_terminal_breaks_lines_between_words_only(
    cli: Cli, fixed: str, command: list[str], width: int
) -> None:
    verb, *rest = command
    code, shown = on_terminal(cli, width, "context", verb, fixed, *rest)
    assert code == 0
    assert "\x1b" not in shown
    table = shown.partition("\n\n")[2].split("\n") if verb == "show" else []
    for line in shown.split("\n"):
        assert len(line) <= width or len(line.split()) <= 1 or (line in table and width < 20), line


def test_colours_are_nobodys_wish_here(cli: Cli, fixed: str) -> None:
    plain = on_terminal(cli, 80, "context", "show", fixed)
    assert on_terminal(Cli(cli.root, {"NO_COLOR": "1", "TERM": "dumb"}), 80, "context", "show", fixed) == plain
