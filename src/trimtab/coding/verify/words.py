"""What a check says: to the model, to the person, in a line and at length."""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.coding.verify.checks import CheckRun

_NAMED = 10
"""Files that are named one by one."""
HINT = "What was done is kept, and the session can go on: say what to mend, or start with --no-verify to leave the check out."


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong: in a line, at length, and whether the model can do something about it."""

    head: str
    text: str
    repairable: bool = True


def broken(text: str) -> Problem:
    """Why the check couldn't be made, which the model can't mend."""
    return Problem(text.partition("\n")[0], text, repairable=False)


def failure(run: CheckRun, changed: Sequence[str]) -> Problem:
    """Which check failed and how, and what became of protected files."""
    head = f"`{run.command}`: {run.ending}"
    lines = [head]
    if changed:
        lines += ["These files are protected; the check ran with them as they were before the turn:", *_listed(changed)]
    return Problem(head, "\n".join([*lines, run.output.rstrip() or "(no output)"]))


def told(problem: Problem, weakened: Sequence[str], *, left: int) -> str:
    """What the model is told of a check that failed: data, and what to do about it."""
    rounds = "this is the last time" if left == 0 else f"the check runs again, {left + 1} times at most"
    lines = [
        f"You said that you are done, but the check failed ({rounds}). Repair it; don't change what is checked by.",
        "",
        problem.text,
    ]
    return "\n".join([*lines, *(["", *_seems(weakened)] if weakened else [])])


def warned(tampered: Sequence[str], weakened: Sequence[str]) -> str:
    """What the model is told, once, where the check passes in spite of what it did to the tests."""
    lines = ["The check passes, but look again at what it is checked by."]
    if tampered:
        lines += [
            "These files are protected; the check ran with them as they were, not as they are now:",
            *_listed(tampered),
        ]
    lines += _seems(weakened) if weakened else []
    return "\n".join(
        [*lines, "If the person asked for that, say so plainly in your answer and end. If not, put it back as it was."]
    )


def tampering(tampered: Sequence[str]) -> str:
    """What the person is told of protected files."""
    return (
        f"protected files are not as they were: {_in_a_line(tampered)}; the check takes the old ones"
        " (/verify accept takes these from now on)"
    )


def weakening(weakened: Sequence[str]) -> str:
    """What the person is told of tests that seem to be taken out."""
    return f"tests may have been taken out: {_in_a_line(weakened)}; verify.protect = [globs] lets the check take them as they were"


def _seems(weakened: Sequence[str]) -> list[str]:
    return ["It looks as if tests were taken out:", *_listed(weakened)]


def _listed(names: Sequence[str]) -> list[str]:
    more = [f"- and {len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return [*(f"- {name}" for name in names[:_NAMED]), *more]


def _in_a_line(names: Sequence[str]) -> str:
    more = f", and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
