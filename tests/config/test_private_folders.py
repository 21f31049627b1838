"""Who may look into, and put things into, the folders that Trimtab makes."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.cli import Cli
from trimtab.config.auth_file import require_writable
from trimtab.config.edit import set_value
from trimtab.context.stores.private import make_private


@pytest.fixture(params=[0o000, 0o002, 0o022, 0o077], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """What new files are made without."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def others_may(root: Path) -> list[str]:
    """What somebody else may do something with, below `root`."""
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if stat.S_IMODE(path.lstat().st_mode) & 0o077)


@pytest.mark.usefixtures("umask")
def test_whatever_the_umask_all_that_a_run_keeps_is_its_owners_alone(tmp_path: Path) -> None:
    cli = Cli.at(tmp_path)
    home = cli.home / "deep" / "home"
    cli.env["TRIMTAB_HOME"] = str(home)
    call = {"name": "write", "arguments": {"path": "a.txt", "content": "x"}}
    outcome = cli.inside("-p", "go", "--model", cli.script({"tool_calls": [call]}, {"text": "done"}))
    assert outcome.code == 0
    assert list(home.glob("sessions/*/*.jsonl"))
    assert others_may(cli.home) == []


@pytest.mark.usefixtures("umask")
def test_each_folder_that_is_made_on_the_way_to_a_file_of_the_persons_is_theirs_alone(tmp_path: Path) -> None:
    require_writable(tmp_path / "a" / "b" / "auth.json")
    set_value(tmp_path / "f" / "g" / "config.toml", ("model",), "scripted/x")
    make_private(tmp_path / "c" / "d" / "e")
    assert others_may(tmp_path) == []


def test_a_folder_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    there.chmod(0o755)
    make_private(there / "new")
    assert (stat.S_IMODE(there.stat().st_mode), stat.S_IMODE((there / "new").stat().st_mode)) == (0o755, 0o700)
