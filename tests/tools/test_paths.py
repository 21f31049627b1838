"""Paths as models write them."""

import os
import unicodedata
from pathlib import Path

import pytest

from trimtab.coding.tools.failures import ToolFailure
from trimtab.coding.tools.paths import Workspace, identities, identity, missing, shown_name


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    cwd, home = tmp_path / "work", tmp_path / "home"
    cwd.mkdir()
    home.mkdir()
    return Workspace(cwd, home)


def test_every_spelling_of_a_path_is_understood(workspace: Workspace) -> None:
    cwd = workspace.cwd
    (cwd / "a.py").touch()
    spellings = ["a.py", "./a.py", "@a.py", str(cwd / "a.py"), f"file://{cwd}/a.py", f"@{cwd}/a.py"]
    assert {workspace.locate(s) for s in spellings} == {cwd / "a.py"}
    assert workspace.locate("~/x") == workspace.home / "x"
    assert workspace.locate(f"file://{cwd}/a%20b") == cwd / "a b"


def test_an_at_sign_that_is_part_of_the_name_stays(workspace: Workspace) -> None:
    (workspace.cwd / "@types").mkdir()
    assert workspace.locate("@types/new.d.ts") == workspace.cwd / "@types/new.d.ts"


def test_accents_in_either_unicode_form_name_the_same_file(workspace: Workspace) -> None:
    name = unicodedata.normalize("NFD", "résumé.txt")
    (workspace.cwd / name).touch()
    typed = unicodedata.normalize("NFC", name)
    assert workspace.locate(typed) == workspace.place(typed) == workspace.cwd / name


def test_a_screenshot_with_narrow_spaces_and_curly_quotes_is_found_but_never_overwritten(workspace: Workspace) -> None:
    real = workspace.cwd / "it\u2019s 9.41\u202fPM.png"
    real.touch()
    assert workspace.locate("it's 9.41 PM.png") == real
    assert workspace.place("it's 9.41 PM.png") == workspace.cwd / "it's 9.41 PM.png"


def test_two_likenesses_are_no_answer(workspace: Workspace) -> None:
    for name in ("a\u202fb", "a\u00a0b"):
        (workspace.cwd / name).touch()
    assert workspace.locate("a b") == workspace.cwd / "a b"


def test_a_name_that_is_not_utf8_is_found_by_the_spelling_it_was_shown_with(workspace: Workspace) -> None:
    real = workspace.cwd / os.fsdecode(b"caf\xe9.txt")
    real.touch()
    assert workspace.shown(real) == "caf\\xe9.txt"
    assert workspace.locate("caf\\xe9.txt") == real


def test_links_are_kept_in_the_path_and_resolved_in_the_identity(workspace: Workspace) -> None:
    (workspace.cwd / "real").touch()
    (workspace.cwd / "link").symlink_to("real")
    assert workspace.locate("link") == workspace.cwd / "link"
    assert identity(workspace.cwd / "link") == identity(workspace.cwd / "real")
    (workspace.cwd / "loop").symlink_to("loop")
    assert identity(workspace.cwd / "loop").endswith("loop")


@pytest.mark.parametrize("text", ["", " ", "a\0b", "file://elsewhere/x"])
def test_a_text_that_cannot_be_a_path_is_refused_in_words(workspace: Workspace, text: str) -> None:
    with pytest.raises(ToolFailure):
        workspace.locate(text)
    assert identities(workspace.locate, text) == frozenset()


def test_a_lone_surrogate_in_a_path_does_no_harm(workspace: Workspace) -> None:
    assert workspace.locate("a\udc83").name == "a\ufffd"


def test_a_missing_file_names_what_is_near(workspace: Workspace) -> None:
    (workspace.cwd / "README.md").touch()
    assert str(missing(workspace.cwd / "readme.txt", "readme.txt")).endswith("near it: README.md")
    assert "folder doesn't exist" in str(missing(workspace.cwd / "no/x", "no/x"))


def test_line_ends_in_names_cannot_forge_rows() -> None:
    assert shown_name("a\nb") == "a\\nb"
