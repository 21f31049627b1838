"""A home in which something else lies where a file or folder of Trimtab's belongs: it is told, or passed over, and nothing crashes or waits."""

import os
from pathlib import Path

import pytest

from support.cli import Cli

PLACES = (
    "config.toml",
    "auth.json",
    "trust.json",
    "index.sqlite",
    "sessions",
    "memory",
    "errors.toml",
    "mcp-logins.json",
    "extensions",
    "prompts",
    "skills",
    "agents",
    "jobs",
    "checkpoints",
)


def a_folder(path: Path) -> None:
    """Make one."""
    path.mkdir(parents=True)


def a_pipe(path: Path) -> None:
    """Make one, which opening to read would wait for."""
    path.parent.mkdir(parents=True)
    os.mkfifo(path)


def a_file(path: Path) -> None:
    """Make one that is no text."""
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\xff\0{")


@pytest.mark.parametrize("make", [a_folder, a_pipe, a_file])
@pytest.mark.parametrize("place", PLACES)
def test_what_lies_in_a_place_of_ours_ends_no_command_with_a_crash(tmp_path: Path, place: str, make: object) -> None:
    assert callable(make)
    cli = Cli.at(tmp_path)
    cli.file("AGENTS.md", "Be brief.\n")
    make(cli.home / place)
    model = cli.script({"text": "fine"})
    for command in (("-p", "hi", "--model", model), ("doctor",), ("sessions", "list")):
        assert cli.inside(*command).code in (0, 1, 2)
