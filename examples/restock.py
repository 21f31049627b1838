"""Which products to restock? One long document, one small window; the same model without and with management. Run: python examples/restock.py

A made-up catalogue (prices, stock, sales, reviews) is far larger than the window. Without management the request is cut to the window, as many
programs do it; with management the document gives way to its rows, with the fields that the question needs. Offline, a script that reads what
it is shown plays the model. Any server that speaks Chat Completions goes in its place:

    python examples/restock.py --base-url http://127.0.0.1:8080/v1 --model tiny
    RESTOCK_API_KEY=… python examples/restock.py --base-url https://api.openai.com/v1 --model gpt-4.1-mini --summaries
"""

import argparse
import json
import os
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anyio

from trimtab.context import ContextManager
from trimtab.context.vendor.formats import format_named
from trimtab.context.vendor.remembered import Remembered
from trimtab.providers import Catalogue, open_provider, resolve
from trimtab.providers.http import HttpProvider
from trimtab.types import ModelRequest, Text
from trimtab.types.config import ProviderConfig
from trimtab.types.stream import Ended, PartEnded

Messages = list[dict[str, Any]]
Model = Callable[[Messages], str]
NEEDED = ("sku", "stock", "sold_per_week")
QUESTION = (
    "Which three products run out first? A product lasts stock / sold_per_week weeks. "
    "Answer in one line, with sku, stock and sold_per_week of each, and no other numbers."
)
_ROW = re.compile(r'"sku":\s*"([^"]+)"[^{}]*?"stock":\s*(\d+)[^{}]*?"sold_per_week":\s*(\d+)')


def catalogue(products: int, seed: int) -> list[dict[str, Any]]:
    """Return made-up products; the same for the same seed."""
    chance = random.Random(seed)
    words = [
        "sturdy",
        "wobbly",
        "pretty",
        "late",
        "heavy",
        "quiet",
        "scratched",
        "lovely",
        "cheap",
        "solid",
        "boxed",
        "returned",
    ]

    def review() -> dict[str, Any]:
        return {"stars": chance.randint(1, 5), "text": " ".join(chance.choice(words) for _ in range(14))}

    return [
        {
            "sku": f"SKU-{1000 + number}",
            "name": f"{chance.choice(['oak', 'steel', 'glass'])} {chance.choice(['chair', 'lamp', 'desk'])}",
            "price": round(chance.uniform(5, 400), 2),
            "stock": chance.randint(3, 400),
            "sold_per_week": chance.randint(1, 60),
            "reviews": [review() for _ in range(3)],
        }
        for number in range(products)
    ]


def conversation(document: str) -> Messages:
    """The question, the call that an agent made for it, and what came back."""
    call = {"id": "call_1", "type": "function", "function": {"name": "read_catalogue", "arguments": "{}"}}
    return [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": document},
    ]


def cut_to(messages: Messages, characters: int) -> Messages:
    """What fits, from the end of the document: no management."""
    room = max(0, characters - sum(len(m["content"] or "") for m in messages[:-1]))
    return [*messages[:-1], {**messages[-1], "content": messages[-1]["content"][-room:] if room else ""}]


def managed(messages: Messages, window: int, summarizer: Model | None) -> Messages:
    """What an embedder does: an action of its own choice, then the messages that fit."""
    context = ContextManager(lambda _seen: None, max_tokens=window, summarizer=summarizer, estimate_tokens=tokens)
    context.step(messages)
    wanted = {
        "max_tokens": window // 2,
        "keep_fields": list(NEEDED),
        "instructions": f"Keep {', '.join(NEEDED)} of each.",
    }
    context.execute({"action": "summarize", "target": "call_1", "reason": "too long", "params": wanted})
    return context.messages()


def reader(messages: Messages) -> str:
    """A script in place of a model: it reads the rows that it is shown, and nothing else."""
    rows = [(int(stock) / int(sold), sku, stock, sold) for sku, stock, sold in _ROW.findall(messages[-1]["content"])]
    first = [f"{sku} ({stock} left, {sold} sold a week)" for _, sku, stock, sold in sorted(rows)[:3]]
    return f"Restock first: {', '.join(first)}." if first else "I see no products."


