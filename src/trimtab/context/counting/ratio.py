"""Learns from reported usage how far off the estimates for a model are, and how sure they are.

    Size ──· factors──▶ tokens, standard deviation            predict
    Size, reported tokens ──▶ better factors                    learn

One ratio for a model is not enough: results, what the model wrote, thinking and wire overhead are off by different amounts. So each kind of
`KINDS` has a factor, near 1, and all are estimated together by recursive least squares (a Kalman filter with a constant state: Kalman 1960;
the textbook form, with the two changes named here). The first guess ties the factors together (if results are 10 % over, arguments probably
are too), so the first few reports already move all of them. A report that surprises by many standard deviations is weighed down
(by Huber's function, 1964): something entered the request that was never shown to us, which says nothing of texts. Factors stay within bounds.

`hidden` is what every request has beyond its visible part: instructions and tools that a recording doesn't show, wire overhead of the whole.

The band follows what happened: each report above its upper end widens it, each below narrows it a little, so that about one report in thirty
lies above it whatever the errors are made of (the step rule of adaptive conformal inference: Gibbs, Candès 2021).

The one rule: state is a value. It is saved and loaded whole, and the same reports in the same order make the same state.
"""

from math import isfinite, sqrt

import msgspec
from msgspec.structs import replace

from trimtab.context.counting.families import Family
from trimtab.context.counting.size import KINDS, Size

_N = len(KINDS)
_LOW, _HIGH = 0.4, 2.5
_OWN = {"read": 0.10, "result": 0.06, "written": 0.10, "thought": 0.25, "media": 0.40, "added": 0.50}
"""How far a kind may be off beside what is common to all, as a standard deviation. Exact vocabularies take half."""
_DRIFT = 1e-5
"""Variance that each report adds to each factor: old reports fade over some hundred of them."""
_ROUNDING = 25.0
"""Tokens that even a perfect estimate is off by."""
_NOISE = 0.04
"""Relative error of one estimate before any was compared."""
_LEAST_NOISE, _MOST_NOISE = 0.005, 0.5
_UNSURE = 10.0
"""The largest variance of a factor that anything here can make; reports only lower it."""
_MOST_HIDDEN = 200_000.0
"""Tokens unseen in each request, beyond which a saved state isn't believed."""
_BELIEVED = 0.5
"""Of what another session learned about a factor."""
_SURPRISE = 3.0
"""Standard deviations from which on a report is weighed down."""
_BAND = 2.0
"""Standard deviations from the estimate to the upper end of its band, before any report was compared; then between the two below."""
_NARROWEST, _WIDEST = 1.5, 12.0
_ABOVE = 1 / 30
"""Share of reports that may lie above the band."""
_BAND_STEP = 0.4


