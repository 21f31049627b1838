"""Where what lets one in at a provider comes from, in the order in which it counts.

    1  providers.NAME.api_key in the settings (files, variables, flags)
    2  the variable that providers.NAME.api_key_env names, else the catalogue's own
    3  what `trimtab login` keeps, in auth.json or in the system's keyring

The first one that there is counts. A login was made for a server and is sent to no other, whatever is set later. The one rule: a `Source` says where a secret is and never holds it.
"""

from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from trimtab.coding.project import Project
from trimtab.coding.telling.printable import one_line
from trimtab.config.auth_file import Kept, Login, RingLogin, TokenLogin, read_auth
from trimtab.config.keys import find_key
from trimtab.config.logins import find_login
from trimtab.providers.catalogue import Catalogue
from trimtab.providers.resolve import Resolved
from trimtab.providers.wire import Endpoint
from trimtab.types.config import OAuthConfig, ProviderConfig

Kind: TypeAlias = Literal["setting", "variable", "login"]
ORDER = "providers.NAME.api_key in the settings, then the provider's variable, then what trimtab login keeps"
"""The order, in words."""
_NO_KEYS = ("scripted", "recorded", "bridge")
_UNSAID = ProviderConfig()


@dataclass(frozen=True, slots=True)
class Source:
    """A place that has something for a provider. `where` names it for people; `unused` says why it doesn't count, if not for its place in the order."""

    kind: Kind
    where: str
    oauth: bool = False
    expires_at: float | None = None
    renews: bool = False
    unused: str = ""


@dataclass(frozen=True, slots=True)
class _Found:
    """A login that counts, and what a person should know about it."""

    login: Login | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()


def let_in(project: Project, found: Resolved) -> Resolved:
    """`found` with the key of its variable, or with what a login keeps for it. Raises `ConfigError` when that can't be had from where it is."""
    key = find_key(found.api_key_env, project.env)
    if key is not None:
        return found.with_key(key)
    kept = _login_for(project, found)
    if kept.notes:
        found = replace(found, notes=(*found.notes, *kept.notes))
    if kept.login is None:
        held = held_back(project, found.endpoint.provider)
        return replace(found, notes=(*found.notes, f"no key was sent: {held}")) if held else found
    config = oauth_of(project, found.endpoint.provider)
    return replace(found, endpoint=admitted(found.endpoint, kept.login, config))


def token_in_use(project: Project, found: Resolved) -> TokenLogin | None:
    """The token with which `let_in` lets one in; None when it is a key, or nothing. Raises as `let_in` does."""
    said = project.settings.providers.get(found.endpoint.provider, _UNSAID)
    if said.api_key or find_key(found.api_key_env, project.env) is not None:
        return None
    login = _login_for(project, found).login
    return login if isinstance(login, TokenLogin) else None


def admitted(endpoint: Endpoint, login: Login, config: OAuthConfig | None) -> Endpoint:
    """`endpoint` with what `login` lets in with: in the place of the API's key, or in the header that `config` names."""
    if not isinstance(login, TokenLogin):
        return replace(endpoint, api_key=login.api_key)
    if config is None or not config.header:
        return replace(endpoint, api_key=login.access_token)
    value = f"{config.scheme} {login.access_token}".strip()
    return replace(endpoint, headers={**endpoint.headers, config.header: value}, token_header=config.header)


def oauth_of(project: Project, provider: str) -> OAuthConfig | None:
    """How one logs in there otherwise than by a key: the settings' word, else the catalogue's."""
    said, listed = project.settings.providers.get(provider, _UNSAID), Catalogue.load().provider(provider)
    return said.oauth or (listed.oauth if listed else None)


def origin_of(url: str) -> str:
    """Scheme, host and port of a URL: where a login counts."""
    try:
        parts = urlsplit(url)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return ""
    return f"{parts.scheme}://{host}:{port}"


