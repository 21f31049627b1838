"""The reply of a summariser, taken apart.

<analysis>notes</analysis><summary>record</summary>     both
record                                                  no tags: all of it is summary
<summary>record that was cu                             a tag that isn't closed: rejected
"""

import re
from dataclasses import dataclass

_THOUGHT = re.compile(r"\s*<(think|thinking|reasoning)>", re.I)
_TAG = re.compile(r"<(/?)\s*(analysis|summary)\s*>", re.I)


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model wrote. `analysis` is for the log only."""

    summary: str
    analysis: str = ""


@dataclass(frozen=True, slots=True)
class Malformed:
    """A reply whose tags don't close."""

    reason: str


def parse_reply(text: str) -> Reply | Malformed:
    """Return the parts of a reply. Never raises.

    The summary ends at the last closing tag, so it may speak of such tags itself. Thoughts that a model writes into its text belong to the
    analysis.
    """
    thoughts, rest = "", text
    if opening := _THOUGHT.match(text):
        closing = re.search(rf"</{opening[1]}>", text, re.I)
        if closing is None:
            return Malformed(f"<{opening[1].lower()}> is not closed")
        thoughts, rest = text[opening.end() : closing.start()].strip(), text[closing.end() :]
    analysis, rest = _take_analysis(rest)
    if analysis is None:
        return Malformed("<analysis> is not closed")
    summary = _take_summary(rest)
    if isinstance(summary, Malformed):
        return summary
    return Reply(summary.strip(), "\n\n".join(part for part in (thoughts, analysis.strip()) if part))


def _take_analysis(text: str) -> tuple[str | None, str]:
    """The analysis in front of the summary, or None when it doesn't end; and the text without it."""
    opening = _TAG.search(text)
    if opening is None or opening[1] or opening[2].lower() != "analysis":
        return "", text
    closing = next((tag for tag in _TAG.finditer(text, opening.end()) if tag[1] and tag[2].lower() == "analysis"), None)
    if closing is None:
        return None, text
    return text[opening.end() : closing.start()], text[: opening.start()] + text[closing.end() :]


def _take_summary(text: str) -> str | Malformed:
    tags = [tag for tag in _TAG.finditer(text) if tag[2].lower() == "summary"]
    if not tags:
        return text
    if tags[0][1]:
        return Malformed("</summary> closes nothing")
    if not tags[-1][1]:
        return Malformed("<summary> is not closed")
    return text[tags[0].end() : tags[-1].start()]
