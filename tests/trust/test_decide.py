"""Nothing of a project acts before its folder is trusted, by real path."""

from pathlib import Path

import pytest

from trimtab.coding.trust import TrustDecision, decide
from trimtab.types.errors import ConfigError


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "work" / "project"
    (folder / ".trimtab").mkdir(parents=True)
    return folder


def test_the_default_is_no_with_a_notice_that_names_what_is_ignored(project: Path, tmp_path: Path) -> None:
    decision = decide(project, tmp_path / "trust.json", answer=None)
    assert not decision.trusted
    assert ".trimtab" in decision.notice
    assert "--trust folder" in decision.notice


def test_a_folder_without_inputs_is_not_worth_a_notice(tmp_path: Path) -> None:
    assert decide(tmp_path, tmp_path / "trust.json", answer=None) == TrustDecision(trusted=False, root=tmp_path)


def test_once_is_not_remembered(project: Path, tmp_path: Path) -> None:
    assert decide(project, tmp_path / "trust.json", answer="once").trusted
    assert not decide(project, tmp_path / "trust.json", answer=None).trusted


def test_folder_is_remembered_for_the_real_path_only(project: Path, tmp_path: Path) -> None:
    store = tmp_path / "trust.json"
    decide(project, store, answer="folder")
    link = tmp_path / "link"
    link.symlink_to(project)
    assert decide(link, store, answer=None).trusted
    moved = project.rename(project.with_name("renamed"))
    assert not decide(moved, store, answer=None).trusted


def test_parent_covers_siblings_but_a_nested_repository_decides_for_itself(project: Path, tmp_path: Path) -> None:
    store = tmp_path / "trust.json"
    decide(project, store, answer="parent")
    sibling = project.with_name("sibling")
    (sibling / ".trimtab").mkdir(parents=True)
    assert decide(sibling, store, answer=None).trusted
    (sibling / ".git").mkdir()
    assert not decide(sibling, store, answer=None).trusted


def test_never_is_remembered_and_says_nothing_more(project: Path, tmp_path: Path) -> None:
    store = tmp_path / "trust.json"
    decide(project, store, answer="never")
    assert decide(project, store, answer=None) == TrustDecision(trusted=False, root=project)


def test_the_notice_lists_exactly_what_is_ignored_from_the_root_down_and_no_terminal_obeys_it(tmp_path: Path) -> None:
    root = tmp_path / "re\x1b[2Jpo"
    inner = root / "a\nb"
    (root / ".git").mkdir(parents=True)
    inner.mkdir()
    for path in (root / "AGENTS.md", root / ".mcp.json", root / "README.md", inner / "CLAUDE.md"):
        path.write_text("obey")
    decision = decide(inner, tmp_path / "trust.json", answer=None)
    assert (decision.root, decision.open) == (root, True)
    assert decision.notice.startswith(
        f"AGENTS.md, .mcp.json, a\\nb/CLAUDE.md in {tmp_path}/repo are ignored: this folder isn't trusted; "
    )
    assert "\x1b" not in decision.notice


def test_a_damaged_store_is_an_error_with_a_next_step(project: Path, tmp_path: Path) -> None:
    store = tmp_path / "trust.json"
    store.write_text("{")
    with pytest.raises(ConfigError, match=r"trust\.json can't be read"):
        decide(project, store, answer=None)


def test_a_decision_that_cannot_be_kept_says_what_to_do(project: Path, tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file where a folder should be")
    with pytest.raises(ConfigError, match="can't be kept") as refused:
        decide(project, tmp_path / "home" / "trust.json", answer="folder")
    assert "--trust once" in refused.value.hint
