"""Acceptance: whether what a model wrote may stand in place of messages.

Every check is a rule over values, and a rejection says which ones failed, so the log can. Total: any answer gets a verdict.
"""

import json
import re
from dataclasses import dataclass
from typing import Literal

from trimtab.context.asks import Summary
from trimtab.context.summary.fit import Count
from trimtab.context.summary.language import NAMES, other_language
from trimtab.context.summary.reply import Malformed, parse_reply

Why = Literal[
    "unfinished",
    "tool_call",
    "malformed",
    "empty",
    "not_text",
    "not_smaller",
    "other_language",
    "refusal",
    "error_page",
    "too_little",
    "nothing_of_it",
]


@dataclass(frozen=True, slots=True)
class Rejection:
    """One reason against a summary, and the detail in words."""

    why: Why
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.why}: {self.detail}" if self.detail else self.why


@dataclass(frozen=True, slots=True)
class Verdict:
    """The summary, unless something speaks against it. `analysis` is kept for the log either way."""

    summary: str
    analysis: str = ""
    rejections: tuple[Rejection, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.rejections


TELLING = 8
"""Facts in a source from which on a summary that holds none of them is about something else, or about nothing."""
_SHORT = 600
"""Characters up to which a refusal or an error is the whole message rather than something that a record mentions."""
_REFUSAL = re.compile(
    r"\A\W*(?:(?:i'?m |i am )?(?:very |really )?sorry\b|i apologi[sz]e|unfortunately,? i|i (?:can(?:no|')?t|can’t|won'?t|am unable|'?m unable|am not able)\b"
    r"|as an ai\b|there is nothing to summari|es tut mir leid|tut mir leid|leider kann ich|désolé|je suis désolé|je ne peux pas|lo siento|no puedo"
    r"|申し訳(?:ありません|ございません)|すみませんが|抱歉|对不起|很抱歉|죄송합니다|извините|к сожалению)",
    re.I,
)
_ERROR_PAGE = re.compile(
    r"\A\W*(?:!?doctype html|html\b|(?:http/\d\S* )?[45]\d\d (?:[a-z]+ ){0,3}(?:error|gateway|unavailable|timeout|denied|forbidden|unauthorized|not found|too many|requests)"
    r"|(?:internal )?server error|bad gateway|service (?:temporarily )?unavailable|gateway time-?out|upstream (?:connect )?error|rate limit|too many requests|access denied"
    r"|(?:an? )?(?:api )?error(?: occurred)?\b.{0,40}(?:request|quota|overloaded|timed out|status)|error\"?\s*:)",
    re.I,
)
_CALL_IN_TEXT = re.compile(r"\A\s*(?:<(?:tool_call|function_call|function=|invoke)|\[TOOL_CALLS\]|<\|tool)", re.I)


def judge(
    answer: Summary,
    *,
    replaces_tokens: int,
    count: Count,
    language: str = "",
    least_tokens: int = 0,
) -> Verdict:
    """Return the verdict on a model's answer.

    `replaces_tokens`: the size that it must stay below. `language`: the user's, a key of `language.NAMES`, or empty: any. `least_tokens`:
    the detail that it must have at least (`least_detail`).
    """
    found: list[Rejection] = []
    if not answer.finished:
        found.append(Rejection("unfinished", "the model stopped before its end"))
    if answer.calls:
        found.append(Rejection("tool_call", f"{answer.calls} in the answer"))
    reply = parse_reply(answer.text)
    if isinstance(reply, Malformed):
        return Verdict("", "", (*found, Rejection("malformed", reply.reason)))
    summary = reply.summary
    if not summary:
        return Verdict("", reply.analysis, (*found, Rejection("empty", "no text outside the analysis")))
    found += _of_content(summary)
    size = count(summary)
    if size >= replaces_tokens:
        found.append(Rejection("not_smaller", f"{size} tokens in place of {replaces_tokens}"))
    elif size < least_tokens:
        found.append(Rejection("too_little", f"{size} tokens; at least {least_tokens} for that much"))
    if other := other_language(summary, language):
        found.append(Rejection("other_language", f"{NAMES[other]}, and the user writes {NAMES[language]}"))
    return Verdict(summary, reply.analysis, tuple(found))


def least_detail(source_tokens: int, *, max_output: int) -> int:
    """Tokens that a summary of so much must have at least: one for every 150, 1,200 at most, never over a third of its output limit.

    None for sources under 3,000 tokens: a short answer may be right there.
    """
    return 0 if source_tokens < 3_000 else max(0, min(source_tokens // 150, 1_200, max_output // 3))


def _of_content(summary: str) -> list[Rejection]:
    if not any(c.isalpha() for c in summary) or summary.count("\ufffd") + summary.count("\0") > len(summary) // 20:
        return [Rejection("not_text", "no words in it")]
    if _CALL_IN_TEXT.match(summary) or _is_call(summary):
        return [Rejection("tool_call", "written as text")]
    if len(summary) <= _SHORT and _REFUSAL.match(summary):
        return [Rejection("refusal", summary[:80])]
    if _ERROR_PAGE.match(summary) and (len(summary) <= _SHORT or "html" in summary[:60].lower()):
        return [Rejection("error_page", summary[:80])]
    return []


def _is_call(text: str) -> bool:
    """Whether the text is one JSON object that names a tool and its arguments."""
    if not text.startswith("{") or len(text) > 100_000:
        return False
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(data, dict) and "name" in data and bool({"arguments", "parameters", "input"} & data.keys())
