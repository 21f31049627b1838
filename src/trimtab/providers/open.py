"""Opening a provider: from an endpoint to something that streams, loading only the code of its API.

`openai-chat`, `openai-responses`, `anthropic` and `google` are wires over the one HTTP layer; `scripted` and `recorded` read a
file (the endpoint's `base_url` is its path); `bridge` hands over to another library (`base_url` is its `PROVIDER:MODEL`), or to an object that somebody in this process lends
(`offer`). Nothing of them is imported before its first use.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import cast

from trimtab.providers.credentials import Credentials
from trimtab.providers.provider import Provider
from trimtab.providers.wire import Endpoint, Wire
from trimtab.types.models import Api

_WIRES: Mapping[Api, tuple[str, str]] = {
    "openai-chat": ("openai_chat", "OpenAIChat"),
    "openai-responses": ("openai_responses", "OpenAIResponses"),
    "anthropic": ("anthropic", "AnthropicWire"),
    "google": ("google", "GoogleWire"),
}


_OFFERED: dict[str, list[Callable[[], Provider]]] = {}
"""What makes the providers that are lent, by their names; of several the last one holds."""


def offer(name: str, make: Callable[[], Provider]) -> Callable[[], None]:
    """Lend a provider: with the API `bridge`, `name` is what `make` makes, until what is returned is called."""
    _OFFERED.setdefault(name, []).append(make)

    def withdraw() -> None:
        _OFFERED[name].remove(make)
        if not _OFFERED[name]:
            del _OFFERED[name]

    return withdraw


def lent() -> frozenset[str]:
    """The names of providers that are lent now."""
    return frozenset(_OFFERED)


def open_provider(
    endpoint: Endpoint, *, errors_file: Path | None = None, credentials: Credentials | None = None
) -> Provider:
    """Return the provider of an endpoint. `errors_file` holds the user's own error rules; it needn't exist. `credentials` are for an API that has tokens in place of a key.

    Raises `ConfigError` for wrong rules, and for a script, cassette or bridged name that can't be used.
    """
    if endpoint.api in _WIRES:
        http = import_module("trimtab.providers.http")
        rules = () if errors_file is None else import_module("trimtab.providers.classify").read_rules(errors_file)
        return cast(
            Provider, http.HttpProvider(endpoint, _wire(endpoint.api), credentials=credentials, extra_rules=rules)
        )
    if endpoint.api == "scripted":
        scripted = import_module("trimtab.providers.scripted")
        return cast(Provider, scripted.ScriptedProvider(endpoint.base_url, max_retries=endpoint.max_retries))
    if endpoint.api == "recorded":
        recorded = import_module("trimtab.providers.recorded")
        return cast(Provider, recorded.RecordedProvider(endpoint.base_url))
    if endpoint.provider in _OFFERED:
        return _OFFERED[endpoint.provider][-1]()
    bridge = import_module("trimtab.providers.bridge")
    return cast(Provider, bridge.open_bridge(endpoint.base_url))


def _wire(api: Api) -> Wire:
    module, name = _WIRES[api]
    return cast(Wire, getattr(import_module(f"trimtab.providers.{module}"), name)())
