"""The hook that keeps what a call is about to change, and writes down what it changed.

    before ── write, edit: the file; a command: what it redirects to, or the whole project, and what it names outside, when more than that may change;
              a tool of others that may change files: the whole project
    after all hooks ── the same again ──▶ what differs ──▶ a `files` entry, durable before the result is

A kill between the two leaves the states before in a file beside the store; who opens the session next writes down what differs then.
"""

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from trimtab.agent.ports import Answer, Hooks, Proceed, ToolOutput
from trimtab.coding.checkpoints.birth import born_ns
from trimtab.coding.checkpoints.history import FILES, Change, TurnNow, changes_data
from trimtab.coding.checkpoints.named import outside
from trimtab.coding.checkpoints.pending import Begun, Pending, is_text
from trimtab.coding.checkpoints.states import FOLDER, UNKNOWN, State, state_of
from trimtab.coding.checkpoints.store import ContentStore
from trimtab.coding.checkpoints.tree import MOST_FILES, ProjectTree, Tree
from trimtab.coding.permissions import redirect_targets
from trimtab.coding.permissions.reading import reads_only
from trimtab.coding.permissions.rules import WRITING
from trimtab.coding.tools.failures import ToolFailure
from trimtab.coding.tools.paths import Workspace, identity, shown_name
from trimtab.context.stores.log import SessionLog
from trimtab.types.entries import CustomEntry
from trimtab.types.errors import StoreError
from trimtab.types.messages import ToolCall

_CLOCKS_NS = 2_000_000_000
"""By how much the clock of a file system may be behind ours."""


@dataclass(frozen=True, slots=True)
class Made:
    """What one call of this process changed in one file: the key of the call, the entry of its turn, and the change (of a file that a log can't name, that there was one)."""

    key: str
    turn: str
    change: Change


