"""Rows: any sound one, and those of a small exploration."""

from functools import cache

import anyio
from hypothesis import strategies as st

from support.docqa import new_desk, reader
from trimtab.lab.credit.branching import BranchRule
from trimtab.lab.docqa.branching import Explored, explore
from trimtab.lab.export.row import (
    ChatCall,
    ChatFunction,
    ChatMessage,
    ChatTool,
    RowPrice,
    SnapshotRow,
    Terminal,
    ToolFunction,
)
from trimtab.lab.export.snapshots import Origin, snapshot_rows
from trimtab.types.models import Price

ORIGIN = Origin("docqa", "T0", "scripted/reader", 7, Price(3.0, 15.0, cache_read=0.3))
RULE = BranchRule(budget=24, rows_per_branch=4, where="both")


@cache
def explored() -> Explored:
    """A query that several scripted readers worked on."""
    return anyio.run(lambda: explore(new_desk, reader, first=3, rule=RULE))


@cache
def rows() -> tuple[SnapshotRow, ...]:
    return tuple(snapshot_rows(explored().tree, ORIGIN))


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
rewards = st.floats(-2, 2).map(lambda value: round(value, 3))


@st.composite
def sound_rows(draw: st.DrawFn) -> SnapshotRow:
    """Any row that doesn't contradict itself."""
    ends = tuple(Terminal(f"r{n}", f"n{n}", draw(rewards)) for n in range(draw(st.integers(1, 4))))
    depth = draw(st.integers(1, 5))
    prefix = ("root", *(f"s{n}" for n in range(depth)))
    said: list[ChatMessage] = []
    mask: list[int] = []
    for n in range(draw(st.integers(1, 3))):
        call = ChatCall(f"c{n}", ChatFunction(draw(texts), '{"a":1}'))
        said.append(ChatMessage("assistant", draw(texts), draw(texts), (call,)))
        mask.append(draw(st.integers(0, 1)))
        said.append(ChatMessage("tool", draw(texts), tool_call_id=f"c{n}", name=draw(texts)))
        mask.append(0)
    said, mask = said[:-1], [*mask[:-2], 1]
    return SnapshotRow(
        source=draw(st.sampled_from(["docqa", "lab"])),
        tier=draw(st.sampled_from(["T0", "T1", "T2", "T3"])),
        query=draw(texts),
        rollout="r0",
        node=prefix[-1],
        parent=prefix[-2],
        prefix=prefix,
        terminals=ends,
        value=sum(end.reward for end in ends) / len(ends),
        votes=len(ends),
        advantage=draw(st.floats(-9, 9)),
        weight=draw(st.floats(0, 1)),
        credit=draw(st.sampled_from(["snapshot", "parent"])),
        forced=draw(st.booleans()),
        forced_edits=draw(st.integers(0, 9)),
        seed=draw(st.integers(-9, 9)),
        price=draw(st.none() | st.builds(RowPrice, rewards, rewards, st.none() | rewards)),
        sampler=draw(texts),
        log_prob=draw(st.none() | st.floats(-9, 0)),
        prompt_tokens=draw(st.integers(0, 99_999)),
        messages=(ChatMessage("system", draw(texts)), ChatMessage("user", draw(texts))),
        tools=(ChatTool(ToolFunction("t", draw(texts), {"type": "object", "properties": {"a": {"type": "integer"}}})),),
        completion=tuple(said),
        mask=tuple(mask),
    )
