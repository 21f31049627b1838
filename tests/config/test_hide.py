"""What a process hides stays readable for itself and for nobody that it starts."""

import subprocess
import sys
from pathlib import Path

import pytest

import trimtab
from support.cli import Cli, text_of

SHOWS = """
import os, subprocess, sys
from trimtab.config.hide import hide_variables
hide_variables(["ACME_API_KEY", "NOT_THERE"])
shown = subprocess.run(["cat", f"/proc/{os.getpid()}/environ"], capture_output=True, text=True)
print(os.environ["ACME_API_KEY"], "sk-hidden" in shown.stdout, "plain" in shown.stdout or bool(shown.returncode))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_hidden_value_is_in_the_copy_and_not_in_what_others_are_shown() -> None:
    env = {"PYTHONPATH": str(Path(trimtab.__file__).parents[1]), "ACME_API_KEY": "sk-hidden", "OTHER": "plain"}
    done = subprocess.run([sys.executable, "-c", SHOWS], env=env, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("sk-hidden False True\n", "")


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("bash", {"command": "tr '\\0' '\\n' </proc/$PPID/environ"}),
        ("bash", {"command": "cat /proc/*/environ | tr '\\0' '\\n' | grep -a -e sk- -e MARK"}),
        ("read", {"path": "/proc/self/environ"}),
    ],
    ids=["the parent's", "everybody's", "with the read tool"],
)
def test_no_tool_gets_at_the_keys_of_the_agent_itself(tmp_path: Path, tool: str, arguments: dict[str, str]) -> None:
    cli = Cli.at(tmp_path, ACME_API_KEY="sk-hidden", MARK="seen")
    script = cli.script({"tool_calls": [{"name": tool, "arguments": arguments}]}, {"text": "done"})
    done = cli.run("-p", "x", "--model", script, "--mode", "json", "--permission", "full")
    (ended,) = done.of("tool_ended")
    assert done.code == 0
    assert "sk-hidden" not in text_of(ended)
