"""The reference of actions and observations names everything that the code has: no action, parameter or field is missing, and none is made up."""

import importlib
import inspect
import json
import re
import sys
from typing import get_args

import pytest

from support.pages import ROOT, blocks
from trimtab.context import ContextManager
from trimtab.context.actions import ACTIONS, ALIASES, Action, action_of
from trimtab.context.editing import compacting, framing, item_summaries, offloading, planning, runs
from trimtab.context.markers import MarkerKind
from trimtab.context.seeing.observation import ItemFacts, Observation, Prices
from trimtab.context.shorten.compress import share_in
from trimtab.types.edits import Edit

PAGE = ROOT / "docs" / "actions.md"
TEXT = PAGE.read_text("utf-8")
SECTIONS = {
    title.replace("`", ""): text for title, text in re.findall(r"^### ([^\n]+)\n(.*?)(?=^##|\Z)", TEXT, re.M | re.S)
}
READERS = {
    "keep": [],
    "restate": [planning.plan],
    "summarize": [planning._summarize, item_summaries],
    "compact": [planning._compact, compacting, runs, framing],
    "offload": [offloading],
    "compress": [planning._compress, planning._without_share, share_in],
}
"""Where the parameters of an action are read, if not in the one function that plans it."""


@pytest.fixture(scope="module")
def reference():
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        yield importlib.import_module("action_reference").REFERENCE
    finally:
        sys.path.remove(str(ROOT / "scripts"))


def names(section: str) -> set[str]:
    """The names in the first column of a section's table."""
    return set(re.findall(r"^\| `(\w+)`", SECTIONS[section], re.M))


def read_by(name: str) -> set[str]:
    """The parameters that the code of an action looks up."""
    sources = READERS.get(name) or [getattr(planning, f"_{name}", None)]
    code = "".join(inspect.getsource(source) for source in sources if source is not None)
    return set(re.findall(r'\bparams(?:\.get\(|, )"(\w+)"', code))


def test_every_action_is_told_of_in_the_order_of_the_code(reference):
    assert tuple(reference) == ACTIONS
    assert [name for name in SECTIONS if name in ACTIONS] == list(ACTIONS)


@pytest.mark.parametrize("name", ACTIONS)
def test_an_action_is_told_of_with_the_parameters_that_its_code_reads(name):
    assert names(name) == read_by(name)


@pytest.mark.parametrize("name", ACTIONS)
def test_the_example_of_an_action_does_it(name):
    example = re.search(r"```python\n(.*?)```", SECTIONS[name], re.S)
    assert example is not None
    used = {
        action_of({"action": word}).action
        for word in re.findall(r'"(\w+)"', example[1])
        if word in {*ACTIONS, *ALIASES}
    }
    assert name in used


@pytest.mark.parametrize("alias", sorted(ALIASES))
def test_each_other_word_stands_beside_its_action(alias):
    row = re.search(rf"^\| \[`{ALIASES[alias]}`\].*$", TEXT, re.M)
    assert row is not None
    assert f"`{alias}`" in row[0]


@pytest.mark.parametrize("struct", [Observation, ItemFacts, Prices])
def test_every_field_has_a_meaning(struct):
    told = dict(re.findall(r"^\| `(\w+)` \|.*\| (.*) \|$", SECTIONS[struct.__name__], re.M))
    assert tuple(told) == struct.__struct_fields__
    assert [name for name, meaning in told.items() if not meaning.strip()] == []


def test_all_that_observe_returns_is_told_of():
    seen = ContextManager(max_tokens=8_000).observe()
    told = SECTIONS["What observe() gives"]
    assert re.findall(r"^\| `(\w+)`", told, re.M) == list(seen)
    assert set(seen["budget"]) <= set(re.findall(r"`(\w+)`", told))


def test_all_that_execute_returns_is_told_of():
    done = ContextManager(max_tokens=8_000).execute({"action": "keep"})
    heads = re.findall(r"^\| (`.+?`) \|", SECTIONS["What comes of it"], re.M)
    assert [name for head in heads for name in re.findall(r"\w+", head)] == list(done)


def test_the_shape_that_the_page_shows_is_an_action():
    shape = json.loads(blocks(PAGE, "json")[0].text)
    assert isinstance(action_of(shape), Action)
    assert tuple(shape) == Action.__struct_fields__


def test_the_words_name_every_kind_of_edit_that_the_log_prints():
    words = (ROOT / "docs" / "context.md").read_text("utf-8").partition("## Words")[2].partition("## Looking")[0]
    kinds = {edit.__struct_config__.tag for edit in get_args(Edit)}
    heads = re.findall(r"^\| (`.+?`) \|", words.partition("| edit |")[2], re.M)
    assert {name for head in heads for name in re.findall(r"\w+", head)} == kinds


def test_the_words_name_whatever_stands_in_place_of_a_text():
    words = (ROOT / "docs" / "context.md").read_text("utf-8").partition("## Words")[2].partition("## Looking")[0]
    assert [kind for kind in get_args(MarkerKind) if f"[{kind} …]" not in words] == []
    assert "[not the content: archived …]" in words
