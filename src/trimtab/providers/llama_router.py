"""Loading and unloading models at a llama.cpp server that has several (router mode).

    load: hear GET /models/sse ─▶ POST /models/load ─▶ model_status of this model: loaded ─▶ ""          unloaded, or no ─▶ why not
    unload: POST /models/unload ─▶ ""

Neither raises, and both end in bounded time; who stops waiting leaves the server to go on. Shapes: llama.cpp, tools/server/README.md, "Using multiple models".
"""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal

import anyio
import httpx2

from trimtab.providers.network import open_transport
from trimtab.providers.wire import Endpoint, WireFailure

LOAD_S = 600.0
"""How long a model may take, in seconds: a large one is read from a disk."""
_SAYS_S = 10.0
_MAX_ANSWER = 64 * 1024
_MAX_EVENTS = 64 * 1024 * 1024
Verb = Literal["load", "unload"]


async def load(endpoint: Endpoint, model: str, *, timeout_s: float = LOAD_S) -> str:
    """Have `model` loaded and wait until it is; empty, or why it isn't."""
    why = f"no word of it within {timeout_s:g} s; it may still come"
    with anyio.move_on_after(timeout_s):
        try:
            async with _client(endpoint) as client:
                why = await _load(client, model)
        except WireFailure as failure:
            why = failure.info.message
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, RecursionError) as e:
            why = str(e) or type(e).__name__
    return why


async def unload(endpoint: Endpoint, model: str) -> str:
    """Have `model` unloaded; empty, or why it isn't."""
    try:
        async with _client(endpoint) as client:
            return await _tell(client, "unload", model)
    except WireFailure as failure:
        return failure.info.message
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, RecursionError) as e:
        return str(e) or type(e).__name__


async def _load(client: httpx2.AsyncClient, model: str) -> str:
    async with client.stream("GET", "/models/sse", timeout=None) as events:
        refused = await _tell(client, "load", model)
        if refused or events.status_code != 200:  # one that tells no events may be old: it loads all the same
            return refused
        async for event in _events(events):
            if event.get("model") != model or event.get("event") != "model_status":
                continue
            data = _dict(event.get("data"))
            match data.get("status"):
                case "loaded":
                    return ""
                case "unloaded":
                    code = data.get("exit_code")
                    return f"it ended while it was loaded{f' (exit code {code})' if isinstance(code, int) else ''}"
    return "the server stopped telling how far it is; it may still come"


async def _tell(client: httpx2.AsyncClient, verb: Verb, model: str) -> str:
    async with client.stream("POST", f"/models/{verb}", json={"model": model}) as response:
        got = b""
        async for piece in response.aiter_bytes():
            got += piece
            if len(got) > _MAX_ANSWER:
                raise ValueError("the server's answer is too long")
        said = _dict(json.loads(got)) if got else {}
    if response.status_code == 200 and said.get("success") is True:
        return ""
    message = _dict(said.get("error")).get("message")
    return message if isinstance(message, str) and message else f"the server answers {response.status_code}"


async def _events(response: httpx2.Response) -> AsyncIterator[dict[str, Any]]:
    """The objects of an event stream; what is none is passed over."""
    held, size = b"", 0
    async for piece in response.aiter_bytes():
        size += len(piece)
        held += piece
        *lines, held = held.split(b"\n")
        if size > _MAX_EVENTS or len(held) > _MAX_ANSWER:
            raise ValueError("the server tells too much")
        for line in lines:
            try:
                value = json.loads(line.removeprefix(b"data:")) if line.startswith(b"data:") else None
            except ValueError:
                value = None
            if isinstance(value, dict):
                yield value


@asynccontextmanager
async def _client(endpoint: Endpoint) -> AsyncIterator[httpx2.AsyncClient]:
    root = endpoint.base_url.removesuffix("/v1")
    sent: Mapping[str, str] = {"authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
    transport = open_transport(root, proxy=endpoint.proxy, ca_file=endpoint.ca_file)
    async with httpx2.AsyncClient(
        base_url=root,
        headers={**endpoint.headers, **sent},
        transport=transport,
        timeout=_SAYS_S,
        trust_env=False,
        follow_redirects=False,
    ) as client:
        yield client


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
