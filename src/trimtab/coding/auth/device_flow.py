"""Logging in from a machine without a browser: a code that a person types on any device.

    device_url ─▶ user code, address ─▶ the person ─▶ token_url every few seconds: authorization_pending … slow_down (+5 s) … ─▶ TokenLogin

Source: RFC 8628. What the server asks for is kept within bounds: it is asked at most once a second and at least once a minute, and for half an hour at most.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio

from trimtab.coding.auth.flow import Flow
from trimtab.coding.auth.means import Means
from trimtab.coding.auth.token_server import Refused, ask, named, number_of, token_of
from trimtab.coding.telling.printable import one_line
from trimtab.config.auth_file import TokenLogin
from trimtab.providers.post import NoAnswer
from trimtab.providers.resolve import is_web_url
from trimtab.types.errors import TrimtabError
from trimtab.types.text import scrub

_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_INTERVAL_S, _SLOWER_S = 5.0, 5.0
_SHORTEST_S, _LONGEST_S = 1.0, 60.0
_LIFE_S, _LONGEST_LIFE_S = 900.0, 1800.0
_SHOWN = 100
_LONGEST_ADDRESS = 2_000


async def by_device(
    flow: Flow,
    means: Means,
    *,
    server: str,
    now: Callable[[], float],
    clock: Callable[[], float] = anyio.current_time,
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
) -> TokenLogin:
    """Let a person log in. `clock` is monotonic. Raises `TrimtabError` when that fails or takes too long."""
    assert flow.device is not None
    form = {"client_id": flow.config.client_id or "", **flow.scope, **flow.config.authorize_params}
    try:
        answer = await ask(flow.device, form)
    except (Refused, NoAnswer) as e:
        raise TrimtabError(f"{named(flow.device)} gives no code for {flow.provider}: {e}", hint=_again(flow)) from None
    device_code, told = _shown(flow, answer)
    means.tell(told)
    interval = _bounded(answer.get("interval"), _INTERVAL_S, _SHORTEST_S, _LONGEST_S)
    end = clock() + _bounded(answer.get("expires_in"), _LIFE_S, _SHORTEST_S, _LONGEST_LIFE_S)
    poll = {"grant_type": _GRANT, "device_code": device_code, **flow.client, **flow.config.token_params}
    while clock() + interval < end:
        await sleep(interval)
        try:
            return token_of(await ask(flow.token, poll), server=server, now=now())
        except Refused as e:
            if e.error == "slow_down":
                interval = min(interval + _SLOWER_S, _LONGEST_S)
            elif e.error != "authorization_pending":
                raise _ended(flow, e) from None
        except NoAnswer as e:  # a lost answer is asked for again, ever more slowly: RFC 8628, 3.5
            means.tell(f"{named(flow.token)}: {e}; asking again")
            interval = min(interval * 2, _LONGEST_S)
    raise TrimtabError(f"nobody typed the code for {flow.provider} in time", hint=_again(flow))


def _shown(flow: Flow, answer: Mapping[str, Any]) -> tuple[str, str]:
    """The code of the device, and what a person is told. Raises `TrimtabError` for an answer that lacks it."""
    device, code, address = (answer.get(name) for name in ("device_code", "user_code", "verification_uri"))
    address = address or answer.get("verification_url")  # as an early draft named it
    if not (isinstance(device, str) and device and isinstance(code, str) and code and _opens(address)):
        raise TrimtabError(
            f"the answer of {flow.provider} holds no code or no address to type it at", hint=_again(flow)
        )
    lines = [
        f"To log in to {flow.provider}, open on any device:",
        f"  {one_line(str(address))}",
        f"and type this code: {scrub(one_line(code))[:_SHOWN]}",
    ]
    whole = answer.get("verification_uri_complete")
    if _opens(whole):
        lines.append(f"or open: {one_line(str(whole))}")
    return device, "\n".join([*lines, "Type it only if you began this login. Waiting; Ctrl-C gives up."])


def _opens(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST_ADDRESS and value.isprintable() and is_web_url(value)


def _bounded(value: object, usual: float, least: float, most: float) -> float:
    number = number_of(value)
    return usual if number is None else min(max(number, least), most)


def _ended(flow: Flow, refused: Refused) -> TrimtabError:
    match refused.error:
        case "access_denied":
            return TrimtabError(f"the login to {flow.provider} was denied", hint=_again(flow))
        case "expired_token":
            return TrimtabError(f"the code for {flow.provider} has expired", hint=_again(flow))
        case _:
            return TrimtabError(f"{named(flow.token)} gives no token for {flow.provider}: {refused}", hint=_again(flow))


def _again(flow: Flow) -> str:
    return f"Try again: trimtab login {flow.provider}. Nothing was changed."
