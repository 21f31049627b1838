"""Which model answers: from settings and a reference to a provider that can be asked.

reference (flag, setting, or what the session used) → `resolve` → key, proxy and certificates from the environment → `open_provider`.
"""

from contextlib import suppress
from dataclasses import dataclass, replace

import anyio

from trimtab.agent.ports import Provider
from trimtab.coding.auth.found import let_in
from trimtab.coding.auth.open import credentials_of, no_key
from trimtab.coding.project import Project
from trimtab.coding.roles import ROLES, configured_model, members_of, named_by
from trimtab.config.keys import find_ca_file, find_proxy
from trimtab.providers.catalogue import Catalogue
from trimtab.providers.open import open_provider
from trimtab.providers.resolve import Resolved, is_loopback, resolve
from trimtab.types.errors import UsageError
from trimtab.types.models import ModelInfo


@dataclass(frozen=True, slots=True)
class OpenModel:
    """A model with its provider. `notes` are for a person; `assumed` are those that one needs once."""

    info: ModelInfo
    provider: Provider
    thinking: str | None
    notes: tuple[str, ...]
    assumed: tuple[str, ...] = ()


def resolve_model(project: Project, ref: str | None, *, catalogue: Catalogue | None = None) -> Resolved:
    """Find the model that `ref` names, with its key, proxy and certificates. Raises `UnknownModel` or `ConfigError`."""
    settings = project.settings
    found = resolve(
        named_by(settings, ref),
        config_providers=settings.providers,
        catalogue=catalogue or Catalogue.load(),
        model_overrides=settings.models,
        thinking=settings.thinking,
    )
    if found.endpoint.api_key is None:
        found = let_in(project, found)
    if found.endpoint.proxy is None and not is_loopback(found.endpoint.base_url):
        proxy = find_proxy(found.endpoint.base_url, project.env)
        found = replace(found, endpoint=replace(found.endpoint, proxy=proxy))
    if found.endpoint.ca_file is None:
        found = replace(found, endpoint=replace(found.endpoint, ca_file=find_ca_file(project.env)))
    return found


async def open_model(project: Project, ref: str | None) -> OpenModel:
    """Resolve `ref` and open its provider. Raises `UnknownModel`, or `ConfigError` when a key is needed and missing."""
    found = resolve_model(project, ref)
    if found.needs_key and not found.endpoint.api_key:
        raise no_key(project, found)
    if _asks_server(project, found):
        from trimtab.providers.probe import probe  # noqa: PLC0415 - loads the HTTP client, which test models don't need

        at = found.endpoint
        answer = await probe(
            at.base_url,
            api_key=at.api_key,
            headers=at.headers,
            proxy=at.proxy,
            ca_file=at.ca_file,
            timeout_s=1.0 if is_loopback(at.base_url) else 3.0,
            list_only=not is_loopback(at.base_url),
        )
        served = answer.model(found.model.id)
        found = found.with_probed_window(served.context_window if served else None)
        if served and served.state == "unloaded":
            said = f"{found.model.ref} isn't loaded: its server does that at the first request, or now by /models load"
            found = replace(found, notes=(*found.notes, said))
    provider = open_provider(
        found.endpoint, errors_file=project.home.errors_file, credentials=credentials_of(project, found)
    )
    return OpenModel(found.model, provider, found.thinking, found.notes, found.assumed)


async def pick_model(
    project: Project, session_ref: str | None, *, provider: Provider | None = None, wanted: str | None = None
) -> OpenModel:
    """The model for a session: `wanted`, else what the person named now, else what the session used, else the configured one.

    `provider` answers instead of the model's own. Raises `UnknownModel` or `ConfigError`.
    """
    configured = configured_model(project.settings)
    ref = wanted or (configured if session_ref is None or project.named_now("model") else session_ref)
    try:
        notes: tuple[str, ...] = ()
        if ref is None:
            from trimtab.coding.first_model import first_model, look_around, no_model  # noqa: PLC0415 - as above

            first = first_model(project)
            if first is None:
                raise no_model(project, await look_around(project))
            ref, notes = first.ref, (first.notice,)
        if provider is None:
            opened = await open_model(project, ref)
            return replace(opened, notes=(*notes, *opened.notes))
        found = resolve_model(project, ref)
    except UsageError as e:
        # No session will tell what was noticed about the settings, and it may be the cause: a misspelt variable.
        e.hint = "\n  ".join((e.hint, *project.notices))
        raise
    return OpenModel(found.model, provider, found.thinking, ())


async def close_provider(provider: Provider) -> None:
    """Let go of what a provider holds open, whatever happens meanwhile."""
    close = getattr(provider, "aclose", None)
    if close is not None:
        with anyio.CancelScope(shield=True):
            await close()


def _asks_server(project: Project, found: Resolved) -> bool:
    """Whether to ask the server for a window that nobody stated: a listed one on this machine, a gateway of which no model is listed, or one with `probe = true`.

    A server that is declared by its address alone isn't asked anything but what the person asks.
    """
    if found.model.source != "default" or found.model.api not in ("openai-chat", "openai-responses"):
        return False
    said = project.settings.providers.get(found.model.provider)
    if said is not None and said.probe is not None:
        return said.probe
    catalogue, url = Catalogue.load(), found.endpoint.base_url
    listed = catalogue.provider(found.model.provider)
    known = listed is not None and listed.base_url == url
    return known and (is_loopback(url) or not catalogue.models(found.model.provider))


def known_models(project: Project, *, usable: bool) -> tuple[ModelInfo, ...]:
    """Every model that settings or catalogue list, the person's own first; `usable`: only those that need no more configuration.

    A model that the settings name but that can't be resolved is left out; the doctor says what is wrong with it.
    """
    catalogue, settings = Catalogue.load(), project.settings
    declared = [f"{name}/{m.id}" for name, p in settings.providers.items() for m in p.models]
    members = (member.ref for role in ROLES for member in members_of(settings, role))
    named = [*([settings.model] if settings.model else ()), *settings.favourites, *members, *settings.models]
    found: dict[str, Resolved] = {}
    for ref in (*named, *declared, *(m.ref for m in catalogue.models())):
        with suppress(UsageError):
            resolved = resolve_model(project, ref, catalogue=catalogue)
            found.setdefault(resolved.model.ref, resolved)
    return tuple(r.model for r in found.values() if not usable or not r.needs_key or r.endpoint.api_key)


def unlisted_providers(project: Project) -> tuple[str, ...]:
    """The person's own providers of which `known_models` lists no model: their servers know."""
    listed = {model.provider for model in known_models(project, usable=False)}
    return tuple(name for name in project.settings.providers if name not in listed)
