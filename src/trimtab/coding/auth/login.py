"""Logging in and out, for every frontend.

    log_in(NAME) ─┬─ a key: from a person, who isn't shown it, or given ─▶ checked for what HTTP can carry ─┐
                  └─ OAuth: code_flow.py or device_flow.py ────────────────────────────────────────────────┴─▶ kept for the provider's server ─▶ what a person is told
    log_out(NAME) ─▶ out of auth.json and the keyring; what else still lets in is named

The one rule: what a person typed is in no line that is told.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

import anyio

from trimtab.coding.auth.browser import has_browser
from trimtab.coding.auth.flow import Flow, Way, flow_of
from trimtab.coding.auth.found import Source, in_use, oauth_of, origin_of, providers_with_keys, sources
from trimtab.coding.auth.means import Means
from trimtab.coding.person import Option, Person, Question
from trimtab.coding.project import Project
from trimtab.coding.telling.hidden import invisible_text
from trimtab.coding.telling.printable import one_line
from trimtab.config.auth_file import KeyLogin, Login, TokenLogin, read_auth
from trimtab.config.logins import drop_login, keep_login
from trimtab.config.ring import require_keyring
from trimtab.context.summary.redact import redact
from trimtab.providers.catalogue import Catalogue
from trimtab.types.config import ProviderConfig
from trimtab.types.errors import ConfigError, UsageError
from trimtab.types.near import nearest

_LONGEST_KEY = 32 * 1024
_NO_LOGIN = ("scripted", "recorded", "bridge")
_LIKE_A_KEY = 20
"""Characters from which on a word that names no provider may be a key."""
_UNSAID = ProviderConfig()


def offered(project: Project) -> tuple[str, ...]:
    """The providers that one may log in to: those of the settings first, then those of the catalogue that want a key."""
    own = (name for name, said in project.settings.providers.items() if said.api not in _NO_LOGIN)
    listed = (p.name for p in Catalogue.load().providers() if p.api_key_env or p.oauth)
    return tuple(dict.fromkeys((*own, *listed)))


async def choose_provider(project: Project, person: Person) -> str | None:
    """Let the person choose; None when nobody does."""
    known = providers_with_keys(project)
    names = offered(project)
    options = tuple(
        Option(n, f"{_host(project, n)}, {_how(project, n)}", _short(known[n]) if n in known else "") for n in names
    )
    return await person.ask(Question("choice", "Which provider?", options=options))


def require_provider(project: Project, name: str) -> str:
    """Return the address of the provider `name`. Raises `UsageError` when it can't be logged in to; what may be a key isn't repeated."""
    said, listed = project.settings.providers.get(name, _UNSAID), Catalogue.load().provider(name)
    if _may_be_key(name, known=offered(project)):
        raise UsageError(
            "that isn't the name of a provider",
            hint="A key isn't given as an argument: trimtab login PROVIDER asks for it.",
        )
    if why := _unaskable(name):
        raise UsageError(
            f"a provider can't be called {one_line(name)!r}: {why}",
            hint="Call it otherwise in the settings (a table [providers.NAME]), then log in to that.",
        )
    if name in _NO_LOGIN or said.api in _NO_LOGIN:
        raise UsageError(f"{name} takes no key from here", hint="docs/providers.md says what it reads.")
    base_url = said.base_url or (listed.base_url if listed else "")
    if not base_url or not origin_of(base_url):
        meant = nearest(name, offered(project))
        guess = f"Did you mean {meant}? " if meant else ""
        raise UsageError(
            f"no provider is called {one_line(name)!r}",
            hint=f"{guess}One of {', '.join(offered(project))}; another one needs providers.{one_line(name)}.base_url first.",
        )
    return base_url


def _unaskable(name: str) -> str:
    """Why no model of a provider with this name could be asked; empty when one could."""
    if not name or name != name.strip():
        return "it is empty, or begins or ends with a blank"
    if "/" in name:
        return "in the name of a model its provider ends at the first /"
    return "it holds characters that nobody sees" if not name.isprintable() or invisible_text(name) else ""


def flow_for(project: Project, name: str) -> Flow | None:
    """How one logs in to `name` otherwise than by a key; None when nothing says. Raises `ConfigError` when that isn't whole."""
    config = oauth_of(project, name)
    said = project.settings.providers.get(name, _UNSAID)
    return flow_of(name, config, said, project.env) if config is not None else None


async def ask_key(project: Project, name: str, person: Person) -> str:
    """Ask for a key, which isn't shown. Raises `UsageError` when nobody answers."""
    listed = Catalogue.load().provider(name)
    details = (f"Its documentation: {listed.docs}",) if listed and listed.docs else ()
    key = await person.ask(Question("secret", f"The key of {name} (it isn't shown)", details=details))
    if key is None:
        raise UsageError(
            f"no key of {name} was given", hint=f"In a terminal: trimtab login {name}. Nothing was changed."
        )
    return key


def checked_key(text: str) -> str:
    """The key in what was typed or piped. Raises `UsageError`, which doesn't repeat it."""
    key = text.strip()
    if not key:
        raise UsageError("that key is empty", hint="Nothing was changed.")
    if len(key) > _LONGEST_KEY or not all("!" <= c <= "~" for c in key):
        raise UsageError(
            "that is no key: it holds blanks, line breaks, or characters that HTTP can't carry, or is too long",
            hint="Was more copied than the key? Nothing was changed.",
        )
    return key


