"""Which files a run changed: a hook that listens to what tools say they did."""

from trimtab.agent.ports import Answer, Hooks, Proceed, ToolOutput
from trimtab.types.messages import ToolCall


class ChangeRecorder:
    """Passes every call on to `inner` and remembers the paths in `details["changed"]`."""

    def __init__(self, inner: Hooks) -> None:
        self._inner = inner
        self._files: dict[str, None] = {}

    @property
    def files(self) -> tuple[str, ...]:
        """Absolute paths, in the order of their first change."""
        return tuple(self._files)

    async def before_tool(self, call: ToolCall) -> Proceed | Answer:
        """What the inner hooks say."""
        return await self._inner.before_tool(call)

    async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
        """Remember, then what the inner hooks say."""
        changed = (output.details or {}).get("changed", ())
        self._files.update(dict.fromkeys(str(path) for path in changed))
        return await self._inner.after_tool(call, output)
