"""Files that a check takes as the person left them."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.coding.checkpoints.store import ContentStore
from trimtab.coding.logs import now
from trimtab.coding.verify.baseline import Baseline, Kept, baseline_in, entry_of, next_baseline
from trimtab.coding.verify.place import Place
from trimtab.coding.verify.protected import Protected
from trimtab.context.stores.log import SessionLog

GLOBS = ("tests/**",)


def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name, text in {"src/a.py": "a = 1\n", "tests/test_a.py": "one\n", "tests/deep/test_b.py": "two\n"}.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (root / "tests/test_a.py").chmod(0o755)
    return root


def opened(kept: Protected) -> Protected:
    """The same after the session was opened again."""
    return Protected(kept.folder, kept.globs, kept.log, kept.store)


@pytest.fixture
def kept(tmp_path: Path) -> Protected:
    log = SessionLog.in_memory(str(tmp_path), now=now)
    protected = Protected(project(tmp_path), GLOBS, log, ContentStore(tmp_path / "store"))
    protected.begin_turn()
    return protected


def tree(root: Path) -> dict[str, str]:
    return {
        str(p.relative_to(root)): p.read_text() for p in sorted(root.rglob("*")) if p.is_file() and not p.is_symlink()
    }


def copied(kept: Protected, folder: Path) -> Path:
    copy = Place(kept.folder, kept.folder).copied_to(_made(folder), left_out=kept.fitting())
    kept.put_back(copy.cwd, within=copy.root)
    return copy.cwd


def test_nothing_changed_is_nothing_to_tell(kept: Protected) -> None:
    (kept.folder / "src/a.py").write_text("a = 2\n")
    assert kept.changed() == ()


def test_what_was_changed_deleted_or_added_is_told(kept: Protected) -> None:
    (kept.folder / "tests/test_a.py").write_text("skipped\n")
    (kept.folder / "tests/deep/test_b.py").unlink()
    (kept.folder / "tests/conftest.py").write_text("collect_ignore = ['test_a.py']\n")
    (kept.folder / "tests/test_c.py").symlink_to("/etc/hostname")
    assert kept.changed() == (
        "tests/conftest.py was added",
        "tests/deep/test_b.py was deleted",
        "tests/test_a.py was changed",
        "tests/test_c.py was added",
    )


def test_a_file_that_can_not_be_run_or_read_any_more_is_changed(kept: Protected) -> None:
    (kept.folder / "tests/test_a.py").chmod(0o644)
    assert kept.changed() == ("tests/test_a.py was changed",)


def test_the_copy_has_them_as_they_were_and_all_else_as_it_is(kept: Protected, tmp_path: Path) -> None:
    (kept.folder / "src/a.py").write_text("a = 2\n")
    (kept.folder / "tests/test_a.py").write_text("skipped\n")
    (kept.folder / "tests/deep/test_b.py").unlink()
    (kept.folder / "tests/conftest.py").write_text("ignore\n")
    place = copied(kept, tmp_path / "check")
    assert tree(place) == {"src/a.py": "a = 2\n", "tests/test_a.py": "one\n", "tests/deep/test_b.py": "two\n"}
    assert os.access(place / "tests/test_a.py", os.X_OK)
    assert tree(kept.folder)["tests/test_a.py"] == "skipped\n"


@pytest.mark.parametrize("what", ["a file", "a link out", "a link to nowhere"])
def test_whatever_took_the_place_of_their_folder_gives_way_in_the_copy(
    kept: Protected, tmp_path: Path, what: str
) -> None:
    outside = _made(tmp_path / "outside")
    (outside / "test_a.py").write_text("theirs\n")
    deep = kept.folder / "tests"
    for file in sorted(deep.rglob("*"), reverse=True):
        file.unlink() if file.is_file() else file.rmdir()
    deep.rmdir()
    if what == "a file":
        deep.write_text("no folder\n")
    else:
        deep.symlink_to(outside if what == "a link out" else tmp_path / "nowhere")
    place = copied(kept, tmp_path / "check")
    assert tree(place)["tests/test_a.py"] == "one\n"
    assert (outside / "test_a.py").read_text() == "theirs\n"


def test_a_pipe_in_the_project_holds_nothing_up(kept: Protected, tmp_path: Path) -> None:
    os.mkfifo(kept.folder / "tests" / "pipe")
    os.mkfifo(kept.folder / "pipe")
    assert kept.changed() == ()
    assert not (copied(kept, tmp_path / "check") / "pipe").exists()


def test_what_a_turn_did_stays_told_in_later_turns_and_openings(kept: Protected) -> None:
    (kept.folder / "tests/test_a.py").write_text("skipped\n")
    kept.end_turn()
    later = opened(kept)
    later.begin_turn()
    assert later.changed() == ("tests/test_a.py was changed",)
    later.end_turn()
    later.between()
    assert later.changed() == ("tests/test_a.py was changed",)


def test_what_a_turn_did_that_was_killed_is_the_agents(kept: Protected) -> None:
    (kept.folder / "tests/test_a.py").write_text("skipped\n")
    later = opened(kept)
    later.begin_turn()
    assert later.changed() == ("tests/test_a.py was changed",)


def test_what_the_person_changes_between_turns_counts_from_then_on(kept: Protected, tmp_path: Path) -> None:
    (kept.folder / "tests/deep/test_b.py").write_text("by the agent\n")
    kept.end_turn()
    (kept.folder / "tests/test_a.py").write_text("by the person\n")
    (kept.folder / "tests/test_new.py").write_text("by the person too\n")
    later = opened(kept)
    later.begin_turn()
    assert later.changed() == ("tests/deep/test_b.py was changed",)
    (kept.folder / "tests/test_a.py").unlink()
    assert tree(copied(later, tmp_path / "check"))["tests/test_a.py"] == "by the person\n"


def test_what_the_person_accepts_counts_from_then_on(kept: Protected) -> None:
    (kept.folder / "tests/test_a.py").write_text("skipped\n")
    kept.end_turn()
    assert kept.accept() == ("tests/test_a.py was changed",)
    later = opened(kept)
    later.begin_turn()
    assert later.changed() == ()


def test_a_turn_that_goes_on_and_that_nobody_saw_begin_has_nothing_protected(kept: Protected, tmp_path: Path) -> None:
    other = Protected(kept.folder, GLOBS, SessionLog.in_memory("/", now=now), kept.store)
    other.resume_turn()
    assert other.changed() == ()


def test_globs_that_came_later_take_the_files_as_they_are_then(kept: Protected) -> None:
    (kept.folder / "src/a.py").write_text("a = 2\n")
    (kept.folder / "tests/test_a.py").write_text("skipped\n")
    wider = Protected(kept.folder, ("tests/**", "src/**"), kept.log, kept.store)
    wider.begin_turn()
    assert wider.changed() == ("tests/test_a.py was changed",)


FILES = st.dictionaries(
    st.sampled_from(["a", "b", "tests/ü", os.fsdecode(b"bad-\xff")]),
    st.builds(Kept, st.sampled_from(["1", "2", "link:x"]), st.sampled_from([0o644, 0o755]), st.booleans()),
)


@given(st.lists(st.tuples(FILES, FILES, st.booleans()), min_size=1))
def test_a_log_gives_back_every_baseline_that_was_written_to_it(states) -> None:
    before, entries = None, []
    for old, seen, is_open in states:
        after = Baseline(old, seen, ("**",), is_open)
        entries.append(entry_of(before, after))
        before = after
        assert baseline_in(entries) == after


@given(FILES, FILES, FILES)
def test_of_two_hands_only_the_persons_moves_what_is_kept(first, by_agent, by_person) -> None:
    begun = next_baseline(None, first, ("**",), opens=True)
    ended = Baseline(begun.old, by_agent, begun.globs)
    later = next_baseline(ended, by_person, ("**",), opens=True)
    for path in {*first, *by_agent, *by_person}:
        untouched = by_agent.get(path) == by_person.get(path)
        assert later.old.get(path) == (first.get(path) if untouched else by_person.get(path))


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
