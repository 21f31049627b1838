"""Sizes that don't depend on the machine: the first request, JSON mode, the base install."""

import re
import tomllib
from collections.abc import Callable
from importlib.metadata import PackagePath, distribution, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import trimtab
from support.cli import Cli, local, said
from support.servers import FakeServer

ROOT = Path(__file__).parents[2]
TOOLS = ["read", "write", "edit", "bash", "grep", "find", "ls", "todo", "jobs", "task"]
CONTEXT_TOOLS = {
    "off": [],
    "archive": ["archive", "memo", "recall"],
    "pilot": ["archive", "memo", "recall", "plan", "edit_context", "memory", "context_status"],
}


@pytest.fixture
def first_body(tmp_path: Path) -> Callable[[str], bytes]:
    """What the first request for `hi` holds in a profile of context tools; every later request pays for it again."""

    def body(profile: str) -> bytes:
        (tmp_path / profile).mkdir()
        with FakeServer(said()) as server:
            cli = Cli.at(tmp_path / profile)
            assert cli.inside("-p", "hi", "--set", f"context.tools={profile}", *local(server)).code == 0
            (request,) = [r for r in server.requests if r.method == "POST"]
        names = [t["function"]["name"] for t in request.json["tools"]]
        assert names == [*TOOLS, *CONTEXT_TOOLS[profile]]
        return request.body.replace(str(tmp_path / profile).encode(), b"/home")

    return body


def test_the_first_request_holds_the_system_prompt_the_eight_tools_and_those_beyond_in_six_kilobytes(
    first_body: Callable[[str], bytes],
) -> None:
    assert len(first_body("off")) <= 6 * 1024


@pytest.mark.parametrize(("profile", "most"), [("archive", 3 * 1024), ("pilot", 6 * 1024)])
def test_context_tools_add_little_to_it(first_body: Callable[[str], bytes], profile: str, most: int) -> None:
    assert 0 < len(first_body(profile)) - len(first_body("off")) <= most


@pytest.mark.parametrize("text", ["word" * 8192, "né\n\u4e16" * 8192], ids=["ascii", "other-scripts"])
def test_json_mode_costs_at_most_four_bytes_a_byte_of_answer(text: str, tmp_path: Path) -> None:
    """Deltas of four characters and the copies in `message_ended` and `result` included."""
    cli = Cli.at(tmp_path)
    outcome = cli.inside("-p", "hi", "--mode", "json", "--model", cli.script({"text": text, "chunk": 4}))
    assert outcome.result["text"] == text
    assert len(outcome.stdout) <= 4 * len(text.encode())


def base_distributions() -> set[str]:
    """Names of all that the base install brings, Trimtab itself aside."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found: set[str] = set()
    todo = list(project["dependencies"])
    while todo:
        wanted = Requirement(todo.pop())
        name = re.sub(r"[-_.]+", "-", wanted.name).lower()
        if name in found or (wanted.marker and not wanted.marker.evaluate({"extra": ""})):
            continue
        found.add(name)
        todo += requires(name) or []
    return found


def test_the_base_install_is_at_most_thirty_distributions() -> None:
    """Each one is something to trust."""
    names = base_distributions()
    assert {"msgspec", "anyio", "h11"} <= names
    assert len(names) + 1 <= 30
    assert names & {"pydantic", "textual", "rich", "torch", "numpy"} == set()


def test_the_base_install_is_at_most_sixty_megabytes() -> None:
    """Bytecode aside, which is about as large as the sources."""
    files: list[PackagePath] = [f for name in base_distributions() for f in distribution(name).files or []]
    sizes = [p.stat().st_size for f in files if (p := Path(str(f.locate()))).suffix != ".pyc" and p.is_file()]
    own = [p.stat().st_size for p in Path(trimtab.__file__).parent.rglob("*") if p.suffix != ".pyc" and p.is_file()]
    assert len(sizes) > 100
    assert sum(sizes) + sum(own) <= 60_000_000
