"""What holds, by whose word, and nothing of a secret."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.config.in_force import SET, Origin, Row, in_force
from trimtab.config.load import Layer, environment_layer, file_layer, load, set_layer
from trimtab.config.mistakes import element_of, fields_of, show_path
from trimtab.config.schema import settings_schema
from trimtab.config.settings import Settings

FILE = """# mine
model = "l/a"
[context]
soft = 0.6
[providers.l]
api_key = "sk-hush"
base_url = "http://me:hush@host.example/v1?api_key=hush0123456789"
headers = { Authorization = "Bearer hush", "X-Team" = "hush" }
compat = { extra_body = { auth = { token = "hush" } }, api-key = "hush" }
[[providers.l.models]]
id = "a"
[[providers.l.models]]
id = "b"
max_output = 9
"""


def rows(*layers: Layer | None) -> dict[str, Row]:
    return {show_path(row.key): row for row in in_force(load(layers))}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(FILE)
    return path


def test_each_value_says_where_it_comes_from(file: Path) -> None:
    variables, _ = environment_layer({"TRIMTAB_MAX_STEPS": "9"})
    sets = set_layer(["context.hard=0.9", "context={target=0.4}"])
    found = rows(file_layer(file, name="user config"), variables, sets, Layer("a flag", {"thinking": "high"}))
    origins = {name: str(row.origin) for name, row in found.items() if row.origin}
    assert {name: origin for name, origin in origins.items() if not name.startswith("providers")} == {
        "model": f"user config ({file}), line 2",
        "thinking": "a flag",
        "max_steps": "environment (TRIMTAB_MAX_STEPS)",
        "context.soft": f"user config ({file}), line 4",
        "context.target": "--set context",
        "context.hard": "--set context.hard",
    }
    assert origins["providers.l.models[1].max_output"] == f"user config ({file}), line 14"
    assert found["context.soft"].value == 0.6
    assert found["tools.bash.timeout_s"] == Row(("tools", "bash", "timeout_s"), 120.0)


def test_a_table_given_for_this_run_leaves_the_other_keys_of_it(file: Path) -> None:
    loaded = load([file_layer(file, name="user config"), set_layer(["context={hard=0.9}"])])
    assert (loaded.settings.context.soft, loaded.settings.context.hard) == (0.6, 0.9)


def test_no_row_holds_a_secret(file: Path) -> None:
    found = rows(file_layer(file, name="user config"))
    assert "hush" not in repr(found)
    assert found["providers.l.api_key"].value == SET
    assert found["providers.l.headers.X-Team"].value == SET
    assert found["providers.l.base_url"].value.startswith(f"http://{SET}@host.example/v1")


@given(secret=st.text(min_size=6).filter(lambda text: text.strip() == text and "(set)" not in text))
def test_whatever_a_secret_is_it_is_not_shown(secret: str) -> None:
    mark = f"x{secret}x"
    tree = {
        "providers": {
            "l": {"api_key": mark, "headers": {"a": mark}, "compat": {"my_token": mark, "p": {"password": [mark]}}}
        }
    }
    found = rows(Layer("test", tree))
    assert not any(mark in str(row.value) for row in found.values())
    assert found["providers.l.headers.a"] == Row(("providers", "l", "headers", "a"), SET, Origin("test"), secret=True)


def test_every_key_of_the_structs_is_a_row_or_a_table_of_names_or_a_list_of_tables() -> None:
    found = {row.key for row in in_force(load([]))}

    def expect(kind: Any, key: tuple[str, ...]) -> None:
        for name, inner in fields_of(kind).items():
            if fields_of(inner):
                expect(inner, (*key, name))
            elif not fields_of(element_of(inner)) and (*key, name) != ("extensions", "settings"):
                assert (*key, name) in found

    expect(Settings, ())


def test_the_schema_has_every_key_with_its_text_and_no_null() -> None:
    schema = settings_schema()
    assert '"null"' not in msgspec.json.encode(schema).decode()
    tables = schema["$defs"]
    for name in ("Settings", "ProviderConfig", "ContextSettings", "BashTool"):
        assert tables[name]["additionalProperties"] is False
        for key, facts in tables[name]["properties"].items():
            assert facts.get("description") or "$ref" in str(facts), (name, key)
    assert set(tables["Settings"]["properties"]) == set(fields_of(Settings))
    assert tables["ContextSettings"]["properties"]["soft"]["maximum"] == 1
    assert "default" not in tables["ContextSettings"]["properties"]["soft_tokens"]
    assert "Fraction below which nothing is done" in tables["ContextSettings"]["properties"]["soft"]["description"]
