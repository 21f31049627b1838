"""Files that are no sessions, or not whole, on the command line: each is told in a line, the rest is replayed, and nothing waits or breaks."""

import gzip
import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from support.cli import Cli
from support.transcripts import CLAUDE_CODE
from trimtab.sessions.detect import find_recordings, read_recordings
from trimtab.sessions.source import ImportFailed


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """A home and a project."""
    return Cli.at(tmp_path)


def socket_at(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = os.getcwd()
        os.chdir(path.parent)  # a socket's name has a hundred characters at most
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


def loop_at(path: Path) -> None:
    path.symlink_to(path)


MAKE = {
    "pipe": os.mkfifo,
    "socket": socket_at,
    "loop": loop_at,
    "dangling": lambda path: path.symlink_to("nowhere"),
    "device": lambda path: path.symlink_to("/dev/zero"),
    "empty": lambda path: path.write_bytes(b""),
    "blank": lambda path: path.write_bytes(b"\n \n\r\n"),
    "nul": lambda path: path.write_bytes(b"\0" * 5_000),
    "binary": lambda path: path.write_bytes(bytes(range(256)) * 200),
    "deep": lambda path: path.write_bytes(b"[" * 200_000),
    "deep objects": lambda path: path.write_bytes(b'{"messages":' * 100_000),
    "number": lambda path: path.write_bytes(b"7"),
    "long line": lambda path: path.write_bytes(b'{"type":"user","message":"' + b"x" * 3_000_000),
    "bad gzip": lambda path: path.write_bytes(b"\x1f\x8b" + b"junk" * 100),
    "bare gzip": lambda path: path.write_bytes(b"\x1f\x8b"),
    "gzip of nothing": lambda path: path.write_bytes(gzip.compress(b"")),
    "gzip of junk": lambda path: path.write_bytes(gzip.compress(bytes(range(256)) * 20)),
}
FILES = pytest.mark.parametrize("kind", MAKE)


def replay(cli: Cli, *args: str) -> tuple[int, dict[str, Any], str]:
    outcome = cli.inside("replay", *args, "--json")
    assert "Traceback" not in outcome.err
    return outcome.code, json.loads(outcome.out), outcome.err


@FILES
def test_what_is_no_session_is_an_entry_with_its_error_and_the_rest_goes_on(cli: Cli, kind: str) -> None:
    odd, whole = cli.project / "odd.jsonl", cli.file("whole.jsonl", CLAUDE_CODE)
    MAKE[kind](odd)
    code, report, err = replay(cli, str(odd), str(whole))
    assert code == 1
    first, second = report["files"]
    assert (first["file"], set(first)) == (str(odd), {"file", "error"})
    assert first["error"] in err
    assert (second["file"], second["steps"] > 0) == (str(whole), True)
    assert report["total"]["steps"] == second["steps"]


@FILES
@pytest.mark.parametrize("format", ["claude-code", "openai", "gemini", "trimtab"])
def test_naming_a_format_makes_it_no_session_either(cli: Cli, kind: str, format: str) -> None:
    odd = cli.project / "odd.jsonl"
    MAKE[kind](odd)
    with pytest.raises(ImportFailed) as error:
        read_recordings(odd, format)
    assert error.value.hint


@FILES
def test_a_folder_is_searched_past_them(cli: Cli, kind: str) -> None:
    cli.file("whole.jsonl", CLAUDE_CODE)
    MAKE[kind](cli.project / "odd.jsonl")
    (cli.project / "inner").mkdir()
    (cli.project / "inner" / "up").symlink_to(cli.project)
    assert find_recordings(cli.project) == [cli.project / "whole.jsonl"]


def test_a_name_that_no_file_can_have_is_an_entry_with_its_error(cli: Cli) -> None:
    with pytest.raises(ImportFailed, match="null"):
        read_recordings("a\0b")
    code, report, _ = replay(cli, "x" * 5_000)
    assert (code, "too long" in report["files"][0]["error"]) == (1, True)


def test_a_pipe_is_told_to_come_through_standard_input(cli: Cli) -> None:
    os.mkfifo(cli.project / "pipe")
    assert "send it through standard input, as -" in replay(cli, "pipe")[2]


def test_standard_input_may_be_anything_and_is_read_once(cli: Cli) -> None:
    outcome = cli.run("replay", "-", "--json", stdin=gzip.compress(CLAUDE_CODE))
    assert (outcome.code, json.loads(outcome.out)["files"][0]["steps"] > 0) == (0, True)
    assert cli.run("replay", "-", stdin=b"").code == 1


@pytest.mark.parametrize("keep", [0.6, 0.8, 0.98])
def test_an_archive_that_is_cut_is_replayed_as_far_as_it_goes_and_said_to_be(cli: Cli, keep: float) -> None:
    whole = gzip.compress(CLAUDE_CODE * 3)
    cut = cli.file("cut.jsonl.gz", whole[: int(len(whole) * keep)])
    code, report, err = replay(cli, str(cut))
    assert code == 1
    (entry,) = report["files"]
    assert entry["steps"] > 0
    assert "the archive is cut or damaged: what follows that place is missing" in entry["notes"]
    assert f"{cut}: note: the archive is cut or damaged" in err
    text = cli.inside("replay", str(cut))
    assert (text.code, text.err.count("the archive is cut")) == (1, 1)


def test_an_archive_that_is_damaged_within_is_said_to_be(cli: Cli) -> None:
    packed = bytearray(gzip.compress(CLAUDE_CODE * 50))
    packed[len(packed) * 3 // 4] ^= 0xFF
    code, _, err = replay(cli, str(cli.file("bad.jsonl.gz", bytes(packed))))
    assert (code, "the archive is cut or damaged" in err or "no session" in err) == (1, True)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "packed"])
