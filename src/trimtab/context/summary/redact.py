"""Secrets out of a text: nothing that opens a door is copied into a summary.

Known shapes of keys and tokens go wherever they stand; a value goes when it stands behind a name such as `password` and looks like a
value rather than like code. A name is kept, so that a reader still knows which secret it was. Redacting twice changes nothing.
"""

import re

_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "private key",
        re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)", re.S),
    ),
    ("token", re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?")),
    ("key", re.compile(r"\b(?:AKIA|ASIA|AGPA|AIDA|AROA)[0-9A-Z]{16}\b")),
    ("key", re.compile(r"\bAIza[0-9A-Za-z_-]{30,}")),
    ("token", re.compile(r"\b(?:gh[oprsu]_[0-9A-Za-z]{20,}|github_pat_[0-9A-Za-z_]{20,}|glpat-[0-9A-Za-z_-]{16,})")),
    ("token", re.compile(r"\b(?:xox[abeoprs]-[0-9A-Za-z-]{10,}|npm_[0-9A-Za-z]{30,}|pypi-[0-9A-Za-z_-]{30,})")),
    ("token", re.compile(r"\bhf_[0-9A-Za-z]{20,}")),
    ("key", re.compile(r"\b(?:sk|pk|rk)[-_](?:live[-_]|test[-_]|ant[-_]|proj[-_]|or[-_])?[0-9A-Za-z_-]{16,}")),
    ("token", re.compile(r"(?<=[Bb]earer )[0-9A-Za-z._~+/-]{12,}={0,2}")),
    ("token", re.compile(r"(?<=[Bb]asic )[0-9A-Za-z+/]{12,}={0,2}")),
    ("password", re.compile(r"(?<=://)[^\s/:@\[\]]{1,64}:[^\s/@\[\]]{1,128}(?=@)")),
)
_NAME = (
    r"(?:pass(?:word|wd|phrase)|secret|credential|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key|secret[_-]?key"
    r"|(?:auth|access|refresh|bearer|session|api|bot|deploy|personal)[_-]?token|token)(?:[_-]?(?:key|value|id|s))?"
)
_ASSIGNED = re.compile(
    rf"""
    (?P<name> \b[\w.-]{{0,40}}? {_NAME} ["']? \s{{0,3}} (?: [:=]>? | \bis\b ) \s{{0,3}} ) (?!["']?\[secret:)
    (?: "(?P<double> [^"\n]{{4,200}} )" | '(?P<single> [^'\n]{{4,200}} )' | (?P<bare> [^\s"'(){{}}\[\]<>,;$`]{{6,200}} ) )
    """,
    re.I | re.X,
)


def redact(text: str) -> str:
    """Return `text` with each secret replaced by `[secret: KIND]`."""
    for kind, shape in _SHAPES:
        text = shape.sub(f"[secret: {kind}]", text)
    return _ASSIGNED.sub(_hide, text)


def _hide(match: re.Match[str]) -> str:
    name = match["name"]
    for group, quote in (("double", '"'), ("single", "'")):
        if match[group] is not None:
            return match[0] if " " in match[group].strip() else f"{name}{quote}[secret: value]{quote}"
    return f"{name}[secret: value]" if _looks_secret(match["bare"]) else match[0]


def _looks_secret(value: str) -> bool:
    """A bare word is a value when it holds a letter and a digit; `password: string` and `token = settings.token` are code."""
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
