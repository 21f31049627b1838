"""Whatever is asked, by whichever role, counts once: in the sum, in the rows, against the limits."""

from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.cast import FAILS, Cast, says
from support.pictures import png
from trimtab.agent.limits import Allowance
from trimtab.agent.ports import Spent
from trimtab.coding.attachments import attach
from trimtab.coding.commands.cost import cost_lines
from trimtab.coding.context.spending import Spending
from trimtab.coding.subagent import run_subagent
from trimtab.types.messages import Text, User
from trimtab.types.models import ModelInfo, Price, cost_usd
from trimtab.types.usage import Usage

pytestmark = pytest.mark.anyio

MODELS = [
    ModelInfo("p", "x", "scripted", prices=(Price(1.0, 2.0),)),
    ModelInfo("p", "y", "scripted", prices=(Price(3.0, 4.0, cache_read=0.5),)),
    ModelInfo("q", "free", "scripted"),
]
usages = st.builds(Usage, input=st.integers(0, 9_999), output=st.integers(0, 999), cache_read=st.integers(0, 99_999))
operations = st.lists(
    st.one_of(
        st.tuples(st.just("answer"), usages, st.sampled_from(MODELS)),
        st.tuples(
            st.sampled_from(["summary", "name", "review", "vision"]), usages | st.none(), st.sampled_from(MODELS)
        ),
        st.tuples(st.just("subagent"), usages, st.sampled_from(MODELS)),
        st.tuples(st.just("settle"), st.none(), st.none()),
    ),
    max_size=30,
)


@given(operations)
def test_the_rows_add_up_to_the_sum_and_the_sum_to_what_was_taken(
    operations: list[tuple[str, Usage, ModelInfo]],
) -> None:
    allowance, beside = Allowance(), Spending()
    tokens, usd, unknown = 0, 0.0, False
    for what, usage, model in operations:
        if what == "settle":
            settled = beside.take()
            allowance.spend(settled.usage, settled.usd)
            continue
        price = None if usage is None else cost_usd(usage, model.prices)
        if what == "answer":
            allowance.spend(usage, price, model=model.ref)
        elif what == "subagent":
            beside.add(usage, price, model.ref)
        else:
            beside.book(usage, model, role=what)
        tokens += 0 if usage is None else usage.total
        usd, unknown = usd + (price or 0.0), unknown or price is None
    total = allowance.spent + beside.spent
    rows = [*allowance.answers.values(), *beside.rows.values()]
    summed = sum(rows, Spent())
    assert total.usage == summed.usage
    assert total.usage.total == tokens
    assert (total.usd is None) == (summed.usd is None) == unknown
    if not unknown:
        assert total.usd == pytest.approx(usd) == pytest.approx(summed.usd)


async def test_fallbacks_names_reviews_pictures_and_subagents_all_count(tmp_path: Path) -> None:
    write = {
        "tool_calls": [{"name": "write", "arguments": {"path": "a.txt", "content": "x"}}],
        "usage": {"input": 1_000, "output": 0},
    }
    cast = Cast.at(
        tmp_path,
        a=[FAILS],
        b=[write, says("done", tokens=2_000, output=0), says("child", tokens=4_000, output=0)],
        s=[says("PASS", tokens=10_000, output=0), says("A name", tokens=20_000, output=0)],
        v=[says("a dot", tokens=40_000, output=0)],
    )
    cast.rows["v"] = {"input": ["text", "image"]}
    (tmp_path / "work" / "dot.png").write_bytes(png())
    roles = {"main": cast.refs("a", "b"), "small": cast.ref("s"), "vision": cast.ref("v")}
    more = {"verify": {"model": "small"}, "sessions": {"name": "model"}, "permissions": {"mode": "full"}}
    async with cast.open(roles=roles, **more) as session:
        async with anyio.create_task_group() as group:  # which ends when the name is there
            session.work_beside(group.start_soon, between_turns=True)
            turn = await session.prompt(User((*attach("dot.png", session.project).parts, Text("do it"))))
            assert turn.reason == "stop"
        await run_subagent(session, "work", provider=session.agent.provider)
        rows = session.spent_by()
        by_role: dict[str, int] = {}
        for (role, _), spent in rows.items():
            by_role[role] = by_role.get(role, 0) + spent.usage.total
        assert by_role == {"main": 3_000, "review": 10_000, "name": 20_000, "vision": 40_000, "subagent": 4_000}
        total = sum(rows.values(), Spent())
        assert session.spent.usage.total == total.usage.total == 77_000
        assert session.spent.usd == pytest.approx(total.usd) == pytest.approx(0.077)
        lines = cost_lines(session)
        assert any(line.split()[:2] == ["vision", cast.ref("v")] and "$0.0400" in line for line in lines)


@pytest.mark.parametrize("limit", [{"max_tokens": 45_000}, {"max_cost_usd": 0.045}])
async def test_what_a_picture_took_counts_against_the_limit(tmp_path: Path, limit: dict[str, float]) -> None:
    calls = {"tool_calls": [{"name": "ls", "arguments": {}}], "usage": {"input": 6_000, "output": 0}}
    cast = Cast.at(tmp_path, a=[calls, says("never")], v=[says("a dot", tokens=40_000, output=0)])
    cast.rows["v"] = {"input": ["text", "image"]}
    (tmp_path / "work" / "dot.png").write_bytes(png())
    async with cast.open(model=cast.ref("a"), roles={"vision": cast.ref("v")}, **limit) as session:
        turn = await session.prompt(User((*attach("dot.png", session.project).parts, Text("look"))))
    assert (turn.reason, turn.steps) == ("budget", 1)
    assert turn.error is not None
    assert "46,000" in turn.error.message or "$0.0460" in turn.error.message


async def test_what_subagents_took_counts_against_the_limit(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[says("child", tokens=900, output=0), says("never")])
    async with cast.open(model=cast.ref("a"), max_tokens=500) as session:
        await run_subagent(session, "work", provider=session.agent.provider)
        assert (await session.prompt("and now?")).reason == "budget"


async def test_cost_says_by_whom_only_where_there_were_several(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[says("one")])
    async with cast.open(model=cast.ref("a")) as session:
        await session.prompt("hi")
        assert cost_lines(session) == ["this session took 110 tokens (100 in, 10 out), $0.0001"]


async def test_a_session_that_goes_on_knows_what_it_took_before(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[says("one"), says("two")])
    async with cast.open(model=cast.ref("a")) as session:
        await session.prompt("hi")
    async with cast.open(model=cast.ref("a")) as session:
        assert cost_lines(session) == [
            "this session took 110 tokens (100 in, 10 out), $0.0001",
            "since it was opened: nothing",
        ]
        await session.prompt("and again")
        assert cost_lines(session) == [
            "this session took 220 tokens (200 in, 20 out), $0.0002",
            "since it was opened: 110 tokens (100 in, 10 out), $0.0001",
        ]


async def test_limits_say_from_when_they_count(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[says("one")])
    async with cast.open(model=cast.ref("a"), max_tokens=500, max_cost_usd=2) as session:
        assert cost_lines(session)[-2:] == [
            "at most $2 since it was opened (max_cost_usd)",
            "at most 500 tokens since it was opened (max_tokens)",
        ]
