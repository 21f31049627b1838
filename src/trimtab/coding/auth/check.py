"""What the doctor says of keys and logins: what lets in where, in which order it counts, and what stands in the way. Contacts nobody and shows no secret."""

from collections.abc import Iterator

from trimtab.coding.auth.flow import flow_of
from trimtab.coding.auth.found import ORDER, in_use, keys_held_back, oauth_of, providers_with_keys, sources
from trimtab.coding.auth.login import unix_time
from trimtab.coding.check import Check
from trimtab.coding.first_model import key_variables
from trimtab.coding.project import Project
from trimtab.coding.telling.auth_text import ending
from trimtab.coding.telling.printable import one_line
from trimtab.config.auth_file import read_auth
from trimtab.config.ring import require_keyring
from trimtab.types.config import ProviderConfig
from trimtab.types.errors import ConfigError

_UNSAID = ProviderConfig()


def auth_checks(project: Project) -> Iterator[Check]:
    """Look at settings, variables and `auth.json`."""
    keys, held = providers_with_keys(project), keys_held_back(project)
    if keys:
        listed = ", ".join(one_line(f"{source.where} ({name})") for name, source in keys.items())
        yield Check("ok", "keys", f"{listed}; what counts first: {ORDER}")
    for why in held.values():
        yield Check("note", "keys", f"no key is used: {why}")
    if not keys and not held:
        todo = "trimtab login asks for a key and keeps it."
        yield Check("note", "keys", f"no login, and none of these variables is set: {key_variables()}", todo)
    yield from _file(project)
    yield from _logins(project)
    yield from _keyring(project)


def _file(project: Project) -> Iterator[Check]:
    read = read_auth(project.home.auth_file)
    if read.problem:
        yield Check("missing", "logins", read.problem, "Correct it, or move it away and log in again: trimtab login.")
    for text in read.notices:
        yield Check("note", "logins", text)


def _logins(project: Project) -> Iterator[Check]:
    now = unix_time()
    for name in read_auth(project.home.auth_file).logins:
        found = sources(project, name)
        login = next((source for source in found if source.kind == "login"), None)
        if login is None:  # somebody logged out meanwhile
            continue
        first = in_use(found)
        words = [f"{one_line(name)}: {'a token' if login.oauth else 'a key'} in {login.where}"]
        if said := ending(login, now):
            words.append(said)
        config = oauth_of(project, name)
        if first is not login:
            why = login.unused or (f"{first.where} comes first" if first else "")
            yield Check("note", "logins", one_line("; ".join([*words, f"not used: {why}"])))
        elif login.oauth and not login.renews and login.expires_at is not None and login.expires_at <= now:
            yield Check("missing", "logins", "; ".join(words), f"Log in again: trimtab login {one_line(name)}.")
        elif login.oauth and config is not None and (wrong := _wrong(project, name)):
            yield Check("missing", "logins", wrong.message, wrong.hint)
        else:
            yield Check("ok", "logins", "; ".join(words))


def _wrong(project: Project, name: str) -> ConfigError | None:
    """What is wrong with how one logs in there."""
    config = oauth_of(project, name)
    try:
        if config is not None:
            flow_of(name, config, project.settings.providers.get(name, _UNSAID), project.env)
    except ConfigError as e:
        return e
    return None


def _keyring(project: Project) -> Iterator[Check]:
    if project.settings.auth.store != "keyring":
        return
    try:
        yield Check("ok", "keyring", f"new logins go to {one_line(require_keyring())}")
    except ConfigError as e:
        yield Check("missing", "keyring", e.message, e.hint)
