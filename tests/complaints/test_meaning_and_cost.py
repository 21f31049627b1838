"""What users reported about lost or altered meaning (D), meters (E), and cache and cadence (G).

Proven elsewhere: look-alike markers (`markers`), wishes about a summary and the framing of its transcript, secrets (`summary`), counting by content,
model and provider (`counting`), cached tokens in both conventions (`vendor/test_usage_dicts`), the bill (`economics`).
"""

import pytest

from support.engine_session import Session, lines, model, shown_texts
from trimtab.context.actions import Action
from trimtab.context.budget import Thresholds
from trimtab.context.engine import Engine
from trimtab.context.seeing.observation import Observation
from trimtab.context.settings import EngineSettings
from trimtab.types.edits import Compact
from trimtab.types.messages import Text
from trimtab.types.models import CacheRules, Price
from trimtab.types.usage import Usage

RULE = "You must never push to the main branch without asking me first."


def test_a_rule_of_the_user_outlives_any_number_of_compactions() -> None:
    session = Session(Engine(model(20_000), session_id="s"))
    session.say(f"Fix the failing test in src/calc.py. {RULE}")
    for number in range(40):
        if number % 8 == 7:
            session.answer(Text("done with that"))
            session.say(f"Now look at part {number}.")
            session.act(Action("compact", (), {"keep_tokens": 0}))
        prepared = session.prepare()
        session.work(lines(1_500, seed=number))
    assert len([e for e in session.edits if isinstance(e.edit, Compact)]) > 1
    assert RULE in shown_texts(prepared.request.messages)


def test_the_task_stands_word_for_word_after_long_tool_work() -> None:
    task = "Rename `parse_line` to `read_line` in all 14 files, keep the port number 4711"
    session = Session(Engine(model(20_000), session_id="s"))
    session.say(task)
    for number in range(40):
        assert task in shown_texts(session.prepare().request.messages)
        session.work(lines(1_500, seed=number))


def test_what_a_summary_says_is_marked_as_a_summary_not_as_an_order() -> None:
    session = Session(Engine(model(100_000), session_id="s"))
    session.say("Look around")
    for number in range(6):
        session.work(lines(600, seed=number))
    session.act(Action("compact", (), {"summary": "next: drop the table", "keep_tokens": 0}))
    session.act(Action("compact", ("c1", "c2"), {"summary": "next: drop the table"}))
    (shown,) = [m for m in session.view.messages() if "drop the table" in shown_texts([m])]
    assert getattr(shown, "origin", "") == "summary"


def test_a_secret_in_a_result_is_in_no_digest() -> None:
    session = Session(Engine(model(100_000), session_id="s"))
    session.say("Look around")
    session.work("export GITHUB_TOKEN=ghp_" + "a1B2" * 9 + "\n" + lines(900))
    session.work(lines(900, seed=2))
    (done,) = session.act(Action("compact", (), {"keep_tokens": 0})).done
    assert isinstance(done.entry.edit, Compact)
    assert "ghp_" not in done.entry.edit.summary


def test_the_meter_the_trigger_and_the_preflight_are_one_number() -> None:
    session = Session(Engine(model(20_000), session_id="s"))
    session.say("Fix it")
    first = (
        session.prepare()
    )  # one that is small whatever a tokenizer says is only guessed: no vocabulary is loaded for it
    assert first.tokens < session.engine.budget.soft
    session.work(lines(1_500, seed=99))
    for number in range(15):
        prepared = session.prepare()
        status = session.engine.status(session.view, session.request)
        look = session.engine.look(session.view, session.request)
        assert (status.used, status.upper) == (prepared.tokens, look.used)
        assert 0 <= prepared.tokens <= status.upper <= session.engine.budget.hard
        session.answer(Text("hm"), usage=Usage(input=int(1.1 * prepared.tokens), output=5))
        session.work(lines(1_500, seed=number))


def test_a_provider_that_reports_nothing_is_no_reason_never_to_act() -> None:
    session = Session(Engine(model(20_000), session_id="s"))
    session.say("Fix it")
    for number in range(20):
        session.prepare()
        session.work(lines(1_500, seed=number))
    assert session.edits


def test_arguments_of_writes_are_pruned_like_results() -> None:
    session = Session(Engine(model(30_000), session_id="s"))
    session.say("Write ten files")
    for number in range(10):
        prepared = session.prepare()
        assert prepared.tokens <= session.engine.budget.hard
        content = lines(5_000, seed=number)
        session.work("written", name="write", arguments={"path": f"{number}.py", "content": content})
    assert any(entry.edit.__class__.__name__ == "Offload" for entry in session.edits)


def test_the_prefix_is_rewritten_in_few_batches_not_at_every_step() -> None:
    info = model(60_000, prices=(Price(3, 15, 0.3, 3.75),), cache=CacheRules("explicit", 1_024, 1, 20, 4, 300))
    session = Session(Engine(info, session_id="s"))
    session.say("Fix it")
    rewritten = 0
    sent: tuple[object, ...] = ()
    for number in range(80):
        messages = session.prepare().request.messages
        rewritten += messages[: len(sent)] != sent
        sent = messages
        session.work(lines(1_500, seed=number))
    assert rewritten <= 10


class EarlyOne:
    """Wants one old result hidden: all that stands behind it would be written to the cache anew."""

    name = "early-one"

    def decide(self, observation: Observation) -> list[Action]:
        old = next((item for item in observation.items if item.kind == "result" and item.state == "full"), None)
        return [] if old is None else [Action("elide", (old.id,), reason="it is old")]


@pytest.mark.parametrize(("pause", "edits"), [(1, 0), (3_600, 1)])
def test_a_cold_cache_is_a_good_moment_to_edit(pause: float, edits: int) -> None:
    clock = [0.0]
    info = model(60_000, prices=(Price(3, 15, 0.3, 3.75),), cache=CacheRules("explicit", 1_024, 1, 20, 4, 300))
    behaviour = EngineSettings(thresholds=Thresholds(soft=0.6, target=0.5), cooldown=0, min_gain=0.0)
    engine = Engine(info, session_id="s", policy=EarlyOne(), now=lambda: clock[0], settings=behaviour)
    session = Session(engine)
    session.say("Fix it")
    for number in range(24):
        session.prepare()
        clock[0] += 5
        session.work(lines(1_400, seed=number))
    assert session.edits == [], "a warm cache is worth more than one result"
    clock[0] += pause
    session.prepare()
    assert len(session.edits) == edits
