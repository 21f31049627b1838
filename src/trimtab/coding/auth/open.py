"""What opening a provider needs of logins: who renews its token, and what to say where nothing lets one in."""

from trimtab.coding.auth.found import held_back, oauth_of, token_in_use
from trimtab.coding.project import Project
from trimtab.config.auth_file import read_auth
from trimtab.providers.credentials import Credentials
from trimtab.providers.resolve import Resolved
from trimtab.types.config import ProviderConfig
from trimtab.types.errors import ConfigError

_UNSAID = ProviderConfig()


def credentials_of(project: Project, found: Resolved) -> Credentials | None:
    """Who renews the token of `found`; None where a key lets in, or nothing. Raises `ConfigError` as `let_in` does, and when how to renew it isn't whole."""
    login = token_in_use(project, found)
    if login is None:
        return None
    from trimtab.coding.auth.flow import flow_of  # noqa: PLC0415 - few log in otherwise than by a key
    from trimtab.coding.auth.login import unix_time  # noqa: PLC0415
    from trimtab.coding.auth.renewal import Renewal  # noqa: PLC0415

    name = found.endpoint.provider
    config = oauth_of(project, name)
    said = project.settings.providers.get(name, _UNSAID)
    flow = flow_of(name, config, said, project.env) if config is not None and login.refresh_token else None
    return Renewal(project.home.auth_file, name, login, config, flow, unix_time)


def no_key(project: Project, found: Resolved) -> ConfigError:
    """The error that says what lets one in."""
    name = found.model.provider
    variable = found.api_key_env or f"TRIMTAB_PROVIDERS__{name.upper()}__API_KEY"
    problem = read_auth(project.home.auth_file).problem
    why = "".join(f"; {one}" for one in (problem, held_back(project, name)) if one)
    return ConfigError(
        f"there is no key for {name}{why}",
        hint=f"Keep one: trimtab login {name}. Or set the variable {variable} for one run.",
    )
