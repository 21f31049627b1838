"""Texts that stand in for an answer that isn't there, and what counts as an answer at all."""

from trimtab.types.messages import Assistant, Part, Text, Thinking, ToolResult, User

INTERRUPTED = "interrupted"
PENDING = "pending"


def has_content(message: Assistant) -> bool:
    """Say whether a model would find anything in `message`. Thoughts of an answer that failed don't count."""
    failed = message.stop_reason in ("error", "cancelled")
    return any(_is_content(part, failed=failed) for part in message.parts)


def stand_in(call_id: str, tool_name: str, text: str) -> ToolResult:
    """Return the result that stands in for the missing one of a call."""
    return ToolResult(call_id, tool_name, (Text(text),), is_error=True)


def is_stand_in(result: ToolResult) -> bool:
    """Say whether `result` is one of the fixed texts that stand in for a missing answer."""
    return result.is_error and len(result.parts) == 1 and result.text in (INTERRUPTED, PENDING)


def late_answer(result: ToolResult) -> User:
    """Return the user message in which an answer arrives whose call was closed as pending."""
    state = "failed" if result.is_error else "was answered"
    head = Text(f"The pending call {result.call_id} ({result.tool_name}) {state}:")
    return User((head, *result.parts), origin="answer")


def _is_content(part: Part, *, failed: bool) -> bool:
    if isinstance(part, Text):
        return bool(part.text) and not part.text.isspace()  # unlike strip(), it copies nothing
    return not (failed and isinstance(part, Thinking))