async def log_in(project: Project, name: str, means: Means) -> tuple[str, ...]:
    """Log in to `name` by the way that is the better one on this machine, by a key where there is no other; return what to tell. Raises `TrimtabError`."""
    require_provider(project, name)
    flow = flow_for(project, name)
    if flow is None:
        return await log_in_by_key(project, name, await ask_key(project, name, means.person))
    return await log_in_by_flow(project, flow, means, ways_of(flow, has_browser=has_browser(project.env))[0])


async def log_in_by_key(project: Project, name: str, key: str) -> tuple[str, ...]:
    """Keep a key for `name`; return what to tell. Raises `UsageError` or `ConfigError`."""
    server = origin_of(require_provider(project, name))
    return await _keep(project, name, KeyLogin(api_key=checked_key(key), server=server))


async def log_in_by_flow(project: Project, flow: Flow, means: Means, way: Way) -> tuple[str, ...]:
    """Log in by a browser or a device and keep the token; return what to tell. Raises `TrimtabError`."""
    server = origin_of(require_provider(project, flow.provider))
    if project.settings.auth.store == "keyring":
        require_keyring()
    login: Login
    if way == "device":
        from trimtab.coding.auth.device_flow import by_device  # noqa: PLC0415 - the HTTP client

        login = await by_device(flow, means, server=server, now=unix_time)
    else:
        from trimtab.coding.auth.code_flow import by_browser  # noqa: PLC0415 - as above

        login = await by_browser(flow, means, server=server, now=unix_time)
    return await _keep(project, flow.provider, login)


async def log_out(project: Project, name: str) -> tuple[str, ...]:
    """Forget what is kept for `name`; return what to tell. Raises `UsageError` when nothing is."""
    file = project.home.auth_file
    kept = read_auth(file)
    if name not in kept.logins and not kept.problem:
        known = ", ".join(map(one_line, kept.logins)) or "none"
        rest = in_use(sources(project, name))
        other = f" {rest.where} has a key for it; that is yours to remove." if rest else ""
        raise UsageError(f"nothing is kept for {_name(name, project)}", hint=f"Kept: {known}.{other}")
    told = await anyio.to_thread.run_sync(drop_login, file, name)
    left = in_use(sources(project, name))
    still = (f"{left.where} still lets in to {name}",) if left else ()
    at_server = "the provider itself still takes that key; remove it there if others may know it"
    return (f"logged out of {one_line(name)}: nothing is kept for it any more; {at_server}", *told, *still)


def unix_time() -> float:
    """Seconds since 1970."""
    return datetime.now(UTC).timestamp()


async def _keep(project: Project, name: str, login: Login) -> tuple[str, ...]:
    store = project.settings.auth.store
    told = await anyio.to_thread.run_sync(lambda: keep_login(project.home.auth_file, name, login, store=store))
    found = sources(project, name)
    source = next((source for source in found if source.kind == "login"), None)
    if source is None:  # another process was as fast
        return (f"the login of {name} was kept, and is gone again: somebody logged out", *told)
    what = f"logged in to {name}" if isinstance(login, TokenLogin) else f"the key of {name} is kept"
    lines = [f"{what} in {source.where}", *told]
    first = in_use(found)
    if first is not None and first.kind != "login":
        lines.append(f"but {first.where} comes first, so that is what is used: {_undo(first, name)}")
    listed = Catalogue.load().provider(name)
    if listed is not None and not listed.default and name not in project.settings.providers:
        lines.append(f"none of its models answers unnamed: trimtab models {name} --usable lists them")
    return tuple(lines)


def _undo(source: Source, name: str) -> str:
    way = f'providers.{name}.api_key_env = ""' if source.kind == "variable" else f"no providers.{name}.api_key"
    return f"set {way} to use the login"


def _host(project: Project, name: str) -> str:
    said, listed = project.settings.providers.get(name, _UNSAID), Catalogue.load().provider(name)
    return origin_of(said.base_url or (listed.base_url if listed else "")).partition("://")[2].removesuffix(":443")


def _how(project: Project, name: str) -> str:
    """By what one logs in there, in words."""
    try:
        flow = flow_for(project, name)
    except ConfigError:  # said when it is chosen
        flow = None
    return "a key" if flow is None else f"by {' or '.join(f'a {way}' for way in flow.ways)}, or a key"


def _short(source: Source) -> str:
    return f"has a {'login' if source.kind == 'login' else 'key'}: {source.where}"


def _name(name: str, project: Project) -> str:
    return "that" if _may_be_key(name, known=offered(project)) else one_line(name)


def _may_be_key(name: str, *, known: Sequence[str]) -> bool:
    return name not in known and (redact(name) != name or len(name) >= _LIKE_A_KEY)


def ways_of(flow: Flow, *, has_browser: bool) -> Sequence[Way]:
    """The ways of a flow, the better one for this machine first."""
    return flow.ways if has_browser else tuple(reversed(flow.ways))
