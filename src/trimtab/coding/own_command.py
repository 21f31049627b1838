"""A command that the person runs: as they typed it, in the session's folder, in no sandbox and asked about by nobody.

!npm test ──▶ bash, with the environment that commands get ──▶ shown ──▶ into the conversation, for the model to read
!!npm test ──▶ the same, and the model never sees it
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from trimtab.agent.events import MessageEnded
from trimtab.agent.ports import ToolOutput, ToolRun
from trimtab.coding.tools.bash import BashTool
from trimtab.coding.toolset import caps_of, environment_of
from trimtab.types.messages import Text, user
from trimtab.types.text import scrub

if TYPE_CHECKING:
    from trimtab.coding.session import Session


async def run_own(
    session: "Session", command: str, *, shared: bool, update: Callable[[str], Awaitable[None]]
) -> ToolOutput:
    """Run it; `shared`: the model reads it with the next prompt. A long output is cut as that of a tool is, and lies whole beside the session. Cancelling ends all that it started."""
    project, settings = session.project, session.project.settings.tools
    tool = BashTool(
        project.cwd,
        environment_of(project),
        session.kit.outputs,
        caps=caps_of(settings),
        default_timeout_s=settings.bash.max_timeout_s,
        max_timeout_s=settings.bash.max_timeout_s,
        prefix=settings.bash.prefix,
    )
    output = await tool.run({"command": command}, ToolRun("", update))
    if shared:
        text = "".join(part.text for part in output.parts if isinstance(part, Text))
        message = user(scrub(f"I ran a command myself:\n$ {command}\n{text}"), origin="command")
        (entry,) = await session.context.transcript.append([message])
        await session.feed.publish(MessageEnded(entry_id=entry, message=message))
    return output
