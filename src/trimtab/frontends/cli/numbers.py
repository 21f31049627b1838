"""Numbers on the command line that make sense: click takes `nan` for a float, and any number of digits for a whole one."""

import math
from typing import Any

import click

WINDOW = click.IntRange(min=1, max=1 << 40)
"""Tokens of a window."""
_MOST_S = 31 * 86_400


class Seconds(click.FloatRange):
    """A time above zero, of a month at most."""

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True, max=_MOST_S)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds. Fails in words."""
        seconds = float(super().convert(value, param, ctx))
        if math.isnan(seconds):
            self.fail(f"{value!r} is no number of seconds.", param, ctx)
        return seconds
