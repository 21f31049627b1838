"""What a prompt came to, as one value.

Turn (the loop: reason, text, usage, cost, error) ──with what the session knows of it──▶ Reply

The one rule: a failed turn is a reply, no exception; who wants one asks for it (`raise_for_error`).
"""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

from trimtab.agent.loop import Turn
from trimtab.coding.outcome import ending
from trimtab.types.errors import TrimtabError


@dataclass(frozen=True, slots=True)
class Reply(Turn):
    """How a prompt ended: `reason` (`stop` is a good end), `text`, `usage`, `cost_usd` (None: a price is unknown), `steps`, `error`, and what is below.

    `output` is the answer as data, where one was asked for and it fits. `changed_files` are absolute paths that this turn changed. `verify` is the outcome of the checks, `tampered` names the
    protected files that aren't as the person left them.
    """

    output: Any = None
    changed_files: tuple[str, ...] = ()
    verify: str = "not_configured"
    tampered: tuple[str, ...] = ()
    session_id: str = ""
    session_file: Path | None = None

    @property
    def ok(self) -> bool:
        """Whether the turn came to a good end."""
        return self.reason == "stop"

    def raise_for_error(self) -> Self:
        """Return this reply, or raise `TrimtabError` when the turn came to no good end."""
        if self.ok:
            return self
        if self.error is not None:
            raise TrimtabError(self.error.message, hint=self.error.hint)
        raise TrimtabError(
            ending(self.reason, "program") or f"the turn ended with {self.reason}", hint=_HINTS.get(self.reason, "")
        )


_HINTS = {"parked": "Answer the call that waits: session.answer(call_id, text)."}


def reply_of(turn: Turn, **more: Any) -> Reply:
    """A turn with what a session knows of it."""
    return Reply(**{field.name: getattr(turn, field.name) for field in fields(Turn)}, **more)
