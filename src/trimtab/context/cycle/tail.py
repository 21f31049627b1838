"""The tail: what has to be said again at the end of a request, once edits have taken it out of sight.

    view, edited ──▶ the newest plan, the index of memories ──hidden──▶ said again, word for word
                 └─▶ memos whose calls are gone ──told by no index──▶ an index, by key

Nothing is said twice: a call that is shown says what it kept. What was said before becomes outdated and goes with a later batch
(`ladder.outdated`). What a person took back isn't said again. All of it comes from the view and the memo store, so it follows branches, reverts and reopened sessions.
"""

from collections.abc import Callable, Iterable, Iterator

from trimtab.context.actions import Action
from trimtab.context.cycle.look import Look
from trimtab.context.stores.note_files import MemoInfo
from trimtab.context.stores.notes import clean_key
from trimtab.context.tools.indexes import MEMORIES, MEMOS, MORE, memo_index, memo_row
from trimtab.context.tools.plan import LABEL as PLAN
from trimtab.context.window.view import Applied, View
from trimtab.types.edits import Restate
from trimtab.types.errors import StoreError
from trimtab.types.messages import Assistant, ToolCall, ToolResult
from trimtab.types.stream import parse_arguments

Memos = Callable[[], Iterable[MemoInfo]]
SHARE = 24
"""The part of the room, one in so many tokens, that one index may have."""
_MOST = 1_500
_REASON = "edits took it out of sight"


def most_of(room: int) -> int:
    """Tokens that an index may have where a request may have `room`."""
    return min(_MOST, room // SHARE)


def tail(look: Look, memos: Memos | None) -> tuple[Action, ...]:
    """Return what has to be said again now and has room. `memos` lists what the memo store holds."""
    view, count = look.view, look.tally.text
    offered = {tool.name for tool in look.request.tools}
    newest = _newest(view.applied)
    holding = _newest(applied for applied in view.applied if applied.id not in view.reverted)
    wanted = [
        (label, said.text)
        for label, tool, share in ((PLAN, "plan", 4), (MEMORIES, "memory", 1))
        if tool in offered
        and (said := _swallowed(view, holding.get(label), newest.get(label))) is not None
        and count(said.text) <= share * most_of(look.budget.room)
    ]
    if memos is not None and "memo" in offered:
        text = _memos_untold(view, memos, newest.get(MEMOS), count=count, most=most_of(look.budget.room))
        wanted += [(MEMOS, text)] if text else []
    actions, taken = [], 0
    for label, text in wanted:
        if look.has_room_for(taken + count(text)):
            taken += count(text)
            actions.append(Action("restate", params={"text": text, "label": label}, reason=_REASON))
    return tuple(actions)


def stated(view: View, label: str) -> Applied | None:
    """The newest `restate` of that label, whether or not it holds."""
    return _newest(view.applied).get(label)


def _newest(edits: Iterable[Applied]) -> dict[str, Applied]:
    return {a.edit.label: a for a in edits if isinstance(a.edit, Restate) and a.edit.label}


def _swallowed(view: View, applied: Applied | None, last: Applied | None) -> Restate | None:
    """What `applied` said, if nothing shows it any more and it isn't what somebody took back last."""
    if applied is None or not isinstance(applied.edit, Restate) or _shows(view, applied):
        return None
    if last is not applied and last is not None and last.edit == applied.edit:
        return None
    return applied.edit


def _shows(view: View, applied: Applied) -> bool:
    return any(view.slots[index].state != "gone" for index in applied.slots)


def _memos_untold(view: View, memos: Memos, last: Applied | None, *, count: Callable[[str], int], most: int) -> str:
    """The index of the memos that neither a call nor the last index tells of; empty when all are told of as they are."""
    try:
        infos = tuple(memos())
    except StoreError:
        return ""  # what can't be listed now is listed another time
    told = dict(_calls_shown(view))
    untold = [info for info in infos if told.get(info.key) != info.summary]
    known = _rows(last.edit.text) if last is not None and isinstance(last.edit, Restate) else []
    text = memo_index(untold, count=count, most=most)
    if last is not None and last.id in view.reverted:
        return "" if known == _rows(text) else text
    if last is None or not _shows(view, last):
        return text
    # What the last index says of a memo that is gone, or other than it says, misleads unless a call tells the rest.
    rows = {memo_row(info) for info in infos}
    wrong = [row for row in known if row not in rows and not any(row.startswith(f"{key} (") for key in told)]
    if not wrong and set(_rows(text)) <= set(known):
        return ""
    return text or memo_index(infos, count=count, most=most)


def _rows(index: str) -> list[str]:
    return [row for row in index.splitlines()[1:] if not row.startswith(MORE)]


def _calls_shown(view: View) -> Iterator[tuple[str, str | None]]:
    """Key and summary of each memo that a call in sight wrote; no summary: it deleted it. In order, so the last word on a key comes last."""
    failed = {m.call_id for m in view.messages() if isinstance(m, ToolResult) and m.is_error}
    for message in view.messages():
        for call in message.tool_calls if isinstance(message, Assistant) else ():
            if call.name == "memo" and call.id not in failed and (told := _memo_call(call)):
                yield told


def _memo_call(call: ToolCall) -> tuple[str, str | None] | None:
    arguments = parse_arguments(call.raw) if call.arguments is None else call.arguments
    if not arguments or arguments.get("action") not in ("write", "delete"):
        return None
    summary = " ".join(str(arguments.get("summary") or "").split()) if arguments["action"] == "write" else None
    return clean_key(str(arguments.get("key") or "")), summary
