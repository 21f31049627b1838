"""Secrets out of a text: nothing that opens a door is copied into a summary.

Known shapes of keys and tokens go wherever they stand; a value goes when it stands behind a name such as `password` and looks like a
value rather than like code. A name is kept, so that a reader still knows which secret it was. Redacting twice changes nothing.
"""

import re
from dataclasses import dataclass

from trimtab.context.pause import breathe
from trimtab.context.strings import Kept
from trimtab.context.summary.typed_secrets import without_typed


@dataclass(frozen=True, slots=True)
class _Shape:
    """A shape of secrets. Without one of the `hints` (lower case) a text holds none, and isn't searched."""

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]


_KEY_BLOCK = r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)"
_FORGES = r"\b(?:gh[oprsu]_[0-9A-Za-z]{20,}|github_pat_[0-9A-Za-z_]{20,}|glpat-[0-9A-Za-z_-]{16,})"
_REGISTRIES = r"\b(?:xox[abeoprs]-[0-9A-Za-z-]{10,}|npm_[0-9A-Za-z]{30,}|pypi-[0-9A-Za-z_-]{30,}|hf_[0-9A-Za-z]{20,})"
_MODELS = r"\b(?:sk|pk|rk)[-_](?:live[-_]|test[-_]|ant[-_]|proj[-_]|or[-_])?[0-9A-Za-z_-]{16,}"
_SHAPES = (
    _Shape("private key", ("private key-----",), re.compile(_KEY_BLOCK, re.S)),
    _Shape("token", ("eyj",), re.compile(r"\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?")),
    _Shape("key", ("akia", "asia", "agpa", "aida", "aroa"), re.compile(r"\bA(?:KIA|SIA|GPA|IDA|ROA)[0-9A-Z]{16}\b")),
    _Shape("key", ("aiza",), re.compile(r"\bAIza[0-9A-Za-z_-]{30,}")),
    _Shape("token", ("gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat_", "glpat-"), re.compile(_FORGES)),
    _Shape("token", ("xox", "npm_", "pypi-", "hf_"), re.compile(_REGISTRIES)),
    _Shape("key", ("sk-", "sk_", "pk-", "pk_", "rk-", "rk_"), re.compile(_MODELS)),
    _Shape("token", ("bearer ",), re.compile(r"(?<=[Bb]earer )[0-9A-Za-z._~+/-]{12,}={0,2}")),
    _Shape("token", ("basic ",), re.compile(r"(?<=[Bb]asic )(?=[A-Za-z+/]*\d)[0-9A-Za-z+/]{12,}={0,2}")),
    _Shape("password", ("://",), re.compile(r"(?<=://)[^\s/:@\[\]]{0,64}:[^\s/\"'<>\[\]]{1,256}(?=@)")),
    _Shape("token", ("sig=",), re.compile(r"(?<=[?&]sig=)[0-9A-Za-z%+/]{16,}={0,2}")),
)
_NAME = r"(?:pass(?:word|wd|phrase)|secret|credential|(?:api|access|private|auth|secret)[_-]?key|token)(?:[_-]?(?:key|value|id|s))?"
_NAME_HINTS = ("passw", "pwd", "passphrase", "secret", "credential", "key", "token")
_GIVEN = r"""\\{0,3}["']?\s{0,3}(?:[:=]>?|\bis\b)\s{0,3}"""
_BEGUN = re.compile(_NAME + _GIVEN)
_ASSIGNED = re.compile(
    rf"""
    (?P<name> {_NAME} {_GIVEN} ) (?!["']?\[secret:)
    (?: (?P<open> \\{{1,3}}["'] ) (?P<within> [^"'\\\n]{{4,200}} ) (?P<close> \\{{1,3}}["'] )
      | "(?P<double> [^"\n]{{4,200}} )" | '(?P<single> [^'\n]{{4,200}} )' | (?P<bare> [^\s"'(){{}}\[\]<>,;$`]{{6,200}} ) )
    """,
    re.I | re.X,
)
_KEYED = re.compile(
    r"(?P<name>\b(?:Account|SharedAccess|Primary|Secondary|Storage)Key\s?=\s?)[0-9A-Za-z+/_-]{16,}={0,3}", re.I
)
_PAIR = re.compile(
    r"""
    (?P<name> (?P<behind> ;\s? )? \b (?:password|pwd) \s? = \s? )
    [^\s;"'<>()\[\]{}$]{1,200} (?(behind) | (?= ;\s?[A-Za-z][\w ]{1,40}= ) )
    """,
    re.I | re.X,
)
"""A part of a connection string (`Server=…;Password=…`): whatever its value looks like, what stands beside it tells that it is one."""


_KEYED_HINTS = ("accountkey", "sharedaccesskey", "primarykey", "secondarykey", "storagekey")
_PAIR_HINTS = ("password", "pwd")
_SHORT = 200
_known: Kept[str] = Kept(8_000_000)
"""Each summary reads what stood behind the one before, too."""


def redact(text: str) -> str:
    """Return `text` with each secret replaced by `[secret: KIND]`."""
    breathe()
    if len(text) < _SHORT:
        return _redacted(text)
    known = _known.get(text)
    if known is None:
        _known.put(text, known := _redacted(text))
    return known


def _redacted(text: str) -> str:
    lower = text.lower()
    for shape in _SHAPES:
        if any(hint in lower for hint in shape.hints):
            text = shape.pattern.sub(f"[secret: {shape.kind}]", text)
    text = without_typed(text, lower)
    if not any(hint in lower for hint in _NAME_HINTS):
        return text
    # A letter that only folds to a plain one, such as a long s, stands in no hint.
    plain = lower.isascii()
    if not plain or any(hint in lower for hint in _KEYED_HINTS):
        text = _KEYED.sub(_without_value, text)
    if not plain or any(hint in lower for hint in _PAIR_HINTS):
        text = _PAIR.sub(_without_value, text)
    return _ASSIGNED.sub(_hide, text) if not plain or _BEGUN.search(lower) else text


def _without_value(match: re.Match[str]) -> str:
    return f"{match['name']}[secret: value]"


def _hide(match: re.Match[str]) -> str:
    name = match["name"]
    if match["within"] is not None:
        kept = " " in match["within"].strip()
        return match[0] if kept else f"{name}{match['open']}[secret: value]{match['close']}"
    for group, quote in (("double", '"'), ("single", "'")):
        if match[group] is not None:
            return match[0] if " " in match[group].strip() else f"{name}{quote}[secret: value]{quote}"
    return f"{name}[secret: value]" if _looks_secret(match["bare"]) else match[0]


def _looks_secret(value: str) -> bool:
    """A bare word is a value when it holds a letter and a digit; `password: string` and `token = settings.token` are code."""
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
