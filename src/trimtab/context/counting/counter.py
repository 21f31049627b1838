"""Counts texts, messages, tools and whole requests for one model.

    message ──parts──▶ texts ──(cache by content hash)──▶ vocabulary, classes ──family──▶ Size ──Calibration──▶ tokens

A `Size` keeps kinds apart; the numbers that `text`, `message`, `tool` and `request` return are calibrated. Texts are counted once: the cache
holds a hash and a number for each, no text, and forgets the oldest. An answer whose provider reported its output is not guessed: what of that
output later requests carry is taken as reported (hidden thinking too, if the provider keeps it).

The one rule: equal content has equal counts, whatever was counted before; nothing that a model reads counts 0.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from math import ceil
from typing import TypeAlias, assert_never

import msgspec

from trimtab.context.counting.classes import weigh
from trimtab.context.counting.families import Family, exactly, family_of, media_rule
from trimtab.context.counting.media import image_tokens
from trimtab.context.counting.ratio import Calibration, CalibrationState, begun_with
from trimtab.context.counting.size import Size
from trimtab.context.counting.tokenizers import count
from trimtab.context.counting.weights import NOTHING
from trimtab.types.messages import Assistant, Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult, User
from trimtab.types.models import ModelInfo, ModelRequest
from trimtab.types.tools import ToolSpec

Tokenize: TypeAlias = Callable[[str], int | None]
"""A text → its tokens, or None when that can't be said any more."""
CACHED_TEXTS = 50_000
"""How many texts are remembered: a hash of 16 bytes and a number each."""
_SNAPSHOT = re.compile(r"(?:-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest))?(?:\[\w+\])?")
"""What may follow a model's id in the id of one of its snapshots."""
_SHORT = 256
"""Characters up to which a text is its own key."""


