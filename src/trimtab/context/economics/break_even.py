"""When taking tokens out of a cached prompt pays, in closed form.

The prompt is S + E + L tokens: S in front, E to be taken out, L behind it. Kept, R more calls cost R·(S+E+L)·r with every token read at
price r. Taken out, the first call reads S and writes L anew at price w, and the other R−1 read S+L. The difference is E·r·R − L·(w−r).

The real decision (`gate`) compares two whole bills, with stubs, summary calls, growth, breakpoints and a distribution of R; this formula is
the case that it must agree with, and the figure that a person can check by hand.
"""


def break_even_calls(evicted: int, suffix: int, read: float, write: float) -> float:
    """Return how many calls must be left, this one included, from which on taking out `evicted` tokens pays. Prices in any one unit.

    Infinite when nothing is ever won: no tokens, or reads that cost nothing. 0 when it costs nothing to do.
    """
    loss = suffix * max(write - read, 0.0)
    gain = evicted * read
    if gain > 0:
        return loss / gain
    return float("inf")


def pays(evicted: int, suffix: int, read: float, write: float, calls: float) -> bool:
    """Return whether taking out `evicted` tokens with `suffix` tokens behind them pays with `calls` left, this one included."""
    return evicted * read * calls > suffix * max(write - read, 0.0)
