"""What the user asked for last can't be taken out, sent or not."""

import pytest

from support.engine_session import Session, model, shown_texts
from trimtab.context.actions import Action
from trimtab.context.engine import Engine
from trimtab.types.messages import Text


@pytest.mark.parametrize("author", ["user", "model"])
@pytest.mark.parametrize("action", ["drop", "compact"])
def test_the_newest_request_stays_before_it_was_ever_sent(action: str, author: str) -> None:
    session = Session(Engine(model(20_000), session_id="s", now=lambda: 1e6))
    session.say("first task")
    session.prepare()
    session.work("r one")
    session.prepare()
    session.answer(Text("done"))
    newest = session.say("second task, in other words")
    params = {"summary": "Something was asked."} if action == "compact" else {}
    outcome = session.act(Action(action, (newest,), params, "it is in the way"), author=author)
    assert outcome.done == ()
    assert outcome.refused
    assert "second task" in shown_texts(session.prepare().request.messages)
