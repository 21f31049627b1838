"""A model that reviews what a turn did.

task, answer, checks, diffs ──as data──▶ a model without tools ──▶ PASS | FAIL and why ──▶ Review
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from trimtab.coding.beside import Book, ask_beside
from trimtab.coding.models import OpenModel
from trimtab.coding.prompts import load_prompt
from trimtab.coding.role_models import RoleModels
from trimtab.types.errors import TrimtabError

MAX_OUTPUT = 2_000
_WITHIN_S = 180.0
_MOST_CHARS = 60_000
"""Of all diffs together; each gets its part."""
_AGAIN = "Your last answer begins with neither PASS nor FAIL. Give it again in that form: one of the two first, after FAIL what has to change."
_VERDICT = re.compile(r"^\W*(PASS|FAIL)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What the model said. `passed` is None when it gave no verdict; `said` is its words, or why there are none."""

    passed: bool | None
    said: str
    answer: str = ""
    """What it answered instead of a verdict."""


@dataclass(frozen=True, slots=True)
class Work:
    """What is reviewed: the person's words, the agent's, how the checks ended, and a diff (or a line that says why there is none) by file."""

    task: str
    answer: str
    checks: Sequence[str]
    diffs: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Asks the first of `models` that can be had; what that takes goes to `book`."""

    models: RoleModels
    book: Book

    async def review(self, work: Work) -> Reviewed:
        """Return the verdict; a model that answers in another form is asked for it once more. Never raises for what the model does."""
        text = request_text(work)
        try:
            reviewed = verdict(await self.models.ask(partial(self._ask, text)))
            if reviewed.passed is None and reviewed.answer:
                again = f"{text}\n\n<your_last_answer>\n{reviewed.answer}\n</your_last_answer>\n\n{_AGAIN}"
                reviewed = verdict(await self.models.ask(partial(self._ask, again)))
        except TrimtabError as problem:
            return Reviewed(None, f"the reviewing model could not be asked: {problem.message}")
        return reviewed

    async def _ask(self, text: str, opened: OpenModel) -> str:
        return await ask_beside(
            opened.provider,
            opened.info,
            system=load_prompt("review", {}),
            text=text,
            max_output=MAX_OUTPUT,
            within_s=_WITHIN_S,
            book=self.book,
        )


def verdict(said: str) -> Reviewed:
    """Read what the model said: its first line that isn't empty decides."""
    first = next((line for line in said.splitlines() if line.strip()), "")
    found = _VERDICT.match(first)
    if found is None:
        return Reviewed(None, f"the reviewing model gave no verdict: {first[:200] or 'it said nothing'}", said.strip())
    return Reviewed(found[1].upper() == "PASS", said.strip())


def head_of(said: str) -> str:
    """The first of the points of a review that failed, in a line."""
    lines = [line.strip() for line in _VERDICT.sub("", said.strip(), count=1).splitlines()]
    points = (line.strip("*_:-–— \t").strip() for line in lines)
    return next((point for point in points if point), "FAIL, without a word why")


def request_text(work: Work) -> str:
    """What the model gets, at most about 60,000 characters of diffs, each file its share."""
    share = _MOST_CHARS // max(1, len(work.diffs))
    parts = [f"<task>\n{work.task}\n</task>", f"<answer>\n{work.answer}\n</answer>"]
    parts += [f"<checks>\n{chr(10).join(work.checks)}\n</checks>"] if work.checks else []
    for path, diff in work.diffs:
        shown = diff if len(diff) <= share else f"{diff[:share]}\n[cut: {len(diff) - share:,} characters more]"
        parts.append(f"<diff file={path!r}>\n{shown}\n</diff>")
    return "\n\n".join(parts)
