"""Refuse: texts that may not be compressed, because a part of them is wrong rather than short.

A program or a patch with lines missing still looks whole, and a person's words are not ours to pick from. For these there are fold,
truncate and elide, which say where something is missing or hide all of it.
"""

import re

from trimtab.context.shorten.kinds import code_share, is_diff, is_json, sample

CODE_SHARE = 0.4
"""Share of lines like a program's from which a text counts as one."""

_ROW = re.compile(r"[^\s:]+[:-]\d+[:-]")


def refusal(text: str, *, role: str) -> str | None:
    """Return why `text` of a message with `role` may not be compressed, or None. A search's rows of code are rows, not code."""
    if role == "user":
        return "a person's words are never compressed; archive or pin the message instead"
    lines = sample(text)
    if is_json(text, lines):
        return None
    if is_diff(lines):
        return "this is a diff, and one with lines missing is wrong; fold or archive it instead"
    rows = sum(_ROW.match(line) is not None for line in lines)
    if code_share(lines) >= CODE_SHARE and rows * 2 < len(lines):
        return "this is code, and code with lines missing is wrong; fold or archive it instead"
    return None
