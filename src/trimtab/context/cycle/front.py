"""The front: what stands in front of the messages of a request, and stays as it was sent for a cache epoch (see `epochs`)."""

from dataclasses import dataclass

from msgspec.structs import replace

from trimtab.types.edits import Edit, Restate
from trimtab.types.models import ModelRequest
from trimtab.types.tools import ToolSpec

LABEL = "epoch"
"""The label of the `restate` that tells how what holds differs from what stands at the head."""


@dataclass(frozen=True, slots=True)
class Front:
    """System prompt and tools, in the order in which they are sent."""

    system: str
    tools: tuple[ToolSpec, ...]

    def before(self, request: ModelRequest) -> bool:
        """Whether `request` has this front."""
        return self.system == request.system and self.tools == request.tools

    def on(self, request: ModelRequest) -> ModelRequest:
        """`request` with this front."""
        return request if self.before(request) else replace(request, system=self.system, tools=self.tools)


def front_of(request: ModelRequest) -> Front:
    """The front of `request`."""
    return Front(request.system, request.tools)


def is_notice(edit: Edit) -> bool:
    """Whether `edit` tells of a front that isn't sent yet."""
    return isinstance(edit, Restate) and edit.label == LABEL
