"""Commands get no keys and nothing that would ask."""

import os
from pathlib import Path

import pytest

from trimtab.agent.ports import ToolRun
from trimtab.coding.tools.bash import BashTool
from trimtab.coding.tools.environment import command_environment, removed_names
from trimtab.types.messages import Text

GIVEN = {
    "PATH": "/bin",
    "OPENAI_API_KEY": "k1",
    "hf_token": "k2",
    "AWS_SECRET_ACCESS_KEY": "k3",
    "MY_LLM": "k4",
    "TOKENS": "12",
}


def test_keys_are_removed_by_name_and_by_likeness() -> None:
    assert removed_names(GIVEN, key_names=["MY_LLM"]) == (
        "AWS_SECRET_ACCESS_KEY",
        "MY_LLM",
        "OPENAI_API_KEY",
        "hf_token",
    )
    environment = command_environment(GIVEN, key_names=["MY_LLM"])
    assert {name: environment.get(name) for name in GIVEN} == dict.fromkeys(GIVEN) | {"PATH": "/bin", "TOKENS": "12"}


def test_a_name_can_be_given_back() -> None:
    environment = command_environment(GIVEN, key_names=["MY_LLM"], passed=["hf_token", "MY_LLM"])
    assert (environment["hf_token"], environment["MY_LLM"], "OPENAI_API_KEY" in environment) == ("k2", "k4", False)


def test_helpers_that_open_a_window_are_gone_and_ssh_never_asks() -> None:
    environment = command_environment({"SSH_ASKPASS": "x", "SUDO_ASKPASS": "x", "GIT_SSH_COMMAND": "ssh -i key"})
    assert not {"SSH_ASKPASS", "SUDO_ASKPASS"} & set(environment)
    assert environment["GIT_SSH_COMMAND"] == "ssh -i key -oBatchMode=yes"
    assert (environment["GIT_TERMINAL_PROMPT"], environment["PAGER"], environment["TERM"]) == ("0", "cat", "dumb")


def test_git_settings_from_the_environment_are_kept() -> None:
    given = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "a.b", "GIT_CONFIG_VALUE_0": "c"}
    environment = command_environment(given)
    assert [environment[f"GIT_CONFIG_{n}"] for n in ("COUNT", "KEY_0", "KEY_1")] == ["4", "a.b", "safe.bareRepository"]


@pytest.mark.anyio
@pytest.mark.parametrize("look", ["status --short", "diff", "diff --stat", "diff HEAD", "blame f", "ls-files -m"])
async def test_a_look_runs_neither_a_watcher_nor_a_hook_that_the_repository_names(tmp_path: Path, look: str) -> None:
    async def update(_text: str) -> None: ...

    tool = BashTool(tmp_path, command_environment(os.environ))
    set_up = "git init -q . && echo a >f && git add f && git -c user.name=a -c user.email=b commit -qm x && "
    set_up += "git config core.fsmonitor 'touch ran; false' && printf '#!/bin/sh\ntouch ran\n' "
    set_up += ">.git/hooks/post-index-change && chmod +x .git/hooks/* && touch -d 2001-01-01 f"
    assert not (await tool.run({"command": set_up}, ToolRun("c", update))).is_error
    output = await tool.run({"command": f"git {look}"}, ToolRun("c", update))
    assert (output.is_error, sorted(os.listdir(tmp_path))) == (False, [".git", "f"])


@pytest.mark.anyio
async def test_a_command_cannot_print_a_key(tmp_path: Path) -> None:
    async def update(_text: str) -> None: ...

    given = {**os.environ, "SOME_API_KEY": "sk-leak", "PROVIDER": "sk-leak-2"}
    tool = BashTool(tmp_path, command_environment(given, key_names=["PROVIDER"]))
    output = await tool.run({"command": "echo [$SOME_API_KEY$PROVIDER]; env | grep -c leak"}, ToolRun("c", update))
    assert output.parts == (Text("[]\n0\n[exit 1]"),)


@pytest.mark.anyio
async def test_a_folder_that_only_looks_like_a_repository_runs_nothing(tmp_path: Path) -> None:
    async def update(_text: str) -> None: ...

    tool = BashTool(tmp_path, command_environment(os.environ))
    trap = "git init -q --bare x && cd x && git config core.bare false && git config core.worktree . && "
    trap += "git config core.fsmonitor 'touch ../ran; false' && git status"
    output = await tool.run({"command": trap}, ToolRun("c", update))
    assert output.is_error
    assert os.listdir(tmp_path) == ["x"]
