"""Where what lets one in comes from, as lines for a person: a place, a kind, an end, and never the thing itself."""

from collections.abc import Iterable, Mapping

from trimtab.coding.auth.found import Source, in_use
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import table

_HEAD = ("PROVIDER", "WHAT", "FROM", "")
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def source_rows(found: Mapping[str, tuple[Source, ...]], *, now: float) -> list[str]:
    """Lines of a table of all sources by provider; empty when there are none. `now` is Unix time."""
    rows = [row for name, of in found.items() for row in _rows(name, of, now)]
    return table([_HEAD, *rows], None) if rows else []


def _rows(name: str, found: tuple[Source, ...], now: float) -> Iterable[tuple[str, ...]]:
    first = in_use(found)
    for source in found:
        what = "token" if source.oauth else "key"
        state = (
            "used"
            if source is first
            else source.unused or f"not used: {first.where} comes first"
            if first
            else source.unused
        )
        yield (
            one_line(name),
            what,
            one_line(source.where),
            one_line("; ".join(filter(None, (state, ending(source, now))))),
        )


def ending(source: Source, now: float) -> str:
    """When a token ends, and what happens then; empty for a key, which doesn't."""
    if not source.oauth:
        return ""
    then = "is renewed by itself" if source.renews else "can't be renewed: log in again then"
    if source.expires_at is None:
        return "ends when its server says so"
    left = source.expires_at - now
    if left <= 0:
        return "has ended; is renewed when it is used" if source.renews else "has ended: log in again"
    return f"ends in {_span(left)}, {then}"


def _span(seconds: float) -> str:
    for unit, name in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= unit:
            return f"{int(seconds // unit)} {name}"
    return f"{int(seconds)} s"
