"""Whether to send a failed request again, and when: a pure decision.

`ErrorInfo.retryable` says that the same bytes may succeed later; this module only bounds how often and how long. Attempts are always
bounded, whatever the failure. A wait that the provider asks for is kept to, plus jitter, or refused when it is longer than allowed; it is never shortened.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

import msgspec

from trimtab.types.errors import ErrorInfo


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """`max_retries` after the first try; waits in seconds. The n-th wait is random in [½, 1] × `base_s` × 2ⁿ⁻¹."""

    max_retries: int = 4
    max_wait_s: float = 60.0
    base_s: float = 0.5


_NOBODY = "the provider"
"""Who an error without words is of."""


def next_wait(error: ErrorInfo, attempt: int, *, policy: RetryPolicy, random: Callable[[], float]) -> float | None:
    """Return the seconds to wait before retry number `attempt` (from 1), or None to give up. `random` gives [0, 1)."""
    if not error.retryable or attempt > policy.max_retries:
        return None
    backoff = min(policy.base_s * 2.0 ** (attempt - 1), policy.max_wait_s)
    asked = error.retry_after_s
    if asked is None:
        return backoff * (0.5 + random() / 2)
    if asked > policy.max_wait_s:
        return None
    # A server that says "now" to everybody gets them all at once; the jitter is on top, so nobody comes early.
    return asked + backoff * random() / 2


def given_up(error: ErrorInfo, attempt: int, *, policy: RetryPolicy, provider: str) -> ErrorInfo:
    """Return the error as it is shown when `next_wait` gave None for retry number `attempt`: with who answered what, what was tried, and the next step."""
    asked = error.retry_after_s
    error = msgspec.structs.replace(error, message=_said_by(provider, error))
    if not error.retryable:
        return error
    note = f"Given up after {attempt} tries." if attempt > 1 else ""
    if asked is not None and asked > policy.max_wait_s:
        note = f"The provider asks to wait {asked:.0f} s; at most {policy.max_wait_s:.0f} s are allowed (`max_retry_wait_s`)."
    return msgspec.structs.replace(error, hint=f"{note} {error.hint or _next_step(error, provider)}".strip())


def _said_by(provider: str, error: ErrorInfo) -> str:
    """What a server answered, behind its name and the status; errors that no server answered with name their address themselves."""
    if error.status is None or not provider:
        return error.message
    if error.message.startswith(_NOBODY):
        return provider + error.message.removeprefix(_NOBODY)
    return f"{provider} answered {error.status}: {error.message}"


def _next_step(error: ErrorInfo, provider: str) -> str:
    match error.kind:
        case "rate_limit":
            return f"{provider} takes only so much in a time: try again later, or use another model."
        case "server":
            return f"The trouble is at {provider}: try again later, or use another model."
        case _:
            return f"Try again; if it stays so, `trimtab doctor --online` says whether {provider} answers."


def retry_after(headers: Mapping[str, str], *, now: float | None) -> float | None:
    """Return the seconds that the answer asks to wait, never negative, or None. `now` is Unix time; without it a date can't be read.

    Reads `retry-after-ms`, then `Retry-After` in seconds or as an HTTP date (RFC 9110, 10.2.3). `headers` has lower-case names.
    """
    millis = _number(headers.get("retry-after-ms"))
    if millis is not None:
        return max(millis / 1000, 0.0)
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None:
        return max(seconds, 0.0)
    if not value or now is None:
        return None
    try:
        date = parsedate_to_datetime(value)
        if date.tzinfo is None:
            date = date.replace(tzinfo=UTC)
        return max(date.timestamp() - now, 0.0)
    except (ValueError, OverflowError):
        return None


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value else None
    except ValueError:
        return None
    return number if number is not None and abs(number) < float("inf") else None
