"""Output of any size and any bytes becomes a small, clean text with exact counts, and the whole stays readable."""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trimtab.agent.ports import ToolOutput, ToolRun
from trimtab.coding.tools.bash import BashTool
from trimtab.coding.tools.capture import Capture, PrivateFolder
from trimtab.coding.tools.environment import command_environment
from trimtab.coding.tools.terminal import plain, settled
from trimtab.types.messages import Text
from trimtab.types.tools import Cut

HEAD, TAIL = 30 * 1024, 20 * 1024


async def bash(tmp_path: Path, command: str, seen: list[str] | None = None) -> ToolOutput:
    async def update(text: str) -> None:
        if seen is not None:
            seen.append(text)

    tool = BashTool(tmp_path, command_environment(os.environ), PrivateFolder(tmp_path / "outputs"))
    return await tool.run({"command": command}, ToolRun("call", update))


def text(output: ToolOutput) -> str:
    (part,) = output.parts
    assert isinstance(part, Text)
    return part.text


@pytest.mark.anyio
async def test_many_lines_keep_head_and_tail_with_exact_counts_and_the_whole_in_a_private_file(tmp_path: Path) -> None:
    output = await bash(tmp_path, "seq 1000000")
    file = output.details["output_file"]
    assert output.cut == Cut(
        "lines",
        ((1, 6365), (997076, 1000000)),
        total=1_000_000,
        where=file,
        next="read that file with offset and limit",
    )
    lines = text(output).splitlines()
    assert lines[6364:6367] == ["6365", f"[… 990,710 of 1,000,000 lines left out; the whole: {file} …]", "997076"]
    assert (lines[0], lines[-1]) == ("1", "1000000")
    assert (os.stat(file).st_size, os.stat(file).st_mode & 0o777) == (6_888_896, 0o600)
    assert os.stat(os.path.dirname(file)).st_mode & 0o777 == 0o700


@pytest.mark.anyio
async def test_one_huge_line_is_cut_by_bytes(tmp_path: Path) -> None:
    output = await bash(tmp_path, "head -c 3000000 /dev/zero | tr '\\0' x")
    file = output.details["output_file"]
    shown = ((1, 30_720), (2_979_521, 3_000_000))
    assert output.cut == Cut("bytes", shown, total=3_000_000, where=file, next="search that file with grep")
    assert f"[… 2,948,800 of 3,000,000 bytes left out; the whole: {file} …]" in text(output)


@pytest.mark.anyio
async def test_invalid_utf_8_becomes_replacement_marks_and_keeps_the_exit_code(tmp_path: Path) -> None:
    output = await bash(tmp_path, "printf 'a\\377\\376b\\n'; exit 3")
    assert (text(output), output.details["exit_code"]) == ("a\ufffd\ufffdb\n[exit 3]", 3)


@pytest.mark.anyio
async def test_terminal_control_never_reaches_the_model_or_the_watcher(tmp_path: Path) -> None:
    seen: list[str] = []
    hostile = "printf 'a\\033]52;c;aGk=\\007b\\033]0;title\\033\\\\c\\033[2J\\033[31mred\\033[0m\\a 10%%\\r 99%%\\n'"
    output = await bash(tmp_path, hostile, seen)
    assert text(output) == " 99%"
    assert "".join(seen) == " 99%\n"


@pytest.mark.anyio
async def test_output_is_shown_while_the_command_runs(tmp_path: Path) -> None:
    seen: list[str] = []
    shown_first = anyio.Event()

    async def update(chunk: str) -> None:
        seen.append(chunk)
        (tmp_path / "go").touch()
        shown_first.set()

    tool = BashTool(tmp_path, command_environment(os.environ), PrivateFolder(tmp_path / "outputs"))
    command = "echo one; while [ ! -e go ]; do sleep 0.02; done; echo two"
    await tool.run({"command": command, "timeout": 10}, ToolRun("call", update))
    assert "".join(seen) == "one\ntwo\n"


