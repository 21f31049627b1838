"""What an answer about a tool from elsewhere is bound to: the words and the schema by which the tool describes itself.

    a person says "always" ──▶ the rule mcp__SERVER__TOOL#DIGEST: that tool, as they saw it
    its server describes it otherwise ──▶ another digest ──▶ the rule doesn't fit: asked again, with the difference

The one rule: a yes is about what was shown. A rule that names no digest was written by hand, and believes the server whatever it says.
"""

from collections.abc import Callable
from typing import Protocol, TypeAlias

from trimtab.types.messages import ToolCall


class Form(Protocol):
    """A tool from elsewhere, as it describes itself now."""

    @property
    def digest(self) -> str:
        """A hash of all that it says of itself."""
        ...

    def change_since(self, digest: str) -> str:
        """What of it is other than in the form `digest`, in a few words. Touches the disk."""
        ...

    def lines(self, since: str) -> tuple[str, ...]:
        """What a person should read of it, and how it differs from the form `since` (empty: none was allowed). Touches the disk."""
        ...

    def agreed(self, call_id: str) -> None:
        """That call may run because of this form: it isn't sent to a tool that has another one by then."""
        ...

    def keep(self) -> None:
        """Keep it, so that a later difference can be shown. Touches the disk."""
        ...


FormOf: TypeAlias = Callable[[ToolCall], Form | None]
"""The form of the tool that a call is about; None where it has none, or where nobody knows the forms of tools."""


def no_form(call: ToolCall) -> Form | None:
    """Nobody knows."""
    return None
