"""What a person may declare about providers and models; the shapes of `[providers.*]` and `[models.*]` in config.toml.

A declared value always wins over the catalogue and over what a server says.
"""

from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from trimtab.types.models import Api, Modality

Positive: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]
"""A number of things of which there must be one."""
Natural: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
"""A number of things of which there may be none."""
Amount: TypeAlias = Annotated[float, msgspec.Meta(gt=0)]
"""Money."""
Price: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=100_000)]
"""USD for a million tokens. Limits of cost are kept by it, so it is a number that can be added up."""
Seconds: TypeAlias = Annotated[float, msgspec.Meta(gt=0)]
"""A time that passes."""
Share: TypeAlias = Annotated[float, msgspec.Meta(gt=0, le=1)]
"""A part of something, which may be all of it."""
Secret: TypeAlias = Annotated[str, msgspec.Meta(extra={"secret": True})]
"""Text that is shown to nobody: whoever lists settings says only that it is set."""


class RoleModel(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One model of a role, and how likely it is drawn when the one before can't be had."""

    model: str
    """`PROVIDER/ID[:THINKING]`."""
    weight: Positive = 1
    """Twice the weight is drawn twice as often, among those that can be had."""


RoleModels: TypeAlias = str | tuple[str | RoleModel, ...]
"""One model, or several: the first does the work, the others stand by."""


class PriceAbove(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """What a request costs whose prompt has more than `tokens` tokens, all of it. USD per million tokens."""

    tokens: Positive
    """From how many on."""
    input: Price
    """A million tokens of prompt that no cache holds."""
    output: Price
    """A million tokens of answer, thinking included."""
    cache_read: Price | None = None
    """A million tokens of prompt that were read from a cache; the input price when unknown."""
    cache_write: Price | None = None
    """A million tokens of prompt that were written to a cache; the input price when unknown."""


class ModelConfig(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One model of a provider. What is left out is the catalogue's word. Prices are USD per million tokens."""

    id: str
    """The name that is sent to the provider."""
    name: str | None = None
    """A name for people."""
    context_window: Positive | None = None
    """Tokens that prompt and answer may have together."""
    max_output: Positive | None = None
    """Tokens that one answer may have."""
    input: tuple[Modality, ...] | None = None
    """What it reads: `text`, `image`, `pdf`, `audio`, `video`."""
    thinking: tuple[str, ...] | None = None
    """Its thinking levels, from `off` (it can be turned off) upwards; `[]` when it has no switch."""
    thinking_style: str | None = None
    """How a level is said on the wire; `catalogue/models.toml` lists the styles. Empty: levels aren't sent."""
    tokenizer: str | None = None
    """The family of its tokenizer."""
    price_input: Price | None = None
    """A million tokens of prompt that no cache holds."""
    price_output: Price | None = None
    """A million tokens of answer, thinking included."""
    price_cache_read: Price | None = None
    """A million tokens of prompt that were read from a cache; the input price when unknown."""
    price_cache_write: Price | None = None
    """A million tokens of prompt that were written to a cache; the input price when unknown."""
    price_above: tuple[PriceAbove, ...] = ()
    """Other prices for long prompts, with `price_input` and `price_output` for the others."""
    compat: dict[str, Any] = {}
    """Switches for what its server wants differently; the module of each wire lists its own."""


class OAuthConfig(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """How one logs in to a provider without a key: its authorization server, and how a token is sent. Addresses are https, or on this machine."""

    token_url: str | None = None
    """Where codes and refresh tokens become tokens (RFC 6749)."""
    authorize_url: str | None = None
    """Where a person says yes in a browser (authorization code with PKCE, RFC 7636)."""
    device_url: str | None = None
    """Where a code is had that a person types on any device (RFC 8628)."""
    client_id: str | None = None
    """The name that the authorization server gave to this program."""
    client_secret: Secret | None = None
    """A secret that belongs to it; most programs on a person's machine have none."""
    scopes: tuple[str, ...] = ()
    """What is asked for."""
    redirect_port: Natural = 0
    """The port on 127.0.0.1 to which the browser comes back, where the server wants a registered one; 0: any free one."""
    redirect_path: str = "/callback"
    """The path there."""
    authorize_params: dict[str, str] = {}
    """More parameters for `authorize_url` and `device_url`, such as `audience`."""
    token_params: dict[str, Secret] = {}
    """More parameters for `token_url`."""
    header: str | None = None
    """The header that carries the token; when not set, it goes where this API has its key."""
    scheme: str = "Bearer"
    """What stands before the token in that header; nothing when empty."""
    gives: Literal["token", "key"] = "token"
    """What comes of a login: a token (OAuth 2), or an API key, made for this program and good until it is taken back, as OpenRouter gives: no client is named, and the browser comes back to `callback_url`."""


class ProviderConfig(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One provider. Only `base_url` is needed for a server that the catalogue doesn't know. What is left out is the catalogue's word."""

    api: Api | None = None
    """What it speaks. For a provider that the catalogue doesn't know: `openai-chat`."""
    base_url: str | None = None
    """Where it is, with the version part (`http://127.0.0.1:8080/v1`)."""
    api_key_env: str | None = None
    """The environment variable that holds its key; no command of a tool gets that variable."""
    api_key: Secret | None = None
    """The key itself. A variable, or `trimtab login`, is the better place."""
    oauth: OAuthConfig | None = None
    headers: dict[str, Secret] = {}
    """Headers to add to each request."""
    proxy: str | None = None
    """A proxy for it, over what `https_proxy` and its like say. Loopback never uses one."""
    ca_file: str | None = None
    """Certificates (a file or folder) to trust instead of the system's, over what `SSL_CERT_FILE` and `REQUESTS_CA_BUNDLE` say."""
    context_window: Positive | None = None
    """Tokens, for its models that no list names."""
    max_output: Positive | None = None
    """Tokens, for its models that no list names."""
    connect_timeout_s: Seconds | None = None
    """Seconds until a connection must stand; 10 when not set."""
    idle_timeout_s: Seconds | None = None
    """Seconds that a stream may be silent; 300 when not set. Kept alive without a word of the answer, it may last six times as long."""
    max_retries: Natural | None = None
    """How often a request that may succeed later is sent again; 4 when not set."""
    max_retry_wait_s: float | None = None
    """The longest wait, in seconds, that a provider may ask for; 60 when not set. A longer one ends the turn."""
    tokenizer: Literal["server", "local"] | None = None
    """Who counts its tokens. `server`: its own `/tokenize`, as llama.cpp, vLLM and SGLang have it. `local`: as for any other. When not set: `server` for
    `llamacpp` and `vllm` on this machine."""
    compat: dict[str, Any] = {}
    """Switches for all its models; the module of each wire lists its own."""
    probe: bool | None = None
    """Ask its server how large the window is, when nobody says. Default: only where the catalogue lists that server, and it is on this machine or no model of it is listed."""
    models: tuple[ModelConfig, ...] = ()
    """Its models, where the catalogue doesn't know them or is wrong."""
