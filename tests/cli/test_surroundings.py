"""Whatever the caller made of streams, encodings and folders: one clear end, no traceback, nothing in the wrong file."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.cli import Cli


def shell(cli: Cli, line: str, *args: str, cwd: Path | bytes | None = None) -> "subprocess.CompletedProcess[bytes]":
    """Run the command as `line` says, in which `"$@"` stands for it."""
    argv = ["bash", "-c", line, "sh", sys.executable, "-m", "trimtab", *args]
    return subprocess.run(
        argv,
        cwd=cwd or cli.project,
        env=cli.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=30,
        check=False,
    )


@pytest.mark.parametrize("mode", ["text", "json"])
def test_output_that_has_no_room_is_one_error(tmp_path: Path, mode: str) -> None:
    cli = Cli.at(tmp_path)
    done = shell(cli, '"$@" >/dev/full', "-p", "x", "--model", cli.script({"text": "hello"}), "--mode", mode)
    said = b"trimtab: standard output can't be written: No space left on device\n  The session holds what was said.\n"
    assert (done.returncode, done.stderr) == (1, said)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_leads_nowhere_and_never_into_the_session(tmp_path: Path, closed: str) -> None:
    cli = Cli.at(tmp_path)
    done = shell(cli, f'"$@" {closed}', "-p", "x", "--model", cli.script({"text": "hello"}))
    assert (done.returncode, done.stderr) == (0, b"")
    (session,) = cli.sessions
    assert all(line.startswith(b"{") for line in session.read_bytes().splitlines())


def test_a_talk_without_standard_input_just_ends(tmp_path: Path) -> None:
    cli = Cli.at(tmp_path)
    done = shell(cli, '"$@" <&-', "chat", "--model", cli.script({"text": "hello"}))
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)


def test_characters_that_the_terminal_lacks_are_shown_as_escapes(tmp_path: Path) -> None:
    cli = Cli.at(tmp_path, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    done = shell(cli, '"$@"', "-p", "x", "--model", cli.script({"text": "é你"}))
    assert (done.returncode, done.stdout) == (0, b"\\xe9\\u4f60\n")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_folder_whose_name_is_no_text_is_worked_in_and_returned_to(tmp_path: Path) -> None:
    cli = Cli.at(tmp_path)
    folder = os.fsencode(cli.root) + b"/odd\xff"
    os.mkdir(folder)
    model = cli.script({"text": "hello"}, {"text": "again"})
    first = shell(cli, '"$@"', "-p", "x", "--model", model, "--mode", "json", cwd=folder)
    assert (first.returncode, first.stderr) == (0, b"")
    assert "odd\ufffd".encode() in first.stdout.splitlines()[0]
    second = shell(cli, '"$@"', "-c", "-p", "y", "--model", model, cwd=folder)
    assert (second.returncode, second.stderr, len(cli.sessions)) == (0, b"", 1)


def test_a_session_file_that_links_to_itself_is_refused(tmp_path: Path) -> None:
    cli = Cli.at(tmp_path)
    link = cli.project / "loop.jsonl"
    link.symlink_to(link)
    done = cli.run("-p", "x", "--model", cli.script({"text": "hello"}), "--session", str(link))
    assert (done.code, "loop.jsonl" in done.err, "Traceback" in done.err) == (2, True, False)
