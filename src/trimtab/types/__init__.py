"""The shared words of Trimtab: pure values, no I/O, no clock."""

from trimtab.types.errors import ErrorInfo, TrimtabError
from trimtab.types.messages import (
    Assistant,
    Image,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    User,
    user,
)
from trimtab.types.models import ModelInfo, ModelRequest, Price, cost_usd
from trimtab.types.stream import Assembler, StreamEvent
from trimtab.types.tools import Cut, ToolSpec
from trimtab.types.usage import Usage

__all__ = [
    "Assembler",
    "Assistant",
    "Cut",
    "ErrorInfo",
    "Image",
    "Message",
    "ModelInfo",
    "ModelRequest",
    "Opaque",
    "Price",
    "StreamEvent",
    "Text",
    "Thinking",
    "ToolCall",
    "ToolResult",
    "ToolSpec",
    "TrimtabError",
    "Usage",
    "User",
    "cost_usd",
    "user",
]
