"""`auth.json`: nobody else reads it, nothing in it is lost, and what can't be believed isn't."""

import json
import os
import resource
import stat
import threading
from pathlib import Path

import pytest

from trimtab.config import auth_file
from trimtab.config.auth_file import KeyLogin, RingLogin, TokenLogin, read_auth, remove_login, write_login
from trimtab.types.errors import ConfigError

KEY = KeyLogin(api_key="sk-hidden-0123456789", server="https://a.example:443")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "auth.json"


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_without_a_file_there_are_no_logins(file: Path) -> None:
    assert read_auth(file) == auth_file.AuthFile()


@pytest.mark.parametrize(
    "login",
    [
        KEY,
        TokenLogin(access_token="a", refresh_token="r", expires_at=5.0, server="s"),
        RingLogin(entry="e", server="s"),
    ],
    ids=["key", "token", "keyring"],
)
def test_what_is_written_is_read_again(file: Path, login: auth_file.Kept) -> None:
    assert write_login(file, "p", login) == ()
    assert read_auth(file).logins == {"p": login}


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_nobody_else_may_read_it_whatever_the_umask(file: Path, umask: int) -> None:
    file.parent.mkdir(mode=0o700)
    before = os.umask(umask)
    try:
        write_login(file, "p", KEY)
        write_login(file, "q", KEY)
    finally:
        os.umask(before)
    assert mode_of(file) == 0o600
    assert sorted(p.name for p in file.parent.iterdir()) == [".auth.json.lock", "auth.json"]


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o644])
def test_a_file_that_others_may_read_is_mended_and_told_to_every_look_of_the_process(file: Path, mode: int) -> None:
    write_login(file, "p", KEY)
    file.chmod(mode)
    for _ in range(2):
        read = read_auth(file)
        assert read.logins == {"p": KEY}
        assert f"mode {mode:o}" in read.notices[0]
    assert mode_of(file) == 0o600


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_isnt_believed_and_stays_as_it_is(file: Path, mode: int) -> None:
    write_login(file, "p", KEY)
    file.chmod(mode)
    before = file.read_bytes()
    read = read_auth(file)
    assert read.logins == {}
    assert f"chmod 600 {file}" in read.problem
    with pytest.raises(ConfigError, match="other users may write it"):
        write_login(file, "q", KEY)
    assert file.read_bytes() == before
    assert mode_of(file) == mode


def test_a_file_of_another_user_isnt_believed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_login(file, "p", KEY)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert "belongs to another user" in read_auth(file).problem
    with pytest.raises(ConfigError, match="belongs to another user"):
        write_login(file, "q", KEY)


