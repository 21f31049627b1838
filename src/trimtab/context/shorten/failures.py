"""Failures: whether a line speaks of one.

Words of compilers, test runners, package managers and shells. Substrings sort out most lines at the speed of a search; the pattern then
asks for whole words, so that a `terror` or a `forgot` is none.
"""

import re

_HINTS = (
    *(
        "error",
        "fail",
        "warn",
        "fatal",
        "panic",
        "exception",
        "traceback",
        "undefined",
        "unresolved",
        "denied",
        "refused",
        "time",
    ),
    *(
        "not found",
        "no such",
        "cannot",
        "can't",
        "unable",
        "expected",
        "mismatch",
        "abort",
        "fault",
        "killed",
        "got",
        "e   ",
    ),
    *"✗✘✖❌",
)
_FAILURE = re.compile(
    r"(?:\b|(?<=[a-z]{2})(?=error|exception|warning))(?:errors?|fail(?:s|ed|ure|ures|ing)?|fatal|panic\w*|exceptions?|traceback|warn(?:ing|ings)?|"
    r"undefined|unresolved|denied|refused|timed out|timeout|not found|no such|cannot|can't|unable|(?:un)?expected|mismatch\w*|"
    r"abort\w*|segmentation fault|killed|got)\b|^e {3}|[✗✘✖❌]"
)
_LONGEST = 4_000
"""Characters of a line that are looked at."""


def speaks_of_failure(line: str) -> bool:
    """Whether `line` reports an error, a warning or a failed expectation. Linear, and bounded in one endless line."""
    low = line[:_LONGEST].lower()
    return any(hint in low for hint in _HINTS) and _FAILURE.search(low) is not None
