"""What summaries took, as a log tells it: by the edits that show them, and by entries for what no edit shows.

    edit with usage ──written_by──┐
    entry "summaries"─────────────┴─▶ Written: model, tokens, USD            both are read from raw lines too, without decoding bodies

An entry may take off what an edit tells once more, so its counts may be below zero; only the sum over a session means something.
"""

from dataclasses import dataclass

import msgspec

from trimtab.types.codec import Entry
from trimtab.types.edits import Compact, Edit, EditCost
from trimtab.types.entries import CustomEntry
from trimtab.types.usage import Usage

_EVENT = "summaries"


@dataclass(frozen=True, slots=True)
class Written:
    """Requests for summaries to one model. `usd` is None when a price isn't known."""

    model: str
    usage: Usage
    usd: float | None


class _Cost(msgspec.Struct):
    model_usd: float | None = None


class _Shown(msgspec.Struct):
    usage: Usage | None = None
    model: str | None = None


class _EditLine(msgspec.Struct):
    edit: _Shown
    cost: _Cost = msgspec.field(default_factory=_Cost)


class _Data(msgspec.Struct):
    event: str = ""
    model: str = ""
    usage: Usage | None = None
    usd: float | None = None


class _CustomLine(msgspec.Struct):
    data: _Data


_edit_line = msgspec.json.Decoder(_EditLine)
_custom_line = msgspec.json.Decoder(_CustomLine)


def written_by(edit: Edit, cost: EditCost) -> Written | None:
    """What an edit tells of requests for its text."""
    if not isinstance(edit, Compact) or edit.usage is None or not edit.model:
        return None
    return Written(edit.model, edit.usage, cost.model_usd)


def entry_of_spent(written: Written) -> CustomEntry:
    """The entry that tells of requests of which no edit does."""
    data = {
        "event": _EVENT,
        "reason": "what requests for summaries took, as far as no edit tells it",
        "model": written.model,
        "usage": msgspec.to_builtins(written.usage),
        "usd": written.usd,
    }
    return CustomEntry(id="", parent=None, time="", kind="context", data=data)


def written_in(entry: Entry) -> Written | None:
    """What an entry of a log tells of requests for summaries; None for any other."""
    if b'"usage":{' not in entry.raw:
        return None
    try:
        if entry.type == "edit":
            line = _edit_line.decode(entry.raw)
            shown = line.edit
            return Written(shown.model, shown.usage, line.cost.model_usd) if shown.usage and shown.model else None
        if entry.type == "custom":
            data = _custom_line.decode(entry.raw).data
            return Written(data.model, data.usage, data.usd) if data.event == _EVENT and data.usage else None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return None
