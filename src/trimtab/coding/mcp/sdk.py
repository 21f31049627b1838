"""The official SDK, which an extra brings: whether it is there, and loading it, which takes a second.

Nothing of it is imported before a server is started. The one rule: its loggers never write to a terminal; what a server sends may be in their lines.
"""

import importlib
import importlib.util
import logging

import anyio

from trimtab.coding.mcp.failures import McpFailure
from trimtab.types.extras import install_command

_LOGGERS = ("mcp", "client", "httpx2", "httpcore2")


def installed() -> bool:
    """Whether the extra is there; loads nothing."""
    return importlib.util.find_spec("mcp") is not None and importlib.util.find_spec("mcp_types") is not None


def missing() -> str:
    """What is said where the extra isn't there."""
    return f"the extra that speaks the protocol isn't installed: {install_command('mcp')}"


async def load() -> None:
    """Load the SDK, in a thread. Raises `McpFailure` where the extra is missing or broken."""
    for name in _LOGGERS:
        logging.getLogger(name).addHandler(logging.NullHandler())
    try:
        await anyio.to_thread.run_sync(importlib.import_module, "mcp.client.client")
    except ImportError as e:
        raise McpFailure(
            f"the SDK can't be loaded ({e}): {install_command('mcp')}" if installed() else missing()
        ) from None
