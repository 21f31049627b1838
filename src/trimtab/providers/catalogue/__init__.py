"""The catalogue: what is known of well-known providers and their models, as data shipped with Trimtab.

`models.toml` is what people edit; `make catalogue` adds prices and writes `catalogue.json`, the only file read here, on first use. All
of it is hints: `resolve.py` lays the user's settings and a probe over it. The one rule: nothing here reaches the network.
"""

import difflib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

import msgspec

from trimtab.types.config import OAuthConfig
from trimtab.types.models import Api, ModelInfo

_TELLING = 3
"""Characters from which on a part of a name says something."""


class ProviderInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    """A provider: where its API is, which variable holds its key, how one logs in otherwise, and which of its models answers where none is named. `docs` is the page its facts come from."""

    name: str
    api: Api
    base_url: str
    api_key_env: str = ""
    docs: str = ""
    default: str = ""
    oauth: OAuthConfig | None = None


class Contents(msgspec.Struct, frozen=True):
    """The file: where the prices come from, providers, models."""

    prices_from: str
    providers: tuple[ProviderInfo, ...]
    models: tuple[ModelInfo, ...]


class Catalogue:
    """Providers and models, found by name. Make one from values for a test; `load` gives the one that is shipped."""

    def __init__(self, *, providers: Iterable[ProviderInfo] = (), models: Iterable[ModelInfo] = ()) -> None:
        self._providers = {p.name: p for p in providers}
        self._models = {(m.provider, m.id): m for m in models}

    @staticmethod
    def load() -> "Catalogue":
        """The shipped catalogue; read once per process."""
        return _shipped()

    def provider(self, name: str) -> ProviderInfo | None:
        """The provider of that name."""
        return self._providers.get(name)

    def providers(self) -> tuple[ProviderInfo, ...]:
        """All providers, in the order of the file."""
        return tuple(self._providers.values())

    def find(self, provider: str, model_id: str) -> ModelInfo | None:
        """The model with exactly this id at this provider."""
        return self._models.get((provider, model_id))

    def models(self, provider: str | None = None) -> tuple[ModelInfo, ...]:
        """All models, or those of one provider; newest first as in the file."""
        return tuple(m for m in self._models.values() if provider is None or m.provider == provider)

    def key_variables(self) -> tuple[str, ...]:
        """The environment variables that hold keys, which no tool may see."""
        return tuple(sorted({p.api_key_env for p in self._providers.values() if p.api_key_env}))

    def nearest(self, name: str, *, n: int = 3) -> tuple[str, ...]:
        """At most `n` refs (`provider/id`) that look like `name`, a ref or a bare id, best first."""
        return nearest_refs(name, [m.ref for m in self._models.values()], n=n)


def nearest_refs(name: str, refs: Iterable[str], *, n: int = 3) -> tuple[str, ...]:
    """At most `n` of `refs` (`provider/id`) that look like `name`, as a whole or without their provider, best first; then those that contain it."""
    refs = tuple(refs)
    bare = {ref.partition("/")[2]: ref for ref in refs}
    close = difflib.get_close_matches(name, [*bare.values(), *bare], n=n)
    part = name.lower()
    containing = [ref for ref in refs if len(part) >= _TELLING and part in ref.lower()]
    return tuple(dict.fromkeys([*(bare.get(c, c) for c in close), *containing]))[:n]


@cache
def _shipped() -> Catalogue:
    contents = msgspec.json.decode(files(__name__).joinpath("catalogue.json").read_bytes(), type=Contents)
    return Catalogue(providers=contents.providers, models=contents.models)


__all__ = ["Catalogue", "Contents", "ProviderInfo", "nearest_refs"]
