"""The policy behind a URL: asked before a request whose context may need an edit, and believed no more than any other policy.

settings ──address_of──▶ Address (checked when the session opens)
Consult ──Adviser.ask──▶ POST observation ──▶ Advice, or Failed: then `rules` decide, the log says why, and after three failures in a row it isn't asked again

What leaves this machine is `Observation`: sizes, ages, names of tools and files, the start of what the person asked without what looks like a secret; no
text of any other message (see `question_of`).
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trimtab.config.keys import find_ca_file, find_key, find_proxy
from trimtab.context.asks import Advice, Answer, Consult, Failed
from trimtab.providers.resolve import is_loopback, is_web_url
from trimtab.types.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from trimtab.coding.project import Project
    from trimtab.config.settings import ContextSettings
    from trimtab.providers.post import Address

MAX_BYTES = 256 * 1024
"""Bytes that an answer may have: some hundred actions have a tenth of it."""


@dataclass(frozen=True, slots=True)
class Adviser:
    """Asks the server at `address` within `timeout_s` seconds."""

    address: "Address"
    timeout_s: float

    async def ask(self, ask: Consult) -> Answer:
        """Return what the server wants, unjudged, or why that is not known."""
        from trimtab.context.policies.remote import actions_in, question_of  # noqa: PLC0415 - not needed while there is room
        from trimtab.providers.post import NoAnswer, post  # noqa: PLC0415 - loads the HTTP client

        try:
            body = await post(self.address, question_of(ask.observation), timeout_s=self.timeout_s, max_bytes=MAX_BYTES)
        except NoAnswer as problem:
            return Failed(f"{problem} ({self.address.host})")
        actions = actions_in(body)
        return Failed(f"{actions} ({self.address.host})") if isinstance(actions, str) else Advice(actions)


def adviser_for(project: "Project", settings: "ContextSettings") -> Adviser | None:
    """Return who is asked in place of a policy `remote`; None when the policy is another one. Raises `UsageError` or `ConfigError`."""
    if "remote" not in settings.policy:
        return None  # whatever the policy is, it isn't looked up before it is needed
    from trimtab.context.policies.registry import find_policy  # noqa: PLC0415 - see above
    from trimtab.context.policies.remote import remote_of  # noqa: PLC0415 - see above

    remote = remote_of(find_policy(settings.policy))
    if remote is None:
        return None
    own = replace(remote, timeout_s=settings.remote_timeout_s) if not remote.url else remote
    return Adviser(_address(project, own.url or settings.remote_url or "", settings.remote_key_env), own.timeout_s)


def _address(project: "Project", url: str, key_env: str | None) -> "Address":
    if not url:
        raise UsageError(
            "the policy 'remote' has no URL",
            hint="Set context.remote_url, or TRIMTAB_CONTEXT__REMOTE_URL, or choose another policy.",
        )
    if not is_web_url(url):
        raise UsageError(
            "the URL of the policy 'remote' is no http(s) URL", hint="Write it like http://127.0.0.1:9000/decide."
        )
    key = find_key(key_env or "", project.env)
    if key_env and key is None:
        raise ConfigError(
            f"there is no key for the policy 'remote': {key_env} is not set",
            hint="Set that variable, or leave context.remote_key_env out.",
        )
    from trimtab.providers.post import Address  # noqa: PLC0415 - loads the HTTP client

    proxy = None if is_loopback(url) else find_proxy(url, project.env)
    return Address(url, key, proxy=proxy, ca_file=find_ca_file(project.env))
