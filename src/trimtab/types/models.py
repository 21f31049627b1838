"""Models as data: what a window holds, what it costs, and one request to a model.

Prices are US dollars per million tokens. The catalogue fills these values; the kernel only reads them.
"""

from typing import Any, Literal

import msgspec

from trimtab.types.messages import Message
from trimtab.types.tools import ToolSpec
from trimtab.types.usage import Usage

Api = Literal["openai-chat", "openai-responses", "anthropic", "google", "scripted", "recorded", "bridge"]
Modality = Literal["text", "image", "pdf", "audio", "video"]


class Price(msgspec.Struct, frozen=True, omit_defaults=True):
    """USD per million tokens, for prompts of more than `above` tokens."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    cache_write_1h: float | None = None
    above: int = 0

    @property
    def read(self) -> float:
        """A token read from a cache: at the input price where no other is known."""
        return self.input if self.cache_read is None else self.cache_read

    @property
    def write(self) -> float:
        """A token written to one, likewise."""
        return self.input if self.cache_write is None else self.cache_write

    @property
    def write_1h(self) -> float:
        """A token written for an hour: as any other write where no other price is known."""
        return self.write if self.cache_write_1h is None else self.cache_write_1h


class CacheRules(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a provider's prompt cache works. `kind` none: no cache; prefix: automatic; explicit: by breakpoints.

    Tokens: `minimum` is the smallest prefix that is kept, `granularity` the step in which one matches, counted from `offset` tokens in front of the
    prompt (what a provider adds there and doesn't report). `lookback`: content blocks over which a
    read searches back from a breakpoint (0: all). `breakpoints`: how many a request may have. `ttl_s`: how long an entry that nobody uses is
    kept, in seconds (0: unknown); from 3,600 on the longer lifetime is asked for and paid, where there is one. `storage`: USD per million
    tokens and hour, where keeping is charged. `drops_thinking`: a new prompt takes the thinking of the turns before out of the context, so the
    cache breaks at the first of it. `caches_answer`: a request's answer is kept with it, so the next one reads that too.
    """

    kind: Literal["none", "prefix", "explicit"] = "none"
    minimum: int = 0
    granularity: int = 1
    lookback: int = 0
    breakpoints: int = 0
    ttl_s: int = 0
    storage: float = 0.0
    offset: int = 0
    drops_thinking: bool = False
    caches_answer: bool = False


class ModelInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known of a model. `source` says where the window came from; `note` what a person should know."""

    provider: str
    id: str
    api: Api
    context_window: int = 32_768
    max_output: int = 4_096
    input: tuple[Modality, ...] = ("text",)
    thinking: tuple[str, ...] = ()
    thinking_style: str = ""
    tokenizer: str = ""
    prices: tuple[Price, ...] = ()
    cache: CacheRules = CacheRules()
    name: str = ""
    source: Literal["catalogue", "config", "probe", "default"] = "default"
    note: str = ""
    compat: dict[str, Any] = {}

    @property
    def ref(self) -> str:
        """`provider/id`."""
        return f"{self.provider}/{self.id}"


class ModelRequest(msgspec.Struct, frozen=True):
    """One request to a model, before any wire has shaped it.

    `thinking` is one of the model's levels or None (the provider's default). `max_output` in tokens. `cache_marks` are indexes of
    messages behind which a cache breakpoint goes, ascending, for wires that have them; empty: where the wire puts them by itself.
    """

    model: ModelInfo
    messages: tuple[Message, ...]
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    max_output: int | None = None
    thinking: str | None = None
    session_id: str = ""
    cache_marks: tuple[int, ...] = ()


def add_costs(*costs: float | None) -> float | None:
    """Return the sum of costs, None when one is unknown."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def cost_usd(usage: Usage, prices: tuple[Price, ...]) -> float | None:
    """What `usage` of one request costs in USD, or None when no price is known.

    The tier is chosen by prompt size.
    """
    tiers = [p for p in prices if usage.prompt >= p.above]
    if not tiers:
        return None
    tier = max(tiers, key=lambda p: p.above)
    short = usage.cache_write - usage.cache_write_1h
    total = usage.input * tier.input + usage.output * tier.output + usage.cache_read * tier.read
    return (total + short * tier.write + usage.cache_write_1h * tier.write_1h) / 1_000_000
