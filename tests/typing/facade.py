"""How a program of strict types embeds the engine. Checked by mypy, never run."""

from collections.abc import Sequence
from typing import Any

from trimtab.context import Context, ContextManager
from trimtab.context.shorten.pieces import Shortened
from trimtab.types import ToolSpec, Usage


def policy(seen: dict[str, Any]) -> dict[str, Any]:
    """A function is a policy."""
    return {"action": "keep"} if seen["used_tokens"] < 1_000 else {"action": "compact"}


def summarizer(messages: list[dict[str, Any]]) -> str:
    """A function is a summarizer."""
    return str(messages[-1]["content"])


class Compressor:
    """An object with the method is a compressor."""

    def compress(self, text: str, *, share: float, words: Sequence[str] = (), key: str = "") -> Shortened:
        """Keep the beginning."""
        return Shortened(text[: int(len(text) * share)])


managed: ContextManager = ContextManager(
    policy,
    max_tokens=8_000,
    summarizer=summarizer,
    estimate_tokens=len,
    format="anthropic",
    reserve=1_000,
    system="Be brief.",
    compressor=Compressor(),
    tools=[ToolSpec("f", "does f", {}), {"name": "g", "input_schema": {}}],
)
action: dict[str, Any] = managed.step({"role": "user", "content": "Hi."}, usage=Usage(input=3))
actions: list[dict[str, Any]] = managed.run([{"role": "user", "content": "Hi."}], usage={"input_tokens": 3})
outcome: dict[str, Any] = managed.execute(action)
seen: dict[str, Any] = managed.observe()
messages: list[dict[str, Any]] = managed.messages()
tools: list[dict[str, Any]] = managed.tools("pilot")
reply: str = managed.call("recall", {"id": "r1"})
text: str | None = managed.recall("r1")
again: ContextManager = managed.load(managed.dump())

plain: Context = Context([{"role": "user", "content": "Hi."}])
told: dict[str, str] = plain.compact(summarizer)
responses: dict[str, str | None] = plain.get_responses(["call_1"])

ContextManager(max_tokens=8_000, format="gemini")  # type: ignore[arg-type]
ContextManager(8_000)  # type: ignore[call-arg, arg-type]
ContextManager(len, max_tokens=8_000)  # type: ignore[arg-type]
ContextManager(max_tokens=8_000, compressor=len)  # type: ignore[arg-type]
managed.tools("everything")  # type: ignore[arg-type]
