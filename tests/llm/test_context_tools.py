"""A session with context tools in a window that is far too small for it, and a real model behind Chat Completions."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.cli import Cli
from support.small_model import ROOMY

pytestmark = [pytest.mark.llm, pytest.mark.timeout(300)]

SYSTEM = "You are a coding agent."
FILES = ("a.txt", "b.txt", "c.txt", "d.txt")


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """A project with four files, and a session in which a scripted model with a large window has read three of them."""
    cli = Cli.at(tmp_path)
    for name in FILES:
        cli.file(name, "".join(f"{name} line {n}: the port of host {n} is {n + 4000}\n" for n in range(40)))
    for name in FILES[:3]:
        reads = {"tool_calls": [{"name": "read", "arguments": {"path": name}}]}
        model = cli.script(reads, {"text": f"I read {name}."})
        flags = ("--system-prompt", SYSTEM, "--tools", "read", "--model", model)
        assert cli.inside(*(("--continue",) if cli.sessions else ()), "-p", f"Read {name}.", *flags).code == 0
    return cli


def served(base_url: str, *tools: str) -> tuple[str, ...]:
    """Flags for the model in its small window, with these tools."""
    values = {"base_url": base_url, "api": "openai-chat", "context_window": ROOMY, "max_output": 48}
    sets = [f"providers.local.{key}={value}" for key, value in values.items()]
    flags = ("--model", "local/smollm2", "--system-prompt", SYSTEM, "--tools", ",".join(tools), "--max-steps", "3")
    return (*flags, *(part for text in sets for part in ("--set", text)))


@pytest.mark.parametrize("context_tools", [("archive", "memo", "recall"), ()], ids=["archive", "off"])
def test_a_session_that_outgrew_the_window_is_edited_and_goes_on(
    cli: Cli, roomy_url: str, context_tools: tuple[str, ...]
) -> None:
    before = messages(cli)
    done = cli.run(
        "--continue", "-p", "Read d.txt.", "--mode", "json", *served(roomy_url, "read", *context_tools), timeout=280
    )
    assert done.of("context_edited"), "what was read before has no room"
    assert done.result["reason"] in ("stop", "length", "max_steps"), done.err
    after = messages(cli)
    assert after[: len(before)] == before, "an edit changes no record"
    answers = [message for message in after if message.get("provider") == "local"]
    assert answers, "the real model answered"
    for answer in answers:
        assert "error" not in answer, "no request was refused"
        usage = answer["usage"]
        assert 0 < sum(usage.get(part, 0) for part in ("input", "cache_read", "output")) <= ROOMY


def messages(cli: Cli) -> list[dict[str, Any]]:
    """The messages in the log of the one session, as they were recorded."""
    (session,) = cli.sessions
    entries = (json.loads(line) for line in session.read_text("utf-8").splitlines())
    return [entry["message"] for entry in entries if entry["type"] == "message"]
