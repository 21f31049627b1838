"""Numbers on the command line that make sense: click takes `nan` for a float, and any number of digits for a whole one."""

import math
import re
from typing import Any, cast

import click

_TOKENS = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)\s?([kKmM])")
_MOST_TOKENS = 1 << 40
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


class Tokens(click.IntRange):
    """A number of tokens; `60k` is 60,000."""

    def __init__(self) -> None:
        super().__init__(min=1, max=_MOST_TOKENS)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the tokens. Fails in words."""
        tokens = value.strip().replace(",", "") if isinstance(value, str) else value
        if isinstance(tokens, str) and (found := _TOKENS.fullmatch(tokens)):
            tokens = round(float(found[1]) * (1_000 if found[2] in "kK" else 1_000_000))
        try:
            return int(super().convert(cast("int", tokens), param, ctx))
        except click.BadParameter:
            self.fail(f"{value!r} is no number of tokens from 1 on; write it as 60000 or 60k.", param, ctx)


WINDOW = Tokens()
"""Tokens of a window."""
COUNT = click.IntRange(min=1, max=100_000)
"""How many there are of something that is played."""
WORKERS = click.IntRange(min=1, max=1_000)
"""Processes."""
SEED = click.IntRange(min=0, max=(1 << 32) - 1)
"""What dice begin with: any library takes these."""