@dataclass(slots=True)
class Checkpointer:
    """Passes every call on to `inner`, and records what those that run change."""

    inner: Hooks
    workspace: Workspace
    log: SessionLog
    store: ContentStore
    tree: ProjectTree
    pending: Pending
    may_change: Callable[[ToolCall], bool] = lambda _call: False
    """Whether a call of a tool that isn't ours may change files."""
    notes: list[str] = field(default_factory=list)
    """What a person should be told, once."""
    made: list[Made] = field(default_factory=list)
    """What was changed since the session was opened, in order."""
    _open: dict[str, tuple[int, Begun]] = field(default_factory=dict)
    _first: dict[tuple[str, str], tuple[int, Change]] = field(default_factory=dict)
    _turn: TurnNow = field(init=False)
    _looks: int = 0
    _told: bool = False

    def __post_init__(self) -> None:
        """Nothing was looked at yet."""
        self._turn = TurnNow(self.log.archive)

    async def before_tool(self, call: ToolCall) -> Proceed | Answer:
        """What the inner hooks say; for a call that runs and may change files, how these are."""
        told = await self.inner.before_tool(call)
        if isinstance(told, Proceed):
            await self.begin(told.call or call, call.id)
        return told

    async def begin(self, call: ToolCall, key: str) -> None:
        """A call runs that this session, or one that works for it, has made: look how the files are that it may change. `key` is of this call alone."""
        if call.name not in (*WRITING, "bash") and not self.may_change(call):
            return
        self._looks += 1
        number = self._looks
        try:
            begun = await anyio.to_thread.run_sync(self._begin, call, key)
        except StoreError as problem:
            self._tell_once(f"changes can't be taken back here: {problem.message}")
            return
        if begun is not None:
            self._open[key] = (number, begun)

    async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
        """What the inner hooks say; `LastLook` writes down what changed."""
        return await self.inner.after_tool(call, output)

    async def end(self, key: str) -> None:
        """The call of that key has ended."""
        if (opened := self._open.pop(key, None)) is not None:
            with anyio.CancelScope(shield=True):
                try:
                    await anyio.to_thread.run_sync(self._end, key, *opened)
                except StoreError as problem:
                    self._tell_once(f"changes can't be taken back here: {problem.message}")

    async def settle(self) -> None:
        """Write down what calls changed that were cut off by a cancel: nobody hears of their end."""
        await self.settle_those_of("")

    async def settle_those_of(self, start: str) -> None:
        """The same for the calls whose keys begin so."""
        for call_id, opened in [item for item in self._open.items() if item[0].startswith(start)]:
            del self._open[call_id]
            try:
                await anyio.to_thread.run_sync(self._end, call_id, *opened)
            except StoreError as problem:
                self._tell_once(f"changes can't be taken back here: {problem.message}")

    def catch_up(self) -> None:
        """Write down what calls changed that a kill cut off. Raises `StoreError`."""
        for begun in self.pending.left():
            self._record(begun.turn, *self._changes(begun))

    def take_notes(self) -> tuple[str, ...]:
        """What a person should be told."""
        notes = tuple(self.notes)
        self.notes.clear()
        return notes

    def _tell_once(self, text: str) -> None:
        if not self._told:
            self._told = True
            self.notes.append(text)

    def _begin(self, call: ToolCall, key: str) -> Begun | None:
        turn, at_ns = self._turn.entry_id(), time.time_ns()
        looked = self._look(call) if turn is not None else None
        if turn is None or looked is None:
            return None
        whole, tree = looked
        made = {p: folder for p, state in tree.states.items() if state is None and (folder := _first_missing(p))}
        begun = Begun(turn, tree.states, whole, made, at_ns, tree.folders, tree.numbers)
        self.pending.keep(key, begun)
        return begun

    def _look(self, call: ToolCall) -> tuple[bool, "_Looked"] | None:
        """The files that the call may change, and whether these are all there are; None when it changes none, or nobody can look."""
        arguments = call.arguments or {}
        if call.name in WRITING:
            return False, _Looked(self._of(self._named([str(arguments.get("path", ""))])))
        script = str(arguments.get("command", "")) if call.name == "bash" else ""
        if script and reads_only(script):
            targets = redirect_targets(script)
            return (False, _Looked(self._of(self._redirected(targets)))) if targets else None
        elsewhere = self._of(outside(script, self.workspace.cwd))
        tree = self._tree()
        if tree is None:
            return (False, _Looked(elsewhere)) if elsewhere else None
        return True, _Looked({**elsewhere, **tree.states}, tree.folders, tree.numbers)

    def _tree(self) -> Tree | None:
        """All files; where nobody can look, that is told once."""
        tree = self.tree.look()
        if tree is None:
            why = (
                f"has more than {MOST_FILES:,} files, or they are too large"
                if self.tree.hopeless
                else "can't be listed"
            )
            self._tell_once(f"what commands and tools of others change can't be taken back here: the project {why}")
        return tree

    def _of(self, paths: Iterable[str]) -> Mapping[str, State]:
        return {path: state_of(path, self.store) for path in paths if is_text(path)}

    def _end(self, call_id: str, number: int, begun: Begun) -> None:
        differing, unkept = self._changes(begun)
        changes = {path: self._earliest(begun.turn, number, change) for path, change in differing.items()}
        self._record(begun.turn, changes, unkept)
        unnamed = [Change(name, None, UNKNOWN) for name in unkept]
        self.made += [Made(call_id, begun.turn, change) for change in (*changes.values(), *unnamed)]
        self.pending.drop(call_id)

    def _changes(self, begun: Begun) -> tuple[dict[str, Change], tuple[str, ...]]:
        """What is different from how it was, and of that the files that a log can't name, as they are shown."""
        before = begun.states
        tree = self._tree() if begun.whole else None
        now: Mapping[str, State] = tree.states if tree else {} if begun.whole else self._of(before)
        found: dict[str, Change] = {}
        unkept: list[str] = []
        for path in sorted(before.keys() | now.keys()):
            was, after = before.get(path), now.get(path)
            if not is_text(path):
                unkept += [shown_name(path)] if was != after else []
                continue
            if was is None and begun.folders is not None and path in begun.folders:
                was = FOLDER  # it held nothing but ignored files
            if after is None and begun.whole:
                after = state_of(path, self.store)  # ignored now, a folder that isn't empty any more, or outside
            is_folder = after is not None and after.folder
            if was == after or (is_folder and (was.folder if was is not None else begun.folders is None)):
                continue
            found[path] = Change(path, was, after, begun.made.get(path))
        _set_moved_in_apart(found, begun, tree)
        return found, tuple(unkept)

    def _record(self, turn: str, changes: Mapping[str, Change], unkept: Sequence[str]) -> None:
        if changes or unkept:
            data = changes_data(turn, changes, unkept)
            self.log.append([CustomEntry(id="", parent=None, time="", kind=FILES, data=data)])

    def _earliest(self, turn: str, number: int, change: Change) -> Change:
        """Of calls that ran side by side, the first look at a file is how it was, whichever ended first."""
        known = self._first.get((turn, change.path))
        if known is not None and known[0] < number:
            change = Change(change.path, known[1].before, change.after, known[1].made or change.made)
            number = known[0]
        self._first[turn, change.path] = (number, change)
        return change

    def _named(self, texts: Iterable[str]) -> list[str]:
        found = []
        for text in texts:
            try:
                found.append(identity(self.workspace.place(text)))
            except (ToolFailure, OSError, ValueError):
                continue  # the tool says what is wrong with it
        return found

    def _redirected(self, targets: Iterable[str]) -> list[str]:
        return [os.path.realpath(self.workspace.cwd / target) for target in targets if "\0" not in target]


