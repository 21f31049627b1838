"""The role `small`: names, summaries and reviews, one model in place of another."""

import json
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import pytest

from support.cast import FAILS, Cast, fails, says
from support.small_window import Heard
from support.small_window import says as small_says
from trimtab.agent.ports import Provider
from trimtab.coding.context.open import smallest_of, writers_of
from trimtab.coding.context.summariser import Summarisers
from trimtab.coding.project import open_project
from trimtab.context.asks import Summarize, Summary
from trimtab.types.errors import ConfigError
from trimtab.types.messages import user
from trimtab.types.models import ModelInfo

pytestmark = pytest.mark.anyio
NAMED = {"sessions": {"name": "model"}}


async def title_of(cast: Cast, **settings: object) -> str | None:
    """The name that the session gets after one turn."""
    async with cast.open(model=cast.ref("a"), **NAMED, **settings) as session:
        async with anyio.create_task_group() as group:  # which ends when the name is there
            session.work_beside(group.start_soon, between_turns=True)
            await session.prompt("mend the door")
        return session.log.archive.title


async def test_it_names_the_session(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[says("done")], s=[says("Doors and hinges")])
    assert await title_of(cast, roles={"small": cast.ref("s")}) == "Doors and hinges"


async def test_the_next_of_the_role_names_it_when_the_first_cannot_be_had(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[says("done")], s=[FAILS], t=[says("Hinges")])
    assert await title_of(cast, roles={"small": cast.refs("s", "t")}) == "Hinges"


async def test_a_failure_that_is_its_own_is_not_passed_on(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[says("done")], s=[fails(400, "bad request")], t=[says("Hinges")])
    assert await title_of(cast, roles={"small": cast.refs("s", "t")}) == "mend the door"


async def test_summary_model_goes_before_the_role(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[says("done")], s=[says("by small")], t=[says("by summary model")])
    settings = {"roles": {"small": cast.ref("s")}, "context": {"summary_model": cast.ref("t")}}
    assert await title_of(cast, **settings) == "by summary model"


async def test_once_a_limit_is_reached_no_model_is_asked_for_a_name(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[says("done")], s=[says("paid for")])
    assert await title_of(cast, roles={"small": cast.ref("s")}, max_tokens=100) == "mend the door"


async def test_without_any_the_sessions_own_model_names_it(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[says("done"), says("By itself")])
    assert await title_of(cast) == "By itself"


@pytest.mark.parametrize("down", ["to open", "to answer"])
async def test_a_summary_is_written_by_the_next_of_the_role_when_the_first_fails(down: str) -> None:
    writers = {name: Heard([small_says(f"by {name}")] if name != "s" else []) for name in ("own", "s", "t")}

    def opener(name: str) -> Callable[[], Awaitable[tuple[Provider, ModelInfo]]]:
        async def opened() -> tuple[Provider, ModelInfo]:
            if name == "s" and down == "to open":
                raise ConfigError("there is no key for s")
            return writers[name], ModelInfo(name, "x", "scripted")

        return opened

    own = (writers["own"], ModelInfo("own", "x", "scripted"))
    summarisers = Summarisers(lambda: own, small=opener("s"), others=(opener("t"),))
    answer = await summarisers.ask(Summarize((user("sum up"),), "serialised", 1_000))
    assert isinstance(answer, Summary)
    assert (answer.text, answer.model) == ("by t", "t/x")
    assert writers["own"].requests == []
    (note,) = summarisers.take_notes()
    assert note.endswith("the next of roles.small is asked")


async def test_writers_are_asked_for_no_more_than_all_of_them_can_take(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, s=[], t=[])
    cast.rows = {"s": {"context_window": 50_000, "max_output": 900}, "t": {"context_window": 20_000}}
    project = cast.project(roles={"small": cast.refs("s", "t")})
    async with AsyncExitStack() as stack:
        info = smallest_of(writers_of(project, project.settings.context, stack))
    assert (info.ref, info.context_window, info.max_output) == (cast.ref("s"), 20_000, 900)


async def test_a_review_by_the_role_takes_the_next_when_the_first_cannot_be_had(tmp_path: Path) -> None:
    write = {"tool_calls": [{"name": "write", "arguments": {"path": "a.txt", "content": "x"}}]}
    cast = Cast.at(tmp_path, a=[write, says("done")], s=[FAILS], t=[says("PASS")])
    settings = {"roles": {"small": cast.refs("s", "t")}, "verify": {"model": "small"}, "permissions": {"mode": "full"}}
    async with cast.open(model=cast.ref("a"), **settings) as session:
        turn = await session.prompt("do it")
        assert (turn.reason, session.result(turn).verify) == ("stop", "passed")


async def test_a_role_alone_lets_nobody_review(tmp_path: Path) -> None:
    write = {"tool_calls": [{"name": "write", "arguments": {"path": "a.txt", "content": "x"}}]}
    cast = Cast.at(tmp_path, a=[write, says("done")], s=[])
    settings = {"roles": {"small": cast.ref("s")}, "permissions": {"mode": "full"}}
    async with cast.open(model=cast.ref("a"), **settings) as session:
        turn = await session.prompt("do it")
        assert session.result(turn).verify == "not_configured"


async def test_a_projects_roles_and_favourites_are_its_persons_to_decide(tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / ".trimtab").mkdir(parents=True)
    (work / ".trimtab" / "config.toml").write_text('favourites = ["x/y"]\n[roles]\nsmall = "x/y"\n')
    env = {"TRIMTAB_HOME": str(tmp_path / "home")}
    project = open_project(work, env=env, trust="folder")
    assert project.settings.favourites == ()
    assert project.settings.roles.small == ()
    assert {".".join(one.key) for one in project.withheld} == {"favourites", "roles.small"}
    assert json.dumps([one.why for one in project.withheld]).count("yours to decide") == 2
