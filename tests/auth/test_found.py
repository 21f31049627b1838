"""Which key counts, and what is said of the others."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.auth_server import AuthServer
from trimtab.coding.auth.check import auth_checks
from trimtab.coding.auth.found import held_back, in_use, let_in, origin_of, providers_with_keys, sources
from trimtab.coding.auth.open import no_key
from trimtab.coding.first_model import first_model, look_around, no_model
from trimtab.coding.models import known_models, open_model, resolve_model
from trimtab.coding.project import Project, open_project
from trimtab.config.auth_file import KeyLogin, TokenLogin, write_login
from trimtab.config.reach import Person, within_reach
from trimtab.providers.catalogue import Catalogue
from trimtab.providers.resolve import resolve
from trimtab.types.errors import ConfigError

pytestmark = pytest.mark.anyio
MODEL = "anthropic/claude-sonnet-5-5"
ANTHROPIC = "https://api.anthropic.com:443"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def opened(home: Path, overrides: dict[str, Any] | None = None, **env: str) -> Project:
    return open_project(home.parent, overrides=overrides, env={"TRIMTAB_HOME": str(home), **env})


def stored(home: Path, key: str = "from-login", *, provider: str = "anthropic", server: str = ANTHROPIC) -> None:
    write_login(home / "auth.json", provider, KeyLogin(api_key=key, server=server))


def test_a_login_lets_in_where_nothing_else_does(home: Path) -> None:
    stored(home)
    assert resolve_model(opened(home), MODEL).endpoint.api_key == "from-login"


def test_a_variable_comes_before_a_login_and_a_setting_before_both(home: Path) -> None:
    stored(home)
    assert resolve_model(opened(home, ANTHROPIC_API_KEY="from-variable"), MODEL).endpoint.api_key == "from-variable"
    settings = {"providers": {"anthropic": {"api_key": "from-setting"}}}
    project = opened(home, settings, ANTHROPIC_API_KEY="from-variable")
    assert resolve_model(project, MODEL).endpoint.api_key == "from-setting"
    found = sources(project, "anthropic")
    assert [source.kind for source in found] == ["setting", "variable", "login"]
    assert in_use(found) == found[0]


def test_a_variable_that_is_turned_off_leaves_the_login(home: Path) -> None:
    stored(home)
    project = opened(home, {"providers": {"anthropic": {"api_key_env": ""}}}, ANTHROPIC_API_KEY="from-variable")
    assert resolve_model(project, MODEL).endpoint.api_key == "from-login"
    assert [source.kind for source in sources(project, "anthropic")] == ["login"]


@pytest.mark.parametrize(
    "base_url", ["https://api.anthropic.com.evil.example/v1", "http://api.anthropic.com/v1", "http://127.0.0.1:9/v1"]
)
def test_a_login_is_sent_to_no_other_server_than_its_own(home: Path, base_url: str) -> None:
    stored(home)
    project = opened(home, {"providers": {"anthropic": {"base_url": base_url}}})
    found = resolve_model(project, MODEL)
    assert found.endpoint.api_key is None
    assert any("isn't used" in note and "trimtab login anthropic" in note for note in found.notes)
    assert in_use(sources(project, "anthropic")) is None


HELD = "OPENAI_API_KEY is for api.openai.com alone; set providers.openai.api_key_env to use it there"


@pytest.mark.parametrize("base_url", ["http://127.0.0.1:1/v1", "https://proxy.example/v1"])
async def test_a_variable_that_is_held_back_from_another_host_is_told_everywhere(home: Path, base_url: str) -> None:
    project = opened(home, {"providers": {"openai": {"base_url": base_url}}}, OPENAI_API_KEY="k" * 20)
    found = resolve_model(project, "openai/gpt-5.1")
    assert found.endpoint.api_key is None
    assert f"no key was sent: {HELD}" in found.notes
    assert HELD in no_key(project, found).message
    assert [source.unused for source in sources(project, "openai")] == [HELD]
    keys = [check.found for check in auth_checks(project) if check.name == "keys"]
    assert keys == [f"no key is used: {HELD}"]
    error = no_model(project, await look_around(project))
    assert HELD in error.hint
    assert "OPENAI_API_KEY is set" not in error.hint
    assert "no key in the environment" not in error.hint


async def test_a_token_that_people_have_for_other_things_is_offered_and_not_used(home: Path) -> None:
    project = opened(home, {}, HF_TOKEN="h" * 20)
    assert first_model(project) is None
    error = no_model(project, await look_around(project))
    assert "--model huggingface/MODEL (HF_TOKEN is set)" in error.hint
    assert "no key in the environment" not in error.hint


def test_nothing_is_held_back_where_the_variable_is_named_or_unset_or_at_home(home: Path) -> None:
    moved = {"base_url": "http://127.0.0.1:1/v1"}
    for said, env in (
        ({**moved, "api_key_env": "OPENAI_API_KEY"}, {"OPENAI_API_KEY": "k" * 20}),
        ({**moved, "api_key_env": ""}, {"OPENAI_API_KEY": "k" * 20}),
        (moved, {}),
        ({"base_url": "https://api.openai.com/v2"}, {"OPENAI_API_KEY": "k" * 20}),
    ):
        project = opened(home, {"providers": {"openai": said}}, **env)
        assert held_back(project, "openai") == ""
        assert not any("alone" in note for note in resolve_model(project, "openai/gpt-5.1").notes)


def test_the_same_server_written_otherwise_is_the_same(home: Path) -> None:
    assert origin_of("https://API.anthropic.com/v1") == ANTHROPIC
    assert origin_of("https://api.anthropic.com:443/v1/") == ANTHROPIC
    assert origin_of("http://[::1]:8080/v1") == "http://[::1]:8080"
    assert origin_of("http://[::1") == ""


def test_a_project_brings_no_way_to_log_in() -> None:
    tree = {
        "providers": {"office": {"base_url": "http://127.0.0.1:9/v1", "oauth": {"token_url": "https://evil.example"}}}
    }
    kept, withheld = within_reach(tree, Person({}))
    assert "oauth" not in kept["providers"]["office"]
    assert [one.key[2] for one in withheld] == ["oauth"]
    _, more = within_reach({"auth": {"store": "keyring"}}, Person({}))
    assert [one.key for one in more] == [("auth", "store")]


async def test_a_missing_key_says_how_to_keep_one(home: Path) -> None:
    with pytest.raises(ConfigError) as failed:
        await open_model(opened(home), MODEL)
    assert "trimtab login anthropic" in failed.value.hint
    assert "ANTHROPIC_API_KEY" in failed.value.hint


async def test_a_file_that_isnt_used_is_named_where_its_key_is_missing(home: Path) -> None:
    stored(home)
    (home / "auth.json").chmod(0o666)
    with pytest.raises(ConfigError, match="other users may write it"):
        await open_model(opened(home), MODEL)


def test_models_that_a_login_lets_in_to_count_as_usable(home: Path) -> None:
    assert known_models(opened(home), usable=True) == ()
    stored(home)
    assert {m.provider for m in known_models(opened(home), usable=True)} == {"anthropic"}


def test_a_token_goes_where_the_api_has_its_key_or_into_the_header_that_is_named(
    project: Callable[..., Project], auth: AuthServer
) -> None:
    here = project()
    write_login(here.home.auth_file, "office", TokenLogin(access_token="the-token", server=origin_of(auth.url)))
    assert resolve_model(here, "office/tiny").endpoint.api_key == "the-token"
    named = project(auth.settings(header="x-goog-api-key", scheme=""))
    endpoint = resolve_model(named, "office/tiny").endpoint
    assert endpoint.api_key is None
    assert endpoint.headers == {"x-goog-api-key": "the-token"}
    assert "the-token" not in repr(endpoint)
    bearer = resolve_model(project(auth.settings(header="authorization")), "office/tiny").endpoint
    assert bearer.headers == {"authorization": "Bearer the-token"}


def test_models_for_tests_ask_for_no_login(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*args: object) -> None:
        raise AssertionError("auth.json was read")

    monkeypatch.setattr("trimtab.coding.auth.found.read_auth", never)
    project = opened(home)
    found = resolve("scripted/x.jsonl", config_providers={}, catalogue=Catalogue.load())
    assert let_in(project, found) == found
    assert resolve_model(opened(home, ANTHROPIC_API_KEY="k" * 20), MODEL).endpoint.api_key == "k" * 20


def test_providers_with_keys_are_listed_in_the_catalogues_order(home: Path) -> None:
    stored(home)
    project = opened(home, GROQ_API_KEY="g", OPENAI_API_KEY="o")
    assert {name: source.kind for name, source in providers_with_keys(project).items()} == {
        "openai": "variable",
        "anthropic": "login",
        "groq": "variable",
    }
    assert list(providers_with_keys(project)) == ["openai", "anthropic", "groq"]