@pytest.mark.parametrize(
    "content",
    [b"{", b"[]", b"\xff\xfe", b'{"providers": []}', b'{"providers": {"p": {"api_key": "sk-hidden', b"[" * 200_000],
    ids=["cut", "a-list", "no-text", "no-table", "torn", "deep"],
)
def test_a_damaged_file_is_told_and_kept_beside_the_new_one(file: Path, content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    file.chmod(0o600)
    problem = read_auth(file).problem
    assert str(file) in problem
    assert "sk-hidden" not in problem
    assert file.read_bytes() == content
    (told,) = write_login(file, "q", KEY)
    (aside,) = file.parent.glob("auth.json.damaged-*")
    assert str(aside) in told
    assert aside.read_bytes() == content
    assert mode_of(aside) == 0o600
    assert read_auth(file).logins == {"q": KEY}


def test_what_isnt_understood_is_left_alone_and_kept(file: Path) -> None:
    file.parent.mkdir()
    foreign = {"type": "hardware", "slot": 3}
    old = {"type": "api_key", "api_key": "old", "label": "work", "server": "s"}
    file.write_text(json.dumps({"version": 7, "providers": {"f": foreign, "p": old, "n": 5}}))
    file.chmod(0o600)
    read = read_auth(file)
    assert set(read.logins) == {"p"}
    assert len(read.notices) == 2
    write_login(file, "p", TokenLogin(access_token="a", server="s"))
    remove_login(file, "nobody")
    data = json.loads(file.read_text())
    assert data["version"] == 7
    assert data["providers"]["f"] == foreign
    assert data["providers"]["n"] == 5
    assert data["providers"]["p"] == {"label": "work", "type": "oauth", "access_token": "a", "server": "s"}


def test_an_empty_file_is_one_without_logins(file: Path) -> None:
    file.parent.mkdir()
    file.touch(0o600)
    assert read_auth(file) == auth_file.AuthFile()
    assert write_login(file, "p", KEY) == ()


def test_a_link_to_a_file_elsewhere_stays_one(file: Path, tmp_path: Path) -> None:
    real = tmp_path / "vault" / "keys.json"
    real.parent.mkdir()
    file.parent.mkdir()
    file.symlink_to(real)
    write_login(file, "p", KEY)
    assert file.is_symlink()
    assert mode_of(real) == 0o600
    assert read_auth(file).logins == {"p": KEY}


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "loop"])
def test_what_is_no_regular_file_is_refused_without_waiting(file: Path, kind: str) -> None:
    file.parent.mkdir()
    match kind:
        case "folder":
            file.mkdir()
        case "pipe":
            os.mkfifo(file)
        case "device":
            file.symlink_to("/dev/zero")
        case _:
            file.symlink_to(file)
    assert str(file) in read_auth(file).problem
    with pytest.raises(ConfigError):
        write_login(file, "p", KEY)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_told(file: Path) -> None:
    file.parent.mkdir(mode=0o500)
    with pytest.raises(ConfigError, match="TRIMTAB_HOME"):
        write_login(file, "p", KEY)


def test_a_write_that_fails_leaves_the_old_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_login(file, "p", KEY)
    before = file.read_bytes()

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConfigError, match="No space left"):
        write_login(file, "q", KEY)
    assert file.read_bytes() == before
    assert sorted(p.name for p in file.parent.iterdir()) == [".auth.json.lock", "auth.json"]


def test_a_disk_that_takes_an_empty_file_and_no_login_is_noticed_before_anything_is_spent(file: Path) -> None:
    auth_file.write_login(file, "office", auth_file.KeyLogin(api_key="k"))
    before, (soft, hard) = file.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    beside = sorted(file.parent.iterdir())
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, hard))
    try:
        with pytest.raises(ConfigError, match="nothing can be kept"):
            auth_file.require_writable(file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (file.read_bytes(), sorted(file.parent.iterdir())) == (before, beside)
    auth_file.require_writable(file)
    assert (file.read_bytes(), sorted(file.parent.iterdir())) == (before, beside)


def test_writers_side_by_side_lose_nothing(file: Path) -> None:
    threads = [threading.Thread(target=write_login, args=(file, f"p{n}", KEY)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert set(read_auth(file).logins) == {f"p{n}" for n in range(12)}


def test_no_repr_shows_a_secret() -> None:
    token = TokenLogin(access_token="access-hidden", refresh_token="refresh-hidden")
    shown = repr([KEY, token, auth_file.AuthFile({"p": KEY, "q": token})])
    assert "hidden" not in shown


def test_a_folder_in_which_others_may_write_is_told(file: Path) -> None:
    write_login(file, "p", KEY)
    file.parent.chmod(0o777)
    (notice,) = read_auth(file).notices
    assert f"may be written by other users (mode 777): chmod 700 {file.parent}" in notice
    assert read_auth(file).logins == {"p": KEY}


def test_no_lock_is_taken_through_a_link(file: Path, tmp_path: Path) -> None:
    write_login(file, "p", KEY)
    lock, other = file.with_name(".auth.json.lock"), tmp_path / "other"
    lock.unlink()
    lock.symlink_to(other)
    with pytest.raises(ConfigError, match="and is a link"):
        write_login(file, "q", KEY)
    assert not other.exists()
    assert read_auth(file).logins == {"p": KEY}
