"""Whoever decides and whoever writes: every policy, wrapper and peer, one that lives elsewhere, summaries by a model, every profile of context tools.

The same life as in `test_whatever_happens`, with the same demands on each step. A short run is in the fast suite, a long one is marked slow. Each
run counts what happened in it, so that none passes because nothing did.
"""

import random
from collections import Counter
from collections.abc import Callable
from itertools import islice
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from support.bad_summaries import bad_summaries
from support.engine_lives import Life, live
from support.engine_session import Outside, Session, host_of
from support.engine_strategies import APIS, AnyPolicy, histories, small_model
from trimtab.context.asks import Advice, Answer, Consult, Failed, Keep, Kept, Summarize, Summary
from trimtab.context.editing.compacting import Compactor
from trimtab.context.engine import Engine
from trimtab.context.policies import registry
from trimtab.context.policies.fallback import Fallback
from trimtab.context.policies.registry import find_policy, known_policies
from trimtab.context.settings import EngineSettings
from trimtab.context.summary.cache import SummaryCache
from trimtab.context.summary.facts import facts_in
from trimtab.context.summary.job import Summariser
from trimtab.types.edits import Compact
from trimtab.types.entries import MessageEntry
from trimtab.types.messages import Message, Text, ToolResult

OURS = ("rules", "rules(compact_mode='', compact_from=0.05)", "mask(keep=2, batch=1)", "truncate", "summary")
ELSEWHERE = ("remote", "cooldown(steps=1):cost-gate:remote")
WRAPPED = (
    "cooldown(steps=3):rules",
    "cost-gate(remaining=5):mask",
    "dry-run:rules",
    "min-gain(share=0.2):mask(keep=1)",
    "immune(steps=2):summary",
)
PEERS = tuple(name for name in known_policies() if name in registry._PEERS)
LOOKALIKES = (
    "",
    "[archived r1~abcdefgh: read, 9 tokens]",
    "</summary> <summary>",
    "To read any of them: recall id=r1.",
)


def writer(seed: int) -> Callable[[Summarize], Answer]:
    """A model that writes summaries: mostly some that can be taken, at times with words that look like ours, at times what is no summary."""
    die = random.Random(seed)

    def write(ask: Summarize) -> Answer:
        if die.random() < 0.2:
            return die.choice([answer for answer, _ in bad_summaries().values()])
        asked = ask.request.messages if ask.request is not None else ask.messages
        texts = (part.text for message in asked for part in message.parts if isinstance(part, Text))
        told = ", ".join(fact for _, fact in islice(facts_in("\n".join(texts)), 3))
        said = f"It is about {told}. " + "The work goes on, and the user wants it done. " * die.randrange(1, 12)
        return Summary(f"<analysis>so</analysis><summary>{said}{die.choice(LOOKALIKES)}</summary>", model="p/small")

    return write


def oracle(seed: int) -> Callable[[Consult], Answer]:
    """A policy elsewhere that wants anything, and is away at times."""
    die = random.Random(seed)
    policy = AnyPolicy(seed, rate=1.0)

    def consult(ask: Consult) -> Answer:
        if die.random() < 0.2:
            return die.choice([Failed("no route to host"), Kept({}), Advice(())])
        return Advice(tuple(policy.decide(ask.observation)))

    return consult


def keeper(seed: int) -> Callable[[Keep], Answer]:
    """A folder that is full at times."""
    die = random.Random(seed)

    def keep(ask: Keep) -> Answer:
        if die.random() < 0.1:
            return Failed("the folder is gone")
        return Kept({name: f"/kept/{name}.txt" for name in ask.texts})

    return keep


def policies(draw: st.DrawFn) -> Any:
    """Any policy there is."""
    kind = draw(st.sampled_from(["ours", "ours", "elsewhere", "wrapped", "peer", "fallback", "any"]))
    if kind == "any":
        return AnyPolicy(draw(st.integers(0, 1_000)))
    if kind == "fallback":
        inner = draw(
            st.sampled_from([AnyPolicy(draw(st.integers(0, 1_000))), find_policy(draw(st.sampled_from(OURS)))])
        )
        return Fallback(inner, rules=find_policy(draw(st.sampled_from(OURS))), breaker=draw(st.integers(1, 3)))
    return draw(st.sampled_from({"ours": OURS, "elsewhere": ELSEWHERE, "wrapped": WRAPPED, "peer": PEERS}[kind]))


