"""What a count of a request comes to: a value that whoever decides can read without loading what counts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """Tokens of the next request. `upper` is the end of the band that decisions use; never under `tokens`, and neither is negative.

    `anchored`: rests on a reported total. `known`: rests on one, or on a request of which nothing is hidden; a meter says "unknown" otherwise.
    """

    tokens: int
    upper: int
    known: bool
    anchored: bool
