"""`compress` with `otherwise`: what can be shortened to its telling lines is, the rest is hidden, and all of it can be taken back."""

import pytest

from support.engine_session import Session, lines, model
from trimtab.context.actions import Action
from trimtab.context.engine import Engine

CODE = (
    "def reticulate_splines(frame_buffer):\n    for spline in frame_buffer:\n        if spline.is_bent:\n"
    "            spline.straighten_out()\n    return len(frame_buffer)\n\n\n"
) * 40
DIFF = "--- a/spline.py\n+++ b/spline.py\n@@ -1,3 +1,3 @@\n-a = 1\n+a = 2\n b = 3\n" * 40


def working(*results: str) -> tuple[Session, list[str]]:
    """A session with these results, in a window that has room; and the calls that they answer."""
    session = Session(Engine(model(100_000), session_id="s", policy="none"))
    session.say("Look at all of it")
    calls = [call for text in results for call in session.work(text)]
    session.prepare()
    return session, calls


def state(session: Session, call: str) -> str:
    """How the result of a call is shown."""
    address = session.view.find(call)
    assert address is not None
    return session.view.slots[address.index].state


@pytest.mark.parametrize("text", [CODE, DIFF], ids=["code", "a diff"])
def test_what_cannot_be_shortened_is_hidden_with_its_names(text: str) -> None:
    session, (log, other) = working(lines(1_500), text)
    whole = session.view.messages()
    wish = Action("compress", (log, other), {"share": 0.2, "otherwise": "elide", "names": 60})
    outcome = session.act(wish)
    assert (outcome.refused, state(session, log), state(session, other)) == ((), "folded", "stub")
    assert "names: " in session.view.messages()[-1].text or text is DIFF
    for done in outcome.done:
        assert not isinstance(session.revert(done.entry_id), str)
    assert session.view.messages() == whole


def test_without_it_they_are_refused_and_stay() -> None:
    session, (log, code) = working(lines(1_500), CODE)
    outcome = session.act(Action("compress", (log, code), {"share": 0.2}))
    assert (state(session, log), state(session, code)) == ("folded", "full")
    assert "this is code" in " ".join(outcome.refused)


def test_what_was_shortened_before_can_be_hidden_later() -> None:
    session, (log,) = working(lines(1_500))
    session.act(Action("compress", (log,), {"share": 0.2, "otherwise": "elide"}))
    session.act(Action("compress", (log,), {"share": 0.2, "otherwise": "elide"}))
    assert state(session, log) == "stub"
