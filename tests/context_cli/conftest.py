"""Sessions to look at: one with fixed ids, and one that a scripted model made in a window far too small."""

import json
from pathlib import Path

import pytest

from support.cli import Cli
from support.saved_session import write_session

CONFIG = """
[providers.scripted]
api = "scripted"
context_window = 16000
max_output = 1000
"""


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Home and project of one test; scripted models have a window of 16,000 tokens."""
    cli = Cli.at(tmp_path)
    cli.config(CONFIG)
    return cli


@pytest.fixture
def fixed(cli: Cli) -> str:
    """The path of a session with fixed ids."""
    return str(write_session(cli.root / "fixed.jsonl", cwd=str(cli.project)))


@pytest.fixture(scope="session")
def _made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session that outgrew its window: made once, copied by those who use it."""
    cli = Cli.at(tmp_path_factory.mktemp("made"))
    cli.config(CONFIG)
    lines = []
    for n in range(9):
        rows = [f"row {n}-{k}: value {k * 37 % 1000} at /srv/data/part_{n}_{k}.csv" for k in range(60)]
        cli.file(f"f{n}.txt", "\n".join(rows))
        lines.append({"text": f"I read f{n}.", "tool_calls": [{"name": "read", "arguments": {"path": f"f{n}.txt"}}]})
    lines.append({"text": "All read."})
    outcome = cli.inside("-p", "read f0 to f8", "--model", cli.script(*lines))
    assert outcome.code == 0, outcome.err
    return cli.sessions[0]


@pytest.fixture
def grown(cli: Cli, _made: Path) -> str:
    """The path of a session whose context was edited by a policy."""
    head, *rest = _made.read_bytes().splitlines(keepends=True)
    moved = {**json.loads(head), "cwd": str(cli.project)}
    path = cli.root / "grown.jsonl"
    path.write_bytes(json.dumps(moved).encode() + b"\n" + b"".join(rest))
    return str(path)