def test_a_session_that_begins_with_a_large_paste_is_known_all_the_same(cli: Cli, pack: Any) -> None:
    _, first, *rest = CLAUDE_CODE.splitlines(keepends=True)
    record = json.loads(first)
    record["message"]["content"] = "line of a paste\n" * 30_000
    cli.file("s.jsonl.gz", pack(json.dumps(record).encode() + b"\n" + b"".join(rest)))
    (recording,) = read_recordings(cli.project / "s.jsonl.gz")
    assert (recording.format, recording.bad_lines) == ("claude-code", 0)
    assert find_recordings(cli.project) == [cli.project / "s.jsonl.gz"]


def test_each_folder_without_sessions_is_named(cli: Cli) -> None:
    for name in ("one", "two"):
        (cli.project / name).mkdir()
    whole = cli.file("whole.jsonl", CLAUDE_CODE)
    code, report, err = replay(cli, "one", str(whole), "two")
    assert (code, len(report["files"])) == (0, 1)
    assert [line.partition(";")[0] for line in err.splitlines()] == [
        f"no session of a known agent lies in {name}" for name in ("one", "two")
    ]


@pytest.mark.parametrize(
    "price", ["nan,1,1,1", "1,inf,1,1", "-1,1,1,1", "1,1,1", "1,1,1,1,1", "a,b,c,d", "", "1e300,1,1,1"]
)
def test_a_price_that_makes_no_sense_is_exit_code_two(cli: Cli, price: str) -> None:
    outcome = cli.inside("replay", str(cli.file("whole.jsonl", CLAUDE_CODE)), f"--price={price}")
    assert (outcome.code, outcome.out) == (2, "")
    assert "--price" in outcome.err


@pytest.mark.parametrize("window", ["0", "-1", "1e9", "nan", "99999999999999999999", ""])
@pytest.mark.parametrize("command", [["replay"], ["context", "show"], ["context", "log"]], ids=" ".join)
def test_a_window_that_makes_no_sense_is_exit_code_two(cli: Cli, window: str, command: list[str]) -> None:
    outcome = cli.inside(*command, str(cli.file("whole.jsonl", CLAUDE_CODE)), f"--window={window}")
    assert (outcome.code, outcome.out) == (2, "")
    assert "--window" in outcome.err


@pytest.mark.parametrize("policy", ["mask(keep=-1)", "mask(keep=True)", "rules(act=1e999)", "mask(keep=1,keep=2)", "", ",", "no-such", "mask("])  # fmt: skip
def test_a_policy_that_makes_no_sense_is_exit_code_two(cli: Cli, policy: str) -> None:
    outcome = cli.inside("replay", str(cli.file("whole.jsonl", CLAUDE_CODE)), f"--policy={policy}")
    assert (outcome.code, outcome.out) == (2, "")
