"""Asking what a request would cost leaves no trace: however often, of whatever request that was never sent."""

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from support.engine_session import Session, lines, model
from support.requests_made import EXPLICIT, PREFIX, PRICE
from trimtab.context.actions import Action
from trimtab.context.cycle.look import Look
from trimtab.context.engine import Engine
from trimtab.context.window.view import View
from trimtab.types.edits import Drop, Elide
from trimtab.types.messages import Text, user
from trimtab.types.usage import Usage


def session(explicit: bool) -> Session:
    rules = EXPLICIT if explicit else PREFIX
    priced = structs.replace(model(30_000), cache=rules, prices=(PRICE,))
    return Session(Engine(priced, session_id="s", now=lambda: 0.0))


def trial(made: Session, which: int) -> Look:
    """A request that never goes out: with more said, with an item hidden, shorter, or with another system prompt."""
    view, request = made.view, made.request
    named = [slot.id for slot in view.slots]
    target = named[which % len(named)]
    others: list[Callable[[], View]] = [
        lambda: view,
        lambda: view.with_message("?m", user("and that")),
        lambda: view.with_edit("?e", Elide(targets=(target,), texts={target: "gone"})),
        lambda: view.with_edit("?d", Drop(targets=(target,))),
    ]
    changed = structs.replace(request, system="Other words.") if which % 3 == 0 else request
    return made.engine.look(others[which % 4](), changed)


def ask(made: Session, which: int) -> None:
    """Everything that can be asked about it."""
    account, now = made.engine.account, 0.0
    look = trial(made, which)
    account.shape(look)
    account.cached(look, now)
    account.bill(look, now)
    account.sent_count(look)
    account.unsent(look)
    account.broken_at(look)
    account.marks(look)
    account.gate(look, [Drop(targets=(made.view.slots[which % len(made.view.slots)].id,))], now)


def facts(made: Session) -> tuple[object, ...]:
    """What the account says of the request that comes, and what it keeps."""
    account, look = made.engine.account, made.engine.look(made.view, made.request)
    shape = account.shape(look)
    return (
        shape.segments,
        account.last_sent,
        account.bill(look, 0.0),
        account.cached(look, 0.0),
        account.sent_count(look),
        tuple(account.unsent(look)),
        account.marks(look),
        account.savings.as_data(),
        (account.growth, account.calls, account.removed, account.warmth),
    )


@settings(max_examples=30)
@given(
    explicit=st.booleans(),
    steps=st.lists(
        st.tuples(st.integers(200, 3_000), st.lists(st.integers(0, 40), max_size=4), st.booleans()),
        min_size=1,
        max_size=7,
    ),
)
def test_a_conversation_that_was_asked_about_and_one_that_was_not_have_the_same_account(
    explicit: bool, steps: list[tuple[int, list[int], bool]]
) -> None:
    asked, left_alone = session(explicit), session(explicit)
    for made in (asked, left_alone):
        made.say("begin")
        made.prepare()
    for number, (size, trials, edits) in enumerate(steps):
        for made in (asked, left_alone):
            made.work(lines(size, seed=number))
            if edits:
                made.act(Action("elide", (f"c{made.calls}",)))
        for which in trials:
            ask(asked, which)
        for made in (asked, left_alone):
            tokens = made.prepare().tokens
            if made is asked:
                for which in trials:
                    ask(asked, which)
            made.answer(Text("so"), usage=Usage(input=tokens * 9 // 8, output=3))
            made.say("go on")
        assert facts(asked) == facts(left_alone)
