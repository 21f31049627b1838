"""What a batch is worth, against trying every batch there is."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby, product

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
    made: list[Piece] = []
    for item, chance in found:
        whole = Piece(item, "elide", item.tokens - 45, chance, loss, item.sent and item.offset < cached_to)
        lines = replace(whole, op="compress", gain=int(0.8 * whole.gain), chance=chance * draw(st.floats(0, 1)))
        made += [whole, lines] if draw(st.booleans()) else [whole]
    return made, cached_to


def batches(made: list[Piece]) -> Iterator[tuple[Piece, ...]]:
    """All batches there are: of each item one form, or none."""
    items = [list(forms) for _, forms in groupby(made, key=lambda piece: piece.item.id)]
    for chosen in product(*([None, *forms] for forms in items)):
        yield tuple(piece for piece in chosen if piece is not None)


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
    most = max(net(chosen, stakes) for chosen in batches(made))
    assert abs(best.worth - max(0.0, most)) <= 1e-6 * max(1.0, abs(most))
    if best.pieces:
        assert abs(net(best.pieces, stakes) - best.worth) <= 1e-6 * max(1.0, best.worth)


@given(pieces(), PRICES, st.floats(0, 100), st.integers(1, 20_000))
def test_room_is_made_where_there_is_enough_to_take(
    drawn: tuple[list[Piece], int], prices: tuple[float, float], calls: float, need: int
):
    made, cached_to = drawn
    best = best_batch(made, Stakes(*prices, calls, cached_to), need=need)
    assert best.gain >= min(need, max(sum(piece.gain for piece in chosen) for chosen in batches(made)))
    assert len({piece.item.id for piece in best.pieces}) == len(best.pieces)


@given(pieces(), st.floats(0, 100), st.integers(1, 20_000))
def test_where_no_cache_breaks_no_batch_of_as_much_room_is_worth_more(
    drawn: tuple[list[Piece], int], calls: float, need: int
):
    made, _ = drawn
    stakes = Stakes(1.0, 1.0, calls)
    best = best_batch(made, stakes, need=need)
    rivals = [net(chosen, stakes) for chosen in batches(made) if sum(p.gain for p in chosen) >= best.gain]
    assert net(best.pieces, stakes) >= max(rivals) - 1e-4 * max(1.0, abs(max(rivals)))


def test_of_two_alike_the_one_that_is_less_likely_needed_makes_room():
    likely, unlikely = (
        Piece(result(n, 1_000, offset=n * 1_000), "elide", 900, chance, 9_000.0, cached=False)
        for n, chance in enumerate((0.5, 0.1))
    )
    assert best_batch([likely, unlikely], Stakes(0.1, 1.0, 0.0), need=500).pieces == (unlikely,)


def test_what_may_be_needed_is_shortened_and_what_is_hardly_needed_hidden():
    def forms(number: int, chance: float) -> list[Piece]:
        item = result(number, 1_000, offset=number * 1_000)
        hidden = Piece(item, "elide", 950, chance, 9_000.0, cached=False)
        return [hidden, replace(hidden, op="compress", gain=750, chance=chance * 0.5)]

    best = best_batch([*forms(0, 0.5), *forms(1, 0.01), *forms(2, 1.0)], Stakes(0.1, 1.0, 50.0))
    assert [(piece.item.id, piece.op) for piece in best.pieces] == [("t1", "elide"), ("t0", "compress")]
    # Where much has to go, all of it goes, and more of it whole.
    best = best_batch([*forms(0, 0.5), *forms(1, 0.01), *forms(2, 1.0)], Stakes(0.1, 1.0, 50.0), need=2_600)
    assert {piece.item.id: piece.op for piece in best.pieces} == {"t0": "elide", "t1": "elide", "t2": "compress"}


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
