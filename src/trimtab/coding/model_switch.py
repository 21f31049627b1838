"""A person wants another model in the middle of a session: what that means is told first, and asked where it costs.

    ref ──look──▶ too small ──▶ UsageError, nothing changes
                  Switch ──make──▶ costs a cache ──▶ a question with the price ──no──▶ nothing changes
                                   else ──▶ told ──▶ Session.set_model

The one rule: nothing is given up before it was told.
"""

from dataclasses import dataclass

from trimtab.coding.model_preview import Preview, lines_of
from trimtab.coding.person import Option, Question
from trimtab.coding.roles import model_of
from trimtab.coding.session import Session
from trimtab.types.errors import UsageError

ASKED_FROM_USD = 0.01
"""What a switch may cost unasked."""
_NO = "no"


@dataclass(frozen=True, slots=True)
class Switch:
    """What a switch to `ref` means: `lines` to tell, and the question to ask before, where it costs."""

    ref: str
    preview: Preview
    lines: tuple[str, ...]
    question: Question | None = None


async def look(session: Session, ref: str) -> Switch:
    """See what a switch means. Raises `UnknownModel`, `ConfigError`, or `UsageError` for a model that can't hold what has to stay."""
    preview, here = await session.choices.preview_model(ref), session.model
    if preview.too_small:
        raise UsageError(preview.too_small, hint="Choose one with a larger window, or begin anew: /new.")
    lines = lines_of(preview, here, vision=model_of(session.project.settings, "vision"))
    if preview.extra_usd < ASKED_FROM_USD:
        return Switch(ref, preview, lines)
    question = Question(
        "choice",
        f"Switch from {here.ref} to {preview.model.ref}? It costs about ${preview.extra_usd:.4f} more than going on",
        details=lines,
        options=(Option("yes", "switch"), Option(_NO, f"stay with {here.ref}")),
        default="yes",
    )
    return Switch(ref, preview, lines, question)


async def make(session: Session, switch: Switch, *, ask: bool = True) -> bool:
    """Use the other model from the next turn on; False when the person would rather not. Without `ask`, and where nobody answers, it is told. Raises as `Session.set_model` does."""
    answer = await session.permissions.person.ask(switch.question) if ask and switch.question is not None else None
    if answer == _NO:
        return False
    await session.choices.set_model(switch.ref, told=switch.lines if answer is None else ())
    return True