@dataclass(frozen=True, slots=True)
class _Looked:
    """How files are before a call, and which folders there are, where all were looked at."""

    states: Mapping[str, State]
    folders: frozenset[str] | None = None
    numbers: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChildCheckpoints:
    """The hook of a session that works for another one: what its calls change is written down there, in the turn that runs, and taken back with it."""

    inner: Hooks
    recorder: Checkpointer
    child: str
    """The session's id: its calls may have the ids of others."""

    async def before_tool(self, call: ToolCall) -> Proceed | Answer:
        """What the inner hooks say; for a call that runs, how the files are."""
        told = await self.inner.before_tool(call)
        if isinstance(told, Proceed):
            await self.recorder.begin(told.call or call, f"{self.child}:{call.id}")
        return told

    async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
        """What the inner hooks say; `LastLook` writes down what changed."""
        return await self.inner.after_tool(call, output)

    async def end(self, key: str) -> None:
        """The call of that id has ended."""
        await self.recorder.end(f"{self.child}:{key}")

    async def settle(self) -> None:
        """Write down what calls changed that were cut off."""
        await self.recorder.settle_those_of(f"{self.child}:")


@dataclass(frozen=True, slots=True)
class LastLook:
    """The outermost hook: what a call changed is written down once all others are through with it, so what they change (a formatter does) is taken back too."""

    inner: Hooks
    recorder: Checkpointer | ChildCheckpoints

    async def before_tool(self, call: ToolCall) -> Proceed | Answer:
        """What the inner hooks say."""
        return await self.inner.before_tool(call)

    async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
        """What the inner hooks say; what changed is durable then."""
        try:
            return await self.inner.after_tool(call, output)
        finally:
            await self.recorder.end(call.id)


def looked_at_last(hooks: Hooks, recorder: Hooks) -> Hooks:
    """`hooks`, and behind all of them the look of `recorder`, if it is one."""
    return LastLook(hooks, recorder) if isinstance(recorder, Checkpointer | ChildCheckpoints) else hooks


def _set_moved_in_apart(changes: dict[str, Change], begun: Begun, tree: Tree | None) -> None:
    """What is older than the call and was nowhere to be seen wasn't made by it, and to remove it would lose it: it was moved here from elsewhere, or merely came into view."""
    if not begun.whole or not begun.at_ns:
        return
    gone = [change for change in changes.values() if change.before is not None and change.after is None]
    contents = {change.before.content for change in gone if change.before is not None}
    numbers = {begun.numbers.get(change.path) for change in gone}
    least = begun.at_ns - _CLOCKS_NS
    for path, change in list(changes.items()):
        after = change.after
        if change.before is not None or after is None or after.special or after.folder:
            continue
        if after.content in contents or (tree is not None and tree.numbers.get(path) in numbers):
            continue  # moved here from where we saw it
        born = born_ns(path)
        if born is None or born >= least:
            continue
        if begun.folders is not None and os.path.dirname(path) in begun.folders and _touched_ns(path) < least:
            del changes[path]  # came into view: no name was given to it, and no folder around it is new
        else:
            changes[path] = Change(path, UNKNOWN, after)


def _touched_ns(path: str) -> int:
    """When the file last got a name, a mode or a content."""
    try:
        return os.lstat(path).st_ctime_ns
    except OSError:
        return 0


def _first_missing(path: str) -> str | None:
    """The outermost folder above `path` that isn't there."""
    missing = [str(above) for above in Path(path).parents if not above.exists()]
    return missing[-1] if missing else None
