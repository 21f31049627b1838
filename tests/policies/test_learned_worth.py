"""What a batch is worth, against trying every batch there is."""

from dataclasses import replace
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from support.observations import result
from trimtab.context.policies.learned.worth import Best, Piece, Stakes, best_batch

PRICES = st.sampled_from([(1.0, 1.0), (0.1, 1.0), (0.1, 1.25), (0.25, 1.0)])


@st.composite
def pieces(draw: st.DrawFn) -> tuple[list[Piece], int]:
    """Items one behind the other, and where the cache ends."""
    found, offset = [], 0
    for number in range(draw(st.integers(1, 6))):
        tokens = draw(st.integers(100, 3_000))
        sent = draw(st.booleans()) if number else True
        found.append((result(number, tokens, offset=offset, sent=sent), draw(st.floats(0, 1))))
        offset += tokens + 50
    cached_to = draw(st.integers(0, offset))
    loss = draw(st.floats(0, 50_000))
    made = [
        Piece(item, "elide", item.tokens - 45, chance, loss, item.sent and item.offset < cached_to)
        for item, chance in found
    ]
    return made, cached_to


def net(chosen: tuple[Piece, ...], stakes: Stakes) -> float:
    """What a batch is worth, by the definition."""
    edges = [piece.item.offset for piece in chosen if piece.item.sent]
    suffix = max(0, stakes.cached_to - min(edges)) if edges else 0
    return sum(stakes.worth(piece) for piece in chosen) - suffix * stakes.broken


@given(pieces(), PRICES, st.floats(0, 100))
def test_no_batch_is_worth_more_than_the_best(
    drawn: tuple[list[Piece], int], prices: tuple[float, float], calls: float
):
    made, cached_to = drawn
    stakes = Stakes(*prices, calls, cached_to)
    best = best_batch(made, stakes)
    every = [chosen for n in range(len(made) + 1) for chosen in combinations(made, n)]
    most = max(net(chosen, stakes) for chosen in every)
    assert abs(best.worth - max(0.0, most)) <= 1e-6 * max(1.0, abs(most))
    if best.pieces:
        assert abs(net(best.pieces, stakes) - best.worth) <= 1e-6 * max(1.0, best.worth)


@given(pieces(), PRICES, st.floats(0, 100), st.integers(1, 20_000))
def test_room_is_made_where_there_is_enough_to_take(
    drawn: tuple[list[Piece], int], prices: tuple[float, float], calls: float, need: int
):
    made, cached_to = drawn
    best = best_batch(made, Stakes(*prices, calls, cached_to), need=need)
    assert best.gain >= min(need, sum(piece.gain for piece in made))


def test_of_two_alike_the_one_that_is_less_likely_needed_makes_room():
    likely, unlikely = (
        Piece(result(n, 1_000, offset=n * 1_000), "elide", 900, chance, 9_000.0, cached=False)
        for n, chance in enumerate((0.5, 0.1))
    )
    assert best_batch([likely, unlikely], Stakes(0.1, 1.0, 0.0), need=500).pieces == (unlikely,)


def test_what_stands_behind_the_edge_goes_along_and_what_stands_in_front_waits():
    early, middle, late = (
        Piece(result(n, 1_000, offset=n * 10_000, sent=True), "elide", 900, 0.0, 0.0, cached=True) for n in range(3)
    )
    stakes = Stakes(0.1, 1.0, 30.0, cached_to=30_000)
    # Each saves 900·(0.1·30 + 0.9) = 3,510; the break costs 0.9 for each cached token behind the edge: 9,000 for the last, 18,000 for the last two.
    assert best_batch([early, middle, late], stakes) == Best()
    # With 85 requests to come each saves 8,460: one doesn't pay for 9,000, and no more do two for 18,000 or three for 27,000.
    assert best_batch([early, middle, late], Stakes(0.1, 1.0, 85.0, cached_to=30_000)) == Best()
    near = replace(late, item=structs.replace(late.item, offset=22_000))
    assert best_batch([near, middle, early], Stakes(0.1, 1.0, 85.0, cached_to=30_000)).pieces == (near,)


def test_without_a_cache_nothing_is_broken():
    piece = Piece(result(0, 1_000, sent=True), "elide", 900, 0.0, 0.0, cached=True)
    best = best_batch([piece], Stakes(1.0, 1.0, 1.0, cached_to=100_000))
    assert (best.gain, best.worth) == (900, 900.0)
