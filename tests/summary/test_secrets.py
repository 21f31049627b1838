"""No way to a summary carries a secret along: not the model's, not the digest's, not the blocks', not the names behind them."""

import json
from typing import Any

import msgspec
import pytest

from support.engine_session import Outside, Session, lines, model
from trimtab.context.actions import Action
from trimtab.context.asks import Answer, Failed, Summarize, Summary
from trimtab.context.editing.compacting import Compactor
from trimtab.context.engine import Engine
from trimtab.context.summary.job import Summariser
from trimtab.types.messages import Text

PASSWORD, KEY = "c0rrect-h0rse", "aB3dx9Z1" * 8
DATABASE = f"postgres://app:{PASSWORD}@db.internal:5432/main"
STORAGE = f"DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={KEY}==;EndpointSuffix=core.windows.net"
SECRETS = (PASSWORD, KEY)


def leaky(summarize: Any) -> Session:
    """A session in which the user, a call and a result say secrets, early enough to be compacted."""
    writer = Summariser("p/m", 60_000, 6_000)
    engine = Engine(model(60_000), session_id="s", policy="none", compactor=lambda: Compactor(writer))
    session = Session(engine, outside=Outside(summarize=summarize))
    session.say(f"Use {DATABASE} and never log {STORAGE}.")
    session.work(
        f"connected to {DATABASE}\n{STORAGE}\n{lines(1_500)}",
        arguments={"command": f"psql {DATABASE} # {STORAGE}", "password": PASSWORD, "file": "reports/total_7.csv"},
    )
    session.work(json.dumps({"rows": [{"url": DATABASE, "storage": STORAGE, "n": n} for n in range(60)]}))
    for number in range(4):
        session.work(lines(1_500, seed=number))
    session.say("And now the tests.")
    session.answer(Text("I use the same database."))
    return session


def repeating(_: Summarize) -> Answer:
    return Summary(
        f"<analysis>{STORAGE}</analysis><summary>The tests use {DATABASE}. {lines(200)}</summary>", model="p/m"
    )


@pytest.mark.parametrize("names", [0, 2_000])
@pytest.mark.parametrize("mode", ["model", "digest", "no model answers"])
def test_a_compaction_holds_no_secret(mode: str, names: int) -> None:
    session = leaky(repeating if mode == "model" else lambda _: Failed("nobody is there"))
    params = {"keep_tokens": 1_000, "names": names, **({"mode": "digest"} if mode == "digest" else {})}
    outcome = session.act(Action("compact", (), params))
    (done,) = outcome.done
    recorded = msgspec.json.encode(done.entry).decode()
    assert "acme" in recorded or "db.internal" in recorded, "what is no secret stays"
    assert [secret for secret in SECRETS if secret in recorded] == []


@pytest.mark.parametrize("target", ["c1", "c2"])
@pytest.mark.parametrize("mode", ["", "digest"])
def test_a_summary_of_one_result_holds_no_secret(target: str, mode: str) -> None:
    session = leaky(repeating)
    outcome = session.act(Action("summarize", (target,), {"mode": mode}))
    (done,) = outcome.done
    recorded = msgspec.json.encode(done.entry).decode()
    assert [secret for secret in SECRETS if secret in recorded] == []


def test_whoever_writes_the_summary_is_told_no_secret() -> None:
    session = leaky(repeating)
    session.act(Action("compact", (), {"keep_tokens": 1_000}))
    (ask,) = [ask for ask in session.outside.asked if isinstance(ask, Summarize)]
    told = "".join(part.text for part in ask.messages[0].parts if isinstance(part, Text))
    assert "psql" in told
    assert [secret for secret in SECRETS if secret in told] == []
