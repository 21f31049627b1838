"""The hooks in front of every tool call, outside of all others: what they change is judged as if the model had sent it.

call ──points.tool_call──▶ refused, or as changed ──▶ inner: instructions ▸ markers ▸ checkpoints ▸ changes ▸ permissions ──▶ it runs
output ◀──points.tool_result── as the inner hooks left it
"""

import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace as with_fields
from typing import Any

from msgspec.structs import replace

from trimtab.agent.ports import Answer, Hooks, Proceed, ToolOutput, set_meanwhile
from trimtab.coding.extensions.chain import CallVerdict, HookPoints
from trimtab.coding.extensions.points import ToolCalled, ToolReturned
from trimtab.coding.permissions.asking import visible
from trimtab.coding.person import Option, Person, Question
from trimtab.coding.refusals import DENIED
from trimtab.types.messages import Text, ToolCall

_TOLD = 50_000
"""Characters of an output that hooks are told."""
_SHOWN = 4_000
_YES = Option("once", "yes, this time")
_NO = Option("no", "no")


class ToolHooks:
    """Asks `points` about each call, then `inner`. `where` is the session and its folder, `person` decides where a hook wants that."""

    def __init__(self, inner: Hooks, points: HookPoints, where: Mapping[str, Any], person: Person) -> None:
        self._inner = inner
        self._points = points
        self._where = where
        self._person = person
        self._notes: dict[str, tuple[str, ...]] = {}

    async def before_tool(self, call: ToolCall) -> Proceed | Answer:
        """Refuse the call, change it, or let the inner hooks judge it."""
        given = call.arguments or {}
        told = ToolCalled(tool_name=call.name, tool_input=deepcopy(given), call_id=call.id, **self._where)
        verdict = await self._points.tool_call(told)
        if verdict.refusal and not (verdict.ask and await self._allowed(call, verdict)):
            return _refused(verdict)
        changed = verdict.arguments != given
        if changed:
            # What it touches is another thing now, so the calls behind it have to wait for the whole verdict.
            set_meanwhile(_stay)
            arguments = verdict.arguments
            call = replace(call, arguments=arguments, raw=json.dumps(arguments, ensure_ascii=False, default=str))
        decision = await self._inner.before_tool(call)
        if isinstance(decision, Answer):
            return decision
        if verdict.notes:
            self._notes[call.id] = verdict.notes
        return Proceed(call) if changed and decision.call is None else decision

    async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
        """What the inner hooks say, then what these make of it."""
        output = await self._inner.after_tool(call, output)
        notes = self._notes.pop(call.id, ())
        if self._points.has("tool_result"):
            said = "\n".join(part.text for part in output.parts if isinstance(part, Text))[:_TOLD]
            told = ToolReturned(
                tool_name=call.name,
                tool_input=deepcopy(call.arguments or {}),
                tool_response=said,
                is_error=output.is_error,
                call_id=call.id,
                **self._where,
            )
            other, more = await self._points.tool_result(told)
            notes = (*notes, *more)
            if other is not None:
                output = with_fields(output, parts=(Text(other.text),), is_error=other.is_error, cut=None)
        if notes:
            output = with_fields(output, parts=(*output.parts, Text("\n" + "\n".join(notes))))
        return output

    async def _allowed(self, call: ToolCall, verdict: CallVerdict) -> bool:
        """Whether the person lets the call go on to the permissions."""
        shown = json.dumps(verdict.arguments, ensure_ascii=False, default=str)
        if len(shown) > _SHOWN:
            return False  # what can't be shown whole is no question
        details = (f"{call.name} {visible(shown)}", f"{verdict.by} says: {visible(verdict.refusal)}")
        question = Question("permission", f"{verdict.by} wants you to decide about this call:", details, (_YES, _NO))
        return await self._person.ask(question) == _YES.key


def _refused(verdict: CallVerdict) -> Answer:
    text = f"Not run: {verdict.refusal}"
    if verdict.ask:
        text += " (a person has to decide that, and none said yes)"
    if verdict.notes:
        text += "\n" + "\n".join(verdict.notes)
    return Answer(ToolOutput.text(text, is_error=True, details={"permission": DENIED, "by": verdict.by}))


def _stay() -> None:
    """Let nobody past."""
