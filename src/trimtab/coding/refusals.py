"""Which calls of a turn were not allowed: a hook that counts them, and the one line a person gets about them; of those that the person refused they know."""

import json

from trimtab.agent.ports import Answer, Hooks, Proceed, ToolOutput
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import shortened
from trimtab.types.messages import ToolCall

DENIED = "denied"
"""`details["permission"]` of a call that was not allowed."""
_NAMED = 3
_LENGTH = 60


class RefusalRecorder:
    """Passes every call on to `inner` and remembers those that it doesn't allow."""

    def __init__(self, inner: Hooks) -> None:
        self._inner = inner
        self._calls: list[tuple[str, str]] = []
        self._rules: dict[str, None] = {}

    async def before_tool(self, call: ToolCall) -> Proceed | Answer:
        """What the inner hooks say, remembered."""
        decision = await self._inner.before_tool(call)
        details = (decision.output.details or {}) if isinstance(decision, Answer) else {}
        if details.get("permission") == DENIED and details.get("by") != "person":
            self._calls.append((_named(call), str(details.get("by", ""))))
            self._rules |= dict.fromkeys(details.get("rules", ()))
        return decision

    async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
        """What the inner hooks say."""
        return await self._inner.after_tool(call, output)

    def around(self, hooks: Hooks) -> Hooks:
        """`hooks`, those of others, which stand in front of `inner`: what they refuse is remembered too, with who did."""
        return _Outside(hooks, self._calls)

    def take_notice(self) -> str:
        """What happened since the last time, in one line; empty when every call was allowed."""
        calls, rules = self._calls[:], list(self._rules)
        self._calls.clear()
        self._rules.clear()
        if not calls:
            return ""
        named = list(dict.fromkeys(name for name, _ in calls))
        more = f"; and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
        count = "1 call was" if len(calls) == 1 else f"{len(calls)} calls were"
        told = dict.fromkeys(by for _, by in calls)
        others = [f"Refused by {shortened(one_line(by), _LENGTH)}" for by in told if by not in _WAYS]
        fit = 0 < len(rules) <= _NAMED
        known = (
            {**_WAYS, "": _ALLOWED.format(f"permissions.allow = {one_line(json.dumps(rules, ensure_ascii=False))}")}
            if fit
            else _WAYS
        )
        ways = "; ".join((*others, *(known[by] for by in known if by in told)))
        return f"{count} not allowed: {'; '.join(named[:_NAMED])}{more}. {ways}"


class _Outside:
    """Remembers what `inner` refuses in the name of a hook; of the rest the recorder behind it knows."""

    def __init__(self, inner: Hooks, calls: list[tuple[str, str]]) -> None:
        self._inner = inner
        self._calls = calls

    async def before_tool(self, call: ToolCall) -> Proceed | Answer:
        """What the inner hooks say, remembered."""
        decision = await self._inner.before_tool(call)
        details = (decision.output.details or {}) if isinstance(decision, Answer) else {}
        by = str(details.get("by", ""))
        if details.get("permission") == DENIED and by not in _KNOWN:
            self._calls.append((_named(call), by))
        return decision

    async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
        """What the inner hooks say."""
        return await self._inner.after_tool(call, output)


_ALLOWED = "To allow: --permission full, or {}; a deny rule wins over both"
_WAYS = {
    "plan": "Mode plan changes nothing, whatever rules allow: --permission auto-edit, or /permissions auto-edit in a talk, leaves it",
    "unanswered": "A question that stands unanswered allows nothing: ask for it again to be asked again",
    "ask": "A rule of permissions.ask holds it for a person, whatever allows it: ask for it in a talk, or take the rule out",
    "": _ALLOWED.format('rules such as permissions.allow = ["bash(npm test)"]'),
}
"""What a person does about it, by why it wasn't allowed."""
_KNOWN = (*_WAYS, "person")


def _named(call: ToolCall) -> str:
    arguments = call.arguments or {}
    subject = arguments.get("command") or arguments.get("path") or json.dumps(arguments, ensure_ascii=False)
    line = f"{call.name} {' '.join(str(subject).split())}"
    return line if len(line) <= _LENGTH else line[: _LENGTH - 1] + "…"
