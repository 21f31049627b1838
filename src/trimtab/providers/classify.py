"""What a provider's error means: rules from a data file, vetoes before shapes.

An error body is read in three steps: find its words (JSON within JSON, `detail` lists, HTML of a proxy), try the rules of
`errors.toml` in order, and fall back on the status. Rules of the user come first. The rule of this file: no provider's
wording stands in code.

A rule holds when its `status` admits the status (none given: any; an error inside a stream counts as 0) and one of its `codes` is a code of the
error or one of its `match` patterns is found in the words, without regard to case. In patterns `<n>` stands for a number, `<limit>` and
`<actual>` for the numbers to keep.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from trimtab.providers.retry import retry_after
from trimtab.types.errors import ConfigError, ErrorClass, ErrorInfo

IN_STREAM = 0
"""Stands for the status of an error that came inside a 200 answer."""

_NUMBER = r"\d[\d,_]*"
_SHOWN_CHARS = 500
CUT = " …"
"""Stands at the end of a message that was cut."""
_READ_CHARS = 65_536
"""Of an error's words: rules look at no more, so that a body of any size is read at once."""
_HTML_CHARS = 8_192
"""The same of a page: tags that never end take as long as their number squared."""
_ADD_A_RULE = (
    "These words are all that is known. Should they mean that the input was too long, a rule in errors.toml beside config.toml says so: "
    'class = "overflow", match = ["words of this message"].'
)
_MAY_BE_LONG = (IN_STREAM, 400, 413, 422)
"""With what a server answers to an input that is too long."""


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of the table.

    `unless` are patterns that must not be found. `exceeds` demands that both numbers were found and actual > limit, `waits`
    that the answer names a time to come back. `retryable` says that the same request may succeed later.
    """

    kind: ErrorClass = msgspec.field(name="class")
    match: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    status: tuple[int, ...] = ()
    unless: tuple[str, ...] = ()
    exceeds: bool = False
    waits: bool = False
    retryable: bool = False
    hint: str = ""


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rule: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class ErrorText:
    """What an error body says: a `message` for people, all its `words`, its `codes` (lower case), its own `status`."""

    message: str
    words: str
    codes: frozenset[str]
    status: int | None = None


def read_rules(path: Path) -> tuple[Rule, ...]:
    """Return the rules in a file, none when there is no file. Raises `ConfigError`."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"{path}: can't be read: {exc}", hint="Correct or remove the file.") from exc
    return load_rules(text, source=str(path))


def load_rules(text: str, *, source: str = "errors.toml") -> tuple[Rule, ...]:
    """Return the rules in a TOML text of `[[rule]]` tables. Raises `ConfigError`, naming `source`, for a text that isn't one."""
    try:
        rules = msgspec.convert(tomllib.loads(text), _Table).rule
        for rule in rules:
            for pattern in (*rule.match, *rule.unless):
                _compile(pattern)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, re.error) as exc:
        raise ConfigError(
            f"{source}: not rules for errors: {exc}",
            hint='A [[rule]] has `class` and `match` or `codes`, like class = "overflow", match = ["too many words"].',
        ) from exc
    return rules


def classify(
    status: int | None,
    body: bytes | str,
    headers: Mapping[str, str] | None = None,
    *,
    now: float | None = None,
    extra_rules: Sequence[Rule] = (),
) -> ErrorInfo:
    """Say what an error answer means.

    `status` is None (or 2xx) for an error object inside a 200 answer. `headers` has lower-case names (or is case-insensitive). `now`, Unix
    time, is needed for a Retry-After that is a date. `extra_rules` are tried before ours.
    """
    said = read_error(body)
    stated = status if status is not None and status >= 300 else said.status
    wait = retry_after(headers or {}, now=now)
    if wait is None:
        wait = _stated_wait(said.words)
    message = said.message or _fallback_message(stated)
    hint = _ADD_A_RULE if (stated or IN_STREAM) in _MAY_BE_LONG else ""
    unknown = ErrorInfo("invalid", message, hint, status=stated, retry_after_s=wait)
    return _by_rules(unknown, said, (*extra_rules, *builtin_rules())) or msgspec.structs.replace(
        unknown, retry_after_s=None
    )


def reclassify(info: ErrorInfo, rules: Sequence[Rule]) -> ErrorInfo:
    """Let rules of the user overrule what a wire made of an error inside a stream; its message is all they see."""
    return _by_rules(info, ErrorText(info.message, info.message, frozenset()), rules) or info


def _by_rules(info: ErrorInfo, said: ErrorText, rules: Sequence[Rule]) -> ErrorInfo | None:
    """`info` as the first rule that holds sees it; None when none does."""
    status = IN_STREAM if info.status is None or info.status < 300 else info.status
    for rule in rules:
        if rule.waits and info.retry_after_s is None:
            continue
        numbers = _holds(rule, status, said)
        if numbers is not None:
            return msgspec.structs.replace(
                info,
                kind=rule.kind,
                hint=rule.hint or (_ADD_A_RULE if rule.kind == "invalid" else ""),
                retry_after_s=info.retry_after_s if rule.retryable else None,
                limit=numbers.get("limit"),
                actual=numbers.get("actual"),
                retryable=rule.retryable,
            )
    return None


