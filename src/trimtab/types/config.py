"""What a user may say about providers and models, as values: the tables `[providers.P]` and `[models."P/M"]`.

`config/` reads them from files, variables and flags; `providers/resolve.py` lays them over the catalogue. None means "not
said", so that what is said always wins, a zero included. Sizes are tokens, times seconds.
"""

from typing import Any, Literal, get_args

import msgspec

from trimtab.types.models import Api, Modality, Price

ThinkingLevel = Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]
THINKING_LEVELS: tuple[ThinkingLevel, ...] = get_args(ThinkingLevel)
"""From least to most. `none` is another spelling of `off`."""


class ModelConfig(msgspec.Struct, frozen=True, omit_defaults=True):
    """One model as the user describes it. `id` is empty in `[models."P/M"]`, where the table's name says it.

    `prices` are tiers in USD per million tokens; `compat` are switches of the provider's wire.
    """

    id: str = ""
    name: str | None = None
    context_window: int | None = None
    max_output: int | None = None
    input: tuple[Modality, ...] | None = None
    thinking: tuple[ThinkingLevel, ...] | None = None
    thinking_style: str | None = None
    tokenizer: str | None = None
    prices: tuple[Price, ...] | None = None
    compat: dict[str, Any] = {}


class ProviderConfig(msgspec.Struct, frozen=True, omit_defaults=True):
    """One provider as the user describes it; a field left out comes from the catalogue's provider of that name.

    `context_window` and `max_output` hold for every model of the provider that says nothing itself.
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

    def __repr__(self) -> str:
        return f"ProviderConfig(api={self.api!r}, base_url={self.base_url!r}, models={[m.id for m in self.models]!r})"
