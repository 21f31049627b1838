"""Reasons in words: what the log keeps of a refusal or a rejected summary, as a sentence for a person.

    serialised: unfinished: the model stopped …   ──▶  asked with a transcript: the model stopped before its summary was finished
    elide: 'r7' is pinned                         ──▶  not hidden: 'r7' is pinned; unpin it first

The log and JSON keep the short form, which programs may rely on. The one rule: what isn't known here stays as it is.
"""

import re
from collections.abc import Iterable, Mapping

from trimtab.context.validate.problems import KINDS

_WAYS: Mapping[str, str] = {
    "in_place": "asked behind the conversation",
    "serialised": "asked with a transcript",
}
_REJECTED: Mapping[str, str] = {
    "unfinished": "the model stopped before its summary was finished",
    "tool_call": "the model called a tool instead of writing a summary",
    "malformed": "the answer has a tag that doesn't close ({})",
    "empty": "the answer holds no summary",
    "not_text": "the answer holds no words",
    "not_smaller": "the summary is no smaller than what it would replace ({})",
    "other_language": "the summary is in another language than the conversation ({})",
    "refusal": "the model declined to write a summary: “{}”",
    "error_page": "the answer is an error message: “{}”",
    "too_little": "the summary says too little ({})",
    "nothing_of_it": "the summary names nothing of what it stands for ({})",
}
_NOT_DONE: Mapping[str, str] = {
    "elide": "hidden",
    "fold": "shortened",
    "truncate": "shortened",
    "compress": "shortened",
    "summarize": "summarized",
    "offload": "replaced by a pointer",
    "drop": "taken out",
    "compact": "summed up",
    "restore": "brought back",
    "reload": "brought back",
    "restate": "noted",
    "expire": "marked to go",
    "pin": "pinned",
    "unpin": "unpinned",
}
_WHOLE: Mapping[str, str] = {
    "request_bytes": "the request would have more bytes than the provider takes",
    "media_bytes": "its pictures would have more bytes than the provider takes",
    "image_count": "it would have more pictures than the provider takes",
    "over_budget": "the request would be too large",
}
"""Faults of a request that have no words of their own."""
_NEXT: tuple[tuple[str, str], ...] = (
    ("' is pinned", "unpin it first"),
    ("still waits for an answer", "its call has to be answered first"),
    ("is what the user asked for last", "it stays until the next message"),
    ("there is no item", "name one that the context shows"),
    ("there is nothing to gain", "what would stand in its place is no smaller"),
    ("there is nothing old enough", "all that is shown belongs to the newest part, which stays as it is"),
    ("nothing came since the last summary", "a summary of a summary alone would only say less"),
    ("no summary was smaller", "the messages stay as they are"),
    ("would not be much smaller", "the messages stay as they are"),
    ("nothing here could read it again", "it stays, for the model has no tool that reads hidden text"),
    ("may be made to stay", "unpin something first"),
    ("a note may have", "make it shorter"),
)
_EDIT = re.compile(rf"({'|'.join(_NOT_DONE)})(?: of (.+?))?: (.+)", re.S)


def in_words(reason: str) -> str:
    """Return `reason` as a sentence that says what happened and, where something can be done, what."""
    way, _, rest = reason.partition(": ")
    if way in _WAYS:
        return f"{_WAYS[way]}: {_rejection(rest)}"
    found = _EDIT.fullmatch(reason)
    if found is None:
        return _with_next(reason)
    kind, targets, why = found.groups()
    whose = f"{targets} " if targets else ""
    return _with_next(f"{whose}not {_NOT_DONE[kind]}: {'; '.join(_fault(part) for part in why.split('; '))}")


def all_in_words(reasons: Iterable[str]) -> str:
    """Return several, each said once."""
    return "; ".join(dict.fromkeys(map(in_words, reasons)))


def _rejection(text: str) -> str:
    """A rejection, or what a model's client said: that is in words already."""
    code, _, detail = text.partition(": ")
    said = _REJECTED.get(code)
    if said is None:
        return text
    return said.format(detail) if detail else said.replace(" ({})", "").replace(": “{}”", "")


def _fault(text: str) -> str:
    """A fault of the request that would go out, without its code."""
    code, colon, detail = text.partition(": ")
    if colon and code in KINDS:
        return f"the request would be invalid, for {detail}"
    return _WHOLE.get(text, text)


def _with_next(text: str) -> str:
    return text if ";" in text else next((f"{text}; {step}" for words, step in _NEXT if words in text), text)
