"""What a person may declare about providers and models; the shapes of `[providers.*]` and `[models.*]` in config.toml.

A declared value always wins over the catalogue and over what a server says.
"""

from typing import Any

import msgspec

from trimtab.types.models import Api, Modality


class ModelConfig(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One model of a provider. Prices in USD per million tokens; None leaves the catalogue's word."""

    id: str
    name: str | None = None
    context_window: int | None = None
    max_output: int | None = None
    input: tuple[Modality, ...] | None = None
    thinking: tuple[str, ...] | None = None
    thinking_style: str | None = None
    tokenizer: str | None = None
    price_input: float | None = None
    price_output: float | None = None
    price_cache_read: float | None = None
    price_cache_write: float | None = None
    compat: dict[str, Any] = {}


class ProviderConfig(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One provider. Only `base_url` is needed for a server the catalogue doesn't know; `api` is then `openai-chat`.

    `context_window` and `max_output` hold for ids that no list names. Times in seconds.
    """

    api: Api | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    api_key: str | None = None
    headers: dict[str, str] = {}
    proxy: str | None = None
    context_window: int | None = None
    max_output: int | None = None
    connect_timeout_s: float | None = None
    idle_timeout_s: float | None = None
    max_retries: int | None = None
    compat: dict[str, Any] = {}
    models: tuple[ModelConfig, ...] = ()
