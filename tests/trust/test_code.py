"""Code of a project is trusted by its content."""

import os
from pathlib import Path

import pytest

from trimtab.coding.trust.code import (
    LARGEST,
    LARGEST_COPY,
    CodeDecision,
    code_decision,
    difference,
    digest_of,
    trust_code,
)
from trimtab.coding.trust.decide import decide
from trimtab.coding.trust.known import read_known


class Desk:
    """A trusted folder, the store and the copies."""

    def __init__(self, root: Path) -> None:
        self.folder, self.store, self.copies = root / "project", root / "home" / "trust.json", root / "home" / "trusted"
        self.folder.mkdir()
        decide(self.folder, self.store, answer="folder")

    def judged(self, **items: bytes | Path) -> CodeDecision:
        return code_decision(self.store, self.folder, items)

    def trust(self, **items: bytes) -> None:
        trust_code(self.store, self.copies, self.folder, items)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A trusted folder."""
    return Desk(tmp_path)


def test_code_of_a_trusted_folder_is_new_then_trusted_then_changed(desk: Desk) -> None:
    assert desk.judged(hook=b"one") == CodeDecision(new={"hook": b"one"})
    desk.trust(hook=b"one")
    assert desk.judged(hook=b"one") == CodeDecision(trusted={"hook": b"one"})
    assert desk.judged(hook=b"two", other=b"one") == CodeDecision(new={"other": b"one"}, changed={"hook": b"two"})


def test_a_change_is_shown_as_one(desk: Desk) -> None:
    desk.trust(hook=b"a\nb\n")
    shown = difference(desk.store, desk.copies, desk.folder, "hook", b"a\nc\n")
    assert shown is not None
    assert shown.splitlines()[1:] == [" a", "-b", "+c"]
    assert difference(desk.store, desk.copies, desk.folder, "none", b"") is None


@pytest.mark.parametrize("old", [b"x" * (LARGEST_COPY + 1), b"\0binary"])
def test_what_was_too_large_to_keep_or_is_no_text_is_trusted_and_has_no_difference(desk: Desk, old: bytes) -> None:
    desk.trust(hook=old)
    assert desk.judged(hook=old).trusted
    assert difference(desk.store, desk.copies, desk.folder, "hook", b"new") is None


def test_a_copy_that_somebody_changed_is_not_believed(desk: Desk) -> None:
    desk.trust(hook=b"a\n")
    (desk.copies / digest_of(b"a\n")).write_bytes(b"harmless\n")
    assert difference(desk.store, desk.copies, desk.folder, "hook", b"b\n") is None
    assert desk.judged(hook=b"a\n").trusted


def test_what_runs_is_what_was_hashed_whatever_becomes_of_the_file(desk: Desk) -> None:
    file = desk.folder / "hook.py"
    file.write_bytes(b"good")
    desk.trust(hook=b"good")
    decision = desk.judged(hook=file)
    file.write_bytes(b"evil")
    assert decision.trusted == {"hook": b"good"}
    assert desk.judged(hook=file).changed == {"hook": b"evil"}


def test_links_pipes_and_huge_files_are_no_code(desk: Desk) -> None:
    link, pipe, huge = (desk.folder / name for name in ("link", "pipe", "huge"))
    link.symlink_to("/etc/passwd")
    os.mkfifo(pipe)
    with huge.open("wb") as file:
        file.truncate(LARGEST + 1)
    decision = desk.judged(link=link, pipe=pipe, huge=huge, none=desk.folder / "none")
    assert set(decision.unreadable) == {"link", "pipe", "huge", "none"}
    assert decision == CodeDecision(unreadable=decision.unreadable)


def test_the_same_code_in_another_folder_or_in_one_put_in_its_place_is_new(desk: Desk, tmp_path: Path) -> None:
    desk.trust(hook=b"one")
    (tmp_path / "other").mkdir()
    assert code_decision(desk.store, tmp_path / "other", {"hook": b"one"}).new
    desk.folder.rename(tmp_path / "away")
    desk.folder.mkdir()
    assert desk.judged(hook=b"one").new
    decide(desk.folder, desk.store, answer="folder")
    assert desk.judged(hook=b"one").new


def test_never_forgets_the_code_and_folder_keeps_it(desk: Desk) -> None:
    desk.trust(hook=b"one")
    decide(desk.folder, desk.store, answer="folder")
    assert desk.judged(hook=b"one").trusted
    decide(desk.folder, desk.store, answer="never")
    assert desk.judged(hook=b"one").new


def test_copies_that_nothing_names_any_more_go_and_what_else_lies_there_stays(desk: Desk) -> None:
    desk.trust(a=b"1", b=b"2")
    (desk.copies / "notes").write_text("mine")
    desk.trust(a=b"3")
    assert {p.name for p in desk.copies.iterdir()} == {"notes", digest_of(b"2"), digest_of(b"3")}
    assert {p.stat().st_mode & 0o777 for p in desk.copies.iterdir() if p.name != "notes"} == {0o600}


def test_a_name_or_a_hash_that_is_a_path_leads_nowhere(desk: Desk, tmp_path: Path) -> None:
    desk.trust(**{"../../x\x1b[2J": b"1"})
    assert set(read_known(desk.store).code[str(desk.folder)]) == {"../../x\x1b[2J"}
    (tmp_path / "secret").write_text("sesame")
    text = desk.store.read_text()
    for other in ("../../secret", "\\u0000", ""):
        desk.store.write_text(text.replace(digest_of(b"1"), other))
        assert difference(desk.store, desk.copies, desk.folder, "../../x\x1b[2J", b"2") is None
