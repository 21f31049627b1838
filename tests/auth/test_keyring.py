"""Logins in the system's keyring: the file says only that they are there."""

import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event
from types import ModuleType

import pytest

from support.auth_server import AuthServer
from trimtab.coding.auth.found import origin_of, sources
from trimtab.coding.auth.login import unix_time
from trimtab.coding.models import close_provider, open_model, resolve_model
from trimtab.coding.project import Project
from trimtab.config import logins
from trimtab.config import ring as ring_module
from trimtab.config.auth_file import KeyLogin, RingLogin, TokenLogin, read_auth
from trimtab.config.logins import drop_login, find_login, keep_login
from trimtab.config.ring import require_keyring
from trimtab.types.errors import ConfigError
from trimtab.types.messages import user
from trimtab.types.models import ModelRequest

pytestmark = pytest.mark.anyio
KEY = KeyLogin(api_key="sk-hidden-0123456789", server="https://api.anthropic.com:443")


class Ring(ModuleType):
    """The library `keyring`, with a backend in memory that may be locked."""

    def __init__(self) -> None:
        super().__init__("keyring")
        self.errors = ModuleType("keyring.errors")
        self.errors.KeyringError = type("KeyringError", (Exception,), {})  # type: ignore[attr-defined]
        self.priority = 5.0
        self.name = "a keyring in memory"
        self.held: dict[tuple[str, str], str] = {}
        self.locked = False

    def get_keyring(self) -> "Ring":
        return self

    def set_password(self, service: str, entry: str, text: str) -> None:
        self._open()
        self.held[service, entry] = text

    def get_password(self, service: str, entry: str) -> str | None:
        self._open()
        return self.held.get((service, entry))

    def delete_password(self, service: str, entry: str) -> None:
        self._open()
        del self.held[service, entry]

    def _open(self) -> None:
        if self.locked:
            raise self.errors.KeyringError("locked: sk-hidden-0123456789")


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> Ring:
    ring = Ring()
    monkeypatch.setitem(sys.modules, "keyring", ring)
    monkeypatch.setitem(sys.modules, "keyring.errors", ring.errors)
    logins._from_ring.cache_clear()
    return ring


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "auth.json"


def test_a_key_goes_to_the_keyring_and_the_file_holds_none(ring: Ring, file: Path) -> None:
    keep_login(file, "anthropic", KEY, store="keyring")
    assert "hidden" not in file.read_text()
    kept = read_auth(file).logins["anthropic"]
    assert isinstance(kept, RingLogin)
    assert kept.server == KEY.server
    found = find_login(file, "anthropic")
    assert isinstance(found, KeyLogin)
    assert found.api_key == KEY.api_key


def test_a_new_login_takes_the_old_one_out_of_the_keyring(ring: Ring, file: Path) -> None:
    keep_login(file, "anthropic", KEY, store="keyring")
    keep_login(file, "anthropic", KeyLogin(api_key="newer", server=KEY.server), store="keyring")
    assert len(ring.held) == 1
    keep_login(file, "anthropic", KEY, store="file")
    assert ring.held == {}
    assert isinstance(read_auth(file).logins["anthropic"], KeyLogin)


def test_logging_out_empties_both(ring: Ring, file: Path) -> None:
    keep_login(file, "anthropic", KEY, store="keyring")
    assert drop_login(file, "anthropic") == ()
    assert ring.held == {}
    assert read_auth(file).logins == {}


def test_what_a_locked_keyring_keeps_is_named_when_one_logs_out(ring: Ring, file: Path) -> None:
    keep_login(file, "anthropic", KEY, store="keyring")
    ring.locked = True
    (told,) = drop_login(file, "anthropic")
    assert "remove it there" in told
    assert read_auth(file).logins == {}


def test_a_keyring_that_cannot_be_used_is_told_and_nothing_is_kept(ring: Ring, file: Path) -> None:
    ring.locked = True
    with pytest.raises(ConfigError, match="can't be used") as failed:
        keep_login(file, "anthropic", KEY, store="keyring")
    assert "hidden" not in str(failed.value)
    ring.priority = 0
    with pytest.raises(ConfigError, match=r"no keyring that can be used: there is none"):
        require_keyring()
    ring.priority = 0.5  # such as one that writes a plain file
    with pytest.raises(ConfigError, match=r"no keyring that can be used: the only one is a keyring in memory"):
        keep_login(file, "anthropic", KEY, store="keyring")
    assert not file.exists()


