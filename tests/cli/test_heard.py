"""What a person needs once is said once: in each home, for each model."""

import os
from pathlib import Path

import pytest

from support.cli import Cli, said
from support.servers import FakeServer
from trimtab.coding.heard import is_news


def notes(cli: Cli, model: str, *more: str) -> int:
    """How often a run says that the model is in no list."""
    with FakeServer(said("ok")) as server:
        address = f"providers.local.base_url={server.url}/v1"
        outcome = cli.inside("-p", "hi", "--model", f"local/{model}", "--set", address, *more)
    assert (outcome.code, outcome.out) == (0, "ok\n"), outcome.err
    return outcome.err.count("is in no list")


def test_what_is_assumed_of_a_model_is_said_by_the_first_run_with_it(cli: Cli) -> None:
    assert [notes(cli, name) for name in ("tiny", "tiny", "other", "tiny", "other")] == [1, 0, 1, 0, 0]
    assert notes(cli, "tiny", "--set", "providers.local.max_output=77") == 1  # other news
    assert (cli.home / "heard").stat().st_mode & 0o777 == 0o600


def test_a_session_that_is_kept_nowhere_keeps_nothing_of_what_it_said(cli: Cli) -> None:
    assert [notes(cli, "tiny", "--no-session") for _ in range(2)] == [1, 1]
    assert [notes(cli, "tiny"), notes(cli, "tiny", "--no-session")] == [1, 0]


@pytest.mark.parametrize("kind", ["folder", "pipe", "loop", "noise", "full"])
def test_a_file_of_what_was_said_that_makes_no_sense_only_says_it_again(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "cache" / "heard"
    file.parent.mkdir()
    make = {
        "folder": lambda: file.mkdir(),
        "pipe": lambda: os.mkfifo(file),
        "loop": lambda: file.symlink_to(file),
        "noise": lambda: file.write_bytes(b"\xff\0" * 100 + b"\n"),
        "full": lambda: file.write_bytes(b"0" * (1 << 20)),
    }
    make[kind]()
    assert is_news(file, "text", keep=True)
    assert is_news(file, "text", keep=True) is (kind in ("folder", "pipe", "loop"))
    if kind == "full":
        assert file.stat().st_size == 17
