"""Asks the small real model over any of its APIs, through our own wires and HTTP layer."""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any
from urllib.request import Request, urlopen

from trimtab.coding.local_model import MODEL
from trimtab.providers.http import HttpProvider
from trimtab.providers.open import open_provider
from trimtab.providers.wire import Endpoint
from trimtab.types.messages import Assistant, Message
from trimtab.types.models import Api, ModelInfo, ModelRequest
from trimtab.types.stream import Assembler, StreamEvent
from trimtab.types.tools import ToolSpec

WINDOW = 768
"""Tokens: room for every talk here, and so few that filling it takes seconds."""
ROOMY = 2_048
"""Tokens of the larger window, for tests of the context engine."""
APIS: tuple[Api, ...] = ("openai-chat", "openai-responses", "anthropic")


class SmallModel:
    """The model behind one API. `events` holds what the last answer streamed."""

    def __init__(self, base_url: str, api: Api, provider: HttpProvider) -> None:
        self.base_url = base_url
        self.api = api
        self.provider = provider
        self.info = ModelInfo("local", MODEL, api, context_window=WINDOW)
        self.events: list[StreamEvent] = []

    def request(
        self, *messages: Message, max_output: int = 32, system: str = "", tools: tuple[ToolSpec, ...] = ()
    ) -> ModelRequest:
        """A request with these messages."""
        return ModelRequest(self.info, messages, system=system, tools=tools, max_output=max_output)

    async def ask(
        self, *messages: Message, max_output: int = 32, system: str = "", tools: tuple[ToolSpec, ...] = ()
    ) -> Assistant:
        """Send one request and return the folded answer."""
        assembler = Assembler(provider="local", model=MODEL)
        self.events = []
        request = self.request(*messages, max_output=max_output, system=system, tools=tools)
        async with aclosing(self.provider.stream(request)) as stream:
            async for event in stream:
                self.events.append(event)
                assembler.feed(event)
        return assembler.message()


@asynccontextmanager
async def open_model(base_url: str, api: Api, *, idle_timeout_s: float = 50.0) -> AsyncIterator[SmallModel]:
    """The model over `api`; one request, no second try."""
    endpoint = Endpoint("local", api, base_url, max_retries=0, idle_timeout_s=idle_timeout_s)
    provider = open_provider(endpoint)
    assert isinstance(provider, HttpProvider)
    try:
        yield SmallModel(base_url, api, provider)
    finally:
        await provider.aclose()


def call_server(base_url: str, path: str, body: Any = None) -> Any:
    """The JSON that llama.cpp's own endpoint (`/tokenize`, `/slots`, …) answers."""
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(base_url.removesuffix("/v1") + path, data=data), timeout=30) as response:
        return json.load(response)


def count_tokens(base_url: str, text: str) -> int:
    """Tokens of `text`, marks of the chat template included."""
    return len(call_server(base_url, "/tokenize", {"content": text, "parse_special": True})["tokens"])
