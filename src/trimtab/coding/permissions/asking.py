"""The question that a person is asked about a call, and what an answer means. Pure.

    call, Judgement, preview ──question──▶ Question: the whole command or a diff, the parts that aren't allowed and why, the answers
    key of an option ──▶ run it · and keep its rules, for the session, here, or everywhere · don't, and say why

What a question shows was written by a model: each line stands behind a mark of ours, and characters that nobody sees stand as their codes. The one rule: what
can't be shown whole is no question.
"""

from collections.abc import Sequence

from trimtab.coding.permissions.policy import Policy
from trimtab.coding.permissions.verdicts import Ask, Judgement, Part
from trimtab.coding.person import Option, Question
from trimtab.types.messages import ToolCall

LONGEST = 30_000
"""Characters that a person can be asked to read; those of a diff that they want to see whole have a bound of their own."""
MORE = Option("more", "show the whole change", "and ask again")
SETTLED = ("once", "session", "here", "always")
"""The answers that let a call run."""
WHY = Question("text", "What should the model know about why not?")
"""What is asked after the answer `tell`."""
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters that look like blanks."""
_ONCE = Option("once", "yes, this time")
_NO = (Option("no", "no"), Option("tell", "no, and tell the model why"))


def question(
    call: ToolCall,
    judgement: Judgement,
    policy: Policy,
    preview: Sequence[str],
    *,
    kept: bool,
    more: bool = False,
    whole: bool = False,
) -> Question | None:
    """Return the question; None when it is too long to be read. `preview` are lines that show what `call` does.

    `kept`: whether its rules may be kept beyond the session (what a rule of `ask` holds never is). `more`: there is more to see than `preview`; `whole`: a person wants to read this much.
    """
    ask = judgement.decision
    if not isinstance(ask, Ask) or (not whole and sum(map(len, preview)) > LONGEST):
        return None
    head = {
        "bash": "Run this command?",
        "write": "Write this file?",
        "edit": "Edit this file?",
        "fetch": "Get this page?",
    }
    text = head.get(call.name, f"Call the tool {visible(call.name)}?")
    kept = kept and not any(isinstance(part.decision, Ask) and part.decision.by_rule for part in judgement.asked)
    whys = tuple(_why(part) for part in judgement.asked)
    if len(judgement.parts) == 1:
        whys = (f"asked because {visible(ask.reason)}",)
    details = (*(visible(line) for line in preview), *whys, f"in {visible(policy.project)}, {policy.by_mode.words}")
    return Question("permission", text, details, (_ONCE, *_keeping(ask, kept=kept), *_NO, *((MORE,) if more else ())))


def _why(part: Part) -> str:
    """The part and its reason, without the part's name, with which a reason may begin."""
    reason = part.decision.reason if isinstance(part.decision, Ask) else ""
    return visible(f"not allowed: {part.what}: {reason.removeprefix(part.what.removeprefix('> ')).strip()}")


def _keeping(ask: Ask, *, kept: bool) -> tuple[Option, ...]:
    """The answers that keep the rules for later; none where no rule is fit."""
    if not ask.rules:
        return ()
    rules = ", ".join(map(visible, ask.rules))
    session = Option("session", "yes, and what this rule allows until the session ends", rules)
    if not kept:
        return (session,)
    here = Option("here", "yes, and what it allows in this project from now on", rules)
    return (session, here, Option("always", "yes, and what it allows in every project from now on", rules))


def command_lines(command: str) -> tuple[str, ...]:
    """A command as it stands, each line behind a mark."""
    first, *more = command.split("\n")
    return (f"$ {first}", *(f"> {line}" for line in more))


def visible(text: str) -> str:
    """Return `text` on one line in which each character can be seen: what shows nothing, or turns the line around, stands as its code."""
    return "".join(c if c.isprintable() and c not in _BLANK else _code(c) for c in text)


def _code(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
