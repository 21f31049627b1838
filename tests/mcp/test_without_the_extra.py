"""Where the extra isn't installed, who configures a server is told what to install, and all else works."""

from pathlib import Path

import pytest

from support.cli import Cli
from trimtab.coding.mcp import checks, open, sdk
from trimtab.types.extras import install_command


def test_who_configures_a_server_is_told_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (sdk, open, checks):
        monkeypatch.setattr(module, "installed", lambda: False)
    cli = Cli.at(tmp_path)
    cli.config('[mcp.servers.a]\ncommand = "sh"\n')
    outcome = cli.inside("-p", "go", "--mode", "json", "--model", cli.script({"text": "done"}))
    assert outcome.code == 0
    (notice,) = [e["message"] for e in outcome.of("notice") if e["message"].startswith("MCP")]
    assert install_command("mcp") in notice
    assert install_command("mcp") in cli.inside("doctor").out


def test_a_session_without_servers_loads_nothing_of_the_sdk(tmp_path: Path) -> None:
    cli = Cli.at(tmp_path)
    code = (
        "import sys\nfrom trimtab.main import main\n"
        f"sys.argv[1:] = ['-p', 'go', '--model', {cli.script({'text': 'done'})!r}]\nmain()\n"
        "sys.exit(int('mcp' in sys.modules or 'pydantic' in sys.modules))"
    )
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=cli.project, env=cli.environment(), check=False, capture_output=True
    )
    assert done.returncode == 0, done.stderr
