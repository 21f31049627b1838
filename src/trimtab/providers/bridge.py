"""Any model of pydantic-ai as a provider: the way to what the native wires don't speak (Bedrock, Vertex, xAI, …).

    provider = open_bridge("bedrock:…")        # or BridgeProvider(model_object, provider="bedrock")

The library is an extra and heavy, so it is imported by the first request or `open_bridge`, not by this module. What is lost against
a native wire: the bytes of a request are the library's, so prefix caches depend on its version; retries are those of the SDK below it,
unseen (no `Retrying`). The mapping itself is in `bridge_mapping.py`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from trimtab.types.errors import ConfigError
from trimtab.types.extras import install_hint
from trimtab.types.models import ModelRequest
from trimtab.types.stream import StreamEvent

if TYPE_CHECKING:
    from types import ModuleType

    from pydantic_ai.models import Model

_MISSING = "a bridged model needs the package `pydantic-ai-slim`, which isn't installed"


class BridgeProvider:
    """A pydantic-ai model behind our port; satisfies `agent.ports.Provider`. `provider` is the name it has in our histories."""

    def __init__(self, model: Model, *, provider: str) -> None:
        self.model = model
        self.provider = provider

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """Send one request and yield what comes back; the last event is `Ended`."""
        from trimtab.providers import bridge_mapping  # noqa: PLC0415 - the extra starts here

        async with aclosing(bridge_mapping.stream(self.model, request)) as events:
            async for event in events:
                yield event


def open_bridge(spec: str) -> BridgeProvider:
    """Return a provider for `PROVIDER:MODEL` as pydantic-ai names it; the library reads the provider's key from its usual variable.

    Raises `ConfigError` when the extra is missing, when the library doesn't know the name, or when the model's own SDK or key is missing.
    """
    models = _models()
    try:
        model: Model = models.infer_model(spec)
    except ImportError as exc:
        raise ConfigError(f"{spec!r} needs another package: {exc}", hint="Install what the message names.") from exc
    except (RuntimeError, ValueError) as exc:  # the library's UserError is a RuntimeError
        raise ConfigError(
            f"{spec!r} can't be opened: {exc}", hint="A bridged model is written PROVIDER:MODEL, as in bedrock:NAME."
        ) from exc
    return BridgeProvider(model, provider=spec.partition(":")[0])


def _models() -> ModuleType:
    try:
        from pydantic_ai import models  # noqa: PLC0415 - the extra starts here
    except ImportError as exc:
        raise ConfigError(_MISSING, hint=install_hint("pydantic-ai")) from exc
    return models
