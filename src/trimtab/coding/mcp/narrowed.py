"""Tools from elsewhere for somebody who may have some of them only: a subagent.

    shown tools ──allows──▶ those        mcp_find, mcp_call, mcp_resource ──▶ the same about what is left; about nothing: none

The one rule: what finds and calls tools reaches none that isn't allowed itself.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from trimtab.agent.ports import Tool

CARRIERS = frozenset({"mcp_find", "mcp_call", "mcp_resource"})
"""Tools that are about others."""


def narrowed(tools: Iterable[Tool], allows: Callable[[str], bool]) -> tuple[Tool, ...]:
    """Those of `tools` that may be had, each about nothing else."""
    return tuple(_narrowed(tools, allows))


def _narrowed(tools: Iterable[Tool], allows: Callable[[str], bool]) -> Iterator[Tool]:
    for tool in tools:
        if tool.spec.name not in CARRIERS:
            if allows(tool.spec.name):
                yield tool
        elif (left := _carrying(tool, allows)) is not None:
            yield left


def _carrying(tool: Tool, allows: Callable[[str], bool]) -> Tool | None:
    """It, about what is allowed; None where that is nothing, or where it is no such tool."""
    from trimtab.coding.mcp.tool import CallTool, FindTool, ResourceTool, read_name  # noqa: PLC0415 - hardly any session has servers

    match tool:
        case FindTool(deferred=every) | CallTool(deferred=every):
            deferred = [one for one in every if allows(one.name)]
            return replace(tool, deferred=deferred) if deferred else None
        case ResourceTool(servers=every_server):
            servers = [one for one in every_server if allows(read_name(one.name))]
            return replace(tool, servers=servers) if servers else None
        case _:
            return None


def names_in(tool: Tool) -> tuple[str, ...]:
    """The name of a tool, and those of the tools that it is about."""
    deferred = getattr(tool, "deferred", ()) if tool.spec.name in CARRIERS else ()
    return (tool.spec.name, *(one.name for one in deferred))
