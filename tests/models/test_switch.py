"""What a switch of the model means: told first, and asked where it costs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.cast import Cast, Ears, says
from support.pictures import png
from trimtab.coding.attachments import attach
from trimtab.coding.model_preview import lines_of
from trimtab.coding.model_switch import look, make
from trimtab.coding.person import Question
from trimtab.coding.session import Session
from trimtab.types.errors import UnknownModel, UsageError
from trimtab.types.messages import Assistant, Text, Thinking, User

pytestmark = pytest.mark.anyio


class Says:
    """A person who answers every question so."""

    def __init__(self, answer: str | None) -> None:
        self.answer = answer
        self.asked: list[Question] = []

    async def ask(self, question: Question) -> str | None:
        self.asked.append(question)
        return self.answer


@asynccontextmanager
async def talked(cast: Cast, person: Any = None, *, words: int = 10, **settings: Any) -> AsyncIterator[Session]:
    """A session in which something was said."""
    more = {} if person is None else {"person": person}
    async with cast.open(model=cast.ref("a"), **more, **settings) as session:
        await session.prompt("word " * words)
        yield session


def two(tmp_path: Path, **row: Any) -> Cast:
    cast = Cast.at(tmp_path, a=[says("one", tokens=30_000)], b=[says("two")])
    cast.rows["b"] = row
    return cast


async def test_a_window_that_cannot_hold_what_has_to_stay_is_refused_with_the_numbers(tmp_path: Path) -> None:
    cast = two(tmp_path, context_window=3_000, max_output=500)
    async with talked(cast, words=4_000) as session:
        with pytest.raises(UsageError, match=r"has to stay is [\d,]+ tokens, .* \(window 3,000\)"):
            await look(session, cast.ref("b"))
        assert session.model.ref == cast.ref("a")


async def test_a_window_that_is_merely_too_full_is_told(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[says("one ") | {"text": "word " * 9_000}, says("two")], b=[])
    cast.rows["b"] = {"context_window": 9_000, "max_output": 500}
    async with talked(cast) as session:
        await session.prompt("short")
        switch = await look(session, cast.ref("b"))
    assert any("the older part is summed up or hidden; it stays in the log" in line for line in switch.lines)


async def test_pictures_that_the_other_model_does_not_take_are_counted(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[says("a picture")], b=[])
    cast.rows["a"] = {"input": ["text", "image"]}
    (tmp_path / "work" / "dot.png").write_bytes(png())
    async with cast.open(model=cast.ref("a")) as session:
        await session.prompt(User((*attach("dot.png", session.project).parts, Text("what is it?"))))
        switch = await look(session, cast.ref("b"))
    assert switch.preview.pictures == 1
    assert any("1 picture won't be seen" in line for line in switch.lines)


async def test_thinking_of_another_model_stays_behind_and_is_told(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[says("one", thinking="hm")], b=[])
    async with talked(cast) as session:
        answer = next(m for m in session.log.view() if isinstance(m, Assistant))
        assert any(isinstance(part, Thinking) for part in answer.parts)
        switch = await look(session, cast.ref("b"))
    assert any("the thinking of 1 answer stays behind" in line for line in switch.lines)


async def test_tools_that_it_would_not_have_are_named(tmp_path: Path) -> None:
    cast = two(tmp_path)
    async with talked(cast) as session:
        request = session.context.request()
        from trimtab.coding.model_preview import preview_of

        info = (await session.choices.preview_model(cast.ref("b"))).model
        preview = preview_of(session.project, session.log, request, info, tools=["read"])
    assert "bash" in preview.tools
    assert any(line.endswith(", ".join(preview.tools)) for line in lines_of(preview, session.model))


async def cached(session: Session) -> None:
    """The model in use keeps a cache."""
    from msgspec.structs import replace

    from trimtab.types.models import CacheRules

    session.agent.model = replace(session.agent.model, cache=CacheRules(kind="prefix"))


@pytest.mark.parametrize(("answer", "ends_with"), [("yes", "b"), ("no", "a"), (None, "b")])
async def test_where_it_costs_a_cache_the_person_is_asked_with_the_price(
    tmp_path: Path, answer: str | None, ends_with: str
) -> None:
    cast = two(tmp_path, price_input=20.0)
    person = Says(answer)
    async with talked(cast, person, words=6_000) as session:
        await cached(session)
        ears = Ears(session)
        done = await make(session, await look(session, cast.ref("b")))
        assert session.model.ref == cast.ref(ends_with)
    (question,) = person.asked
    assert "It costs about $" in question.text
    assert any("the cache is lost" in line and "$" in line for line in question.details)
    assert done is (ends_with == "b")
    assert any("the cache is lost" in text for text in ears.notices) is (answer is None)


async def test_what_costs_next_to_nothing_is_told_and_not_asked(tmp_path: Path) -> None:
    cast = two(tmp_path)
    person = Says("no")
    async with talked(cast, person) as session:
        await cached(session)
        ears = Ears(session)
        assert await make(session, await look(session, cast.ref("b")))
        assert session.model.ref == cast.ref("b")
    assert person.asked == []
    assert any("the cache is lost" in text for text in ears.notices)


async def test_an_unknown_model_changes_nothing(tmp_path: Path) -> None:
    cast = two(tmp_path)
    async with talked(cast) as session:
        with pytest.raises(UnknownModel):
            await look(session, "nobody/nothing")
        assert session.model.ref == cast.ref("a")


async def test_a_role_names_its_model(tmp_path: Path) -> None:
    cast = two(tmp_path)
    async with talked(cast, roles={"small": cast.ref("b")}) as session:
        assert await make(session, await look(session, "small"))
        assert session.model.ref == cast.ref("b")


async def test_a_model_that_cannot_be_opened_changes_nothing_and_nothing_of_the_switch_is_told(tmp_path: Path) -> None:
    cast = two(tmp_path)
    async with talked(cast) as session:
        ears, switch = Ears(session), await look(session, cast.ref("b"))
        switch = replace(switch, lines=("what it means",))
        cast.scripts["b"].unlink()
        with pytest.raises(UsageError):
            await make(session, switch)
        assert (ears.notices, session.model.ref) == ([], cast.ref("a"))
