"""`read`: what is no text is refused or named at once, and never blocks."""

import base64
import os
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from support.pictures import gif, jpeg, png, png_with_pixels, webp
from trimtab.agent.ports import ToolOutput, ToolRun
from trimtab.coding.tools.caps import Caps
from trimtab.coding.tools.paths import Workspace
from trimtab.coding.tools.read import read_tool
from trimtab.types.messages import Image, Text

Call = Callable[..., ToolOutput]


def said(output: ToolOutput) -> str:
    return "".join(p.text for p in output.parts if isinstance(p, Text))


def refusal(output: ToolOutput) -> str:
    assert output.is_error
    assert not any(isinstance(p, Image) for p in output.parts)
    return said(output)


def test_row_16_a_pipe_is_refused_at_once(read: Call, cwd: Path) -> None:
    os.mkfifo(cwd / "p")
    start = time.perf_counter()
    assert refusal(read(path="p")) == "p is a named pipe, not a regular file"
    assert time.perf_counter() - start < 10


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/stdin", "/dev/null", "/dev/tty"])
def test_row_17_devices_are_refused_at_once(read: Call, path: str) -> None:
    start = time.perf_counter()
    assert refusal(read(path=path))
    assert time.perf_counter() - start < 10


def test_a_device_behind_a_link_is_refused_too(read: Call, cwd: Path) -> None:
    (cwd / "innocent.txt").symlink_to("/dev/zero")
    assert refusal(read(path="innocent.txt")) == "innocent.txt is a character device, not a regular file"


def test_a_socket_is_refused(read: Call, cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(cwd)  # the path of a socket may be short only
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        assert refusal(read(path="s")) == "s is a socket, not a regular file"


def test_a_folder_points_to_ls(read: Call, cwd: Path) -> None:
    (cwd / "d").mkdir()
    assert refusal(read(path="d")) == "d is a folder; use ls"


def test_a_missing_file_names_what_is_near(read: Call, cwd: Path) -> None:
    (cwd / "settings.py").touch()
    assert refusal(read(path="setings.py")) == "setings.py: no such file or folder; near it: settings.py"


def test_broken_and_looping_links_are_described(read: Call, cwd: Path) -> None:
    (cwd / "broken").symlink_to("nowhere")
    (cwd / "loop").symlink_to("loop")
    assert refusal(read(path="broken")) == "broken: a symbolic link to nowhere, which isn't there"
    assert refusal(read(path="loop")) == "loop: too many symbolic links (a loop?)"


def test_a_file_used_as_a_folder_is_described(read: Call, cwd: Path) -> None:
    (cwd / "f").touch()
    assert refusal(read(path="f/x")) == "f/x: a part of the path is a file, not a folder"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (bytes(range(256)) * 40, "f: binary, 10,240 bytes"),
        (b"\x7fELF\x02\x01\x01" + bytes(9), "f: binary, 16 bytes (ELF executable)"),
        (b"PK\x03\x04" + bytes(9), "f: binary, 13 bytes (zip archive or office document)"),
    ],
)
def test_row_21_binary_is_named_with_its_size(read: Call, cwd: Path, data: bytes, words: str) -> None:
    (cwd / "f").write_bytes(data)
    assert said(read(path="f")) == words


@pytest.mark.parametrize(
    ("data", "kind", "width", "height"),
    [
        (png(3, 2), "image/png", 3, 2),
        (jpeg(16, 8), "image/jpeg", 16, 8),
        (gif(1, 1), "image/gif", 1, 1),
        (webp(5, 4), "image/webp", 5, 4),
    ],
)
def test_row_20_a_picture_is_known_by_its_bytes_not_its_name(
    read: Call, cwd: Path, data: bytes, kind: str, width: int, height: int
) -> None:
    (cwd / "x.dat").write_bytes(data)
    output = read(path="x.dat")
    assert output.parts == (
        Text(f"x.dat: {kind}, {width}x{height}, {len(data)} bytes"),
        Image(kind, base64.b64encode(data).decode(), name="x.dat", width=width, height=height),
    )


def test_row_20_an_svg_named_png_is_text(read: Call, cwd: Path) -> None:
    (cwd / "x.png").write_text("<svg/>\n")
    assert read(path="x.png").parts == (Text("<svg/>\n"),)


@pytest.mark.parametrize("data", [png(), jpeg(), gif(), webp()])
def test_row_20_a_picture_cut_anywhere_never_enters_the_history(read: Call, cwd: Path, data: bytes) -> None:
    for size in range(16, len(data)):
        (cwd / "x.png").write_bytes(data[:size])
        assert "damaged: " in refusal(read(path="x.png"))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (png()[:45] + b"\xff" + png()[46:], "the checksum of its IDAT part is wrong"),
        (png_with_pixels(b"no zlib"), "its pixel data is damaged"),
        (png_with_pixels(b"x\x9c\x03\x00\x00\x00\x00\x01"), "its pixel data ends too early"),
        (png(0, 0), "it has no pixels"),
    ],
)
def test_row_20_a_damaged_picture_says_what_is_wrong(read: Call, cwd: Path, data: bytes, why: str) -> None:
    (cwd / "x.png").write_bytes(data)
    assert refusal(read(path="x.png")).endswith(f"damaged: {why}")


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"\0\0\0\x1cftypavif" + bytes(40), "AVIF"),
        (b"\0\0\0\x18ftypheic" + bytes(40), "HEIC"),
        (b"BM" + (66).to_bytes(4, "little") + bytes(60), "BMP"),
        (b"II*\0" + bytes(40), "TIFF"),
    ],
)
def test_row_20_other_picture_formats_are_named(
    read: Call, cwd: Path, data: bytes, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)  # the extra that would convert some of them
    (cwd / "x.png").write_bytes(data)
    assert f"x.png: {name} image, {len(data)} bytes; models take PNG" in refusal(read(path="x.png"))


def test_a_text_only_model_is_told_that_it_cannot_see(workspace: Workspace, cwd: Path) -> None:
    (cwd / "x.png").write_bytes(png())
    output = run(workspace, Caps(), images=False)
    assert refusal(output) == f"x.png: image/png, 3x2, {len(png())} bytes; the model in use can't see images"


def test_a_picture_over_the_limits_is_refused(workspace: Workspace, cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)  # the extra that would make it smaller
    (cwd / "x.png").write_bytes(png(50, 2))
    assert "all of it 60 bytes: make it smaller" in refusal(run(workspace, Caps(image_bytes=60), images=True))
    assert "a side may have 40 pixels" in refusal(run(workspace, Caps(image_pixels_a_side=40), images=True))


def run(workspace: Workspace, caps: Caps, *, images: bool) -> ToolOutput:
    tool = read_tool(workspace, caps=caps, images=images)
    return anyio.run(tool.run, {"path": "x.png"}, ToolRun("c", _silent))


async def _silent(_text: str) -> None:
    """Nobody watches."""
