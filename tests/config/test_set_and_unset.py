"""What is set and taken out again leaves a person's file as it was, whatever the key and however the file is written."""

import os
import subprocess
import sys
import tomllib
import typing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.cli import SOURCES
from trimtab.config.edit import set_value, unset_value, with_value, without_value
from trimtab.config.load import Layer, file_layer, load
from trimtab.config.mistakes import element_of, fields_of, options_of
from trimtab.config.settings import Settings
from trimtab.types.errors import ConfigError

FILES = (
    "",
    "# only a comment\n",
    'model = "local/tiny"',
    'model = "local/tiny"  # the small one\n\n\n',
    "\ufeff# with a mark\nmax_steps = 3\n",
    '# mine\r\nmodel = "a/b"\r\n\r\n[context]\r\nsoft = 0.5\r\n',
    "[context]\nsoft = 0.5  # often\n# more\n\n[tools.bash]\nallow = [\n  'npm test',  # yes\n]\n",
    "tools.read.max_lines = 9\ncontext.soft = 0.5\n",
    '[providers.l]\nbase_url = "http://127.0.0.1:1/v1"\n\n[[providers.l.models]]\nid = "a"\n\n[[providers.l.models]]\nid = "b"\n',
    '[tools.bash]\n  timeout_s = 5\n\n[models."a/b".context]\nhard = 0.9\n',
    'append_system_prompt = """\n[tools.bash]\nmax_steps = 3\n"""\n\n# about the window\n[context]\nsoft = 0.5\n',
)


def leaves(kind: Any, key: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    """Every key that can be set, with its type; names that a person chooses are `l` and `a/b`."""
    kind = next(option for option in options_of(kind) if option is not type(None))
    if fields := fields_of(kind):
        return [leaf for name, inner in fields.items() for leaf in leaves(inner, (*key, name))]
    if typing.get_origin(kind) is dict:
        return leaves(element_of(kind), (*key, "a/b" if key == ("models",) else "l"))
    return [(key, kind)]


def values(kind: Any) -> st.SearchStrategy[Any]:
    if kind is Any:
        return st.one_of(st.booleans(), st.integers(-(2**60), 2**60), TEXTS)
    if typing.get_origin(kind) is typing.Literal:
        return st.sampled_from(typing.get_args(kind))
    if typing.get_origin(kind) is typing.Annotated:
        base = typing.get_args(kind)[0]
        return {int: st.integers(1, 2**60), float: st.floats(0.01, 1.0), str: TEXTS}[base]
    if typing.get_origin(kind) is tuple:
        element = element_of(kind)
        rows = st.fixed_dictionaries(required(element)) if fields_of(element) else values(element)
        return st.lists(rows, max_size=3)
    return {bool: st.booleans(), int: st.integers(-9, 2**60), str: TEXTS, float: st.floats(-1e9, 1e9)}[kind]


def required(struct: Any) -> dict[str, st.SearchStrategy[Any]]:
    """What a row of a list of tables has to have: texts."""
    return {field.encode_name: TEXTS for field in msgspec.structs.fields(struct) if field.required}


TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
LEAVES = leaves(Settings)


def test_every_section_has_keys_among_those_that_are_tried() -> None:
    assert {key[0] for key, _ in LEAVES} == set(fields_of(Settings))


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_any_key_that_is_set_can_be_read_and_taking_it_out_restores_the_text_byte_for_byte(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(FILES)).removeprefix("\ufeff").replace("\r\n", "\n")
    for key, kind in LEAVES:
        if at(tomllib.loads(text), key) is None:  # else what stood there is lost, and meant to be
            value = data.draw(values(kind), label=".".join(key))
            changed = with_value(text, key, value)
            assert at(tomllib.loads(changed), key) == value
            load([Layer("test", tomllib.loads(changed))])
            assert without_value(changed, key) == text


@pytest.mark.parametrize("text", FILES)
@pytest.mark.parametrize("key", [("thinking",), ("tools", "bash", "head_bytes"), ("models", "x/y", "context", "soft")])
def test_a_file_keeps_its_mark_and_the_ends_of_its_lines(tmp_path: Path, text: str, key: tuple[str, ...]) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(text.encode())
    value = {"thinking": "high", "head_bytes": 7, "soft": 0.25}[key[-1]]
    set_value(file, key, value)
    layer = file_layer(file, name="test")
    assert layer is not None
    assert at(layer.values, key) == value
    assert (b"\r\n" in file.read_bytes()) == ("\r\n" in text)
    assert unset_value(file, key)
    assert file.read_bytes() == text.encode()


def test_a_value_that_is_replaced_keeps_its_comment_and_its_place(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(FILES[6])
    set_value(file, ("context", "soft"), 0.25)
    assert file.read_text() == FILES[6].replace("soft = 0.5", "soft = 0.25")


def test_a_value_inside_another_one_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('model = "a/b"\n')
    with pytest.raises(ConfigError, match="model is a value, not a table"):
        set_value(file, ("model", "x"), 1)
    assert file.read_text() == 'model = "a/b"\n'


def test_one_mistake_of_several_can_be_mended_and_none_be_added(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('modle = "x"\nmax_steps = "many"\n')
    set_value(file, ("max_steps",), 5)
    assert file.read_text() == 'modle = "x"\nmax_steps = 5\n'
    with pytest.raises(ConfigError, match="expected a whole number"):
        set_value(file, ("max_steps",), "many")
    assert unset_value(file, ("modle",))
    assert file.read_text() == "max_steps = 5\n"


def test_a_whole_table_is_taken_out_with_all_below_it(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(FILES[7] + FILES[6].partition("\n\n")[2])
    assert unset_value(file, ("tools", "bash"))
    assert at(tomllib.loads(file.read_text()), ("tools",)) == {"read": {"max_lines": 9}}


WRITER = """
import sys
from pathlib import Path
from trimtab.config.edit import add_to_list, set_value
file, mine = Path(sys.argv[1]), sys.argv[2]
for number in range(12):
    set_value(file, ("providers", f"{mine}{number}", "base_url"), "http://127.0.0.1:1/v1")
    add_to_list(file, ("permissions", "deny"), f"bash({mine} {number})")
"""


def test_two_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("# ours\n")
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(file), name], env={"PYTHONPATH": SOURCES}) for name in "ab"
    ]
    assert [writer.wait(50) for writer in writers] == [0, 0]
    layer = file_layer(file, name="test")
    assert layer is not None
    assert set(layer.values["providers"]) == {f"{name}{number}" for name in "ab" for number in range(12)}
    assert len(layer.values["permissions"]["deny"]) == 24
    assert file.read_text().startswith("# ours\n")
    assert sorted(os.listdir(tmp_path)) == [".config.toml.lock", "config.toml"]


def at(tree: Any, key: tuple[str, ...]) -> Any:
    for part in key:
        tree = tree.get(part) if isinstance(tree, dict) else None
    return tree
