"""Servers without a session: for a command that looks at them, calls one, or logs in.

project ──▶ the same servers as a session's, beside a group of their own ──▶ Mcp ──▶ all ended with the block
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from trimtab.coding.confine import confiner_of
from trimtab.coding.guard import permission_hooks, workspace_of
from trimtab.coding.mcp.hub import Mcp
from trimtab.coding.mcp.open import configured, servers_of, ways_of
from trimtab.coding.mcp.ways import Ways
from trimtab.coding.person import NOBODY
from trimtab.coding.project import Project
from trimtab.coding.services import services
from trimtab.coding.tools.capture import PrivateFolder
from trimtab.coding.toolset import caps_of


@dataclass(frozen=True, slots=True)
class Offline:
    """The servers of a project, what a person should know of them, and how they are reached."""

    hub: Mcp
    notices: tuple[str, ...]
    ways: Ways


@asynccontextmanager
async def servers_alone(project: Project) -> AsyncIterator[Offline]:
    """The servers, none of them started. Raises `ConfigError` for a rule that can't be read."""
    configs, notices = await configured(project, NOBODY)
    ways, outputs = ways_of(project, confiner_of(project), NOBODY), PrivateFolder()
    try:
        async with services() as beside:
            servers = await servers_of(project, configs, ways, beside)
            hooks = permission_hooks(project, workspace_of(project))
            caps = caps_of(project.settings.tools)
            yield Offline(Mcp(project.settings.mcp, servers, beside, hooks, outputs, caps), notices, ways)
    finally:
        outputs.close()
