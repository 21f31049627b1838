"""From a model's name to everything a request needs: facts, endpoint, thinking level, and notes for a person. Pure.

One reference: `P/M[:level]` → split at the first `/` → the user's table of P over the catalogue's → M among the user's models, then the
catalogue's → if neither lists it, the last `:level` comes off and M is looked up again → what is still unlisted is sent as written,
with cautious sizes and a note. Of two words on one fact, the user's wins; `[models."P/M"]` beats the model's own
row, which beats the provider's.
"""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, Literal, Protocol, cast
from urllib.parse import urlsplit

import msgspec

from trimtab.providers.catalogue import Catalogue, ProviderInfo, nearest_refs
from trimtab.providers.loopback import is_loopback as is_loopback
from trimtab.providers.wire import AUTHORISING, Endpoint
from trimtab.types.config import ModelConfig, ProviderConfig
from trimtab.types.errors import ConfigError, UnknownModel
from trimtab.types.models import Api, ModelInfo, Price
from trimtab.types.near import near

THINKING_LEVELS = ("off", "minimal", "low", "medium", "high", "xhigh", "max")
"""From least to most; in a reference, `none` is another spelling of `off`."""
DEFAULT_WINDOW = 32_768
DEFAULT_MAX_OUTPUT = 4_096
_FILE_APIS: tuple[Api, ...] = ("scripted", "recorded")
_BUILT_IN: tuple[Api, ...] = (*_FILE_APIS, "bridge")  # providers that nobody has to declare
_OPENAI_APIS: frozenset[Api] = frozenset({"openai-chat", "openai-responses"})
_LEVELS: Mapping[str, str] = {"none": "off", **{level: level for level in THINKING_LEVELS}}
_PRICES = ("input", "output", "cache_read", "cache_write")
_UNSAID = ProviderConfig()
_MISSPELT = 0.8
"""How alike two ids are, as `difflib` counts it, for one to be a misspelling of the other."""


class Override(Protocol):
    """What `[models."P/M"]` says of a model: sizes in tokens, and the thinking level to use when the reference names none."""

    @property
    def context_window(self) -> int | None:
        """Tokens that prompt and answer may have together."""
        ...

    @property
    def max_output(self) -> int | None:
        """Tokens that one answer may have."""
        ...

    @property
    def thinking(self) -> str | None:
        """The level when the reference names none."""
        ...


