"""A person's home, a project, and a scripted model for each agent."""

from pathlib import Path

import pytest

from support.cli import Cli, Json
from trimtab.coding.project import Project, open_project


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli.at(tmp_path)


def task(*prompts: str, **more: object) -> Json:
    """A step that gives tasks."""
    return {"tool_calls": [{"name": "task", "arguments": {"prompt": prompt, **more}} for prompt in prompts]}


def call(name: str, **arguments: object) -> Json:
    return {"tool_calls": [{"name": name, "arguments": arguments}]}


def agent(cli: Cli, name: str, *lines: Json, front: str = "", text: str = "Do it.") -> str:
    """An agent of the person's with a model of its own; returns its name."""
    model = cli.script(*lines)
    folder = cli.home / "agents"
    folder.mkdir(parents=True, exist_ok=True)
    head = f"name: {name}\ndescription: does {name}\nmodel: {model}\n{front}"
    (folder / f"{name}.md").write_text(f"---\n{head}\n---\n{text}\n", "utf-8")
    return name


def project_of(cli: Cli, *lines: Json, **overrides: object) -> Project:
    wishes = {"model": cli.script(*lines), "permissions": {"mode": "full"}, **overrides}
    return open_project(cli.project, overrides=wishes, env=cli.environment())
