"""Whatever a turn changes, undo and redo go back and forth between the same two states."""

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import zlib
from pathlib import Path
from typing import TypeAlias

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trimtab.agent.ports import NoHooks
from trimtab.coding.checkpoints.history import TurnNow, history_of
from trimtab.coding.checkpoints.pending import Pending
from trimtab.coding.checkpoints.recorder import Checkpointer
from trimtab.coding.checkpoints.store import ContentStore
from trimtab.coding.checkpoints.tree import ProjectTree
from trimtab.coding.checkpoints.undo import Rewinder
from trimtab.coding.logs import now
from trimtab.coding.tools.paths import Workspace
from trimtab.context.stores.log import SessionLog
from trimtab.types.errors import StoreError
from trimtab.types.messages import Assistant, Text, ToolCall, user

NAMES = ("a", "a/b", "b", "d", "d/a", "d/e/f", "g")
FOLDER = "a folder"
CHANGE = st.tuples(st.sampled_from(NAMES), st.one_of(st.none(), st.just(FOLDER), st.binary(max_size=20)))
Content: TypeAlias = bytes | str | None
TURNS = st.lists(st.lists(CHANGE, min_size=1, max_size=4), min_size=1, max_size=4)


def put(project: Path, name: str, content: Content) -> None:
    """Make a file or folder of that name, or let there be none, whatever stands in the way."""
    path = project / name
    for above in path.relative_to(project).parents:
        if (project / above).is_file():
            (project / above).unlink()
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    if isinstance(content, bytes):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    elif content == FOLDER:
        path.mkdir(parents=True)


def tree(project: Path) -> dict[str, bytes | None]:
    """What there is: files with their contents, and folders."""
    found = sorted(project.rglob("*"))
    return {str(path.relative_to(project)): path.read_bytes() if path.is_file() else None for path in found}


@settings(
    max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)
@given(TURNS, st.data())
def test_undo_and_redo_meet_every_state_again(
    tmp_path_factory: pytest.TempPathFactory, turns: list[list[tuple[str, Content]]], data: st.DataObject
) -> None:
    root = Path(os.path.realpath(tmp_path_factory.mktemp("turns")))
    project = root / "project"
    project.mkdir()
    log = SessionLog.in_memory(str(project), now=now)
    with ContentStore(root / "store") as store:
        back_and_forth(root, project, log, store, turns, data)


def back_and_forth(
    root: Path,
    project: Path,
    log: SessionLog,
    store: ContentStore,
    turns: list[list[tuple[str, Content]]],
    data: st.DataObject,
) -> None:
    recorder = Checkpointer(
        NoHooks(), Workspace(project, root), log, store, ProjectTree(project, store), Pending(root / "pending", store)
    )
    states = [tree(project)]
    for number, changes in enumerate(turns):
        log.append_messages([user(f"turn {number}")])
        for place, (name, content) in enumerate(changes):
            call = ToolCall(f"c{number}-{place}", "bash", {"command": "make it"}, "")

            async def run(call: ToolCall = call, name: str = name, content: Content = content) -> None:
                await recorder.before_tool(call)
                put(project, name, content)
                await recorder.end(call.id)

            anyio.run(run)
        states.append(tree(project))
    rewinder, here = Rewinder(log, store, project), len(turns)
    for _ in range(6):
        back = data.draw(st.integers(0, here), label="back")
        if back:
            before = tree(project)
            foreseen = rewinder.preview(back)
            assert tree(project) == before
            outcome = rewinder.undo(back)
            assert foreseen == outcome
            here -= back
        elif history_of(log.archive).redoable:
            redone = len(history_of(log.archive).redoable[-1].turns)
            outcome = rewinder.redo()
            here += redone
        else:
            continue
        assert outcome.left == ()
        assert tree(project) == states[here]


def test_the_turn_that_runs_is_known_after_messages_branches_and_undos(tmp_path: Path) -> None:
    log = SessionLog.in_memory(str(tmp_path), now=now)
    turn = TurnNow(log.archive)
    assert turn.entry_id() is None
    (first,) = log.append_messages([user("one")])
    assert turn.entry_id() == first
    log.append_messages([Assistant((Text("done"),), "stop"), user("go on", origin="steering")])
    assert turn.entry_id() == first
    (second,) = log.append_messages([user("two")])
    assert turn.entry_id() == second
    log.move_leaf(first)
    assert turn.entry_id() == first
    log.move_leaf(None)
    assert turn.entry_id() is None


def test_a_kept_content_that_is_gone_or_damaged_is_not_put_back(tmp_path: Path) -> None:
    with ContentStore(tmp_path) as store:
        name = store.put(b"one")
        assert store.get(name) == b"one"
        with pytest.raises(StoreError, match="gone or damaged"):
            store.get("0" * 64)
        raw = sqlite3.connect(tmp_path / "contents.sqlite")
        raw.execute("UPDATE content SET data = ?", (zlib.compress(b"two"),))
        raw.commit()
        raw.close()
        with pytest.raises(StoreError, match="gone or damaged"):
            store.get(name)


@pytest.mark.parametrize("damage", [b"no table at all" * 100, b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_damaged_table_is_put_aside_and_a_new_one_begun(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "contents.sqlite").write_bytes(damage)
    with ContentStore(tmp_path) as store:
        assert store.get(store.put(b"one")) == b"one"
    assert (tmp_path / "contents.damaged").read_bytes() == damage


def test_several_processes_may_keep_contents_at_the_same_time(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from trimtab.coding.checkpoints.store import ContentStore\n"
        "store = ContentStore(Path(sys.argv[1]))\n"
        "for n in range(100): store.put(f'{n}-{sys.argv[2]}'.encode())\n"
        "store.close()"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(n % 2)]) for n in range(4)]
    assert [process.wait(timeout=30) for process in running] == [0] * 4
    with ContentStore(tmp_path) as store:
        for n in range(100):
            for who in (0, 1):
                data = f"{n}-{who}".encode()
                assert store.get(hashlib.sha256(data).hexdigest()) == data


def test_what_is_kept_is_for_its_owner_alone(tmp_path: Path) -> None:
    with ContentStore(tmp_path / "store") as store:
        store.put(b"secret")
        modes = {p.stat().st_mode & 0o077 for p in [tmp_path / "store", *(tmp_path / "store").rglob("*")]}
    assert modes == {0}