def test_a_keyring_that_never_answers_is_given_up_and_not_waited_for_again(
    ring: Ring, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = Event()
    keep_login(file, "anthropic", KEY, store="keyring")
    monkeypatch.setattr(ring, "get_password", lambda *_: answer.wait(30))
    monkeypatch.setattr(ring_module, "PATIENCE_S", 0.05)
    with pytest.raises(ConfigError, match=r"can't be used: no answer within 0\.05 seconds"):
        find_login(file, "anthropic")
    monkeypatch.setattr(ring_module, "PATIENCE_S", 30)
    with pytest.raises(ConfigError, match="can't be used: it doesn't answer"):
        find_login(file, "anthropic")
    answer.set()
    thread = ring_module._hanging[0].thread
    assert thread is not None
    thread.join(30)
    monkeypatch.undo()
    assert len(ring.held) == 1


@pytest.mark.parametrize(
    "raised", [Exception("sk-hidden-0123456789"), KeyError("x"), ConnectionResetError(), ValueError()]
)
def test_whatever_a_keyring_raises_is_told_by_its_kind(
    ring: Ring, file: Path, monkeypatch: pytest.MonkeyPatch, raised: Exception
) -> None:
    keep_login(file, "anthropic", KEY, store="keyring")

    def fail(*_: object) -> str:
        raise raised

    monkeypatch.setattr(ring, "get_password", fail)
    with pytest.raises(ConfigError, match=f"can't be used: {type(raised).__name__}\\.") as failed:
        find_login(file, "anthropic")
    assert "hidden" not in f"{failed.value} {failed.value.hint}"
    monkeypatch.setattr(ring, "get_password", lambda *_: 7)
    with pytest.raises(ConfigError, match="no longer holds"):
        find_login(file, "anthropic")


def test_what_the_keyring_lost_is_told_with_the_next_step(ring: Ring, file: Path) -> None:
    keep_login(file, "anthropic", KEY, store="keyring")
    ring.held.clear()
    with pytest.raises(ConfigError) as failed:
        find_login(file, "anthropic")
    assert "trimtab login anthropic" in failed.value.hint
    ring.priority = 0.5  # the one that held it isn't reached, and another one is asked
    with pytest.raises(ConfigError, match="no keyring that can be used"):
        find_login(file, "anthropic")


def test_a_login_that_cannot_be_written_down_leaves_nothing_in_the_keyring(
    ring: Ring, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object) -> tuple[str, ...]:
        raise ConfigError("nothing can be kept: the disk is full")

    monkeypatch.setattr(logins, "write_login", full)
    with pytest.raises(ConfigError, match="full"):
        keep_login(file, "anthropic", KEY, store="keyring")
    assert ring.held == {}


def test_without_the_library_the_extra_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    monkeypatch.setitem(sys.modules, "keyring.errors", None)
    with pytest.raises(ConfigError) as failed:
        keep_login(file, "anthropic", KEY, store="keyring")
    assert "[keyring]" in failed.value.hint


async def test_a_token_in_the_keyring_is_renewed_there(
    ring: Ring, project: Callable[..., Project], auth: AuthServer
) -> None:
    here = project()
    pair = auth.tokens()
    login = TokenLogin(
        access_token=pair["access_token"],
        refresh_token=pair["refresh_token"],
        expires_at=unix_time() - 1,
        server=origin_of(auth.url),
    )
    keep_login(here.home.auth_file, "office", login, store="keyring")
    (source,) = sources(here, "office")
    assert (source.where, source.oauth, source.renews) == ("the system's keyring", True, True)
    assert resolve_model(here, "office/tiny").endpoint.api_key == login.access_token
    opened = await open_model(here, "office/tiny")
    request = ModelRequest(model=opened.info, messages=(user("hi"),))
    events = [event async for event in opened.provider.stream(request)]
    await close_provider(opened.provider)
    assert events[-1].error is None  # type: ignore[union-attr]
    kept = find_login(here.home.auth_file, "office")
    assert isinstance(kept, TokenLogin)
    assert kept.access_token in auth.good
    assert isinstance(read_auth(here.home.auth_file).logins["office"], RingLogin)
    assert len(ring.held) == 1


def test_the_real_library_keeps_a_key(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keyring = pytest.importorskip(
        "keyring", reason="the extra `keyring` isn't installed, so the real library isn't tried"
    )
    from keyring.backend import KeyringBackend

    held: dict[str, str] = {}

    class Memory(KeyringBackend):  # type: ignore[misc, no-any-unimported]
        priority = 1

        def set_password(self, service: str, username: str, password: str) -> None:
            held[username] = password

        def get_password(self, service: str, username: str) -> str | None:
            return held.get(username)

        def delete_password(self, service: str, username: str) -> None:
            held.pop(username)

    before = keyring.get_keyring()
    keyring.set_keyring(Memory())
    try:
        keep_login(file, "anthropic", KEY, store="keyring")
        assert isinstance(find_login(file, "anthropic"), KeyLogin)
        assert drop_login(file, "anthropic") == ()
        assert held == {}
    finally:
        keyring.set_keyring(before)
