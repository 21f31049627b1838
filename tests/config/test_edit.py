"""Changing one setting in a file that a person wrote."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.config.edit import add_to_list, set_value, unset_value
from trimtab.config.load import file_layer, load
from trimtab.config.settings import Settings
from trimtab.types.errors import ConfigError

OWN = """# mine
model = "local/tiny"   # the small one

[permissions]
allow = [
  "bash(npm test)",  # often
]

[providers.local]
base_url = "http://127.0.0.1:1/v1"
api = "openai-chat"
"""


def settings_of(file: Path) -> Settings:
    return load([file_layer(file, name="test")]).settings


def test_a_value_is_set_and_all_else_stays_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(OWN)
    set_value(file, ("model",), "local/big")
    assert file.read_text() == OWN.replace("local/tiny", "local/big")


def test_a_rule_is_added_once_at_the_end_of_its_list(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(OWN)
    for _ in range(2):
        add_to_list(file, ("permissions", "allow"), "bash(make)")
    assert settings_of(file).permissions.allow == ("bash(npm test)", "bash(make)")
    assert "# often" in file.read_text()


def test_tables_and_the_file_are_made_where_there_are_none(tmp_path: Path) -> None:
    file = tmp_path / "new" / "config.toml"
    set_value(file, ("tools", "bash", "timeout_s"), 60.0)
    assert settings_of(file).tools.bash.timeout_s == 60.0
    assert file.stat().st_mode & 0o777 == 0o600


def test_what_is_taken_out_is_gone_and_what_is_not_there_is_said(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(OWN)
    assert unset_value(file, ("model",))
    assert not unset_value(file, ("model",))
    assert not unset_value(file, ("tools", "bash", "timeout_s"))
    assert file.read_text() == OWN.replace('model = "local/tiny"   # the small one\n', "")


@pytest.mark.parametrize(
    "change",
    [
        lambda file: set_value(file, ("modle",), "x"),
        lambda file: set_value(file, ("max_steps",), "many"),
        lambda file: add_to_list(file, ("model",), "x"),
        lambda file: set_value(file, ("providers", "local", "api"), "smoke"),
    ],
)
def test_a_change_that_makes_the_file_invalid_is_refused_and_the_file_stays(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(OWN)
    with pytest.raises(ConfigError):
        change(file)
    assert file.read_text() == OWN


def test_a_file_that_is_not_valid_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("model = \n")
    with pytest.raises(ConfigError, match="isn't valid TOML"):
        set_value(file, ("model",), "a/b")
    assert file.read_text() == "model = \n"


def test_a_link_stays_a_link_and_the_mode_of_its_file_stays(tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles.toml", tmp_path / "config.toml"
    real.write_text(OWN)
    real.chmod(0o640)
    link.symlink_to(real)
    set_value(link, ("model",), "a/b")
    assert link.is_symlink()
    assert 'model = "a/b"' in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_folder_that_takes_no_file_is_said_with_the_next_step(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(ConfigError) as failure:
        set_value(tmp_path / "config.toml", ("model",), "a/b")
    assert failure.value.hint
    assert os.listdir(tmp_path / "config.toml") == []


@given(st.text(max_size=30))
def test_any_text_is_set_as_it_is(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    file = tmp_path_factory.mktemp("config") / "config.toml"
    set_value(file, ("append_system_prompt",), text)
    assert settings_of(file).append_system_prompt == text
