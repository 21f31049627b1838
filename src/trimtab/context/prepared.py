"""A request that may go out."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from trimtab.context.cycle.look import Look
from trimtab.context.window.view import View
from trimtab.types.messages import Message
from trimtab.types.models import ModelRequest

if TYPE_CHECKING:
    from trimtab.context.editing.applying import Done


@dataclass(frozen=True, slots=True)
class Prepared:
    """The request. `tokens` is its counted size. `edits` were recorded on the way; `notes` are what a person should know."""

    request: ModelRequest
    tokens: int
    view: View
    edits: "tuple[Done, ...]" = ()
    notes: tuple[str, ...] = ()


def with_room(look: Look, messages: tuple[Message, ...]) -> ModelRequest:
    """The request of a look with its messages, and with no more room for output than is left of the window."""
    request = look.request
    wanted = min(request.max_output or request.model.max_output, request.model.max_output)
    return replace(request, messages=messages, max_output=look.budget.output_left(look.used, wanted))
