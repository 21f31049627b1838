"""Views that grew out of one view: as old as each other, with as many changes, and counted each for itself."""

from collections.abc import Callable

import pytest

from support.engine_session import model
from trimtab.context.counting.counter import Counter
from trimtab.context.cycle.account import Account
from trimtab.context.cycle.look import Tally
from trimtab.context.cycle.tally import MeterTally
from trimtab.context.embed.foreign import EstimateTally
from trimtab.context.engine import Engine
from trimtab.context.window.view import View
from trimtab.sessions.replay.sizes import Sizes
from trimtab.types.edits import Elide, Restate
from trimtab.types.messages import user
from trimtab.types.models import ModelRequest

MODEL = model()


def root() -> View:
    view = View()
    for number in range(3):
        view = view.with_message(f"e{number}", user(f"text {number} " * (number + 1) * 50))
    return view


def siblings() -> list[View]:
    view = root()
    view.messages()
    return [
        view,
        view.with_edit("x", Elide(targets=("e0",), texts={"e0": "stub"})),
        view.with_edit("y", Elide(targets=("e2",), texts={"e2": "another stub"})),
        view.with_edit("z", Restate(targets=(), text="the goal")),
        view.with_message("e3", user("another")).with_message("e4", user("and more of it " * 9)),
        view.with_message("e3", user("something else")).with_edit("z", Restate(targets=(), text="the goal")),
    ]


@pytest.mark.parametrize(
    "tally",
    [
        lambda: MeterTally(MODEL),
        lambda: Sizes(MODEL),
        lambda: EstimateTally(len, Counter(MODEL), tell=lambda _note: None),
    ],
    ids=["meter", "sizes", "foreign"],
)
def test_one_count_says_nothing_about_another_view(tally: Callable[[], Tally]) -> None:
    used, views = tally(), siblings()
    for view in (*views, *reversed(views)):
        assert used.estimate(view, "", ()).tokens == tally().estimate(view, "", ()).tokens


def test_the_shape_of_one_says_nothing_about_another() -> None:
    engine, views = Engine(MODEL, session_id="s"), siblings()
    account, request = Account(MODEL), ModelRequest(MODEL, ())
    for view in (*views, *reversed(views)):
        look = engine.look(view, request)
        assert account.shape(look).segments == Account(MODEL).shape(look).segments