@dataclass(frozen=True, slots=True)
class Resolved:
    """A model that can be asked. `endpoint.api_key` is set only when the settings spell the key out; else `api_key_env` names its variable.

    `notes` are for a person (stderr), not errors; `assumed` are those of them that say no more than what is taken for granted of this model.
    """

    model: ModelInfo
    endpoint: Endpoint
    api_key_env: str
    thinking: str | None
    notes: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()

    @property
    def needs_key(self) -> bool:
        """Whether a request without a key can't succeed: not for loopback, test models or a bridge, nor with a header that authorises."""
        headers = {name.lower() for name in self.endpoint.headers}
        keyless = self.model.api in _BUILT_IN or is_loopback(self.endpoint.base_url)
        return not keyless and not self.endpoint.token_header and not headers & AUTHORISING

    def with_key(self, api_key: str | None) -> "Resolved":
        """The same with a key for the endpoint; None changes nothing."""
        return self if api_key is None else replace(self, endpoint=replace(self.endpoint, api_key=api_key))

    def with_probed_window(self, tokens: int | None) -> "Resolved":
        """The same with the window that the server states, if nobody else stated one; None changes nothing."""
        if tokens is None or self.model.source != "default":
            return self
        model = msgspec.structs.replace(self.model, context_window=tokens, source="probe")
        said = f"{model.ref}: a window of {tokens:,} tokens, as its server says"
        notes = (said, *(note for note in self.notes if note not in self.assumed))
        return replace(self, model=model, notes=notes, assumed=(said,))


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known when a reference is looked up."""

    providers: Mapping[str, ProviderConfig]
    catalogue: Catalogue
    overrides: Mapping[str, Override]

    def lists(self, provider: str, model_id: str) -> bool:
        """Whether settings or catalogue name this model."""
        declared = any(m.id == model_id for m in self.providers.get(provider, _UNSAID).models)
        overridden = f"{provider}/{model_id}" in self.overrides
        return declared or overridden or self.catalogue.find(provider, model_id) is not None

    def layers(self, provider: str, model_id: str) -> tuple[ModelConfig, ModelConfig, ModelConfig]:
        """What the user says of a model, weakest first: for the whole provider, in the model's row, in `[models."P/M"]`."""
        said = self.providers.get(provider, _UNSAID)
        whole = ModelConfig(
            model_id, context_window=said.context_window, max_output=said.max_output, compat=said.compat
        )
        row = next((m for m in said.models if m.id == model_id), ModelConfig(model_id))
        over = self.overrides.get(f"{provider}/{model_id}")
        if over is None:
            return whole, row, ModelConfig(model_id)
        return whole, row, ModelConfig(model_id, context_window=over.context_window, max_output=over.max_output)

    def default_level(self, ref: str) -> str | None:
        """The thinking level that `[models."P/M"]` sets."""
        over = self.overrides.get(ref)
        return None if over is None or over.thinking is None else _LEVELS.get(over.thinking, over.thinking)

    def knows_thinking(self, provider: str, model_id: str) -> bool:
        """Whether an empty list of levels means that there are none, rather than that nobody said."""
        said = any(layer.thinking is not None for layer in self.layers(provider, model_id))
        return said or self.catalogue.find(provider, model_id) is not None

    def refs(self) -> dict[str, None]:
        """Every listed `P/M`, the user's first; a dict for its order."""
        refs = [f"{name}/{m.id}" for name, p in self.providers.items() for m in p.models]
        return dict.fromkeys((*refs, *self.overrides, *(m.ref for m in self.catalogue.models())))

    def near(self, provider: str, model_id: str) -> str:
        """The listed model of `provider` whose id `model_id` probably misspells; empty when none is near, or when it is one with more behind it (a date, a size)."""
        ids = [ref.partition("/")[2] for ref in self.refs() if ref.partition("/")[0] == provider]
        close = difflib.get_close_matches(model_id, ids, n=1, cutoff=_MISSPELT)
        longer = bool(close) and model_id.startswith(tuple(close[0] + sign for sign in "-.:@/_"))
        return f"{provider}/{close[0]}" if close and not longer else ""

    def provider_names(self) -> tuple[str, ...]:
        """Every provider that a reference may start with."""
        return (*self.providers, *(p.name for p in self.catalogue.providers()), *_BUILT_IN)


def resolve(
    ref: str | None,
    *,
    config_providers: Mapping[str, ProviderConfig],
    catalogue: Catalogue,
    model_overrides: Mapping[str, Override] | None = None,
    thinking: str | None = None,
) -> Resolved:
    """Return the model that `ref` names; `thinking` is the level when neither `ref` nor the model's own settings name one. Raises `UnknownModel` with candidates, or `ConfigError` for a provider without an address."""
    if not ref or not ref.strip():
        raise UnknownModel(
            "no model is configured", hint='name one: --model PROVIDER/MODEL, or `model = "…"` in config.toml'
        )
    known = _Known(config_providers, catalogue, model_overrides or {})
    provider, model_id, level = _split(ref.strip(), known)
    endpoint, api_key_env = _endpoint(provider, model_id, known)
    model, notes = _model(provider, model_id, endpoint.api, known)
    level = level or known.default_level(model.ref) or (thinking and _LEVELS.get(thinking, thinking))
    fitted, level_notes = _fit_thinking(model, level, certain=known.knows_thinking(provider, model_id))
    return Resolved(model, endpoint, api_key_env, fitted, (*notes, *level_notes), notes)


def _split(ref: str, known: _Known) -> tuple[str, str, str | None]:
    """`ref` as provider, model id and level."""
    head, slash, model_id = ref.partition("/")
    if slash and head in known.provider_names():
        if not model_id:
            raise UnknownModel(f"{ref!r} names no model", hint=_candidates(ref, known))
        bare, level = _take_level(model_id)
        is_path = known.providers.get(head, _UNSAID).api in _FILE_APIS or head in _FILE_APIS
        whole = known.lists(head, model_id) or (is_path and not known.lists(head, bare))  # a path, colons and all
        return (head, model_id, None) if whole else (head, bare, level)
    bare, level = _take_level(ref)
    for name, wanted in ((ref, None), (bare, level)):
        found = [r for r in known.refs() if r.partition("/")[2] == name]
        if len(found) == 1:
            provider, _, found_id = found[0].partition("/")
            return provider, found_id, wanted
        if found:
            raise UnknownModel(
                f"{len(found)} providers have a model {name!r}", hint=f"say which: {', '.join(sorted(found))}"
            )
    kind = f"no provider is called {head!r}" if slash else f"no model is called {bare!r}"
    raise UnknownModel(kind, hint=_candidates(ref, known))