class CalibrationState(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was learned for one model, as it is saved."""

    family: str
    """The row of families that it corrects; a state of another row is of no use."""
    factors: tuple[float, ...]
    """One for each kind, in the order of `KINDS`."""
    covariance: tuple[float, ...]
    """Of the factors, row by row."""
    noise: float = _NOISE
    """Relative error of one estimate."""
    band: float = _BAND
    """Standard deviations from the estimate to the upper end."""
    hidden: float | None = None
    """Tokens that every request has beyond its visible part; null: never seen."""
    reports: int = 0
    """How many reports it learned from."""


class Calibration:
    """Factors of one model, their uncertainty, and the width of the band."""

    def __init__(self, family: Family, state: CalibrationState | None = None) -> None:
        start = state if state is not None and _fits(state, family) else _first_guess(family)
        self.family = family
        self._factors = list(start.factors)
        self._covariance = [list(start.covariance[i * _N : (i + 1) * _N]) for i in range(_N)]
        self._noise = start.noise
        self.band = start.band
        self.hidden = start.hidden
        self.reports = start.reports
        self.taught = False
        """Whether a report was taken in since it began."""

    @property
    def state(self) -> CalibrationState:
        """Everything learned, as a value."""
        rows = tuple(v for row in self._covariance for v in row)
        return CalibrationState(
            self.family.name, tuple(self._factors), rows, self._noise, self.band, self.hidden, self.reports
        )

    @property
    def factors(self) -> dict[str, float]:
        """Kind to factor."""
        return dict(zip(KINDS, self._factors, strict=True))

    def tokens(self, size: Size) -> float:
        """Return `size` as tokens. A difference of sizes may come to less than nothing."""
        return sum(f * x for f, x in zip(self._factors, size.vector, strict=True)) + size.reported

    def deviation(self, size: Size, *, changed: float | None = None) -> float:
        """Return the standard deviation of `tokens(size)`. `changed`: tokens that were estimated to get there, where more than the sum shows."""
        vector = size.vector
        estimated = sum(abs(x) for x in vector) if changed is None else changed
        return sqrt(max(0.0, self._spread(vector)) + (self._noise * estimated) ** 2 + self._floor(estimated))

    def upper(self, size: Size, *, changed: float | None = None) -> float:
        """Return the upper end of the band around `tokens(size)`."""
        return self.tokens(size) + self.band * self.deviation(size, changed=changed)

    def learn(self, size: Size, reported: float) -> None:
        """Take in that `size` was reported to have `reported` tokens. Sizes of next to nothing and impossible reports teach nothing."""
        vector = size.vector
        target = reported - size.reported
        estimated = sum(abs(x) for x in vector)
        if estimated < _ROUNDING or target <= 0:
            return
        surprise = target - sum(f * x for f, x in zip(self._factors, vector, strict=True))
        gains = [sum(row[j] * vector[j] for j in range(_N)) for row in self._covariance]
        spread = max(0.0, sum(g * x for g, x in zip(gains, vector, strict=True)))
        error = (self._noise * estimated) ** 2 + _ROUNDING**2
        limit = _SURPRISE * sqrt(spread + error)
        if abs(surprise) > limit:
            error *= abs(surprise) / limit
        else:
            self._learn_noise(surprise, estimated, spread)
        self._step(gains, surprise, spread + error)
        self.reports += 1
        self.taught = True

    def learn_band(self, *, above: bool) -> None:
        """Take in whether a report lay above the band around its prediction."""
        step = _BAND_STEP * (1 - _ABOVE if above else -_ABOVE)
        self.band = min(_WIDEST, max(_NARROWEST, self.band * (1 + step)))

    def learn_hidden(self, tokens: float) -> None:
        """Take in that a request had `tokens` beyond its visible part: the first is believed, later ones move it by a fifth."""
        self.hidden = tokens if self.hidden is None else self.hidden + 0.2 * (tokens - self.hidden)
        self.taught = True

    def _step(self, gains: list[float], surprise: float, total: float) -> None:
        for i in range(_N):
            self._factors[i] = min(_HIGH, max(_LOW, self._factors[i] + gains[i] * surprise / total))
        for i in range(_N):
            row, gain = self._covariance[i], gains[i] / total
            for j in range(_N):
                row[j] -= gain * gains[j]
            row[i] += _DRIFT

    def _learn_noise(self, surprise: float, estimated: float, spread: float) -> None:
        """Follow the relative error of estimates, from those large enough to have one."""
        if estimated < 300:
            return
        seen = max(0.0, surprise**2 - spread - _ROUNDING**2) / estimated**2
        self._noise = min(_MOST_NOISE, max(_LEAST_NOISE, sqrt(0.95 * self._noise**2 + 0.05 * seen)))

    def _spread(self, vector: tuple[float, ...]) -> float:
        return sum(
            x * sum(c * y for c, y in zip(row, vector, strict=True) if y)
            for x, row in zip(vector, self._covariance, strict=True)
            if x
        )

    def _floor(self, estimated: float) -> float:
        return _ROUNDING**2 if estimated else 0.0


def begun_with(family: Family, earlier: CalibrationState | None) -> Calibration:
    """Return the calibration with which a session begins: what `earlier` ones learned is half believed, and as unsure as if nothing were known.

    What one session learned is partly about that session (what its client adds unseen, its mix of texts); the figures are in the lab log (2026-11-30).
    """
    if earlier is None or not _fits(earlier, family):
        return Calibration(family)
    guess = _first_guess(family)
    half = tuple(1.0 + _BELIEVED * (factor - 1.0) for factor in earlier.factors)
    wide = tuple(min(_UNSURE, a + b) for a, b in zip(earlier.covariance, guess.covariance, strict=True))
    return Calibration(family, replace(earlier, factors=half, covariance=wide))


def _first_guess(family: Family) -> CalibrationState:
    own = [_OWN[kind] * (0.5 if family.exact else 1.0) for kind in KINDS]
    shared = [0.0 if kind in ("media", "added") else family.spread for kind in KINDS]
    rows = tuple(shared[i] * shared[j] + (own[i] ** 2 if i == j else 0.0) for i in range(_N) for j in range(_N))
    return CalibrationState(family.name, (1.0,) * _N, rows)


def _fits(state: CalibrationState, family: Family) -> bool:
    """Whether a state is about this row and could have been learned: it may come from a file that anybody wrote to."""
    if state.family != family.name or len(state.factors) != _N or len(state.covariance) != _N * _N:
        return False
    variances = [state.covariance[i * (_N + 1)] for i in range(_N)]
    return (
        all(_LOW <= factor <= _HIGH for factor in state.factors)
        and all(isfinite(value) for value in state.covariance)
        and all(0.0 <= value <= _UNSURE for value in variances)
        and _LEAST_NOISE <= state.noise <= _MOST_NOISE
        and _NARROWEST <= state.band <= _WIDEST
        and (state.hidden is None or abs(state.hidden) <= _MOST_HIDDEN)
    )
