"""Which vocabulary a model gets, what the provider adds to a message, and which thinking it keeps: rows of data.

A family is what `ModelInfo.tokenizer` names, or what a model's id says where that is empty. Tokens of a text in a family are

    scale × tokens in the vocabulary + classes of characters · extra

`exact`: that is the model's own vocabulary and nothing is guessed. `spread` is how far off the sum may be, as a relative standard deviation,
before any usage was reported: the width of the first band. The figures were measured on recorded sessions where a source says so; the others
come from a comparison of vocabularies (forty samples each of prose, code, JSON, Chinese, base64) or are cautious guesses with a wide band.
"""

import re
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from trimtab.context.counting.classes import Weights
from trimtab.context.counting.media import MediaRule
from trimtab.context.counting.weights import CLAUDE_4, CLAUDE_47, NOTHING
from trimtab.types.models import ModelInfo

Keeps: TypeAlias = Literal["all", "turn", "none"]
"""Thinking that a provider counts in later requests: all of it; that of the turn under way, until the person's next prompt; none."""


@dataclass(frozen=True, slots=True)
class Thought:
    """How thinking counts. A signed block has about `per_signature × characters of its signature + per_block` tokens.

    Its text may be a summary, or empty, yet all that was thought fills the window; the signature grows with it. Of that and the text's own
    count the larger holds.
    """

    keeps: Keeps
    per_signature: float = 0.0
    per_block: float = 0.0


@dataclass(frozen=True, slots=True)
class Overhead:
    """Tokens that the wire adds around each message, call, result and tool."""

    message: float = 4.0
    call: float = 15.0
    result: float = 10.0
    tool: float = 8.0


@dataclass(frozen=True, slots=True)
class Family:
    """One row: how the texts, messages and pictures of a family of models are counted."""

    name: str
    vocabulary: str
    scale: float = 1.0
    extra: Weights = NOTHING
    exact: bool = False
    spread: float = 0.15
    thought: Thought = Thought("turn")
    overhead: Overhead = Overhead()
    media: MediaRule = "openai_tiles"
    source: str = ""


_OLD_SIGNATURE = {"per_signature": 0.200, "per_block": -10.0}
"""Claude 3 to 4.6: median of reported growth by length of signature over 352 large blocks of Opus 4.5, Opus 4.6 and Sonnet 4.5."""
_NEW_SIGNATURE = {"per_signature": 0.273, "per_block": -40.0}
"""Claude 4.7 and later: least squares over 622 answers of Opus 4.7; median error 5 %."""

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family("o200k", "o200k_base", exact=True, spread=0.03, source="tiktoken; 3,300 calls of GPT-5.4 and 5.5"),
        Family("harmony", "o200k_harmony", exact=True, spread=0.05, source="tiktoken"),
        Family("cl100k", "cl100k_base", exact=True, spread=0.03, source="tiktoken"),
        Family("qwen3.5", "qwen3.5", exact=True, spread=0.05, source="the vocabulary that the library holds"),
        Family(
            "claude-4", "o200k_base", scale=0.663, extra=CLAUDE_4, spread=0.06, thought=Thought("all", **_OLD_SIGNATURE), media="anthropic",
            overhead=Overhead(message=3, call=55, result=18, tool=30), source="8,890 reported prompts of Opus 4.5, 4.6, Sonnet 4.5",
        ),
        Family(
            "claude-4-turn", "o200k_base", scale=0.663, extra=CLAUDE_4, spread=0.06, thought=Thought("turn", **_OLD_SIGNATURE), media="anthropic",
            overhead=Overhead(message=3, call=55, result=18, tool=30), source="as claude-4; drops thinking of earlier turns",
        ),
        Family(
            "claude-4.7", "o200k_base", scale=0.867, extra=CLAUDE_47, spread=0.06, thought=Thought("all", **_NEW_SIGNATURE), media="anthropic_large",
            overhead=Overhead(message=3, call=62, result=10, tool=30), source="2,202 reported counts of Opus 4.7",
        ),
        Family("gemini", "o200k_base", scale=1.08, spread=0.12, thought=Thought("none"), media="google", source="guess"),
        Family("deepseek", "o200k_base", scale=1.03, spread=0.08, source="vocabulary: prose 1.02, code 1.04, JSON 1.0, Chinese 0.86"),
        Family("llama3", "o200k_base", scale=1.0, spread=0.05, source="vocabulary: prose, code, JSON 1.0, Chinese 1.02, base64 1.05"),
        Family("tekken", "o200k_base", scale=1.07, spread=0.10, source="vocabulary: prose 1.03, code 1.04, JSON 1.18, Chinese 1.25"),
        Family("kimi", "o200k_base", scale=1.03, spread=0.12, source="guess"),
        Family("glm", "o200k_base", scale=1.05, spread=0.12, source="guess"),
        Family("grok", "o200k_base", scale=1.03, spread=0.12, source="guess"),
        Family("other", "o200k_base", scale=1.10, spread=0.20, source="a little above the mean of the rows above, with a wide band"),
    )
}  # fmt: skip
"""All rows, by name."""

