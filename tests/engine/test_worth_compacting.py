"""How much smaller a summary must be than what it replaces: by 15 % for whoever chooses to compact, by 10 % for the ladder, by anything where all must go."""

import pytest

from support.engine_session import Outside, Session, lines, model
from trimtab.context.actions import Action
from trimtab.context.asks import Answer, Summarize, Summary
from trimtab.context.editing.compacting import Compactor
from trimtab.context.engine import Engine
from trimtab.context.summary.job import Summariser
from trimtab.types.edits import Compact

SHARES = [n / 100 for n in range(90, 132, 3)]


def compacted(share: float, author: str, *, whole: bool) -> float | None:
    """What a summary of about this share of the run came to beside it, frame and facts included; None where it was refused."""

    def summarize(_ask: Summarize) -> Answer:
        return Summary(f"<summary>{lines(int(share * size), seed=9)}</summary>", model="p/small")

    compactor = Compactor(Summariser("p/small", 200_000, 20_000, strict=False), wanted_tokens=20_000)
    session = Session(
        Engine(model(200_000), session_id="s", compactor=lambda: compactor), outside=Outside(summarize=summarize)
    )
    session.say("look")
    for number in range(5):
        session.work(lines(1_000, seed=number))
    count = session.engine.tally
    before = [message for slot in session.view.slots for message in slot.shown]
    size = sum(count.message(message) for message in (before[1:] if whole else before[1:-2]))
    params = {"whole": True} if whole else {"keep_tokens": 1}
    asked = session.act(Action("compact", (), params), author=author)
    if not asked.done:
        assert any("would not be much smaller" in why or "no summary was smaller" in why for why in asked.refused)
        return None
    (done,) = asked.done
    assert isinstance(done.entry.edit, Compact)
    if done.entry.edit.mode != "serialised":
        return None
    return count.text(done.entry.edit.summary) / size


@pytest.mark.parametrize(
    ("author", "whole", "limit"),
    [
        ("user", False, 0.85),
        ("policy:summary", False, 0.85),
        ("recovery", False, 0.9),
        ("recovery", True, 1.0),
    ],
)
def test_a_summary_is_taken_as_long_as_it_is_smaller_by_the_margin(author: str, whole: bool, limit: float) -> None:
    came_to = [compacted(share, author, whole=whole) for share in SHARES]
    taken = [share for share in came_to if share is not None]
    assert limit - 0.05 < max(taken) < limit
    assert came_to[: len(taken)] == taken, "the larger ones are refused, and only they"
    assert came_to[-1] is None
