"""Tools of extensions as the loop sees them: plain functions run in threads, outputs have an end, and nothing that is raised gets past."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from trimtab.agent.ports import Access, ToolOutput, ToolRun
from trimtab.coding.extensions.api import RegisteredTool
from trimtab.coding.extensions.foreign import HookFailed, call_foreign
from trimtab.coding.extensions.here import Here
from trimtab.types.messages import Part, Text
from trimtab.types.text import scrub
from trimtab.types.tools import ToolSpec

LONGEST = 50 * 1024
"""Characters of one text that such a tool may give."""


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
            result = await call_foreign(self.does, arguments, run, limit_s=math.inf)
        except HookFailed as problem:
            return ToolOutput.text(f"{self.spec.name} failed: {problem}", is_error=True)
        if isinstance(result, str):
            result = ToolOutput.text(result)
        if not isinstance(result, ToolOutput):
            what = type(result).__name__
            return ToolOutput.text(f"{self.spec.name} failed: it gave a {what} and no text", is_error=True)
        return replace(result, parts=tuple(map(_cut, result.parts)))


def as_tool(registered: RegisteredTool, here: Callable[[], Here]) -> ExtensionTool:
    """What was registered as a tool of the loop; `here` is asked at each call."""
    spec, inner = registered.spec, registered.run
    if not callable(inner):
        return ExtensionTool(spec, inner.snippet, tuple(inner.guidelines), inner.access, inner.run)

    def does(arguments: Mapping[str, Any], run: ToolRun) -> Any:
        return inner(arguments, here())

    return ExtensionTool(spec, registered.snippet, registered.guidelines, lambda _arguments: Access(writes="*"), does)


def _cut(part: Part) -> Part:
    if isinstance(part, Text) and len(part.text) > LONGEST:
        more = len(part.text) - LONGEST
        return Text(scrub(part.text[:LONGEST]) + f"\n[cut: {more:,} more characters]")
    return part
