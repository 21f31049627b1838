"""Housekeeping: what is tidied before it was ever sent, so that it never costs anything.

    memo(write, content=…) answered well      the content is a pointer in every request
    archive(…, summary=…) answered well       the summary stands in the stub; the arguments only name it
    a result that would fill the window       recorded whole, shown folded

Only bytes that no request has carried are touched here: an edit of those is free. An answer whose thinking is signed may not change while its
tool loop goes on, so its arguments stay; of such an `archive` the stub says in which call the summary stands (`said_in`), and has none itself.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from trimtab.context.actions import Action
from trimtab.context.window.view import View
from trimtab.types.messages import Assistant, ToolCall, ToolResult
from trimtab.types.stream import parse_arguments

KEPT_ELSEWHERE: Mapping[str, str] = {"memo": "content", "archive": "summary", "memory": "content"}
"""Context tools that keep an argument elsewhere, and which."""
LEAST_KEPT = 40
"""Tokens of such an argument from which on it may become a pointer; whether that is shorter, the plan says."""


def housekeeping(
    view: View,
    places: Iterable[int],
    *,
    is_large: Callable[[ToolResult], bool],
    frozen: Callable[[View], Collection[int]] = lambda _view: (),
) -> Sequence[Action]:
    """Return the actions for what nobody has been sent yet: the slots at `places`.

    `is_large` says whether a result is too large to be shown whole, `frozen` in which slots nothing may change now. What was edited before is left
    as it is.
    """
    kept: list[tuple[int, str]] = []
    large: list[str] = []
    for place in places:
        slot = view.slots[place]
        if (
            isinstance(slot.base, ToolResult)
            and slot.shown
            and slot.answered
            and not slot.layers
            and is_large(slot.base)
        ):
            large.append(slot.id)
        if not slot.shown or not isinstance(slot.base, Assistant) or slot.layers.effect.arguments:
            continue
        for part, call in enumerate(slot.base.parts):
            if isinstance(call, ToolCall) and _keeps_elsewhere(call) and _succeeded(view, place, call):
                kept.append((place, f"{slot.id}#{part}"))
    still = frozen(view) if kept else ()
    actions = (
        Action(
            "offload", tuple(name for place, name in kept if place not in still), reason="its text is kept elsewhere"
        ),
        Action("fold", tuple(large), reason="it would fill the window"),
    )
    return tuple(action for action in actions if action.targets)


def said_in(view: View, summary: str, *, frozen: Callable[[View], Collection[int]]) -> str:
    """The id of the `archive` that is being answered now, where `summary` has to stay in its arguments; empty when it doesn't."""
    open_groups = {view.slots[place].group for place in view.open_places}
    for place in sorted(group for group in open_groups if group is not None):
        for call in view.slots[place].base.parts:
            if (
                isinstance(call, ToolCall)
                and call.name == "archive"
                and (_kept_text(call) or "").strip() == summary
                and place in frozen(view)
            ):
                return call.id
    return ""


def _kept_text(call: ToolCall) -> str | None:
    name = KEPT_ELSEWHERE.get(call.name)
    if name is None:
        return None
    arguments = parse_arguments(call.raw) if call.arguments is None else call.arguments
    text = arguments.get(name) if arguments else None
    return text if isinstance(text, str) else None


def _keeps_elsewhere(call: ToolCall) -> bool:
    text = _kept_text(call)
    return text is not None and len(text.encode("utf-8", "surrogatepass")) >= LEAST_KEPT


def _succeeded(view: View, place: int, call: ToolCall) -> bool:
    for index in view.group(place):
        base = view.slots[index].base
        if isinstance(base, ToolResult) and base.call_id == call.id:
            return view.slots[index].answered and not base.is_error
    return False
