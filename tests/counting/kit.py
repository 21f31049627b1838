"""Models, texts and strategies that the counting tests share."""

import base64
import json
import random

from hypothesis import strategies as st

from trimtab.context.counting.counter import Counter
from trimtab.types.messages import Assistant, Message, Text, Thinking, ToolCall, ToolResult, user
from trimtab.types.models import ModelInfo
from trimtab.types.usage import Usage

GPT = ModelInfo("openai", "gpt-5.4", "openai-responses", tokenizer="o200k", context_window=258_400)
OPUS = ModelInfo("anthropic", "claude-opus-4-7", "anthropic", tokenizer="claude", context_window=1_000_000)
SONNET = ModelInfo("anthropic", "claude-sonnet-4-5", "anthropic", tokenizer="claude", context_window=200_000)
LOCAL = ModelInfo("local", "somebody/new-model", "openai-chat")
MODELS = (GPT, OPUS, SONNET, LOCAL)

_random = random.Random(7)
BASE64 = base64.b64encode(_random.randbytes(67_500)).decode()
"""90 kB of random bytes as text."""
NUMERIC_JSON = json.dumps(
    [{"id": _random.randrange(10**12), "parent": _random.randrange(10**9), "ok": True} for _ in range(1_900)],
    separators=(",", ":"),
)
"""About 100 kB of minified JSON full of ids."""
CHINESE = "今天天气很好我们一起去公园散步然后回家做饭吃完晚饭再看一本有意思的书" * 300
"""Over 10,000 characters."""

texts = st.text(max_size=60) | st.sampled_from(
    ["def f(x):\n    return x\n", "日本語のテキスト", "aGVsbG8gd29ybGQ=", "🚀🚀", "a\ud800b"]
)
users = texts.map(lambda t: user(t))
results = texts.map(lambda t: ToolResult("c", "bash", (Text(t),), is_error=False))
answers = st.builds(
    lambda text, raw, thought: Assistant(
        (Thinking(thought, signature="s" * len(thought)), Text(text), ToolCall("c", "bash", None, raw)), "tool_use"
    ),
    texts,
    texts,
    texts,
)
messages = st.lists(users | results | answers, max_size=8)


def counter(model: ModelInfo = GPT) -> Counter:
    """A counter that has learned nothing."""
    return Counter(model)


def result(text: str, call_id: str = "c1") -> ToolResult:
    """The answer to a call."""
    return ToolResult(call_id, "bash", (Text(text),), is_error=False)


def answer(
    text: str = "", *, prompt: int = 0, output: int = 0, reasoning: int = 0, stop: str = "stop", model: str = ""
) -> Assistant:
    """An answer with the usage that its provider reported; none when `prompt` is 0 and `output` is 0."""
    usage = Usage(input=prompt, output=output, reasoning=reasoning) if prompt or output else None
    parts = (Text(text),) if text else ()
    return Assistant(parts, stop, usage, model=model)  # type: ignore[arg-type]


def words(n: int) -> str:
    """About `n` tokens of prose."""
    return " ".join(("the", "file", "was", "read", "again")[i % 5] for i in range(n))


def total(found: list[Message], model: ModelInfo = GPT) -> float:
    """The plain size of messages."""
    return Counter(model).request_size(found).plain
