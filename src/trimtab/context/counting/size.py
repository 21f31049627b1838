"""The size of something, split by what it is made of, before any calibration.

A provider reports one number; what is wrong with our estimate of it differs between results, what the model wrote, thinking and wire
overhead. So sizes stay apart until the end, and one number is made of them by `Calibration`, linearly: the size of a whole is the sum of the
sizes of its parts, and a change is a difference.
"""

from dataclasses import dataclass

KINDS = ("read", "result", "written", "thought", "media", "added")
"""What is calibrated apart.

read: system prompt, tools, what a person or the client said; result: what tools answered; written: text and arguments of the model;
thought: its thinking; media: pictures; added: what the wire puts around them.
"""

_STEPS = 1024


@dataclass(frozen=True, slots=True)
class Size:
    """Estimated tokens by kind, and `reported`: tokens that a provider counted itself and that nothing corrects."""

    read: float = 0.0
    result: float = 0.0
    written: float = 0.0
    thought: float = 0.0
    media: float = 0.0
    added: float = 0.0
    reported: float = 0.0

    def __add__(self, other: "Size") -> "Size":
        return Size(
            self.read + other.read,
            self.result + other.result,
            self.written + other.written,
            self.thought + other.thought,
            self.media + other.media,
            self.added + other.added,
            self.reported + other.reported,
        )

    def __sub__(self, other: "Size") -> "Size":
        return Size(
            self.read - other.read,
            self.result - other.result,
            self.written - other.written,
            self.thought - other.thought,
            self.media - other.media,
            self.added - other.added,
            self.reported - other.reported,
        )

    @property
    def vector(self) -> tuple[float, ...]:
        """The calibrated kinds, in the order of `KINDS`."""
        return (self.read, self.result, self.written, self.thought, self.media, self.added)

    @property
    def stepped(self) -> "Size":
        """This in steps of 1/1024: sums and differences of such sizes are exact, in whatever order they are taken."""
        return Size(*(round(tokens * _STEPS) / _STEPS for tokens in (*self.vector, self.reported)))

    @property
    def plain(self) -> float:
        """The sum as estimated, without calibration."""
        return sum(self.vector) + self.reported
