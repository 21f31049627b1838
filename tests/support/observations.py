"""Observations: made by hand for one point, and drawn at random as any conversation could look.

work(results=12)            a prompt, then answers with a call and a result each
seen(items, used=…)         the observation of a request that shows these items
observations()              whatever a policy may be asked about
"""

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from trimtab.context.actions import Action
from trimtab.context.seeing.observation import ItemFacts, Observation, Prices

CHEAP_READS = Prices(input=10.0, cache_read=1.0, cache_write=12.5, output=50.0)
DEAR_READS = Prices(input=10.0, cache_read=5.0, cache_write=10.0, output=50.0)
NO_CACHE = Prices(input=10.0, cache_read=10.0, cache_write=10.0, output=50.0)
TOOLS = ("read", "bash", "grep", "web_search", "skill", "mcp__files__Read")


def prompt(number: int, tokens: int = 100, **facts: Any) -> ItemFacts:
    """A user message; ids are `u0`, `u1` …"""
    return _item(f"u{number}", "user", tokens, facts)


def answer(number: int, tokens: int = 100, **facts: Any) -> ItemFacts:
    """An answer of the model; ids are `a0` …"""
    return _item(f"a{number}", "assistant", tokens, facts)


def result(number: int, tokens: int = 1_000, **facts: Any) -> ItemFacts:
    """A result of the answer of the same number; ids are `t0` …, call ids `c0` …, handles `r0` …"""
    given = {"tool": "read", "call_id": f"c{number}", "handle": f"r{number}", "group": f"a{number}", **facts}
    return _item(f"t{number}", "result", tokens, given)


def work(results: int, tokens: int = 1_000, *, answers: int = 100, **facts: Any) -> list[ItemFacts]:
    """A prompt and then `results` answers with one result each, the oldest first."""
    items = [prompt(0)]
    for number in range(results):
        age = results - 1 - number
        items += [answer(number, answers, age=age), result(number, tokens, age=age, **facts)]
    return items


def seen(items: list[ItemFacts], *, used: int | None = None, fixed: int = 500, **facts: Any) -> Observation:
    """The observation of a request with these items, in a window of 20,000 unless told otherwise: soft 10,000, target 7,000, hard 14,000.

    Positions and offsets are filled in. Everything but the newest group counts as sent and cached.
    """
    placed: list[ItemFacts] = []
    offset = 0
    newest = max((n for n, item in enumerate(items) if item.group is None), default=0)
    for position, item in enumerate(items):
        sent = item.sent or position < newest
        placed.append(replace(item, position=position, offset=offset, sent=sent))
        offset += item.tokens
    whole = fixed + offset
    cached = fixed + sum(item.tokens for item in placed if item.sent)
    limits = {"window": 20_000, "room": 16_000, "soft": 10_000, "target": 7_000, "hard": 14_000}
    given: dict[str, Any] = {"step": len(items), "cached": cached, "remaining": 40.0, **limits, **facts}
    return Observation(used=whole if used is None else used, fixed=fixed, items=tuple(placed), **given)


@st.composite
def observations(draw: st.DrawFn) -> Observation:
    """Any observation: groups whole, sizes and thresholds in order, everything else at random."""
    items: list[ItemFacts] = []
    turn = 0
    for number in range(draw(st.integers(0, 12))):
        if draw(st.integers(0, 3)) == 0:
            turn += 1
            items.append(prompt(number, draw(st.integers(1, 3_000)), turn=turn, pinned=draw(st.booleans())))
            continue
        items.append(answer(number, draw(st.integers(1, 4_000)), turn=turn, **_random_facts(draw)))
        for call in range(draw(st.integers(0, 2))):
            facts = {**_random_facts(draw), "tool": draw(st.sampled_from(TOOLS)), "group": f"a{number}"}
            names = {"call_id": f"c{number}-{call}", "handle": draw(st.sampled_from([None, f"r{number}{call}"]))}
            made = result(number, draw(st.integers(1, 20_000)), turn=turn, **facts, **names)
            items.append(replace(made, id=f"t{number}-{call}"))
    if draw(st.integers(0, 4)) == 0:
        items.insert(0, _item("edit-1", "summary", 500, {"state": "summary"}))
    for place, item in enumerate(items):
        items[place] = replace(item, age=(len(items) - place) // 2)
    limits = draw(_limits())
    return seen(
        items,
        used=draw(st.none() | st.integers(0, 60_000)),
        cold=draw(st.booleans()),
        prices=draw(st.sampled_from([None, CHEAP_READS, DEAR_READS, NO_CACHE])),
        remaining=draw(st.floats(0, 200)),
        since=draw(st.dictionaries(st.sampled_from(["elide", "offload", "compact", "drop"]), st.integers(0, 9))),
        **limits,
    )


@st.composite
def _limits(draw: st.DrawFn) -> dict[str, int]:
    window = draw(st.sampled_from([2_000, 8_000, 32_000, 200_000]))
    room = window - window // 4 - 256
    hard = int(room * 0.92)
    soft = draw(st.integers(0, hard))
    return {"window": window, "room": room, "hard": hard, "soft": soft, "target": draw(st.integers(0, soft))}


def _random_facts(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "state": draw(st.sampled_from(["full", "full", "full", "folded", "stub"])),
        "arguments": draw(st.sampled_from([0, 50, 900])),
        "pinned": draw(st.integers(0, 5)) == 0,
        "restored": draw(st.sampled_from([None, None, 1, 9])),
        "resource": draw(st.sampled_from([None, "file:a#{}", "file:b#{}", "call:bash({})"])),
        "superseded_by": draw(st.sampled_from([None, None, "t9-0"])),
        "duplicate_of": draw(st.sampled_from([None, None, "t1-0"])),
        "failed_input": draw(st.booleans()),
        "expired": draw(st.integers(0, 5)) == 0,
        "referenced": draw(st.integers(0, 6)),
        "last_used": draw(st.none() | st.integers(0, 9)),
        "regret": draw(st.floats(0, 1)),
    }


def _item(item_id: str, kind: Any, tokens: int, facts: dict[str, Any]) -> ItemFacts:
    shape = {"state": "full", "full_tokens": tokens, "age": 0, "position": 0, "offset": 0, **facts}
    return ItemFacts(id=item_id, kind=kind, tokens=tokens, **shape)


@dataclass(frozen=True)
class Fixed:
    """A policy that always wants the same."""

    actions: tuple[Action, ...]
    name: str = "fixed"

    def decide(self, observation: Observation) -> tuple[Action, ...]:
        """Return it."""
        return self.actions


def targets(actions: Any, name: str | None = None) -> list[str]:
    """The targets of all actions, or of those of one kind."""
    return [target for action in actions if name in (None, action.action) for target in action.targets]