def _take_level(text: str) -> tuple[str, str | None]:
    """`text` without its last `:level`, and the level, if it is a known one."""
    bare, colon, word = text.rpartition(":")
    level = _LEVELS.get(word)
    return (bare, level) if colon and bare and level is not None else (text, None)


def _candidates(ref: str, known: _Known) -> str:
    head, slash, _ = ref.partition("/")
    names = near(head, known.provider_names(), most=3) if slash else []
    models = nearest_refs(_take_level(ref)[0], known.refs(), n=5)
    if not names and not models:
        return "list what is known: trimtab models; or declare the provider: [providers.NAME] base_url = …"
    return f"did you mean {', '.join((*models, *(f'{n}/…' for n in dict.fromkeys(names))))}?"


def _endpoint(provider: str, model_id: str, known: _Known) -> tuple[Endpoint, str]:
    """Where the provider is, the user's words over the catalogue's; the variable that holds its key."""
    said = known.providers.get(provider, _UNSAID)
    listed = known.catalogue.provider(provider)
    api = said.api or _default_api(provider, listed)
    base_url = said.base_url or (listed.base_url if listed is not None else "")
    if not base_url and api not in _BUILT_IN:
        raise ConfigError(
            f"provider {provider!r} has no base_url",
            hint=f"set providers.{provider}.base_url (or TRIMTAB_PROVIDERS__{provider.upper()}__BASE_URL)",
        )
    if base_url and not is_web_url(base_url):
        raise ConfigError(
            f"providers.{provider}.base_url is no http(s) URL: {base_url!r}",
            hint="write it like http://127.0.0.1:8080/v1",
        )
    endpoint = Endpoint(
        provider=provider,
        api=api,
        base_url=_address(provider, model_id, api) or base_url.rstrip("/"),
        api_key=said.api_key or None,
        headers=said.headers,
        proxy=said.proxy,
        ca_file=said.ca_file,
        **_given(
            connect_timeout_s=said.connect_timeout_s,
            idle_timeout_s=said.idle_timeout_s,
            max_retries=said.max_retries,
            max_retry_wait_s=said.max_retry_wait_s,
        ),
    )
    return endpoint, _key_variable(said, listed, base_url)


def _key_variable(said: ProviderConfig, listed: ProviderInfo | None, base_url: str) -> str:
    """The variable that holds the key; empty where the catalogue's is held back.

    A vendor's key must not travel to another host that the settings put under the vendor's name, unless they say so.
    """
    if said.api_key_env is not None or listed is None:
        return said.api_key_env or ""
    at_home = urlsplit(base_url).hostname == urlsplit(listed.base_url).hostname
    return listed.api_key_env if at_home else ""


def is_web_url(text: str) -> bool:
    """Whether `text` is an http(s) URL with a host."""
    try:
        url = urlsplit(text)
        return url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:  # an unclosed bracket, a port that is no number
        return False


def _address(provider: str, model_id: str, api: Api) -> str:
    """What stands for an address where there is none: a path, or the name that the bridge's library uses (`PROVIDER:MODEL`)."""
    if api in _FILE_APIS or (api == "bridge" and provider == "bridge"):
        return model_id
    return f"{provider}:{model_id}" if api == "bridge" else ""


def _default_api(provider: str, listed: ProviderInfo | None) -> Api:
    if provider in _BUILT_IN:
        return cast(Literal["scripted", "recorded", "bridge"], provider)
    return listed.api if listed is not None else "openai-chat"


