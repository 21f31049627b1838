"""What an answer means for the turn. Pure: a table of stop reasons, no I/O.

Which calls may run, what stands instead of those that may not, and whether the turn goes on. Calls of an answer that ended badly never
run: half an answer is not a decision. Of an answer cut by the output limit only the last call can be incomplete.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from trimtab.agent.events import TurnReason
from trimtab.agent.ports import ToolOutput
from trimtab.types.errors import ErrorInfo
from trimtab.types.messages import Assistant, Image, Text, ToolCall

MAX_CUTS = 3
"""How many answers in a row may be cut inside a call before the turn ends."""
EMPTY_PROMPT = "Your last answer was empty. Go on with the task; if it is done, say so and sum up the outcome."
"""What the model is told, once, when it answers nothing."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`answered`: outputs of calls that must not run. `reason`: why the turn ends, None when it goes on."""

    reason: TurnReason | None
    answered: Mapping[str, ToolOutput] = field(default_factory=dict)
    flaw: Literal["empty", "cut"] | None = None
    failure: ErrorInfo | None = None


def judge(answer: Assistant, *, empties: int = 0, cuts: int = 0) -> Verdict:
    """Return what follows from `answer`, after `empties` empty and `cuts` cut answers in a row."""
    if answer.stop_reason == "cancelled":
        return Verdict("cancelled", _all(answer, "cancelled"))
    if answer.stop_reason == "refused":
        failure = answer.error or ErrorInfo(kind="refused", message="The model refused to answer.")
        return Verdict("refused", _all(answer, "Not run: the answer was refused."), failure=failure)
    if answer.stop_reason == "error" or answer.error is not None:
        failure = answer.error or ErrorInfo(kind="malformed", message="The answer failed without saying why.")
        return Verdict("error", _all(answer, f"Not run: the answer broke off ({failure.message})."), failure=failure)
    if answer.stop_reason == "length":
        return _length(answer, cuts)
    if answer.tool_calls:
        return Verdict(None)
    if not any(isinstance(p, Image) or (isinstance(p, Text) and p.text.strip()) for p in answer.parts):
        return Verdict("empty" if empties else None, flaw="empty")
    return Verdict("stop")


def _length(answer: Assistant, cuts: int) -> Verdict:
    if not answer.tool_calls:
        return Verdict("length")
    last = answer.parts[-1]
    # A whole object has its closing brace; blank arguments would pass as `{}` though nothing of them arrived.
    if not isinstance(last, ToolCall) or (last.arguments is not None and last.raw.strip()):
        return Verdict(None)
    text = (
        f"Not run: your answer reached the output limit inside the arguments of {last.name} "
        f"({len(last.raw)} characters had arrived). Send a shorter call, or split the work over several."
    )
    return Verdict("length" if cuts + 1 >= MAX_CUTS else None, {last.id: ToolOutput.text(text, is_error=True)}, "cut")


def _all(answer: Assistant, text: str) -> dict[str, ToolOutput]:
    return {call.id: ToolOutput.text(text, is_error=True) for call in answer.tool_calls}
