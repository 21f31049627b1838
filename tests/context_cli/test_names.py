"""What a person may type for an item or an edit: it means one thing that is there, or the error says what is near."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.cli import Cli
from support.saved_session import entries, write_session
from trimtab.coding.context.saved import SavedContext, open_saved
from trimtab.coding.context.wishes import edit_named, item_named, named_by_blame
from trimtab.coding.project import open_project
from trimtab.context.telling.blame import blame
from trimtab.types.errors import UsageError

IDS = [entry.id for entry in entries()]
PIECES = st.sampled_from(
    [*IDS, "r1", "r3", "c2", "#0", "#99", "~", "[", "]", "last", "edit", "res0", "  ", "é", "\x00"]
)
TYPED = st.one_of(st.text(max_size=12), st.lists(PIECES, min_size=1, max_size=3).map("".join))


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SavedContext]:
    root: Path = tmp_path_factory.mktemp("names")
    project = open_project(root, env={"TRIMTAB_HOME": str(root / "home")})
    with open_saved(project, str(write_session(root / "s.jsonl", cwd=str(root)))) as opened:
        yield opened


def attempt(find: Callable[[SavedContext, str], str], saved: SavedContext, typed: str) -> str | UsageError:
    """What `typed` means, or why that can't be said."""
    try:
        return find(saved, typed)
    except UsageError as refusal:
        return refusal


@given(typed=TYPED)
def test_a_name_of_an_item_finds_one_or_is_refused(saved: SavedContext, typed: str) -> None:
    found = attempt(item_named, saved, typed)
    if isinstance(found, UsageError):
        assert found.hint
    else:
        address = saved.view.find(found)
        assert address is not None
        assert address.edit is None


@given(typed=TYPED)
def test_a_name_of_an_edit_finds_one_or_is_refused(saved: SavedContext, typed: str) -> None:
    found = attempt(edit_named, saved, typed)
    if isinstance(found, UsageError):
        assert found.hint
    else:
        assert found in {"edit0001", "edit0002", "back0001"}


EDITS = ("edit0001", "edit0002", "back0001")
ITEMS = ("user0001", "ask00001", "res00001", "r1", "c2", "res00003", "r3", "ask00004")


def test_a_note_of_the_log_is_no_item_and_no_edit_and_the_refusal_names_what_reads_it(saved: SavedContext) -> None:
    for find, what in ((item_named, "item"), (edit_named, "edit"), (named_by_blame, "item")):
        refusal = attempt(find, saved, "note0001")
        assert isinstance(refusal, UsageError)
        assert str(refusal) == (
            f"note0001 is a note of the log, not an {what}; trimtab context explain SESSION note0001 says what it tells."
        )


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("edit0001", "an edit"),
        ("edit0002", "a summary that an edit put there"),
        ("back0001", "a revert"),
    ],
)
def test_an_edit_or_a_revert_where_an_item_is_meant_is_told_by_its_commands(
    saved: SavedContext, name: str, what: str
) -> None:
    refusal = attempt(item_named, saved, name)
    assert isinstance(refusal, UsageError)
    assert refusal.message == f"{name} is {what}, not an item"
    assert f"revert SESSION {name}" in refusal.hint
    assert f"explain SESSION {name}" in refusal.hint


@pytest.mark.parametrize("name", ITEMS)
def test_an_item_where_an_edit_is_meant_is_told_by_its_commands(saved: SavedContext, name: str) -> None:
    refusal = attempt(edit_named, saved, name)
    assert isinstance(refusal, UsageError)
    assert refusal.message == f"{name} is an item, not an edit"
    assert f"restore SESSION {name}" in refusal.hint


@pytest.mark.parametrize("name", EDITS)
def test_blame_takes_an_edit_or_a_revert_for_the_items_that_it_touches(saved: SavedContext, name: str) -> None:
    found = blame(named_by_blame(saved, name), saved.view, saved.log.archive)
    assert "r1" in [item.name for item in found]


def test_every_id_that_log_and_show_print_is_explained(cli: Cli, fixed: str) -> None:
    rows = json.loads(cli.inside("context", "log", fixed, "--json").out)["rows"]
    items = json.loads(cli.inside("context", "show", fixed, "--json").out)["active_context"]
    listed = {name for row in rows for name in (row["entry_id"], *row.get("targets", ()))}
    listed |= {item[key] for item in items for key in ("id", "handle", "call_id") if item.get(key)}
    for name in sorted(listed):
        outcome = cli.inside("context", "explain", fixed, name)
        assert (outcome.code, bool(outcome.out)) == (0, True), name
