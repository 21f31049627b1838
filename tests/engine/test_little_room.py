"""A task that takes most of a small window: the work goes on as long as the task and the barest summary fit beside each other."""

import pytest

from support.engine_session import Outside, Session, lines, model
from trimtab.context.cycle.floor import floor_of
from trimtab.context.engine import Engine
from trimtab.types.messages import Text, ToolResult

FRAME = 130
"""Tokens of a summary that says nothing but what it stands for."""


def session(window: int, share: float, policy: str) -> Session:
    engine = Engine(model(window, max_output=800), session_id="s", policy=policy)
    made = Session(engine)
    made.say(lines(int(engine.budget.hard * share)))
    return made


@pytest.mark.parametrize("policy", ["rules", "summary", "mask"])
@pytest.mark.parametrize("share", [0.4, 0.6, 0.78])
@pytest.mark.parametrize("window", [6_000, 9_000])
def test_every_request_fits_while_what_must_stay_leaves_room_for_a_bare_summary(window, share, policy):
    talk = session(window, share, policy)
    for number in range(25):
        talk.outside = Outside()
        look = talk.engine.look(talk.view, talk.request)
        stays = (floor_of(look).total + FRAME) * look.used // look.estimate.tokens
        assert stays < talk.engine.budget.hard, "the test leaves no room itself"
        prepared = talk.prepare()
        assert talk.engine.look(prepared.view, talk.request).used <= talk.engine.budget.hard
        talk.work(lines(300, seed=number), lines(200, seed=100 + number))


def test_the_barest_summary_counts_the_messages_and_still_says_something_of_them():
    engine = Engine(model(6_000, max_output=800), session_id="s")
    talk = Session(engine)
    for number in range(8):
        talk.say(f"question {number} about this")
        talk.work(lines(60, seed=number), lines(60, seed=50 + number))
        talk.work(ToolResult(f"c{talk.calls + 1}", "bash", (Text("boom"),), is_error=True))
        talk.answer(Text(f"I found {number} of it"))
    talk.say(lines(int(engine.budget.hard * 0.6) + 900))
    said = str(talk.prepare().request.messages[0])
    assert "[Record of 56 earlier messages" in said
    assert "user e1: " in said
