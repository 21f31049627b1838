"""What no copy is kept of, and what is no plain file: undone where nothing is lost by it, else left and named."""

import errno
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from trimtab.agent.ports import NoHooks
from trimtab.coding.checkpoints import aside, recorder, states
from trimtab.coding.checkpoints.birth import born_ns
from trimtab.coding.checkpoints.pending import Pending
from trimtab.coding.checkpoints.recorder import Checkpointer
from trimtab.coding.checkpoints.store import ContentStore
from trimtab.coding.checkpoints.tree import ProjectTree
from trimtab.coding.checkpoints.undo import Outcome, Rewinder
from trimtab.coding.commands.undo import told
from trimtab.coding.logs import now
from trimtab.coding.tools.paths import Workspace
from trimtab.coding.tools.ripgrep import find_rg
from trimtab.context.stores.exclusive import exclusive
from trimtab.context.stores.log import SessionLog
from trimtab.types.errors import StoreError
from trimtab.types.messages import ToolCall, user


@dataclass
class Bench:
    """A project, and turns that change it by functions instead of commands."""

    root: Path
    store: ContentStore
    log: SessionLog
    recorder: Checkpointer = field(init=False)

    def __post_init__(self) -> None:
        tree = ProjectTree(self.project, self.store, find_rg(os.environ["PATH"]))
        pending = Pending(self.root / "store" / "pending", self.store)
        self.recorder = Checkpointer(NoHooks(), Workspace(self.project, self.root), self.log, self.store, tree, pending)

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def rewinder(self) -> Rewinder:
        return Rewinder(self.log, self.store, self.project)

    def turn(self, *changes: Callable[[], object]) -> None:
        self.log.append_messages([user("go")])

        async def run() -> None:
            for number, change in enumerate(changes):
                call = ToolCall(f"c{number}", "bash", {"command": "make"}, "")
                await self.recorder.before_tool(call)
                change()
                await self.recorder.end(call.id)

        anyio.run(run)

    def file(self, name: str, content: bytes = b"x") -> Path:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o644)
        return path

    def names(self) -> list[str]:
        return sorted(str(path.relative_to(self.project)) for path in self.project.rglob("*"))


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    root = Path(os.path.realpath(tmp_path))
    (root / "project").mkdir()
    with ContentStore(root / "store") as store:
        yield Bench(root, store, SessionLog.in_memory(str(root / "project"), now=now))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files above 10 bytes are too large."""
    monkeypatch.setattr(states, "MOST_BYTES", 10)


def put_back(bench: Bench, outcome: Outcome) -> list[str]:
    return [os.path.relpath(change.path, bench.project) for change in outcome.put_back]


def left(bench: Bench, outcome: Outcome) -> dict[str, tuple[str, str]]:
    return {os.path.relpath(one.path, bench.project): (one.why, one.remedy) for one in outcome.left}


@pytest.mark.usefixtures("small")
def test_a_large_file_that_a_turn_made_goes_and_comes_back_whole(bench: Bench) -> None:
    bench.turn(lambda: bench.file("data/large", b"1" * 50))
    for _ in range(2):
        outcome = bench.rewinder.undo()
        assert (put_back(bench, outcome), outcome.left, bench.names()) == (["data/large"], (), [])
        outcome = bench.rewinder.redo()
        assert (outcome.left, (bench.project / "data" / "large").read_bytes()) == ((), b"1" * 50)


@pytest.mark.usefixtures("small")
def test_a_large_file_goes_to_another_disk_and_comes_back_with_its_time(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.turn(lambda: bench.file("large", b"1" * 50))
    rename = os.rename

    def between_disks(source: object, target: object, **at: int) -> None:
        if isinstance(source, Path) or isinstance(target, Path):
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        rename(source, target, **at)  # type: ignore[call-overload]

    monkeypatch.setattr(os, "rename", between_disks)
    for _ in range(2):
        assert (bench.rewinder.undo().left, bench.names()) == ((), [])
        assert (bench.rewinder.redo().left, (bench.project / "large").read_bytes()) == ((), b"1" * 50)
    monkeypatch.setattr(aside, "MOST_COPIED", 20)
    outcome = bench.rewinder.undo()
    assert left(bench, outcome)["large"][0].startswith("it is too large to be copied to ")
    assert (bench.project / "large").read_bytes() == b"1" * 50


@pytest.mark.usefixtures("small")
def test_a_large_file_that_was_moved_in_the_project_is_moved_back(bench: Bench) -> None:
    large = bench.file("large", b"1" * 50)
    bench.turn(lambda: large.rename(bench.project / "other"))
    assert (bench.rewinder.undo().left, bench.names()) == ((), ["large"])
    assert (bench.rewinder.redo().left, bench.names()) == ((), ["other"])
    assert (bench.project / "other").read_bytes() == b"1" * 50


@pytest.mark.usefixtures("small")
def test_a_large_file_that_was_changed_or_removed_is_left_and_named(bench: Bench) -> None:
    changed, removed = bench.file("changed", b"1" * 50), bench.file("removed", b"2" * 50)
    bench.turn(lambda: changed.write_bytes(b"3" * 60), removed.unlink)
    why = ("no copy of how it was is kept: it is larger than 16 MiB", "yourself")
    assert left(bench, bench.rewinder.undo()) == {"changed": why, "removed": why}
    assert changed.read_bytes() == b"3" * 60


@pytest.mark.usefixtures("small")
def test_a_large_file_in_the_place_of_a_small_one_is_moved_away_for_a_redo(bench: Bench) -> None:
    path = bench.file("a", b"small")
    bench.turn(lambda: path.write_bytes(b"1" * 50))
    assert (bench.rewinder.undo().left, path.read_bytes()) == ((), b"small")
    assert (bench.rewinder.redo().left, path.read_bytes()) == ((), b"1" * 50)


def test_large_files_are_no_reason_not_to_look_at_a_project(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trimtab.coding.checkpoints.tree.MOST_TOTAL", 1 << 20)
    with bench.file("large").open("wb") as file:
        file.truncate(1 << 30)
    bench.turn(lambda: bench.file("new"))
    assert put_back(bench, bench.rewinder.undo()) == ["new"]


@pytest.fixture
def locked(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Paths that can't be opened, also where the tests run as root."""
    paths: set[str] = set()
    real = os.open

    def refusing(path: object, flags: int, *more: int, **at: int | None) -> int:
        if path in paths:
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(path, flags, *more, **at)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(os, "open", refusing)
    return paths