@st.composite
def lives(draw: st.DrawFn) -> tuple[Life, list[list[Message]]]:
    """A session before its first step, with somebody to write summaries, and what is going to come."""
    api = draw(st.sampled_from(APIS))
    seed = draw(st.integers(0, 1_000))
    tools = draw(st.sampled_from(["archive", "off", "pilot"]))
    files = draw(st.booleans())
    cache = draw(st.sampled_from([None, SummaryCache()]))
    summariser = Summariser("p/small", 50_000, 2_000, strict=draw(st.booleans()))
    way_back = (lambda slot: f"/kept/{slot.id}.txt" if files else "") if tools == "off" else None
    in_place = draw(st.sampled_from([True, True, True, False]))
    engine = Engine(
        small_model(api, draw(st.sampled_from([3_000, 6_000, 12_000]))),
        session_id="s",
        policy=policies(draw),
        settings=EngineSettings(tools=tools),
        way_back=way_back,
        compactor=lambda: Compactor(summariser, in_place=in_place, wanted_tokens=300, cache=cache),
    )
    outside = Outside(summarize=writer(seed), consult=oracle(seed), keep=keeper(seed))
    return Life(api, Session(engine, outside=outside)), draw(histories(api))


def assert_everything_is_readable(life: Life) -> None:
    """Each recorded text can be read, and taking every edit back shows it."""
    view, host = life.session.view, host_of(life.session)
    unpaired = {*view.repairs.orphans, *view.repairs.duplicates}
    for entry_id, text in life.texts.items():
        entry = life.session.log.archive.get(entry_id)
        assert entry is not None
        assert isinstance(entry.value, MessageEntry)
        message = entry.value.message
        assert (isinstance(message, ToolResult) and message.call_id in unpaired) or text in (
            host.text_of(entry_id) or ""
        )


def what_happened(life: Life) -> Counter[str]:
    """Edits by who wanted them, summaries by who wrote them, stops."""
    counts: Counter[str] = Counter(stops=len(life.floors), requests=len(life.prepared))
    for entry in life.session.edits:
        counts[entry.author] += 1
        if isinstance(entry.edit, Compact):
            counts[f"summary:{entry.edit.mode}"] += 1
    counts["failed policies"] = sum(remark["event"] == "policy_failed" for remark in life.session.remarks)
    return counts


def lived_many_times(examples: int) -> Counter[str]:
    """Live so many sessions, and count what happened in them."""
    seen: Counter[str] = Counter()

    @settings(max_examples=examples, database=None, phases=[Phase.generate, Phase.shrink])
    @given(st.data(), lives())
    def one(data: st.DataObject, lived: tuple[Life, list[list[Message]]]) -> None:
        life = live(data, *lived)
        assert all(any(c.isdigit() for c in stop) for stop in life.floors)
        assert_everything_is_readable(life)
        seen.update(what_happened(life))

    one()
    return seen


def test_whoever_decides_and_writes_each_request_is_valid_and_nothing_is_lost() -> None:
    seen = lived_many_times(60)
    assert seen["stops"] < seen["requests"]
    assert sum(count for author, count in seen.items() if author.startswith("policy:"))
    for what in ("recovery", "user", "summary:serialised", "summary:digest", "failed policies"):
        assert seen[what], (what, seen)


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_the_same_of_many_more_lives() -> None:
    seen = lived_many_times(800)
    authors = {author for author in seen if author.startswith("policy:")}
    assert {"policy:remote", "policy:any", "policy:summary", "policy:mask"} <= authors
    assert len(authors & {f"policy:{name}" for name in PEERS}) >= 3, (
        "which peers come to act in so many lives is chance; that several do is not"
    )
    # Which of the two ways a model is asked is chance as well; `test_two_ways` makes each of them come about.
    assert seen["summary:in_place"] + seen["summary:serialised"]
    assert seen["stops"] < seen["requests"] / 4


def test_every_policy_and_every_wrapper_is_among_them() -> None:
    """`none` isn't: it stops by design, which `test_ladder` shows."""
    named = ":".join((*OURS, *ELSEWHERE, *WRAPPED))
    assert {name for name in registry._OURS if name not in named} == {"none"}
    assert [name for name in registry._WRAPPERS if name not in named] == []
    assert len(PEERS) == len(registry._PEERS)
