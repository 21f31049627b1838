"""The budget: how many tokens a request may have, and from where on something is done about it.

    window ─ reserve (the answer) ─ safety = room          the size no request exceeds
    room × soft → act   room × target → aim   room × hard → the ladder

A person may say where to act and where to aim; who decides then keeps to it (`soft_given`, `target_given`), else the fractions are a first guess that a
policy may know better. One function makes the budget and everything reads it: the meter, the trigger and the preflight. Source of the formulas: the public contract
(`reserve = min(max_output, 0.25 window)`, `safety = max(256, 2 % of window)`; of a fraction and a count, the lower holds).
"""

from dataclasses import dataclass

from trimtab.types.models import ModelInfo


@dataclass(frozen=True, slots=True)
class Thresholds:
    """When to act. Fractions are of window less reserve less safety; `*_tokens` are counts; of both, the lower holds."""

    soft: float = 0.70
    target: float = 0.50
    hard: float = 0.92
    soft_tokens: int | None = None
    target_tokens: int | None = None
    hard_tokens: int | None = None
    reserve_tokens: int | None = None
    safety_tokens: int | None = None

    @property
    def soft_given(self) -> bool:
        """Whether somebody chose where to act: a count, or another fraction than the usual one."""
        return self.soft_tokens is not None or self.soft != _USUAL.soft

    @property
    def target_given(self) -> bool:
        """The same of where to aim."""
        return self.target_tokens is not None or self.target != _USUAL.target


_USUAL = Thresholds()
_LEAST_PAGE = 200
_LARGEST_PAGE = 4_000


@dataclass(frozen=True, slots=True)
class Budget:
    """All in tokens of a whole request: system prompt, tools, messages and media.

    `target ≤ soft ≤ hard ≤ room`, and `room + reserve + safety = window` unless the window is smaller than its margins. `soft_given` and
    `target_given`: somebody chose them.
    """

    window: int
    reserve: int
    safety: int
    soft: int
    target: int
    hard: int
    soft_given: bool = False
    target_given: bool = False

    @property
    def room(self) -> int:
        """What a request may have at most."""
        return max(0, self.window - self.reserve - self.safety)

    @property
    def page(self) -> int:
        """Tokens of one page of a text that is read or brought back: small against the room."""
        return max(_LEAST_PAGE, min(_LARGEST_PAGE, self.room // 8))

    def output_left(self, prompt_tokens: int, max_output: int) -> int:
        """How much output a request of that size may ask for: the model's own limit, or what is left of the window (at least 1)."""
        return max(1, min(max_output, self.window - self.safety - prompt_tokens))


def budget_for(model: ModelInfo, thresholds: Thresholds | None = None) -> Budget:
    """Return the budget of `model`."""
    wanted = thresholds or Thresholds()
    window = model.context_window
    reserve = min(model.max_output, window // 4) if wanted.reserve_tokens is None else wanted.reserve_tokens
    safety = max(256, window * 2 // 100) if wanted.safety_tokens is None else wanted.safety_tokens
    room = max(0, window - reserve - safety)
    hard = _lower(room, wanted.hard, wanted.hard_tokens)
    soft = min(hard, _lower(room, wanted.soft, wanted.soft_tokens))
    target = min(soft, _lower(room, wanted.target, wanted.target_tokens))
    return Budget(window, reserve, safety, soft, target, hard, wanted.soft_given, wanted.target_given)


def _lower(room: int, fraction: float, tokens: int | None) -> int:
    share = int(room * min(1.0, max(0.0, fraction)))
    return share if tokens is None else max(0, min(share, tokens))
