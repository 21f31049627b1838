"""What a list shows of a session, as bytes: the same out as in.

Usage stands request by request, as counts alone: a price may depend on the size of each, and the price of tomorrow may be another one.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

import msgspec

from trimtab.context.stores.summary import Ended, SessionSummary
from trimtab.context.stores.written import Written
from trimtab.types.usage import Usage

_Counts: TypeAlias = tuple[int, ...]


class _Kept(msgspec.Struct, array_like=True, frozen=True, gc=False):
    id: str
    cwd: str
    title: str
    created: str
    modified: float
    entries: int
    answers: dict[str, tuple[_Counts, ...]]
    summaries: tuple[tuple[str, _Counts, float | None], ...]
    parent_session: str | None
    damage: int
    prompt: str
    model: str
    ended: Ended
    archived: bool


_decoder = msgspec.msgpack.Decoder(_Kept)
_COUNTS = Usage.__struct_fields__


def packed(summary: SessionSummary, modified: float) -> bytes:
    """Return the bytes of a summary; `modified` in seconds since 1970."""
    return msgspec.msgpack.encode(
        _Kept(
            summary.id,
            summary.cwd,
            summary.title,
            summary.created,
            modified,
            summary.entries,
            {model: tuple(map(_counts, usages)) for model, usages in summary.answers.items()},
            tuple((written.model, _counts(written.usage), written.usd) for written in summary.summaries),
            summary.parent_session,
            summary.damage,
            summary.prompt,
            summary.model,
            summary.ended,
            summary.archived,
        )
    )


def unpacked(data: bytes, path: Path) -> SessionSummary:
    """Return the summary in `data`. Raises `msgspec.MsgspecError`, `OverflowError` or `ValueError` when it is none."""
    kept = _decoder.decode(data)
    return SessionSummary(
        id=kept.id,
        path=path,
        cwd=kept.cwd,
        title=kept.title,
        created=kept.created,
        modified=datetime.fromtimestamp(kept.modified, UTC),
        entries=kept.entries,
        answers={model: tuple(Usage(*counts) for counts in usages) for model, usages in kept.answers.items()},
        summaries=tuple(Written(model, Usage(*counts), usd) for model, counts, usd in kept.summaries),
        parent_session=kept.parent_session,
        damage=kept.damage,
        prompt=kept.prompt,
        model=kept.model,
        ended=kept.ended,
        archived=kept.archived,
    )


def _counts(usage: Usage) -> _Counts:
    return tuple(getattr(usage, name) for name in _COUNTS)