@lru_cache(maxsize=1)
def builtin_rules() -> tuple[Rule, ...]:
    """The rules of the data file."""
    return load_rules(Path(__file__).with_name("errors.toml").read_text("utf-8"))


def read_error(body: bytes | str) -> ErrorText:
    """Find the words in an error body. Never raises."""
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    data = _json(text)
    if data is None:
        plain = _from_html(text) if text.lstrip().startswith("<") else text.strip()
        return ErrorText(_short(plain), text[:_READ_CHARS], frozenset())
    strings = list(_strings(data, depth=0))
    messages = [s for key, s in strings if key in _MESSAGE_KEYS]
    # Gateways wrap the message of the model's own server in a shorter one of theirs.
    message = max(messages, key=len, default="") or next((s for _, s in strings), "")
    # Numbers keep their key, because alone they say nothing (`n_ctx=4096`).
    words = [f"{key}={s}" if s.isdigit() else s for key, s in strings]
    codes = frozenset(s.lower() for key, s in strings if key in _CODE_KEYS)
    statuses = [int(s) for key, s in strings if key in ("code", "status", "status_code") and s.isdigit()]
    status = next((s for s in statuses if 300 <= s < 600), None)
    return ErrorText(_short(message), "\n".join(words)[:_READ_CHARS], codes, status)


_MESSAGE_KEYS = frozenset(
    {"message", "msg", "detail", "error", "error_description", "error_message", "status_msg", "title"}
)
_CODE_KEYS = frozenset({"code", "type", "status", "error_code", "status_code", "error", "__type", "reason"})


def _strings(value: Any, *, depth: int, key: str = "") -> Iterator[tuple[str, str]]:
    """Every string and number in `value` with the key it stands under; a string that is JSON itself is opened, twice at most."""
    if isinstance(value, dict):
        for k, v in value.items():
            yield from _strings(v, depth=depth, key=str(k).lower())
    elif isinstance(value, list):
        for v in value:
            yield from _strings(v, depth=depth, key=key)
    elif isinstance(value, str):
        inner = _json(value) if depth < 2 else None
        if inner is None:
            yield key, value
        else:
            yield from _strings(inner, depth=depth + 1, key=key)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield key, str(value)


def _json(text: str) -> Any:
    """The JSON that `text` is, or the object behind a prefix like `Error 400: `; else None."""
    text = text.strip()
    start = 0 if text.startswith("[") else text.find("{", 0, 200)
    if start < 0:
        return None
    try:
        return msgspec.json.decode(text[start:])
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return None


def _from_html(text: str) -> str:
    text = text[:_HTML_CHARS]
    title = re.search(r"<title[^>]*>(.*?)</title>", text, re.I | re.S)
    words = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", text, flags=re.I | re.S)
    return " ".join((title.group(1) if title else words).split())


def _short(text: str) -> str:
    text = text.strip()
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + CUT


def _fallback_message(status: int | None) -> str:
    return (
        f"the provider answered with status {status} and no text"
        if status
        else "the provider reported an error without text"
    )


def _holds(rule: Rule, status: int, said: ErrorText) -> dict[str, int] | None:
    """The numbers found when the rule holds, else None."""
    if rule.status and status not in rule.status:
        return None
    found = _numbers(rule, said)
    if found is None or any(_compile(p).search(said.words) for p in rule.unless):
        return None
    if rule.exceeds and not ("limit" in found and found.get("actual", 0) > found["limit"]):
        return None
    return found


def _numbers(rule: Rule, said: ErrorText) -> dict[str, int] | None:
    """What the first pattern found captures; nothing when a code decides, or the status alone."""
    for pattern in rule.match:
        hit = _compile(pattern).search(said.words)
        if hit:
            return {k: int(re.sub(r"\D", "", v)) for k, v in hit.groupdict().items() if v}
    by_status = not rule.match and not rule.codes
    return {} if by_status or not said.codes.isdisjoint(rule.codes) else None


@lru_cache(maxsize=1024)
def _compile(pattern: str) -> re.Pattern[str]:
    for name in ("limit", "actual"):
        pattern = pattern.replace(f"<{name}>", rf"(?P<{name}>{_NUMBER})")
    return re.compile(pattern.replace("<n>", _NUMBER), re.IGNORECASE | re.DOTALL)


_WAIT = re.compile(
    r"(?:try again in|retry (?:in|after)|retrydelay\W+)\s*(?:(\d+)m(?!s))?\s*(\d+(?:\.\d+)?)\s*(ms|s\b|seconds?)",
    re.IGNORECASE,
)


def _stated_wait(words: str) -> float | None:
    """The wait that an error text states (`try again in 1m2.5s`, `"retryDelay": "34s"`), in seconds."""
    hit = _WAIT.search(words)
    if hit is None:
        return None
    minutes, number, unit = hit.groups()
    return int(minutes or 0) * 60 + float(number) * (0.001 if unit.lower() == "ms" else 1)