_CLAUDE: tuple[tuple[str, str], ...] = (
    (r"claude-(?:2|3|instant)|(?:sonnet|opus|haiku)-4(?:$|[@:]|-[01]\b|-2\d{7})|(?:sonnet|haiku)-4-5", "claude-4-turn"),
    (r"(?:sonnet|opus|haiku)-4-[56]", "claude-4"),
    (r"claude", "claude-4.7"),
)
"""Claude ids, first match wins. Kept thinking: Opus since 4.5, Sonnet since 4.6 keep that of earlier turns (provider's documentation of
extended thinking; seen in the recorded prompts of Opus 4.5 to 4.8 and, for the contrary, of Sonnet 4.5)."""

_BY_ID: tuple[tuple[str, str], ...] = (
    *_CLAUDE,
    (r"gpt-oss", "harmony"),
    (r"gpt-4o|gpt-4\.[15]|chatgpt-4o|gpt-[5-9]|codex|(?:^|/)o[1-9]\b", "o200k"),
    (r"gpt-4|gpt-3\.5|text-embedding", "cl100k"),
    (r"qwen", "qwen3.5"),
    (r"gemini|gemma", "gemini"),
    (r"deepseek", "deepseek"),
    (r"llama", "llama3"),
    (r"mistral|devstral|magistral|codestral|ministral", "tekken"),
    (r"kimi|moonshot", "kimi"),
    (r"glm", "glm"),
    (r"grok", "grok"),
)


def family_of(model: ModelInfo) -> Family:
    """Return the row of `model`: by the tokenizer that it names, by its id, else `other`."""
    model_id = model.id.lower().replace(".", "-") if "claude" in model.id.lower() else model.id.lower()
    named = model.tokenizer.lower()
    if named == "claude" or (not named and "claude" in model_id):
        return FAMILIES[_first(_CLAUDE, model_id) or "claude-4.7"]
    if named in FAMILIES:
        return FAMILIES[named]
    return FAMILIES[_first(_BY_ID, named) or _first(_BY_ID, model_id) or "other"]


def exactly(family: Family) -> Family:
    """Return `family` for a model whose own tokenizer counts its texts: only what stands around them is guessed."""
    name = f"{family.name}, own tokenizer"
    return replace(family, name=name, scale=1.0, extra=NOTHING, exact=True, spread=0.03)


_PATCHED: tuple[tuple[str, MediaRule], ...] = ((r"nano", "openai_patches_nano"), (r"mini", "openai_patches"))
"""OpenAI's small models since GPT-4.1, which count pictures by patches."""


def media_rule(model: ModelInfo) -> MediaRule:
    """Return the formula by which `model` counts pictures."""
    family = family_of(model)
    if family.name == "o200k" and "4o" not in model.id:
        return next((rule for part, rule in _PATCHED if part in model.id.lower()), family.media)
    return family.media


def _first(rows: tuple[tuple[str, str], ...], text: str) -> str | None:
    return next((name for pattern, name in rows if text and re.search(pattern, text)), None)