def test_a_file_that_a_person_made_unreadable_is_not_taken_for_one_that_is_gone(bench: Bench, locked: set[str]) -> None:
    path = bench.file("a", b"one")
    bench.turn(path.unlink)
    bench.file("a", b"mine")
    locked.add(str(path))
    outcome = bench.rewinder.undo()
    locked.clear()
    assert left(bench, outcome) == {"a": ("it was changed since, by you or by another program", "force")}
    assert path.read_bytes() == b"mine"


def test_a_file_that_a_turn_made_unreadable_is_readable_again(bench: Bench, locked: set[str]) -> None:
    path = bench.file("a", b"one")
    bench.turn(lambda: (path.chmod(0), locked.add(str(path))))
    assert bench.rewinder.undo().left == ()
    locked.clear()
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"one", 0o644)


def test_what_a_turn_moved_into_the_project_from_elsewhere_is_left_where_it_is(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = bench.root / "notes"
    notes.write_text("mine")
    monkeypatch.setattr(recorder, "born_ns", lambda path: None if path.endswith("/new") else 0)
    folder = bench.root / "folder"
    folder.mkdir()
    (folder / "a").write_text("mine")
    bench.turn(
        lambda: (notes.rename(bench.project / "notes"), bench.file("new"), folder.rename(bench.project / "folder"))
    )
    outcome = bench.rewinder.undo()
    assert put_back(bench, outcome) == ["new"]
    why = "it was only moved here: it is older than the turn"
    assert left(bench, outcome) == {"notes": (why, "yourself"), "folder/a": (why, "yourself")}
    assert bench.names() == ["folder", "folder/a", "notes"]


def test_what_ignore_files_named_before_a_turn_is_not_taken_for_made_by_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.file(".env", b"secret")
    ignore = bench.file(".gitignore", b".env\n")
    monkeypatch.setattr(recorder, "born_ns", lambda path: 0)
    monkeypatch.setattr(recorder, "_touched_ns", lambda path: 0)
    bench.turn(lambda: ignore.write_bytes(b""))
    outcome = bench.rewinder.undo()
    assert (put_back(bench, outcome), outcome.left) == ([".gitignore"], ())
    assert ((bench.project / ".env").read_bytes(), ignore.read_bytes()) == (b"secret", b".env\n")


def test_a_look_that_cannot_be_made_takes_nothing_for_made_or_gone(bench: Bench) -> None:
    bench.file(".gitignore", b"ignored\n")
    bench.file("ignored", b"mine")
    changed = bench.file("a", b"one")
    bench.turn(lambda: (changed.write_bytes(b"two"), setattr(bench.recorder.tree, "rg", "/nowhere/rg")))
    assert bench.recorder.take_notes() == (
        "what commands and tools of others change can't be taken back here: the project can't be listed",
    )
    assert put_back(bench, bench.rewinder.undo()) == ["a"]
    assert (bench.project / "ignored").read_bytes() == b"mine"


def test_folders_with_ignored_or_other_files_stay_and_nothing_is_said_of_them(bench: Bench) -> None:
    bench.file(".gitignore", b"*.o\n")
    bench.turn(lambda: (bench.file("src/a.c"), bench.file("src/a.o"), bench.file("doc/a")))
    bench.file("doc/mine")
    outcome = bench.rewinder.undo()
    assert (put_back(bench, outcome), outcome.left) == (["doc/a", "src/a.c"], ())
    assert bench.names() == [".gitignore", "doc", "doc/mine", "src", "src/a.o"]


def test_a_folder_in_the_place_of_a_file_goes_unless_a_person_put_something_into_it(bench: Bench) -> None:
    path = bench.file("a", b"one")
    bench.turn(lambda: (path.unlink(), bench.file("a/b")))
    bench.file("a/mine")
    outcome = bench.rewinder.undo()
    assert left(bench, outcome) == {"a": ("it is a folder that holds other files", "yourself")}
    assert bench.names() == ["a", "a/mine"]


def test_links_that_a_turn_made_go_and_come_back(bench: Bench) -> None:
    bench.file("d/a")
    bench.turn(lambda: (bench.project / "link").symlink_to("d"))
    assert (put_back(bench, bench.rewinder.undo()), bench.names()) == (["link"], ["d", "d/a"])
    bench.rewinder.redo()
    assert (bench.project / "link").readlink() == Path("d")


def test_by_force_a_file_that_was_changed_since_is_put_back_and_a_redo_brings_the_change(bench: Bench) -> None:
    path = bench.file("a", b"old")
    bench.turn(lambda: path.write_bytes(b"new"))
    path.write_bytes(b"mine")
    assert put_back(bench, bench.rewinder.undo()) == []
    bench.rewinder.redo()
    assert put_back(bench, bench.rewinder.undo(force=True)) == ["a"]
    assert path.read_bytes() == b"old"
    bench.rewinder.redo()
    assert path.read_bytes() == b"mine"


def test_an_undo_that_was_cut_off_goes_on_and_can_be_done_again_whole(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.turn(lambda: [bench.file(name, b"new") for name in "abcd"])
    real = os.unlink

    def killed(path: object, **at: int) -> None:
        if path == "b":
            raise KeyboardInterrupt
        real(path, **at)  # type: ignore[call-overload]

    monkeypatch.setattr(os, "unlink", killed)
    with pytest.raises(KeyboardInterrupt):
        bench.rewinder.undo()
    assert bench.names() == ["a", "b"]
    monkeypatch.undo()
    assert put_back(bench, bench.rewinder.undo()) == ["a", "b"]
    assert put_back(bench, bench.rewinder.redo()) == ["a", "b", "c", "d"]
    assert bench.names() == ["a", "b", "c", "d"]


def test_a_full_disk_or_a_folder_that_may_not_be_written_leaves_a_file_whole_and_names_what_helps(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = bench.file("one", b"old"), bench.file("two", b"old")
    bench.turn(lambda: (one.write_bytes(b"new"), two.write_bytes(b"new")))
    real = os.fsync
    failures = iter([OSError(errno.ENOSPC, "No space left on device"), OSError(errno.EROFS, "Read-only file system")])

    def full(descriptor: int) -> None:
        if failure := next(failures, None):
            raise failure
        real(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    assert left(bench, bench.rewinder.undo()) == {
        "one": ("No space left on device", "again"),
        "two": ("Read-only file system", "again"),
    }
    assert (bench.names(), one.read_bytes(), two.read_bytes()) == (["one", "two"], b"new", b"new")
    bench.rewinder.redo()
    assert (bench.rewinder.undo().left, one.read_bytes(), two.read_bytes()) == ((), b"old", b"old")


def test_a_change_at_the_very_moment_is_kept(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    path = bench.file("a", b"old")
    bench.turn(lambda: path.write_bytes(b"new"))
    get = ContentStore.get

    def meanwhile(store: ContentStore, name: str) -> bytes:
        path.write_bytes(b"mine")
        return get(store, name)

    monkeypatch.setattr(ContentStore, "get", meanwhile)
    assert left(bench, bench.rewinder.undo()) == {"a": ("it changed at this very moment", "again")}
    assert (bench.names(), path.read_bytes()) == (["a"], b"mine")


def test_sessions_of_one_project_move_files_one_after_the_other(bench: Bench) -> None:
    other = Bench(bench.root, bench.store, SessionLog.in_memory(str(bench.project), now=now))
    path = bench.file("a", b"0")
    bench.turn(lambda: path.write_bytes(b"1"))
    other.turn(lambda: path.write_bytes(b"2"))
    assert left(bench, bench.rewinder.undo()) == {"a": ("it was changed since, by you or by another program", "force")}
    assert put_back(other, other.rewinder.undo()) == ["a"]
    bench.rewinder.redo()
    assert (put_back(bench, bench.rewinder.undo()), path.read_bytes()) == (["a"], b"0")


def test_while_another_session_moves_files_none_are_moved(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.turn(lambda: bench.file("a"))
    monkeypatch.setattr("trimtab.coding.checkpoints.undo._PATIENCE_S", 0.02)
    with exclusive(bench.root / "store" / "undo.lock"), pytest.raises(StoreError, match="another process keeps"):
        bench.rewinder.undo()
    assert bench.names() == ["a"]
    assert put_back(bench, bench.rewinder.undo()) == ["a"]


@pytest.mark.usefixtures("small")
def test_what_is_told_names_each_file_why_it_was_left_and_what_helps(bench: Bench) -> None:
    mine, large = bench.file("mine", b"old"), bench.file("large", b"1" * 50)
    bench.turn(lambda: (mine.write_bytes(b"new"), large.write_bytes(b"2" * 50), bench.file("made", b"3" * 50)))
    mine.write_bytes(b"changed")
    assert told(bench.rewinder.undo(), bench.project) == [
        "took back in part: go",
        "  made: moved away, since it is too large to be copied",
        f"What was moved away comes back with /redo; until then it takes room in {bench.root}/store/large.",
        "left as they are, 2 files:",
        "  large: no copy of how it was is kept: it is larger than 16 MiB",
        "  mine: it was changed since, by you or by another program",
        "To put back what was changed since, too: /undo force. What stands there now comes back with /redo.",
        "The rest only you can put right, by hand, from git or from a backup.",
    ]
    assert told(bench.rewinder.redo(), bench.project, tense="again") == ["did again: go", "  made: made again"]
    mine.write_bytes(b"new")
    assert told(bench.rewinder.undo(what="files"), bench.project)[:3] == [
        "took back in part what 1 turn changed in files",
        "  made: moved away, since it is too large to be copied",
        "  mine: as it was",
    ]
    mine.write_bytes(b"changed")
    assert told(bench.rewinder.redo(), bench.project, tense="again")[2:] == [
        "left as it is, 1 file:",
        "  mine: it was changed since, by you or by another program",
        "What was changed since stays; ask for the change once more if you still want it.",
    ]


def test_of_very_many_files_some_are_named_and_the_rest_counted(bench: Bench) -> None:
    bench.turn(lambda: [bench.file(f"f{number:03}") for number in range(100)])
    lines = told(bench.rewinder.undo(), bench.project)
    assert (lines[1], lines[-1], len(lines)) == ("  f000: removed", "  … and 60 more", 42)


def test_what_cannot_be_kept_of_a_file_that_is_there_leaves_it_and_the_others_go_on(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = bench.file("a", b"old")
    bench.turn(lambda: (path.write_bytes(b"new"), bench.file("b", b"new")))
    path.write_bytes(b"mine")
    real = ContentStore.put

    def full(store: ContentStore, data: bytes) -> str:
        if data == b"mine":
            raise StoreError("there is no room")
        return real(store, data)

    monkeypatch.setattr(ContentStore, "put", full)
    outcome = bench.rewinder.undo(force=True)
    assert (left(bench, outcome), put_back(bench, outcome)) == ({"a": ("there is no room", "again")}, ["b"])
    assert path.read_bytes() == b"mine"


def test_a_repository_that_a_turn_made_or_removed_is_named_and_nothing_of_it_is_touched(bench: Bench) -> None:
    old = bench.file("old/.git/HEAD").parent
    bench.file("kept/.git/HEAD")
    bench.turn(
        lambda: (
            bench.file("new/.git/HEAD"),
            bench.file("new/a"),
            bench.file("kept/.git/index"),
            (old / "HEAD").unlink(),
            old.rmdir(),
        )
    )
    outcome = bench.rewinder.undo()
    why = ("it is, or was, a repository of git's, and those are never touched", "yourself")
    assert (put_back(bench, outcome), left(bench, outcome)) == (["new/a"], {"new/.git": why, "old/.git": why})
    names = ["kept", "kept/.git", "kept/.git/HEAD", "kept/.git/index", "new", "new/.git", "new/.git/HEAD", "old"]
    assert bench.names() == names


def test_a_file_with_several_names_that_was_changed_in_place_is_put_back_by_all_of_them(bench: Bench) -> None:
    path, other = bench.file("a", b"old content"), bench.root / "outside"
    other.hardlink_to(path)
    bench.turn(lambda: path.write_bytes(b"new"))
    for content, move in ((b"old content", bench.rewinder.undo), (b"new", bench.rewinder.redo)):
        assert move().left == ()
        assert (path.read_bytes(), other.read_bytes(), path.samefile(other)) == (content, content, True)


def test_another_file_that_got_the_name_of_one_keeps_its_content_under_its_other_names(bench: Bench) -> None:
    path, victim = bench.file("a", b"old"), bench.root / "victim"
    victim.write_bytes(b"precious")
    bench.turn(lambda: (path.unlink(), path.hardlink_to(victim)))
    bench.rewinder.undo()
    assert (path.read_bytes(), victim.read_bytes()) == (b"old", b"precious")


def test_what_a_write_beside_makes_for_a_moment_is_no_file_of_the_project(bench: Bench) -> None:
    passing = bench.file(".trimtab-0123456789abcdef.tmp")
    bench.turn(lambda: (passing.unlink(), bench.file("a")))
    assert put_back(bench, bench.rewinder.undo()) == ["a"]


def test_a_file_where_a_folder_was_is_left_and_named_as_what_is_in_the_way(bench: Bench) -> None:
    path = bench.file("d/a", b"old")
    bench.turn(path.unlink)
    (bench.project / "d").rmdir()
    bench.file("d", b"mine")
    assert left(bench, bench.rewinder.undo()) == {"d/a": ("a file stands where its folder was", "again")}
    assert (bench.project / "d").read_bytes() == b"mine"


@pytest.mark.usefixtures("small")
def test_a_diff_shows_links_and_permissions_names_what_is_too_large_and_leaves_folders_out(bench: Bench) -> None:
    mode, link, at = bench.file("mode"), bench.project / "link", bench.project
    link.symlink_to("one")
    bench.turn(
        lambda: (
            mode.chmod(0o700),
            link.unlink(),
            link.symlink_to("two"),
            bench.file("large", b"1" * 50),
            (at / "folder").mkdir(),
        )
    )
    assert bench.rewinder.diff() == (
        "(large: new; no text, or too large to be kept)\n",
        "diff --git a/link b/link\n--- a/link\n+++ b/link\n@@ -1,1 +1,1 @@\n"
        "-one\n\\ No newline at end of file\n+two\n\\ No newline at end of file\n",
        "diff --git a/mode b/mode\nold mode 100644\nnew mode 100755\n",
    )


def test_links_and_folders_among_ignored_files_stay_as_those_do(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    ignore = bench.file(".gitignore", b"env/\nout/**/*.o\n")

    def made() -> None:
        bench.file("env/pyvenv.cfg")
        (bench.project / "env" / "include").mkdir()
        bench.file("out/deep/a.o")
        for name in ("env/python", "out/link", "link"):
            (bench.project / name).symlink_to("/usr/bin/python3")

    bench.turn(made)
    assert put_back(bench, bench.rewinder.undo()) == ["link"]
    kept = [
        ".gitignore",
        "env",
        "env/include",
        "env/python",
        "env/pyvenv.cfg",
        "out",
        "out/deep",
        "out/deep/a.o",
        "out/link",
    ]
    assert bench.names() == kept
    monkeypatch.setattr(recorder, "born_ns", lambda path: 0)
    monkeypatch.setattr(recorder, "_touched_ns", lambda path: 0)
    bench.turn(lambda: ignore.write_bytes(b""))
    assert put_back(bench, bench.rewinder.undo()) == [".gitignore"]
    assert bench.names() == kept


def test_a_file_keeps_the_time_of_its_birth_under_another_name(bench: Bench) -> None:
    path = bench.file("a")
    born = born_ns(str(path))
    path.rename(bench.project / "b")
    path.write_bytes(b"new")
    assert born_ns(str(bench.project / "b")) == born
    assert born_ns(str(bench.project / "gone")) is None
    if born is not None:
        assert abs(born - path.stat().st_mtime_ns) < 60_000_000_000
