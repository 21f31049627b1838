"""What a person may type for an item or an edit: it means one thing that is there, or the error says what is near."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.saved_session import entries, write_session
from trimtab.coding.context.saved import SavedContext, open_saved
from trimtab.coding.context.wishes import edit_named, item_named
from trimtab.coding.project import open_project
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
