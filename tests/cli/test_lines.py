"""Lines of standard input come one at a time, whatever the input is, and waiting for one can be given up."""

import os
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
