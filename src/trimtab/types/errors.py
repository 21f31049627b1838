"""The error tree, and provider failures as data.

    TrimtabError                     the user should read it: message + hint
    ├── UsageError                   wrong flag, config, model or session       exit 2
    │   ├── ConfigError              a setting is missing, misspelt or mistyped
    │   ├── UnknownModel             no such model, or more than one
    │   └── UnknownSession           no such session, or more than one
    ├── SessionError                 a session file can't be used               exit 2
    │   └── SessionLocked            another process writes it
    ├── StoreError                   the log can't be written (disk full, …)    exit 1
    ├── ProviderError                a model request failed (carries ErrorInfo) exit 1
    ├── ContextFloor                 what can't be removed doesn't fit          exit 5
    └── BudgetExceeded               a cost, token or time limit was reached    exit 6

Failures that the *model* should read are `ToolResult(is_error=True)`, never exceptions; a bug is neither.
"""

from typing import Literal

import msgspec

ErrorClass = Literal[
    "rate_limit",
    "request_too_large_for_tier",
    "overflow",
    "output_cap",
    "media",
    "history",
    "reasoning",
    "ids",
    "auth",
    "quota",
    "refused",
    "server",
    "network",
    "malformed",
    "invalid",
    "script",
]
"""Kinds of provider failure. `invalid` is a rejected request of no known shape; `script` is a test model's complaint."""


class ErrorInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    """A provider failure as a value: it ends a stream, is stored with the message, and is shown.

    `limit` and `actual` are token counts (or bytes) that the error text states, when it does.
    """

    kind: ErrorClass = msgspec.field(name="class")
    """What kind of failure."""
    message: str = ""
    """In the provider's words."""
    hint: str = ""
    """What to do next."""
    status: int | None = None
    """HTTP status."""
    retry_after_s: float | None = None
    """Seconds that the provider asks to wait."""
    limit: int | None = None
    """A limit that the message states."""
    actual: int | None = None
    """The size that it states."""
    retryable: bool = False
    """Whether the same request may succeed later."""


_ENDS = (".", "!", "?", ":", "…")


class TrimtabError(Exception):
    """Something the user should read. `hint` is the next step, in words; as text, an error says both."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """The message, and behind it the next step: whoever prints or logs the exception sees what its reader should do."""
        if not self.hint:
            return self.message
        between = " " if self.message.endswith(_ENDS) else "; " if self.hint[0].islower() else ". "
        return f"{self.message}{between}{self.hint}"


class UsageError(TrimtabError):
    """A wrong flag, argument or combination."""

    exit_code = 2


class ConfigError(UsageError):
    """A setting is missing, misspelt or has the wrong type."""


class UnknownModel(UsageError):
    """The model can't be found, or the name fits more than one."""


class UnknownSession(UsageError):
    """The session can't be found, or the name fits more than one."""


class SessionError(TrimtabError):
    """A session file can't be used."""

    exit_code = 2


class SessionLocked(SessionError):
    """Another process writes this session."""


class StoreError(TrimtabError):
    """The log can't be written."""


class ProviderError(TrimtabError):
    """A model request failed for good."""

    def __init__(self, info: ErrorInfo) -> None:
        super().__init__(info.message, hint=info.hint)
        self.info = info


class ContextFloor(TrimtabError):
    """What can't be removed from the context doesn't fit the window."""

    exit_code = 5


class BudgetExceeded(TrimtabError):
    """A cost, token or time limit was reached."""

    exit_code = 6