def endpoint(base_url: str, model: str, window: int) -> Model:
    """Any server that speaks Chat Completions, through Trimtab's own wire."""
    config = ProviderConfig(base_url=base_url, api="openai-chat", context_window=window, max_output=window // 4)
    found = resolve(f"there/{model}", config_providers={"there": config}, catalogue=Catalogue.load())
    there = found.with_key(os.environ.get("RESTOCK_API_KEY", "")).endpoint

    async def asked(messages: Messages) -> str:
        known = Remembered(format_named("openai"))
        request = ModelRequest(found.model, tuple(m for given in messages for m in known.decode(given)))
        provider = open_provider(there)
        text = ""
        async for event in provider.stream(request):
            if isinstance(event, PartEnded) and isinstance(event.value, Text):
                text += event.value.text
            elif isinstance(event, Ended) and event.error is not None:
                raise SystemExit(f"{base_url}: {event.error.message} {event.error.hint}")
        if isinstance(provider, HttpProvider):
            await provider.aclose()
        return text

    return lambda messages: anyio.run(asked, messages)


@dataclass(slots=True)
class Counted:
    """A model that is counted."""

    model: Model
    calls: int = 0

    def __call__(self, messages: Messages) -> str:
        """Ask it."""
        self.calls += 1
        return self.model(messages)


def tokens(text: str) -> int:
    """About how many tokens a text has."""
    return len(text) // 4


def report(name: str, sent: Messages, answer: str, products: list[dict[str, Any]], summary_calls: int) -> None:
    """Print what became of the document and of the answer."""
    source = json.dumps(products)
    shown = {row[0]: row for row in _ROW.findall(sent[-1]["content"])}
    kept = sum(len(NEEDED) for p in products if shown.get(p["sku"]) == tuple(str(p[field]) for field in NEEDED))
    known = set(re.findall(r"\d+(?:\.\d+)?", source))
    invented = [number for number in re.findall(r"\d+(?:\.\d+)?", answer) if number not in known]
    right = [p["sku"] for p in sorted(products, key=lambda p: p["stock"] / p["sold_per_week"])[:3]]
    print(f"{name}")
    print(f"  original tokens        {tokens(source):,}")
    print(f"  compressed tokens      {tokens(sent[-1]['content']):,}")
    print(f"  needed fields          {kept:,} kept, {len(NEEDED) * len(products) - kept:,} lost")
    print(f"  numbers not in source  {len(invented)}{': ' + ', '.join(invented) if invented else ''}")
    print(f"  summary calls          {summary_calls}")
    print(f"  right products         {sum(sku in answer for sku in right)} of 3")
    print(f"  answer                 {answer}")


def main() -> None:
    """Ask twice and compare."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--products", type=int, default=200)
    options.add_argument("--seed", type=int, default=7)
    options.add_argument("--window", type=int, default=12_000, help="tokens of the model's window")
    options.add_argument(
        "--base-url", help="a server that speaks Chat Completions; without it a script plays the model"
    )
    options.add_argument("--model", default="default", help="the model's name at that server")
    options.add_argument("--summaries", action="store_true", help="let the model write the summary")
    chosen = options.parse_args()

    products = catalogue(chosen.products, chosen.seed)
    messages = conversation(json.dumps(products))
    model = endpoint(chosen.base_url, chosen.model, chosen.window) if chosen.base_url else reader
    summarizer = Counted(model)
    # A quarter of the window is for the answer, and a token has about four characters.
    plain = cut_to(messages, chosen.window * 3 // 4 * 4)
    report("without management", plain, model(plain), products, 0)
    short = managed(messages, chosen.window, summarizer if chosen.summaries else None)
    report("with management", short, model(short), products, summarizer.calls)


if __name__ == "__main__":
    main()
