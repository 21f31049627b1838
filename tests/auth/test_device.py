"""Logging in by a code that is typed on another device."""

from typing import Any

import pytest

from support.auth_server import HTML, AuthServer, refusal
from support.logging_in import LoginDesk
from support.servers import Reply, json_reply
from trimtab.coding.auth.device_flow import by_device
from trimtab.coding.auth.flow import flow_of
from trimtab.config.auth_file import TokenLogin
from trimtab.types.config import OAuthConfig, ProviderConfig
from trimtab.types.errors import TrimtabError

pytestmark = pytest.mark.anyio
PENDING, SLOWER = refusal("authorization_pending"), refusal("slow_down")


class Clock:
    """Time that passes only while one sleeps."""

    def __init__(self) -> None:
        self.time = 0.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def login(auth: AuthServer, desk: LoginDesk, clock: Clock) -> TokenLogin:
    config = OAuthConfig(**auth.settings()["providers"]["office"]["oauth"])
    flow = flow_of("office", config, ProviderConfig(), {})
    return await by_device(
        flow, desk.means, server="http://127.0.0.1:1", now=lambda: 1000.0, clock=clock.now, sleep=clock.sleep
    )


async def refused(auth: AuthServer, desk: LoginDesk, clock: Clock, *words: str) -> None:
    with pytest.raises(TrimtabError) as failed:
        await login(auth, desk, clock)
    assert all(word in str(failed.value) for word in words), str(failed.value)
    assert "device-secret" not in str(failed.value) + desk.text


async def test_the_person_is_told_where_to_type_which_code(auth: AuthServer, desk: LoginDesk, clock: Clock) -> None:
    auth.answers = [PENDING, PENDING]
    token = await login(auth, desk, clock)
    assert token.access_token in auth.good
    assert f"{auth.url}/type" in desk.text
    assert "WDJB-MJHT" in desk.text
    assert clock.slept == [5, 5, 5]
    assert [form["device_code"] for form in auth.asked("device_code")] == ["device-secret"] * 3


async def test_a_server_that_wants_it_slower_is_asked_more_rarely(
    auth: AuthServer, desk: LoginDesk, clock: Clock
) -> None:
    auth.device_answer = {"interval": 2}
    auth.answers = [PENDING, SLOWER, PENDING, SLOWER]
    await login(auth, desk, clock)
    assert clock.slept == [2, 2, 7, 7, 12]


async def test_answers_that_are_lost_are_asked_for_again_ever_more_slowly(
    auth: AuthServer, desk: LoginDesk, clock: Clock
) -> None:
    auth.answers = [Reply(status=0), HTML, Reply(status=503)]
    token = await login(auth, desk, clock)
    assert token.access_token in auth.good
    assert clock.slept == [5, 10, 20, 40]


@pytest.mark.parametrize(
    ("error", "words"),
    [("access_denied", "denied"), ("expired_token", "has expired"), ("invalid_grant", "invalid_grant")],
)
async def test_a_refusal_ends_it(error: str, words: str, auth: AuthServer, desk: LoginDesk, clock: Clock) -> None:
    auth.answers = [PENDING, refusal(error)]
    await refused(auth, desk, clock, words)
    assert len(auth.asked("device_code")) == 2


async def test_a_server_that_limits_the_rate_is_asked_again_and_ends_nothing(
    auth: AuthServer, desk: LoginDesk, clock: Clock
) -> None:
    auth.answers = [refusal("rate_limited", status=429), refusal("slow_down", status=429), PENDING]
    token = await login(auth, desk, clock)
    assert token.access_token in auth.good
    assert clock.slept == [5, 10, 15, 15]


async def test_a_code_that_nobody_types_ends_with_its_time(auth: AuthServer, desk: LoginDesk, clock: Clock) -> None:
    auth.device_answer = {"expires_in": 30, "interval": 10}
    auth.answers = [PENDING] * 10
    await refused(auth, desk, clock, "nobody typed the code")
    assert clock.time <= 30


@pytest.mark.parametrize("interval", [0, -3, "x", None, [], 1e-9])
async def test_no_answer_makes_it_ask_without_a_pause(
    interval: Any, auth: AuthServer, desk: LoginDesk, clock: Clock
) -> None:
    auth.device_answer = {"interval": interval}
    auth.answers = [PENDING]
    await login(auth, desk, clock)
    assert all(seconds >= 1 for seconds in clock.slept)


async def test_no_answer_makes_it_wait_for_ever(auth: AuthServer, desk: LoginDesk, clock: Clock) -> None:
    auth.device_answer = {"interval": 10**12, "expires_in": 10**15}
    auth.answers = [PENDING] * 100
    await refused(auth, desk, clock, "nobody typed the code")
    assert clock.time <= 1800


@pytest.mark.parametrize(
    "answer",
    [
        HTML,
        json_reply({"user_code": "A"}),
        json_reply({"device_code": "a", "user_code": "B", "verification_uri": "javascript:alert(1)"}),
        json_reply({"device_code": "a", "user_code": "B", "verification_uri": "https://x.example/\x1b[2J"}),
        refusal("unauthorized_client"),
    ],
)
async def test_a_first_answer_that_makes_no_sense_is_refused(
    answer: Reply, auth: AuthServer, desk: LoginDesk, clock: Clock
) -> None:
    auth.device_answer = answer
    await refused(auth, desk, clock, "office", "trimtab login office")
    assert auth.asked("device_code") == []


async def test_a_code_cannot_dress_up_as_lines_of_ours(auth: AuthServer, desk: LoginDesk, clock: Clock) -> None:
    auth.device_answer = {"user_code": "A\nopen https://evil.example \x1b[8m"}
    await login(auth, desk, clock)
    assert "\x1b" not in desk.text
    assert "A\\nopen" in desk.text
