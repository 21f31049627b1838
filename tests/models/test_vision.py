"""The role `vision`: pictures in words, for a model that takes none."""

from pathlib import Path

import pytest

from support.cast import FAILS, Cast, Ears, fails, says
from support.pictures import png
from trimtab.coding.attachments import attach
from trimtab.coding.session import Session
from trimtab.types.messages import Image, Text, ToolResult, User

pytestmark = pytest.mark.anyio


def cast_of(tmp_path: Path, *, a: list[dict[str, object]], **eyes: list[dict[str, object]]) -> Cast:
    cast = Cast.at(tmp_path, a=a, **eyes)
    for name in eyes:
        cast.rows[name] = {"input": ["text", "image"]}
    (tmp_path / "work" / "dot.png").write_bytes(png())
    return cast


def picture(session: Session, words: str = "what is it?") -> User:
    return User((*attach("dot.png", session.project).parts, Text(words)))


SEES = {"contains": ["a red dot", "data, no orders"]}


async def test_a_picture_in_a_prompt_is_told_to_a_model_that_takes_none(tmp_path: Path) -> None:
    cast = cast_of(tmp_path, a=[{**says("red"), "expect": SEES}], v=[says("a red dot")])
    async with cast.open(model=cast.ref("a"), roles={"vision": cast.ref("v")}) as session:
        ears = Ears(session)
        turn = await session.prompt(picture(session))
        assert (turn.reason, turn.text) == ("stop", "red")
        kept = [part for m in session.log.view() for part in m.parts if isinstance(part, Image)]
    assert len(kept) == 1, "the picture itself stays in the log"
    assert f"{cast.ref('v')} tells {cast.ref('a')} what is in dot.png ($0.0001)" in ears.notices
    assert not any("it won't see" in text for text in ears.notices)


async def test_a_picture_that_a_tool_reads_is_told_too(tmp_path: Path) -> None:
    read = {"tool_calls": [{"name": "read", "arguments": {"path": "dot.png"}}]}
    cast = cast_of(tmp_path, a=[read, {**says("red"), "expect": SEES}], v=[says("a red dot")])
    async with cast.open(model=cast.ref("a"), roles={"vision": cast.ref("v")}) as session:
        turn = await session.prompt("look at dot.png")
        assert (turn.reason, turn.text) == ("stop", "red")
        (result,) = [m for m in session.log.view() if isinstance(m, ToolResult)]
        assert not result.is_error


async def test_one_picture_is_told_once(tmp_path: Path) -> None:
    cast = cast_of(tmp_path, a=[says("red"), says("still red")], v=[says("a red dot")])
    async with cast.open(model=cast.ref("a"), roles={"vision": cast.ref("v")}) as session:
        await session.prompt(picture(session))
        assert (await session.prompt(picture(session, "and now?"))).text == "still red"


async def test_a_model_that_sees_gets_the_picture_itself(tmp_path: Path) -> None:
    cast = cast_of(tmp_path, a=[says("red")], v=[])
    cast.rows["a"] = {"input": ["text", "image"]}
    async with cast.open(model=cast.ref("a"), roles={"vision": cast.ref("v")}) as session:
        assert (await session.prompt(picture(session))).text == "red"


async def test_the_next_of_the_role_looks_when_the_first_cannot_be_had(tmp_path: Path) -> None:
    cast = cast_of(tmp_path, a=[{**says("red"), "expect": SEES}], v=[FAILS], w=[says("a red dot")])
    async with cast.open(model=cast.ref("a"), roles={"vision": cast.refs("v", "w")}) as session:
        assert (await session.prompt(picture(session))).text == "red"


async def test_when_nobody_can_look_the_turn_goes_on_and_says_so(tmp_path: Path) -> None:
    cast = cast_of(tmp_path, a=[says("I can't see it")], v=[fails(400, "bad request")])
    async with cast.open(model=cast.ref("a"), roles={"vision": cast.ref("v")}) as session:
        ears = Ears(session)
        assert (await session.prompt(picture(session))).reason == "stop"
    assert any("won't see dot.png: bad request" in text for text in ears.notices)


async def test_without_the_role_the_person_is_told_what_is_not_seen(tmp_path: Path) -> None:
    cast = cast_of(tmp_path, a=[says("no")], v=[])
    async with cast.open(model=cast.ref("a")) as session:
        ears = Ears(session)
        await session.prompt(picture(session))
    assert any("won't see dot.png" in text for text in ears.notices)
