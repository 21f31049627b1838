"""Text on its way to a clipboard: by which program, or by the terminal."""

import base64
import os
from pathlib import Path

import pytest

from trimtab.coding.clipboard import MOST_BYTES, by_program, harmless, is_remote, osc52, program_of

pytestmark = pytest.mark.anyio


def program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def content(file: Path) -> bytes:
    return file.read_bytes()


@pytest.mark.parametrize(
    ("there", "env", "found"),
    [
        (("wl-copy", "xclip"), {"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}, ("wl-copy",)),
        (("wl-copy", "xclip"), {"DISPLAY": ":0"}, ("xclip", "-selection", "clipboard")),
        (("xsel",), {"DISPLAY": ":0"}, ("xsel", "--clipboard", "--input")),
        (("xclip",), {}, None),
        ((), {"DISPLAY": ":0"}, None),
    ],
)
def test_the_program_is_one_that_is_there_and_can_work(
    tmp_path: Path, there: tuple[str, ...], env: dict[str, str], found: tuple[str, ...] | None
) -> None:
    for name in there:
        program(tmp_path, name, "")
    got = program_of({"PATH": str(tmp_path), **env})
    assert (got and (os.path.basename(got[0]), *got[1:])) == found


async def test_a_program_gets_the_text_and_one_that_stays_in_the_background_is_not_waited_for(tmp_path: Path) -> None:
    program(tmp_path, "xclip", f"/bin/cat > {tmp_path}/got; (/bin/sleep 20) &")
    env = {"PATH": str(tmp_path), "DISPLAY": ":0"}
    assert await by_program((str(tmp_path / "xclip"),), "caf\u00e9", env)
    assert content(tmp_path / "got") == "caf\u00e9".encode()


@pytest.mark.parametrize("text", ["exit 1", "exit 127"])
async def test_a_program_that_fails_is_told_apart(tmp_path: Path, text: str) -> None:
    program(tmp_path, "xclip", text)
    assert not await by_program((str(tmp_path / "xclip"),), "x", {})
    assert not await by_program((str(tmp_path / "gone"),), "x", {})


def test_a_terminal_is_given_no_more_than_it_takes() -> None:
    assert osc52("hi") == f"\x1b]52;c;{base64.b64encode(b'hi').decode()}\x07"
    assert osc52("x" * MOST_BYTES) is not None
    assert osc52("\u00e9" * (MOST_BYTES // 2 + 1)) is None


def test_what_is_pasted_into_a_shell_holds_no_keys() -> None:
    assert harmless("ls\x1b[201~\x03\U000e0072") == "ls"


@pytest.mark.parametrize(("env", "remote"), [({}, False), ({"SSH_TTY": "/dev/pts/1"}, True), ({"SSH_CONNECTION": "a"}, True)])  # fmt: skip
def test_who_comes_by_ssh_sits_elsewhere(env: dict[str, str], remote: bool) -> None:
    assert is_remote(env) is remote
