"""What an embedding program reads of the engine names nothing that only our own agent has."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import trimtab.context
from trimtab.context.slips import PARAMS

ROOT = Path(trimtab.context.__file__).parent
OURS = re.compile(
    r"trimtab [a-z]+ |(?<!diff )(?<!\|)--[a-z]{3}|(?<![\w.])context\.[a-z_]+(?![\w.(])|(?<!\w)/(?:context|compact|revert)\b"
)
"""Commands, options (those of other programs stand in patterns), settings and words of a talk."""
FOLDERS = sorted(
    path.name for path in ROOT.iterdir() if path.is_dir() and path.name[0] != "_" and path.name != "stores"
)
"""`stores` keeps the session files of our agent, and nothing else reads what it says of them."""


def texts(path: Path) -> Iterator[str]:
    """The texts that a module may say: its strings but for docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            yield node.value


def test_every_parameter_that_an_edit_reads_is_known_where_slips_are_looked_for() -> None:
    readers = (*(ROOT / "editing").rglob("*.py"), ROOT / "shorten" / "compress.py")
    code = "\n".join(path.read_text("utf-8") for path in readers)
    read = set(re.findall(r"params\.get\(\"([a-z_]+)\"|number_in\(action\.params, \"([a-z_]+)\"", code))
    known = {name for names in PARAMS.values() for name in names}
    assert {one or other for one, other in read} == known


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_text_of_the_engine_names_a_command_an_option_or_a_setting_of_our_agent(folder: str) -> None:
    said = {text for path in (ROOT / folder).rglob("*.py") for text in texts(path)}
    assert [text for text in said if OURS.search(text)] == []


def test_nor_do_the_modules_that_stand_beside_the_folders() -> None:
    assert [text for path in ROOT.glob("*.py") for text in texts(path) if OURS.search(text)] == []