def sources(project: Project, provider: str) -> tuple[Source, ...]:
    """All that there is for `provider`, in the order in which it counts. Reads `auth.json`, and asks no keyring."""
    said, listed = project.settings.providers.get(provider, _UNSAID), Catalogue.load().provider(provider)
    found: list[Source] = []
    if said.api_key:
        origin = project.loaded.origins.get(f"providers.{provider}.api_key", "settings")
        found.append(Source("setting", f"providers.{provider}.api_key, {origin}"))
    variable = said.api_key_env if said.api_key_env is not None else listed.api_key_env if listed else ""
    if variable and find_key(variable, project.env):
        found.append(Source("variable", f"variable {variable}", unused=held_back(project, provider)))
    kept = read_auth(project.home.auth_file).logins.get(provider)
    if kept is not None:
        found.append(_source_of(project, provider, kept, said.base_url or (listed.base_url if listed else "")))
    return tuple(found)


def held_back(project: Project, provider: str) -> str:
    """Why the variable of a known provider, which is set, lets nobody in: the settings put another host under its name. Empty when it isn't so."""
    said, listed = project.settings.providers.get(provider, _UNSAID), Catalogue.load().provider(provider)
    if listed is None or said.api_key_env is not None or not said.base_url or _same_host(said, listed.base_url):
        return ""
    if not listed.api_key_env or find_key(listed.api_key_env, project.env) is None:
        return ""
    home = urlsplit(listed.base_url).hostname
    return f"{listed.api_key_env} is for {home} alone; set providers.{provider}.api_key_env to use it there"


def keys_held_back(project: Project) -> dict[str, str]:
    """The known providers whose variable is set and isn't used, though nothing else lets one in there, with why."""
    held = {p.name: held_back(project, p.name) for p in Catalogue.load().providers()}
    return {name: why for name, why in held.items() if why and in_use(sources(project, name)) is None}


def in_use(found: tuple[Source, ...]) -> Source | None:
    """The source that counts."""
    return next((source for source in found if not source.unused), None)


def providers_with_keys(project: Project) -> dict[str, Source]:
    """The providers that let one in, with the source that counts for each: those of the settings first, then in the catalogue's order."""
    kept = read_auth(project.home.auth_file).logins
    names = dict.fromkeys((*project.settings.providers, *(p.name for p in Catalogue.load().providers()), *kept))
    counting = {name: in_use(sources(project, name)) for name in names}
    return {name: source for name, source in counting.items() if source is not None}


def _source_of(project: Project, provider: str, kept: Kept, base_url: str) -> Source:
    ring, oauth = isinstance(kept, RingLogin), _is_oauth(kept)
    where = "the system's keyring" if ring else str(project.home.auth_file)
    expires = kept.expires_at if isinstance(kept, RingLogin | TokenLogin) else None
    renews = oauth and (isinstance(kept, RingLogin) or (isinstance(kept, TokenLogin) and bool(kept.refresh_token)))
    return Source(
        "login", where, oauth, expires, renews and oauth_of(project, provider) is not None, _elsewhere(kept, base_url)
    )


def _is_oauth(kept: Kept) -> bool:
    return isinstance(kept, TokenLogin) or (isinstance(kept, RingLogin) and kept.holds == "oauth")


def _elsewhere(kept: Kept, base_url: str) -> str:
    """Why a login doesn't count at `base_url`; empty when it does."""
    here = origin_of(base_url)
    return "" if here and kept.server == here else f"it is for {one_line(kept.server) or 'no server'} alone"


def _same_host(said: ProviderConfig, base_url: str) -> bool:
    return urlsplit(said.base_url or "").hostname == urlsplit(base_url).hostname


def _login_for(project: Project, found: Resolved) -> _Found:
    name = found.endpoint.provider
    if found.model.api in _NO_KEYS:
        return _Found()
    file = read_auth(project.home.auth_file)
    kept = file.logins.get(name)
    if kept is None:
        return _Found(notes=(file.problem,) if file.problem and found.needs_key else ())
    if why := _elsewhere(kept, found.endpoint.base_url):
        return _Found(
            notes=(f"the login of {name} isn't used: {why}; trimtab login {name} makes another", *file.notices)
        )
    return _Found(find_login(project.home.auth_file, name), file.notices)
