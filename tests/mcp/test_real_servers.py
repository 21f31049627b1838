"""Published servers, as people run them: those from npm and PyPI that are installed here.

Each is looked for by the name of its program on the PATH, and in the folders of TRIMTAB_MCP_SERVERS (separated as in PATH). One that isn't there is
skipped, and said.
"""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.mcp_kit import Said, bench, needs_sdk, text_of

pytestmark = [pytest.mark.anyio, pytest.mark.slow, needs_sdk]


def program(name: str) -> str:
    """Where a server's program is; skips the test loudly when it isn't."""
    found = shutil.which(name, path=os.pathsep.join((os.environ.get("TRIMTAB_MCP_SERVERS", ""), os.environ["PATH"])))
    if found is None:
        pytest.skip(
            f"A REAL SERVER IS NOT TESTED: {name} isn't installed (npm or PyPI; or name its folder in TRIMTAB_MCP_SERVERS)"
        )
    return found


def server(name: str, *args: str, **more: Any) -> dict[str, Any]:
    """Its configuration."""
    path = f"{Path(program(name)).parent}{os.pathsep}{os.environ['PATH']}"
    return {"command": program(name), "args": list(args), "env": {"PATH": path}, **more}


async def test_everything_does_what_it_demonstrates(tmp_path: Path) -> None:
    person = Said(["answer", *["-"] * 20])
    seen: list[str] = []
    async with bench(tmp_path, {"e": server("mcp-server-everything")}, person=person) as made:
        assert made.told == []
        assert text_of(await made.call("e", "echo", message="hi")) == "Echo: hi"
        assert text_of(await made.call("e", "get-sum", a=1, b=2)) == "The sum of 1 and 2 is 3."
        await made.call("e", "trigger-long-running-operation", update=seen.append, duration=1, steps=2)
        assert seen
        assert str(tmp_path / "project") in text_of(await made.call("e", "get-roots-list"))
        assert (await made.call("e", "trigger-elicitation-request")).is_error is False
        assert person.asked
        known = made.hub.servers[0].known()
        assert {"simple-prompt", "args-prompt"} <= {prompt.name for prompt in known.prompts}
        assert known.resources
        listed = await made.hub.servers[0].ask(lambda connection: connection.resources())
        assert listed


async def test_files_are_read_within_their_folder_and_not_outside(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "note.txt").write_text("a note")
    async with bench(tmp_path, {"f": server("mcp-server-filesystem", str(shared), roots=[])}) as made:
        assert text_of(await made.call("f", "read_text_file", path=str(shared / "note.txt"))) == "a note"
        assert (await made.call("f", "read_text_file", path="/etc/hostname")).is_error


async def test_memory_keeps_what_it_is_told(tmp_path: Path) -> None:
    configured = server("mcp-server-memory")
    configured["env"]["MEMORY_FILE_PATH"] = str(tmp_path / "memory.json")
    async with bench(tmp_path, {"m": configured}) as made:
        entity = {"name": "Ada", "entityType": "person", "observations": ["counts"]}
        assert not (await made.call("m", "create_entities", entities=[entity])).is_error
        assert "Ada" in text_of(await made.call("m", "read_graph"))


async def test_time_is_told(tmp_path: Path) -> None:
    async with bench(tmp_path, {"t": server("mcp-server-time")}) as made:
        assert '"timezone": "UTC"' in text_of(await made.call("t", "get_current_time", timezone="UTC"))
        assert (await made.call("t", "get_current_time", timezone="Nowhere/None")).is_error


def committed(repository: Path) -> Path:
    """A repository with one commit."""
    author = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    commit = ["commit", "-q", "--allow-empty", "-m", "first words"]
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    subprocess.run(["git", "-C", str(repository), *author, *commit], check=True)
    return repository


async def test_git_shows_a_log(tmp_path: Path) -> None:
    repository = committed(tmp_path / "repository")
    async with bench(tmp_path, {"g": server("mcp-server-git", "--repository", str(repository))}) as made:
        assert "first words" in text_of(await made.call("g", "git_log", repo_path=str(repository)))


async def test_fetch_says_why_it_fetched_nothing(tmp_path: Path) -> None:
    async with bench(tmp_path, {"w": server("mcp-server-fetch")}) as made:
        assert (await made.call("w", "fetch", url="http://127.0.0.1:9/")).is_error
