"""What a server of the Model Context Protocol offers, as plain values: what a listing says once it was made harmless.

Shapes: the protocol's `tools/list`, `prompts/list` and `initialize` results, revision 2025-11-25. A `Listing` goes to disk (`listings.py`).
"""

from typing import Any

import msgspec


class RemoteTool(msgspec.Struct, frozen=True, omit_defaults=True):
    """One tool by the server's own name. `parameters` is a JSON Schema that a provider takes; `reads`: the server says that it changes nothing."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = {}
    reads: bool = False


class PromptArgument(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a prompt wants to know."""

    name: str
    description: str = ""
    required: bool = False


class RemotePrompt(msgspec.Struct, frozen=True, omit_defaults=True):
    """One prompt by the server's own name."""

    name: str
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()


class Listing(msgspec.Struct, frozen=True, omit_defaults=True):
    """All that a server offers. `remarks` say what was left out, and what was odd about the rest; `resources`: it has some to read."""

    tools: tuple[RemoteTool, ...] = ()
    prompts: tuple[RemotePrompt, ...] = ()
    resources: bool = False
    instructions: str = ""
    server: str = ""
    remarks: tuple[str, ...] = ()
    legacy: bool = False
    """Whether it turned out to need the older handshake: it asks back in the middle of a call."""