class Counter:
    """Counts for `model`. Keep one for a session: its cache and its calibration are what makes it fast and right.

    `tokenize` counts a text in place of the family's vocabulary: a server's tokenizer, a local vocabulary, a function of an embedder. When it gives None
    it isn't asked again, and the vocabulary counts from then on. `learned` gives what earlier sessions taught about the model, when that is first needed.
    """

    def __init__(
        self,
        model: ModelInfo,
        *,
        calibration: Calibration | None = None,
        tokenize: Tokenize | None = None,
        learned: Callable[[], CalibrationState | None] = lambda: None,
        cached_texts: int = CACHED_TEXTS,
    ) -> None:
        self.model = model
        self.family: Family = family_of(model) if tokenize is None else exactly(family_of(model))
        self._media = media_rule(model)
        self._calibration = calibration
        self._learned = learned
        self._cache: dict[str | bytes, float] = {}
        self._cached_texts = cached_texts
        self._tokenize = tokenize

    @property
    def calibration(self) -> Calibration:
        """The factors in use."""
        if self._calibration is None:
            self._calibration = begun_with(self.family, self._learned())
        return self._calibration

    @calibration.setter
    def calibration(self, calibration: Calibration) -> None:
        """Count with these from here on."""
        self._calibration = calibration

    @property
    def learned(self) -> CalibrationState | None:
        """What was learned, with what was known before; None where no report was taken in yet."""
        calibration = self._calibration
        return calibration.state if calibration is not None and calibration.taught else None

    def text(self, text: str) -> int:
        """Return the tokens of `text` as something the model reads."""
        return self.tokens(Size(read=self.raw([text])[0]))

    def message(self, message: Message) -> int:
        """Return the tokens of `message` as later requests carry it, wire overhead included; at least 1."""
        return max(1, self.tokens(self.size(message)))

    def tool(self, tool: ToolSpec) -> int:
        """Return the tokens of a tool as the model is told of it."""
        return self.tokens(self.tool_size(tool))

    def request(self, request: ModelRequest) -> int:
        """Return the tokens of a whole request: system prompt, tools, messages; what providers add unseen is not in it."""
        return self.tokens(self.request_size(request.messages, system=request.system, tools=request.tools))

    def tokens(self, size: Size) -> int:
        """Return `size` as one calibrated number, rounded up and never negative."""
        return max(0, ceil(self.calibration.tokens(size)))

    def size(self, message: Message, *, trusted: bool = True) -> Size:
        """Return the size of `message` by kind. `trusted`: its reported output, if it has one, is what the model really wrote."""
        match message:
            case User():
                return self._said(message.parts, "read", self.family.overhead.message)
            case ToolResult():
                return self._said(message.parts, "result", self.family.overhead.result)
            case Assistant():
                return self._answered(message, trusted=trusted)
            case _:
                assert_never(message)

    def estimated(self, message: Assistant) -> Size:
        """Return the size of an answer from its text alone, thinking included, whatever was reported."""
        written = [p.text for p in message.parts if isinstance(p, Text)]
        written += [_arguments(p) for p in message.parts if isinstance(p, ToolCall)]
        written += [_verbatim(p) for p in message.parts if isinstance(p, Opaque)]
        calls = len(message.tool_calls)
        overhead = self.family.overhead
        return Size(
            written=sum(self.raw(written)),
            thought=self._thoughts(message),
            media=self._pictures(message.parts),
            added=overhead.message + calls * overhead.call,
        )

    def thought(self, message: Assistant, *, trusted: bool = True) -> Size:
        """Return the part of `size(message)` that goes when its turn is over; nothing where the provider keeps thinking, or never counts it."""
        if self.family.thought.keeps != "turn":
            return Size()
        estimate = self.estimated(message)
        if message.usage is None or self._kept_output(message, estimate, trusted=trusted) is None:
            return Size(thought=estimate.thought)
        return Size(reported=min(message.usage.output, message.usage.reasoning or estimate.thought))

    def tool_size(self, tool: ToolSpec) -> Size:
        """Return the size of a tool: name, description and schema."""
        schema = msgspec.json.encode(tool.parameters).decode()
        return Size(read=sum(self.raw([tool.name, tool.description, schema])), added=self.family.overhead.tool)

    def request_size(self, messages: Iterable[Message], *, system: str = "", tools: Sequence[ToolSpec] = ()) -> Size:
        """Return the size of a request. Thinking of turns that are over is left out where the provider leaves it out."""
        total = self.fixed_size(system, tools)
        turn = Size()
        for message in messages:
            if ends_turn(message):
                total, turn = total - turn, Size()
            total += self.size(message)
            if isinstance(message, Assistant):
                turn += self.thought(message)
        return total

    def fixed_size(self, system: str, tools: Sequence[ToolSpec]) -> Size:
        """Return the size of what stands in front of the messages."""
        total = Size(read=self.raw([system])[0])
        for tool in tools:
            total += self.tool_size(tool)
        return total

    def raw(self, texts: Sequence[str]) -> list[float]:
        """Return what each text has in the model's family, before calibration."""
        cache = self._cache
        keys = [_key(text) for text in texts]
        fresh = {key: text for key, text in zip(keys, texts, strict=True) if key not in cache}
        if fresh:
            cache.update(zip(fresh, self._count(list(fresh.values())), strict=True))
            self._forget()
        return [cache[key] for key in keys]

    def _count(self, texts: Sequence[str]) -> list[float]:
        if self._tokenize is not None and (exact := _told(self._tokenize, texts)) is not None:
            return exact
        if self._tokenize is not None:
            self._go_without()
        family = self.family
        counts = count(texts, family.vocabulary)
        if family.extra is NOTHING:
            return [family.scale * n for n in counts]
        return [family.scale * n + weigh(text, family.extra) for n, text in zip(counts, texts, strict=True)]

    def _go_without(self) -> None:
        """The tokenizer is gone: count as if there had never been one. Sizes that were taken stay what they are."""
        self._tokenize = None
        self.family = family_of(self.model)
        self._calibration = Calibration(self.family)
        self._cache.clear()

    def _forget(self) -> None:
        """Drop the oldest entries once there are too many: a quarter at a time, so that it is rare. Who still reads the old table may."""
        if len(self._cache) > self._cached_texts:
            keep = self._cached_texts * 3 // 4
            self._cache = dict(list(self._cache.items())[len(self._cache) - keep :])

    def _said(self, parts: Sequence[Part], kind: str, overhead: float) -> Size:
        texts = [p.text for p in parts if isinstance(p, Text)]
        texts += [_verbatim(p) for p in parts if isinstance(p, Opaque)]
        tokens = sum(self.raw(texts))
        media = self._pictures(parts)
        if kind == "result":
            return Size(result=tokens, media=media, added=overhead)
        return Size(read=tokens, media=media, added=overhead)

    def _answered(self, message: Assistant, *, trusted: bool) -> Size:
        estimate = self.estimated(message)
        kept = self._kept_output(message, estimate, trusted=trusted)
        if kept is not None:
            return Size(reported=kept, added=self.family.overhead.message)
        if self.family.thought.keeps == "none":
            return estimate - Size(thought=estimate.thought)
        return estimate

    def _kept_output(self, message: Assistant, estimate: Size, *, trusted: bool) -> float | None:
        """What of the reported output later requests carry, or None when no believable output was reported.

        A count under half of what its text needs is a placeholder: some logs hold a number from the middle of a stream. One that isn't
        trusted is such a number, so at most a lower bound.
        """
        usage = message.usage
        if not self._made(message):
            return None
        least = (estimate.written + estimate.added) / 2 if trusted else estimate.plain
        if usage is None or usage.output <= 0 or usage.output < least:
            return None
        if self.family.thought.keeps == "none":
            return max(0, usage.output - usage.reasoning)
        return usage.output

    def _pictures(self, parts: Sequence[Part]) -> float:
        return float(sum(image_tokens(p, self._media) for p in parts if isinstance(p, Image)))

    def _made(self, message: Assistant) -> bool:
        """Say whether our model gave this answer, or a snapshot of it: only then its reported tokens and its signatures are ours to use."""
        short, long = sorted((message.model, self.model.id), key=len)
        return not short or (long.startswith(short) and _SNAPSHOT.fullmatch(long[len(short) :]) is not None)

    def _thoughts(self, message: Assistant) -> float:
        """The thinking in an answer. Another model of the same provider reads it as text; another provider never sees it."""
        thoughts = [p for p in message.parts if isinstance(p, Thinking)]
        if self._made(message):
            return sum(self._thinking(p) for p in thoughts)
        if message.provider != self.model.provider:
            return 0.0
        return sum(self.raw([p.text for p in thoughts if not p.redacted]))

    def _thinking(self, part: Thinking) -> float:
        text = self.raw([part.text])[0] if part.text else 0.0
        if not part.signature and not part.redacted:
            return text
        rule = self.family.thought
        return max(text, rule.per_signature * len(part.signature or "") + rule.per_block)


def ends_turn(message: Message) -> bool:
    """Say whether `message` begins a new turn: a person's words, however they came, not what a client adds beside results."""
    return isinstance(message, User) and message.origin not in ("command", "summary")


def _told(tokenize: Tokenize, texts: Sequence[str]) -> list[float] | None:
    """What a tokenizer says of each text; None as soon as it says nothing."""
    found: list[float] = []
    for text in texts:
        tokens = tokenize(text) if text else 0
        if tokens is None:
            return None
        found.append(float(max(0, tokens)))
    return found


def _arguments(call: ToolCall) -> str:
    raw = call.raw or (msgspec.json.encode(call.arguments).decode() if call.arguments else "")
    return f"{call.name} {raw}"


def _verbatim(part: Opaque) -> str:
    """An opaque item as it goes over the wire; structured data is never nothing."""
    return msgspec.json.encode(part.data).decode()


def _key(text: str) -> str | bytes:
    if len(text) <= _SHORT:
        return text
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
