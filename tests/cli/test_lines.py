"""Lines of standard input come one at a time, whatever the input is, and waiting for one can be given up."""

import os
import pty
from pathlib import Path

import anyio
import pytest

from trimtab.frontends.cli.lines import Lines

pytestmark = pytest.mark.anyio


async def test_lines_of_a_pipe_come_as_they_are_written() -> None:
    read, write = os.pipe()
    lines = Lines(read)
    os.write(write, b"one\r\ntwo\nthr")
    assert [await lines.next(), await lines.next()] == ["one", "two"]
    os.write(write, b"ee")
    os.close(write)
    assert [await lines.next(), await lines.next(), await lines.next()] == ["three", None, None]
    os.close(read)


async def test_a_plain_file_and_the_null_device_are_read_to_their_end(tmp_path: Path) -> None:
    file = tmp_path / "in"
    file.write_bytes(b"a\n\nb\xff\n")
    for path, expected in ((file, ["a", "", "b\ufffd", None]), (Path(os.devnull), [None])):
        fd = os.open(path, os.O_RDONLY)
        lines = Lines(fd)
        assert [await lines.next() for _ in expected] == expected
        os.close(fd)


async def test_giving_up_loses_nothing() -> None:
    read, write = os.pipe()
    lines = Lines(read)
    os.write(write, b"hal")
    with anyio.move_on_after(0.05):
        await lines.next()
    os.write(write, b"f\n")
    assert await lines.next() == "half"
    os.close(read)
    os.close(write)


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("\x1b[A", ""),
        ("\x1bOA\x1bOP\x1b[[A\x1b[1;5C\x1b[3~", ""),
        ("\x0c/model", "/model"),
        ("wor\x1b[Dds\tand\x00 \x1bmore", "words\tand ore"),
        ("naïve 日本 👩‍💻", "naïve 日本 👩‍💻"),
    ],
)
async def test_a_line_holds_no_keys_and_no_control_characters(typed: str, line: str) -> None:
    read, write = os.pipe()
    os.write(write, typed.encode() + b"\n")
    assert await Lines(read).next() == line
    os.close(read)
    os.close(write)


async def lines_typed(*chunks: str, forget_after: int = -1) -> list[str | None]:
    """The lines of a terminal on which that is typed, as far as there are whole ones."""
    outer, inner = pty.openpty()
    lines, got = Lines(inner), list[str | None]()
    for number, chunk in enumerate(chunks):
        os.write(outer, chunk.encode())
        with anyio.move_on_after(0.1):
            while True:
                got.append(await lines.next())
        if number == forget_after:
            lines.forget()
    os.close(outer)
    os.close(inner)
    return got


@pytest.mark.parametrize(
    ("typed", "lines"),
    [
        ("\x1b[200~one\n\n\ttwo\x1b[201~\n", ["one\n\n\ttwo"]),
        ("see: \x1b[200~a\nb\x1b[201~ and \x1b[200~c\nd\x1b[201~.\nnext\n", ["see: a\nb and c\nd.", "next"]),
        ("\x1b[200~word\x1b[201~\nnext\n", ["word", "next"]),
        ("\x1b[201~stray\nnext\n", ["stray", "next"]),
        ("\x1b[200~one\ntwo\n", []),
    ],
)
async def test_a_paste_is_part_of_one_line(typed: str, lines: list[str]) -> None:
    assert await lines_typed(typed) == lines


async def test_a_paste_that_comes_in_pieces_is_one_and_one_without_end_can_be_dropped() -> None:
    assert await lines_typed("\x1b[200~one\n", "two\n", "three\x1b[201~\n") == ["one\ntwo\nthree"]
    assert await lines_typed("\x1b[200~one\n", "two\n", forget_after=0) == ["two"]


@pytest.mark.parametrize(
    "typed",
    [
        pytest.param("x" * 5_000 + "\n", id="typed"),
        pytest.param("\x1b[200~" + "x" * 5_000 + "\x1b[201~\n", id="a paste that loses its end"),
        pytest.param("\x1b[200~one\n" + "x" * 5_000 + "\n", id="its last line"),
    ],
)
async def test_a_line_that_the_terminal_cut_is_known_as_one_and_the_next_is_not(typed: str) -> None:
    outer, inner = pty.openpty()
    lines = Lines(inner)
    with anyio.fail_after(20):
        os.write(outer, typed.encode())
        assert "xxxx" in (await lines.next() or "")
        assert lines.cut
        os.write(outer, b"next\n")
        assert (await lines.next(), lines.cut) == ("next", False)
    os.close(outer)
    os.close(inner)


async def test_a_long_paste_of_short_lines_is_whole() -> None:
    text = "\n".join("y" * 80 for _ in range(400))
    outer, inner = pty.openpty()
    lines = Lines(inner)
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.to_thread.run_sync, os.write, outer, f"\x1b[200~{text}\x1b[201~\n".encode())
        with anyio.fail_after(20):
            assert (await lines.next(), lines.cut) == (text, False)
    os.close(outer)
    os.close(inner)


async def test_in_a_pipe_nothing_is_a_paste() -> None:
    read, write = os.pipe()
    os.write(write, b"\x1b[200~one\ntwo\n")
    lines = Lines(read)
    assert [await lines.next(), await lines.next()] == ["one", "two"]
    os.close(read)
    os.close(write)
