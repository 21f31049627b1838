"""Tools of extensions as the loop sees them: plain functions run in threads, outputs have an end, and nothing that is raised gets past."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from trimtab.agent.ports import Access, ToolOutput, ToolRun
from trimtab.coding.extensions.api import RegisteredTool
from trimtab.coding.extensions.foreign import HookFailed, call_foreign, said
from trimtab.coding.extensions.here import Here
from trimtab.types.messages import Image, Part, Text
from trimtab.types.text import scrub, scrub_deep
from trimtab.types.tools import Cut, ToolSpec

LONGEST = 50 * 1024
"""Characters of one text that such a tool may give."""
_OUTPUT = tuple[tuple[Text | Image, ...], dict[str, Any] | None, Cut | None, bool]


@dataclass(frozen=True, slots=True)
class ExtensionTool:
    """A tool of an extension. What a function touches nobody knows, so its calls wait for those before them."""

    spec: ToolSpec
    snippet: str
    guidelines: tuple[str, ...]
    touches: Callable[[Mapping[str, Any]], Access]
    does: Callable[[Mapping[str, Any], ToolRun], Any]

    def access(self, arguments: Mapping[str, Any]) -> Access:
        """What a call touches."""
        return self.touches(arguments)

    async def run(self, arguments: Mapping[str, Any], run: ToolRun) -> ToolOutput:
        """Do it; what fails is the model's to read."""
        try:
            result = _recordable(await call_foreign(self.does, arguments, run, limit_s=math.inf))
        except HookFailed as problem:
            return ToolOutput.text(f"{self.spec.name} failed: {problem}", is_error=True)
        return replace(result, parts=tuple(map(_cut, result.parts)))


def as_tool(registered: RegisteredTool, here: Callable[[], Here]) -> ExtensionTool:
    """What was registered as a tool of the loop; `here` is asked at each call."""
    spec, inner = registered.spec, registered.run
    if not callable(inner):
        return ExtensionTool(spec, inner.snippet, tuple(inner.guidelines), inner.access, inner.run)

    def does(arguments: Mapping[str, Any], run: ToolRun) -> Any:
        return inner(arguments, here())

    return ExtensionTool(spec, registered.snippet, registered.guidelines, lambda _arguments: Access(writes="*"), does)


def _recordable(result: object) -> ToolOutput:
    """What a tool gave, as the log can hold it. Raises `HookFailed` for what it can't."""
    if isinstance(result, str):
        return ToolOutput.text(str(result))
    if not isinstance(result, ToolOutput):
        raise HookFailed(f"it gave a {type(result).__name__} and no text")
    try:
        tree = msgspec.to_builtins((result.parts, scrub_deep(result.details), result.cut, result.is_error))
        parts, details, cut, is_error = msgspec.convert(tree, _OUTPUT)
        msgspec.json.encode(details)
    except (TypeError, ValueError, AttributeError, RecursionError) as problem:
        raise HookFailed(f"its output can't be recorded: {said(problem)}") from problem
    return ToolOutput(parts, is_error, details, cut)


def _cut(part: Part) -> Part:
    if isinstance(part, Text) and len(part.text) > LONGEST:
        more = len(part.text) - LONGEST
        return Text(scrub(part.text[:LONGEST]) + f"\n[cut: {more:,} more characters]")
    return part
