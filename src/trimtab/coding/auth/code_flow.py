"""Logging in by a browser: authorization code with PKCE, and a way back to this machine.

    verifier, state ─▶ the person opens authorize_url ─▶ yes ─▶ 127.0.0.1 gets the code (or the person pastes the address) ─▶ token_url: code + verifier ─▶ TokenLogin

A flow that gives a key goes the same way with other words: `callback_url`, no client, a code that is sent as JSON, `{"key": …}` for an answer.

Sources: RFC 6749 (4.1), RFC 7636 (S256 alone), RFC 8252; for keys OpenRouter's documentation (openrouter.ai/docs/oauth). The code is of use only with the verifier, which never leaves this process but for the token server.
"""

import base64
import hashlib
import secrets
from collections.abc import Callable
from urllib.parse import urlencode

import anyio

from trimtab.coding.auth.flow import Flow
from trimtab.coding.auth.loopback import Answer, Callback, listening
from trimtab.coding.auth.means import Means
from trimtab.coding.auth.pasted import take_pasted
from trimtab.coding.auth.token_server import Refused, ask, key_of, named, token_of
from trimtab.coding.telling.printable import one_line
from trimtab.config.auth_file import KeyLogin, TokenLogin
from trimtab.providers.post import NoAnswer
from trimtab.types.errors import TrimtabError

PATIENCE_S = 600.0
"""How long a person may take in the browser, in seconds."""
_SHOWN = 200


def challenge_of(verifier: str) -> str:
    """What is shown of a verifier beforehand. Source: RFC 7636, 4.2."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


async def by_browser(
    flow: Flow, means: Means, *, server: str, now: Callable[[], float], patience_s: float = PATIENCE_S
) -> TokenLogin | KeyLogin:
    """Let a person log in. Raises `TrimtabError` when that fails or takes too long."""
    verifier = secrets.token_urlsafe(48)
    config = flow.config
    async with listening(
        config.redirect_port, config.redirect_path, means.tell, state_in_path=flow.gives_key
    ) as callback:
        url = _address(flow, callback, challenge_of(verifier))
        opened = await anyio.to_thread.run_sync(means.open_url, url, abandon_on_cancel=True)
        means.tell(f"{'A browser opens' if opened else 'Open'} this address to log in to {flow.provider}:\n  {url}")
        answer = await _wait(callback, means, patience_s)
    if answer is None:
        raise TrimtabError(f"nobody logged in to {flow.provider} within {patience_s / 60:g} minutes", hint=_again(flow))
    if answer.error:
        raise _refused(flow, answer)
    proof = {"code": answer.code, "code_verifier": verifier}
    try:
        if flow.gives_key:
            sent = {**proof, "code_challenge_method": "S256", **config.token_params}
            return key_of(await ask(flow.token, sent, as_json=True), server=server)
        form = {
            "grant_type": "authorization_code",
            "redirect_uri": callback.redirect_uri,
            **proof,
            **flow.client,
            **config.token_params,
        }
        return token_of(await ask(flow.token, form), server=server, now=now())
    except (Refused, NoAnswer) as e:
        what = config.gives
        raise TrimtabError(f"{named(flow.token)} gives no {what} for {flow.provider}: {e}", hint=_again(flow)) from None


def _address(flow: Flow, callback: Callback, challenge: str) -> str:
    back = (
        {"callback_url": callback.redirect_uri}
        if flow.gives_key
        else {
            "response_type": "code",
            "client_id": flow.config.client_id or "",
            "redirect_uri": callback.redirect_uri,
            **flow.scope,
            "state": callback.state,
        }
    )
    pkce = {"code_challenge": challenge, "code_challenge_method": "S256"}
    query = {**back, **pkce, **flow.config.authorize_params}
    return f"{flow.authorize_url}{'&' if '?' in flow.authorize_url else '?'}{urlencode(query)}"


async def _wait(callback: Callback, means: Means, patience_s: float) -> Answer | None:
    """The answer, from the browser or pasted by the person; None when neither comes in time."""
    answer: Answer | None = None
    with anyio.move_on_after(patience_s):
        async with anyio.create_task_group() as group:
            group.start_soon(take_pasted, means.person, callback.take, means.tell)
            answer = await callback.answer()
            group.cancel_scope.cancel()
    return answer


def _refused(flow: Flow, answer: Answer) -> TrimtabError:
    if answer.error == "access_denied":
        return TrimtabError(f"the login to {flow.provider} was denied", hint=_again(flow))
    words = one_line(f"{answer.error} {answer.description}".strip())[:_SHOWN]
    return TrimtabError(f"{flow.provider} refuses the login: {words}", hint=_again(flow))


def _again(flow: Flow) -> str:
    return f"Try again: trimtab login {flow.provider}. Nothing was changed."
