"""A call as a person writes it down, to ask what would become of it: `bash "git push && ls"`, `write docs/a.md`, `fetch https://a.org`."""

from collections.abc import Collection

from trimtab.coding.permissions.policy import CONTEXT_TOOLS
from trimtab.coding.permissions.rules import LOOKING, TOOLS, WRITING
from trimtab.types.errors import UsageError
from trimtab.types.messages import ToolCall
from trimtab.types.near import nearest


def call_in_words(tool: str, argument: str, *, tools: Collection[str] = ()) -> ToolCall:
    """Return the call. `tools` are names beside our own. Raises `UsageError` for a tool that there isn't, or a command, path or address that is missing."""
    known = TOOLS | CONTEXT_TOOLS | set(tools)
    if tool not in known and "__" not in tool:
        meant = nearest(tool, known)
        guess = f"Did you mean {meant}? " if meant else ""
        raise UsageError(f"there is no tool {tool!r}", hint=f"{guess}Tools: {', '.join(sorted(TOOLS | set(tools)))}.")
    name = "command" if tool == "bash" else "url" if tool == "fetch" else "path" if tool in WRITING | LOOKING else ""
    if name and tool not in LOOKING and not argument.strip():
        raise UsageError(f"{tool} needs a {name}", hint='As in: why bash "git push", or: why write docs/a.md.')
    return ToolCall("why", tool, {name: argument} if name and argument.strip() else {}, "")
