"""Framing: a summary as it is shown, with what stands around its text.

    [Record of N messages …]  text  names that would be lost  state  [Sources: … . way back]

The way back is `recall`, or one file that lists the files of all that the summary stands for: folders can't be read.
"""

from collections.abc import Iterable, Sequence

from trimtab.context.actions import Action
from trimtab.context.editing.applying import bodies_of
from trimtab.context.editing.beneath import number_of, places_beneath
from trimtab.context.editing.hidden_items import in_words
from trimtab.context.editing.kit import Kit
from trimtab.context.editing.stubs import standing_strings
from trimtab.context.markers import RECALL
from trimtab.context.naming import handle_number, name_of
from trimtab.context.shorten.names import names_line, written_in
from trimtab.context.strings import arguments_text, distinctive_strings
from trimtab.context.summary.frame import frame
from trimtab.context.summary.redact import redact
from trimtab.context.window.slots import Slot
from trimtab.context.window.view import View
from trimtab.types.messages import Assistant, Text, ToolCall, ToolResult, User


def index_name(view: View, run: Sequence[int]) -> str:
    """The name of the file that lists what a compaction of `run` stands for."""
    return f"messages-{view.slots[run[0]].id}-{view.slots[run[-1]].id}"


def with_index(view: View, run: Sequence[int], kit: Kit) -> dict[str, str]:
    """The texts of `run`, and of what earlier summaries in it stand for, by name, with a list of their files."""
    slots = [view.slots[index] for index in sorted({*places_beneath(view, run), *run})]
    bodies = bodies_of(slots, kit)
    rows = [f"{name_of(slot)}  {_said_by(slot)}  {kit.way_back(slot)}" for slot in slots if name_of(slot) in bodies]
    return {**bodies, index_name(view, run): "\n".join(["NAME  FROM  FILE", *rows])}


def _said_by(slot: Slot) -> str:
    base = slot.base
    return base.tool_name if isinstance(base, ToolResult) else "user" if isinstance(base, User) else "assistant"


def framed(view: View, run: Sequence[int], text: str, attached: str, kit: Kit, *, index: str | None) -> str:
    """The text as it is shown: what it stands for, the way back (`index`: a file that lists it), and what is attached from state."""
    slots = [view.slots[i] for i in sorted({*places_beneath(view, run), *run})]
    handles = [slot.base.handle for slot in slots if isinstance(slot.base, ToolResult) and slot.base.handle]
    way_back = f"To read any of them, find its file in this list: read path={index}" if index else ""
    if kit.way_back(view.slots[run[0]]) == RECALL:
        way_back = "To read any of them: recall id=ID; to find something: recall query=WORDS."
    body = "\n\n".join(part for part in (text.strip(), attached.strip()) if part)
    return frame(body, replaced=number_of(view, run), sources=_ranges(handles), way_back=way_back)


def names_of(view: View, run: Sequence[int], text: str, action: Action, kit: Kit) -> str:
    """A line with the names that would go with the run, as many as the action's `names` (tokens) allow; first those that calls wrote."""
    most = action.params.get("names")
    if not isinstance(most, int) or isinstance(most, bool) or most <= 0:
        return ""
    shown = [in_words(slot, message) for slot in (view.slots[i] for i in run) for message in slot.shown]
    written = [_names_in(part) for message in shown for part in message.parts if isinstance(part, ToolCall)]
    parts = [part for message in shown if not isinstance(message, Assistant) for part in message.parts]
    # A secret would be a name like any other, and what tells that it is one stands in front of it.
    read = [redact(part.text) for part in parts if isinstance(part, Text)]
    standing = standing_strings(view, but=set(run)).union(distinctive_strings(text), _call_ids(view, run))
    taken = [string for one in written for string in distinctive_strings(one)]
    return names_line("\n".join((*written, *read)), standing=standing, max_tokens=most, count=kit.count, taken=taken)


def _call_ids(view: View, run: Sequence[int]) -> set[str]:
    """The ids of calls, which name messages and nothing that the messages say."""
    slots = [view.slots[place] for place in {*places_beneath(view, run), *run}]
    return {slot.base.call_id for slot in slots if isinstance(slot.base, ToolResult)}


def _names_in(call: ToolCall) -> str:
    """The names in what a call's arguments say, without those that are secrets by the key in front of them."""
    known = redact(call.raw)
    return "\n".join(name for name in written_in(arguments_text(call)) if name in known)


def _ranges(handles: Iterable[str]) -> list[str]:
    """`r3-r9`, `r12`: handles of running numbers, in order."""
    spans: list[list[int]] = []
    for number in sorted({number for handle in handles if (number := handle_number(handle)) is not None}):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return [f"r{a}" if a == b else f"r{a}-r{b}" for a, b in spans]
