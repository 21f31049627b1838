"""Amounts on the command line: money and times, with the units that people write."""

import math
import re
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    _Param = click.ParamType[float]
else:
    _Param = click.ParamType  # older ones aren't generic

_TIME = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m(?:in)?)?(?:(\d+(?:\.\d+)?)s?)?")
_MONEY = re.compile(r"\$?(\d+(?:\.\d+)?|\.\d+)\$?")


class Duration(_Param):
    """Seconds above 0: `90`, `90s`, `10m`, `1h30m`."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return seconds."""
        found = _TIME.fullmatch(str(value).strip())
        seconds = sum(float(n) * unit for n, unit in zip(found.groups("0"), (3600, 60, 1), strict=True)) if found else 0
        if not 0 < seconds < math.inf:
            self.fail(f"{value!r} is no time: write seconds, or as in 90s, 10m, 1h30m", param, ctx)
        return seconds


class Dollars(_Param):
    """USD above 0: `0.50`, `$2`."""

    name = "usd"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return USD."""
        found = _MONEY.fullmatch(str(value).strip())
        usd = float(found[1]) if found else 0.0
        if not 0 < usd < math.inf:
            self.fail(f"{value!r} is no amount in USD: write it as in 0.50 or $2", param, ctx)
        return usd