def _model(provider: str, model_id: str, api: Api, known: _Known) -> tuple[ModelInfo, tuple[str, ...]]:
    """The facts of a model, and a note when its sizes are assumed."""
    listed = known.catalogue.find(provider, model_id)
    base = listed or ModelInfo(
        provider=provider,
        id=model_id,
        api=api,
        context_window=DEFAULT_WINDOW,
        max_output=DEFAULT_MAX_OUTPUT,
        name=PurePath(model_id).name if api in _FILE_APIS else "",
    )
    facts: dict[str, Any] = {"api": api, "compat": dict(base.compat)}
    if base.api != api and not {base.api, api} <= _OPENAI_APIS:
        facts["thinking_style"] = ""  # how levels are said belongs to the API they were listed for
    for layer in known.layers(provider, model_id):
        compat = {**facts["compat"], **layer.compat}
        facts |= {**_said(layer), "compat": compat, **_prices(layer, facts.get("prices", base.prices))}
    if "context_window" in facts:
        facts["source"] = "config"
    model = msgspec.structs.replace(base, **facts)
    if listed is not None or api in _FILE_APIS:
        return model, ()
    unlisted = not known.lists(provider, model_id)
    return model, _assumed(model, facts.keys(), unlisted=unlisted, near=known.near(provider, model_id))


def _said(layer: ModelConfig) -> dict[str, Any]:
    """The fields of `layer` that say something."""
    kept = [f for f in layer.__struct_fields__ if f not in ("id", "compat") and not f.startswith("price_")]
    return _given(**{f: getattr(layer, f) for f in kept})


def _prices(layer: ModelConfig, known: tuple[Price, ...]) -> dict[str, tuple[Price, ...]]:
    """The prices after `layer`: what it says over the lowest tier, for prompts of every size but those for which it says others; {} when it says nothing."""
    said = _given(**{name: getattr(layer, f"price_{name}") for name in _PRICES})
    if not said and not layer.price_above:
        return {}
    steps = sorted(layer.price_above, key=lambda step: step.tokens)
    tiers = (Price(s.input, s.output, s.cache_read, s.cache_write, above=s.tokens) for s in steps)
    lowest = (msgspec.structs.replace(known[0] if known else Price(0.0, 0.0), **said),) if said or known else ()
    return {"prices": (*lowest, *tiers)}


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _assumed(model: ModelInfo, said: Iterable[str], *, unlisted: bool, near: str) -> tuple[str, ...]:
    """A note about the sizes that are assumed, and about the listed model `near` an unlisted one; none when there is nothing to note."""
    meant = f" (did you mean {near}?)" if unlisted and near else ""
    if (
        "context_window" in said
    ):  # who states the window has thought of sizes; the cautious limit on output is no news then
        return (f"{model.ref} is in no list{meant}; it is sent as written",) if meant else ()
    output = "" if "max_output" in said else f" and {model.max_output:,} tokens of output"
    what = f"{model.ref} is in no list{meant}" if unlisted else f"nobody states the sizes of {model.ref}"
    where = f"providers.{model.provider}.context_window and .max_output"
    return (f"{what}: assuming a window of {model.context_window:,} tokens{output} (set {where})",)


def _fit_thinking(model: ModelInfo, level: str | None, *, certain: bool) -> tuple[str | None, tuple[str, ...]]:
    """The level to send, and a note when it isn't the one asked for. A model whose levels nobody lists gets what was asked."""
    if level is None or level in model.thinking:
        return level, ()
    if not model.thinking:
        if not certain:
            return level, ()
        return None, () if level == "off" else (f"{model.ref} has no thinking levels: {level!r} is left out",)
    if level not in THINKING_LEVELS:
        hint = f"use one of {', '.join(model.thinking)}"
        raise ConfigError(f"{level!r} is not a thinking level of {model.ref}", hint=hint)
    near = _nearest(model, level)
    return near, (f"{model.ref} has no thinking level {level!r}: using {near!r}",)


def carried_level(model: ModelInfo, level: str, *, otherwise: str | None) -> tuple[str | None, str]:
    """The level nearest to one that was chosen for another model, `otherwise` where this one has none that is comparable; and what a person should know of it."""
    if level in model.thinking:
        return level, ""
    comparable = level in THINKING_LEVELS and any(known in THINKING_LEVELS for known in model.thinking)
    fitted = _nearest(model, level) if comparable else otherwise
    if fitted is None and not model.thinking:
        return None, f"{model.ref} has no thinking levels: {level!r} is left out"
    return fitted, f"{model.ref} has no thinking level {level!r}: using {fitted or 'its default'!r}"


def _nearest(model: ModelInfo, level: str) -> str:
    order = list(THINKING_LEVELS)
    wanted = order.index(level)
    offered = [known for known in order if known in model.thinking]
    return min(offered, key=lambda known: (abs(order.index(known) - wanted), order.index(known)))
