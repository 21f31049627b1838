"""Long chains of edits and reverts on one item: what they show, and that one more costs no more than the first."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.window.layers import NONE, Act, Effect, Layers, Overlay, effect_of
from trimtab.context.window.reverts import DEEPEST, Revert, Reverted
from trimtab.context.window.view import View
from trimtab.types.edits import Edit, Elide, Fold, Pin, Restore
from trimtab.types.messages import Assistant, Text, ToolCall, ToolResult, user

BODY = "body " * 50


def talk() -> View:
    view = View().with_message("e0", user("do it"))
    view = view.with_message("e1", Assistant((Text("ok"), ToolCall("a", "read", {}, "{}")), "tool_use"))
    return view.with_message("e2", ToolResult("a", "read", (Text(BODY),), is_error=False))


def elide(number: int) -> Edit:
    return Elide(targets=("a",), texts={"a": f"[stub {number}]"})


def body(view: View) -> str:
    (part,) = view.messages()[2].parts
    assert isinstance(part, Text)
    return part.text


def taken_back(view: View, number: int) -> View:
    """An edit and its revert."""
    return view.with_edit(f"x{number}", elide(number)).with_revert(f"r{number}", f"x{number}")


def folded_and_restored(view: View, number: int) -> View:
    """A fold, and the whole again."""
    view = view.with_edit(f"x{number}", Fold(targets=("a",), texts={"a": f"[fold {number}]"}))
    return view.with_edit(f"y{number}", Restore(targets=("a",)))


def taken_back_from_below(view: View, number: int) -> View:
    """A pin that lies under all other edits is taken back, and holds again."""
    if number == 0:
        view = view.with_edit("pin", Pin(targets=("a",)))
    view = folded_and_restored(view, number)
    return view.with_revert(f"r{number}", "pin").with_revert(f"rr{number}", f"r{number}")


CHAINS = [taken_back, folded_and_restored, taken_back_from_below]


@pytest.mark.parametrize("link", CHAINS)
def test_after_a_long_chain_the_item_shows_what_was_recorded(link: Callable[[View, int], View]) -> None:
    view = talk()
    for number in range(500):
        view = link(view, number)
    assert body(view) == BODY
    assert view.slots[2].pinned is (link is taken_back_from_below)


@pytest.mark.parametrize("link", CHAINS)
def test_an_edit_behind_a_thousand_others_costs_what_one_behind_a_hundred_costs(
    link: Callable[[View, int], View],
) -> None:
    view, costs = talk(), []
    for number in range(1_024):
        if number in (128, 1_023):
            costs.append(calls_of(link, view, number))
        view = link(view, number)
    few, many = costs
    assert many <= 2 * few


def calls_of(link: Callable[[View, int], View], view: View, number: int) -> int:
    """How many functions are called, ours and Python's own."""
    calls = 0

    def count(_frame: Any, event: str, _arg: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        link(view, number)
    finally:
        sys.setprofile(before)
    return calls


ACTS: list[Act] = ["body", "whole", "hide", "unhide", "arguments", "uncall", "pin", "unpin", "expire", "lead", "unlead"]
OVERLAYS = st.lists(
    st.builds(
        lambda edit, act, part, text: Overlay(f"e{edit}", act, text, part, "stub"),
        st.integers(0, 5),
        st.sampled_from(ACTS),
        st.sampled_from([None, 0, 1]),
        st.sampled_from(["e0", "e1", "e2"]),
    ),
    max_size=40,
)


def laid(overlays: list[Overlay]) -> Layers:
    layers = NONE
    for overlay in overlays:
        layers = layers.with_overlay(overlay)
    return layers


def seen(effect: Effect) -> tuple[Any, ...]:
    """All that is shown of an effect."""
    shown = (effect.text, effect.texts, effect.raws, effect.left_out, effect.state)
    return (*shown, bool(effect.hidden), effect.summary, bool(effect.pinned), effect.expires or "")


@given(OVERLAYS, st.integers(0, 40))
def test_runs_of_overlays_come_to_the_same_however_they_are_put_together(overlays: list[Overlay], cut: int) -> None:
    low, high = laid(overlays[:cut]).effect, laid(overlays[cut:]).effect
    assert seen(high.over(low)) == seen(laid(overlays).effect)


@given(OVERLAYS)
def test_layers_hold_what_was_laid_in_order_and_do_what_the_overlays_do_one_after_the_other(
    overlays: list[Overlay],
) -> None:
    layers, plain = laid(overlays), Effect()
    for overlay in overlays:
        plain = effect_of(overlay).over(plain)
    assert list(layers) == overlays
    assert [layers[n] for n in range(len(layers))] == overlays
    assert seen(layers.effect) == seen(plain)


@given(OVERLAYS, st.integers(0, 5))
def test_an_edit_that_does_not_hold_leaves_what_the_others_do_and_switched_on_again_all_is_as_before(
    overlays: list[Overlay], which: int
) -> None:
    # An edit lays all its overlays on a slot at once.
    overlays = sorted(overlays, key=lambda overlay: overlay.edit)
    start = next((n for n, o in enumerate(overlays) if o.edit == f"e{which}"), len(overlays))
    layers = laid(overlays)
    off = layers.switched(start, f"e{which}", holds=False)
    assert seen(off.effect) == seen(laid([o for o in overlays if o.edit != f"e{which}"]).effect)
    assert list(off) == overlays
    assert seen(off.switched(start, f"e{which}", holds=True).effect) == seen(layers.effect)
    assert layers.without({f"e{which}"}).effect == off.effect


@given(OVERLAYS, OVERLAYS)
def test_slots_that_show_the_same_are_changed_alike_at_the_price_of_one(
    low: list[Overlay], high: list[Overlay]
) -> None:
    layers = laid(low)
    grown = layers.with_overlays(tuple(high))
    assert list(grown) == [*low, *high]
    assert seen(grown.effect) == seen(laid([*low, *high]).effect)
    assert layers.with_overlays(tuple(high)) is grown
    assert grown.without({"e1"}) is grown.without(frozenset({"e1"}))
    assert seen(grown.without({"e1"}).effect) == seen(laid([o for o in (*low, *high) if o.edit != "e1"]).effect)


REVERTS = st.lists(st.integers(-3, 30), max_size=30)


@given(REVERTS)
def test_something_holds_unless_a_revert_that_holds_takes_it_back(targets: list[int]) -> None:
    """Three edits (negative numbers) and reverts of them, of earlier reverts, or of nothing."""
    made = Reverted()
    for number in (-3, -2, -1):
        made = made.with_edit(str(number))
    for step, target in enumerate(targets):
        made = made.with_revert(Revert(str(step), str(target), step))
    holds: dict[int, bool] = {}
    for number in reversed(range(-3, len(targets))):
        later = [n for n, target in enumerate(targets) if target == number and n > number]
        holds[number] = not any(holds[n] for n in later)
    assert set(made) == {str(number) for number, still in holds.items() if not still}
    assert len(made) == len(set(made))
    assert all((str(number) in made) is not still for number, still in holds.items())


def test_reverts_of_reverts_are_followed_so_far_and_change_nothing_beyond() -> None:
    view, name = talk().with_edit("x", elide(0)), "x"
    for number in range(DEEPEST):
        assert view.reverted.is_followed(name)
        view, name = view.with_revert(f"r{number}", name), f"r{number}"
        assert body(view) == (BODY if number % 2 == 0 else "[stub 0]")
    assert not view.reverted.is_followed(name)
    assert view.with_revert("more", name).messages() == view.messages()
    assert view.edit_behind(name) == "x"
    assert body(view.with_revert("again", "x")) == BODY


def test_two_futures_of_one_view_keep_edits_and_reverts_of_the_same_name_apart() -> None:
    base = talk().with_edit("x", elide(0))
    left = base.with_revert("r", "x")
    right = base.with_edit("y", elide(1)).with_revert("r", "y").with_revert("s", "x")
    assert (set(left.reverted), set(right.reverted), set(base.reverted)) == ({"x"}, {"x", "y"}, set())
    assert body(left.with_revert("t", "r")) == "[stub 0]"
    assert body(right.with_revert("t", "r")) == "[stub 1]"
