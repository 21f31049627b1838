"""The table of formats, and what a format is.

    openai      Chat Completions: `{"role": "system|developer|user|assistant|tool|function", "content": …}`
    anthropic   Messages: `{"role": "user|assistant", "content": …}`

A codec's `decode` reads one dict, `encode` writes a whole conversation (rules about pairs and turns reach over messages). Fields that
ours don't have travel in `wire` and in opaque parts of the format's `provider`, so a conversation survives the session file;
`Known` gives the dict itself back for what wasn't edited.

The one rule: what `decode` takes, `encode` writes so that the format's API takes it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias

from trimtab.context.vendor import anthropic, openai, openai_writing
from trimtab.context.vendor.plain import VendorMessage
from trimtab.context.vendor.turns import Known
from trimtab.types.errors import UsageError
from trimtab.types.messages import Message

Encode: TypeAlias = Callable[[Sequence[Message], Known], list[dict[str, Any]]]
"""Writes a conversation: calls and answers paired, what is known given back as it came."""


class Decode(Protocol):
    """Reads one message dict; raises `VendorMessageError` and nothing else.

    `index` is its number among the given messages, `calls` the names of the tools called so far, by call id.
    """

    def __call__(
        self, message: VendorMessage, *, index: int = 0, calls: Mapping[str, str] = MappingProxyType({})
    ) -> tuple[Message, ...]:
        """Return the messages that it holds."""
        ...


class Renamed(Protocol):
    """Puts other ids into a dict that `decode` took."""

    def __call__(
        self, fields: dict[str, Any], calls: Callable[[Sequence[str]], Sequence[str]], result: Callable[[str], str]
    ) -> dict[str, Any]:
        """Return the fields with what `calls` makes of the ids of an answer's calls and `result` of that of each result. Nothing is changed in place."""
        ...


@dataclass(frozen=True, slots=True)
class Format:
    """One way to write messages."""

    name: str
    provider: str
    """Owner of the opaque parts and answers that came in this format."""
    decode: Decode
    encode: Encode
    system_text: Callable[[VendorMessage], str | None]
    """The text of a message that instructs the model, None for any other."""
    givable: Callable[[VendorMessage], dict[str, Any] | None]
    """The dict that stands for an unedited message, None where the API wouldn't take it as it came."""
    renamed: Renamed
    """The same dict with other ids of calls."""


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "openai": Format(
            "openai",
            openai_writing.PROVIDER,
            openai.decode,
            openai_writing.encode,
            openai.system_text,
            openai.givable,
            openai.renamed,
        ),
        "anthropic": Format(
            "anthropic",
            anthropic.PROVIDER,
            anthropic.decode,
            anthropic.encode,
            anthropic.system_text,
            anthropic.givable,
            anthropic.renamed,
        ),
    }
)
"""By name."""


def format_named(name: str) -> Format:
    """Return a format. Raises `UsageError` when there is none of that name."""
    if isinstance(name, str) and name in FORMATS:
        return FORMATS[name]
    raise UsageError(f"no message format {name!r}", hint=f"Use one of: {', '.join(FORMATS)}.")
