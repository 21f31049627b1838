"""A level of thinking: set in a session, kept in its log, there again when it goes on."""

from typing import Any

import pytest

from support.cli import Cli
from trimtab.coding.choose import AtFile
from trimtab.coding.opening import open_session
from trimtab.coding.project import open_project
from trimtab.types.errors import UsageError

pytestmark = pytest.mark.anyio


@pytest.fixture
def cli(tmp_path: Any) -> Cli:
    return Cli.at(tmp_path)


def project_of(cli: Cli, model: str, *, named: bool = False) -> Any:
    """A project whose scripted model has levels. `named`: the person names the model for this run."""
    provider = {"models": [{"id": model.removeprefix("scripted/"), "thinking": ["low", "high"]}]}
    overrides = {"providers": {"scripted": provider}, **({"model": model} if named else {})}
    return open_project(cli.project, overrides=overrides, env={"TRIMTAB_HOME": str(cli.home)})


async def test_a_level_is_kept_in_the_log_and_there_again_when_the_session_goes_on(cli: Cli) -> None:
    model, path = cli.script({"text": "one"}, {"text": "two"}), cli.root / "s.jsonl"
    async with open_session(project_of(cli, model, named=True), AtFile(path)) as session:
        session.set_thinking("high")
        await session.prompt("go")
        assert session.log.archive.thinking == "high"
    async with open_session(project_of(cli, model), AtFile(path)) as session:
        assert session.agent.thinking == "high"
        session.set_thinking(None)
        await session.prompt("on")
    async with open_session(project_of(cli, model), AtFile(path)) as session:
        assert session.agent.thinking is None


async def test_a_level_that_the_model_has_not_changes_nothing(cli: Cli) -> None:
    async with open_session(
        project_of(cli, cli.script({"text": "one"}), named=True), AtFile(cli.root / "s.jsonl")
    ) as session:
        with pytest.raises(UsageError, match="'huge' is no thinking level"):
            session.set_thinking("huge")
        assert session.agent.thinking is None
