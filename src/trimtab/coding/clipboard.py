"""Text on its way to a person's clipboard.

    text ──over SSH──▶ OSC 52: the terminal at the person's end takes it         (its size is bounded, and some terminals don't listen)
         ──else──▶ pbcopy, wl-copy, xclip, xsel or clip.exe, whichever is there ──none──▶ OSC 52

Only what a terminal doesn't obey goes there: what is pasted into a shell would act.
"""

import base64
import shutil
import subprocess
import sys
from collections.abc import Mapping

import anyio

from trimtab.types.text import strip_terminal

MOST_BYTES = 74_994
"""What terminals commonly take by OSC 52: 100,000 characters of base64, less the frame."""
_WITHIN_S = 3.0
_PROGRAMS = (
    ("pbcopy", ""),
    ("wl-copy", "WAYLAND_DISPLAY"),
    ("xclip", "DISPLAY"),
    ("xsel", "DISPLAY"),
    ("clip.exe", "WSL_DISTRO_NAME"),
)
"""A program and the variable without which it can't work."""
_ARGUMENTS = {"xclip": ("-selection", "clipboard"), "xsel": ("--clipboard", "--input")}


def is_remote(env: Mapping[str, str]) -> bool:
    """Whether the person sits at another machine."""
    return bool(env.get("SSH_CONNECTION") or env.get("SSH_TTY"))


def harmless(text: str) -> str:
    """`text` as it may be pasted."""
    return strip_terminal(text)


def program_of(env: Mapping[str, str]) -> tuple[str, ...] | None:
    """The program, with arguments, that puts its input on the clipboard of this machine; None where there is none."""
    for name, needed in _PROGRAMS:
        if (name == "pbcopy" and sys.platform != "darwin") or (needed and not env.get(needed)):
            continue
        if path := shutil.which(name, path=env.get("PATH")):
            return (path, *_ARGUMENTS.get(name, ()))
    return None


async def by_program(program: tuple[str, ...], text: str, env: Mapping[str, str]) -> bool:
    """Let `program` take `text`; False when it fails or takes too long."""
    try:
        with anyio.fail_after(_WITHIN_S):
            done = await anyio.run_process(
                program,
                input=text.encode("utf-8", "replace"),
                stdout=subprocess.DEVNULL,  # some go on in the background, and would hold a pipe open
                stderr=subprocess.DEVNULL,
                env=dict(env),
                check=False,
            )
    except (OSError, TimeoutError):
        return False
    return done.returncode == 0


def osc52(text: str) -> str | None:
    """What a terminal understands as text for the clipboard; None when it is more than terminals take. Source: XTerm control sequences, OSC 52."""
    data = text.encode("utf-8", "replace")
    return f"\x1b]52;c;{base64.b64encode(data).decode()}\x07" if len(data) <= MOST_BYTES else None