@pytest.mark.anyio
async def test_updates_are_throttled(tmp_path: Path) -> None:
    seen: list[str] = []
    began = time.monotonic()
    await bash(tmp_path, "for i in $(seq 200); do echo $i; sleep 0.001; done", seen)
    most = (time.monotonic() - began) / 0.1 + 2  # one at once, ten a second, and the rest at the end
    assert len(seen) <= min(most, 200)
    assert "".join(seen) == "".join(f"{n}\n" for n in range(1, 201))


@pytest.mark.slow
def test_300_mb_of_output_cost_little_memory(tmp_path: Path) -> None:
    script = f"""
import anyio, os, resource
from pathlib import Path
from trimtab.agent.ports import ToolRun
from trimtab.coding.tools.bash import BashTool
from trimtab.coding.tools.capture import PrivateFolder
async def update(text): pass
async def main():
    tool = BashTool(Path({str(tmp_path)!r}), dict(os.environ), PrivateFolder(Path({str(tmp_path)!r}) / "out"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    output = await tool.run({{"command": "yes | head -c 300000000"}}, ToolRun("c", update))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, output.cut.total)
anyio.run(main)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    grown, lines = done.stdout.split()
    unit = 1 if sys.platform == "darwin" else 1024
    assert (int(grown) * unit < 40_000_000, int(lines)) == (True, 150_000_000)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(st.binary(max_size=40) | st.sampled_from([b"x\n" * 20, "é\n".encode() * 9]), max_size=8))
def test_whatever_the_pieces_the_whole_is_kept_and_counted(tmp_path: Path, pieces: list[bytes]) -> None:
    capture = Capture(PrivateFolder(tmp_path), 30, 20)
    for piece in pieces:
        capture.feed(piece)
    captured = capture.finish()
    whole = b"".join(pieces)
    lines = whole.count(b"\n") + (not whole.endswith(b"\n") and bool(whole))
    assert (captured.bytes, captured.lines) == (len(whole), lines)
    assert (captured.cut is None) == (len(whole) <= 50)
    if captured.cut:
        assert Path(captured.file or "").read_bytes() == whole
        (first, head_end), (tail_start, last) = captured.cut.shown
        assert 1 == first <= head_end < tail_start <= last == captured.cut.total
    else:
        assert captured.text == plain(whole.decode("utf-8", "replace"))


def test_output_survives_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    capture = Capture(PrivateFolder(tmp_path / "file" / "below"), HEAD, TAIL)
    capture.feed(b"line\n" * 100_000)
    captured = capture.finish()
    assert (captured.lines, captured.file, captured.cut and captured.cut.where) == (100_000, None, None)
    assert "could not be kept: Not a directory" in captured.text


_PIECES = st.sampled_from(
    ["\x1b", "[", "]", "3", "1", "m", ";", "\x07", "\\", "\r", "\n", "a", "é", "\x9b", "\x08", "\x00", "P", "(", "B"]
)


@given(st.lists(_PIECES, max_size=60).map("".join))
def test_plain_text_holds_no_control_but_newline_and_tab_and_is_settled(hostile: str) -> None:
    clean = plain(hostile)
    assert not [c for c in clean if (ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0]
    assert (plain(clean), settled(clean)) == (clean, len(clean))


@given(st.text(alphabet=st.characters(min_codepoint=32, exclude_categories=["C"]) | st.sampled_from("\n\t")))
def test_text_without_control_is_unchanged(ordinary: str) -> None:
    assert plain(ordinary) == ordinary


def test_a_progress_bar_shows_its_last_state() -> None:
    assert plain("get\r\n 1%\r 50%\r100%\ndone\r\n") == "get\n100%\ndone\n"


def test_an_unfinished_sequence_is_held_back() -> None:
    assert [settled(t) for t in ("ab\x1b[3", "ab\x1b", "ab\x1b]0;title", "ab\r", "ab\x1b[31mc")] == [2, 2, 2, 2, 8]
