"""The `find` tool: files and folders by name.

    arguments → list of files (ripgrep) → those, and the folders above them, that match the glob → text + Cut

Ignored files are left out of the list, but a pattern without wildcards is looked up as a path first, so an exact name is always
found. Folders come before what is in them; a folder without a listed file isn't listed.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from trimtab.agent.ports import Access, ToolOutput, ToolRun
from trimtab.coding.tools.caps import Caps
from trimtab.coding.tools.failures import ToolFailure, answering
from trimtab.coding.tools.glob import Matches, is_wild
from trimtab.coding.tools.paths import Workspace, shown_name
from trimtab.coding.tools.ripgrep import TIMEOUT_S, Answer, Engine, Question, list_files
from trimtab.coding.tools.search import any_of, notes, relative, row_limit, search_root
from trimtab.coding.tools.terminal import plain
from trimtab.types.text import scrub
from trimtab.types.tools import Cut, ToolSpec

_SPEC = ToolSpec(
    name="find",
    description="Find files and folders by glob (name, or path with /). Obeys ignore files; an exact path is always found.",
    parameters={
        "type": "object",
        "properties": {
            "pattern": {"type": "string"},
            "path": {"type": "string"},
            "type": {"enum": ["file", "folder"]},
            "limit": {"type": "integer"},
        },
        "required": ["pattern"],
    },
)


@dataclass(frozen=True, slots=True)
class FindTool:
    """Lists what is under `workspace`; `rg` is ripgrep's path (`ripgrep.find_rg`), None for the slower walker.

    A listing is stopped after `timeout_s` seconds; what it found by then is the result.
    """

    workspace: Workspace
    rg: str | None
    caps: Caps = field(default_factory=Caps)
    timeout_s: float = TIMEOUT_S

    @property
    def spec(self) -> ToolSpec:
        """Name, description and JSON Schema."""
        return _SPEC

    @property
    def snippet(self) -> str:
        """One line for the system prompt."""
        return "find files by name"

    @property
    def guidelines(self) -> tuple[str, ...]:
        """Nothing beyond the schema."""
        return ()

    def access(self, arguments: Mapping[str, Any]) -> Access:
        """A listing depends on everything below its path, so it waits for every earlier write."""
        return Access(reads="*")

    async def run(self, arguments: Mapping[str, Any], run: ToolRun) -> ToolOutput:
        """List; an error result for a bad path, a plain sentence when nothing matches."""
        return await answering(self._run)(arguments, run)

    async def _run(self, arguments: Mapping[str, Any], _run: ToolRun) -> ToolOutput:
        pattern = scrub(str(arguments["pattern"])).removeprefix("./")
        if not pattern.strip("/") or "\0" in pattern:
            raise ToolFailure("pattern must name something, for example *.py")
        cwd = self.workspace.cwd
        root = await anyio.to_thread.run_sync(search_root, self.workspace, str(arguments.get("path") or "."))
        limit = row_limit(arguments.get("limit"), self.caps)
        matches = any_of(pattern, root, cwd)

        def wanted(path: str) -> bool:
            return matches(path) and not self.workspace.is_denied(cwd / path)

        listing = _Listing(wanted, relative(root, cwd), limit, str(arguments.get("type") or ""))
        if (
            not is_wild(pattern)
            and (exact := await anyio.to_thread.run_sync(_exactly, root, pattern))
            and not self.workspace.is_denied(exact.path)
        ):
            listing.exact(relative(exact.path, cwd), is_folder=exact.is_folder)
        engine = Engine(self.rg, cwd, self.timeout_s)
        answer = await list_files(Question(path=relative(root, cwd)), listing.take, engine)
        if answer.failed and not listing.rows:
            raise ToolFailure(plain(answer.errors)[:1000] or "the search program died")
        return _output(listing, answer, pattern, engine)


class _Listing:
    """Collects matching paths until `limit` are found."""

    def __init__(self, wanted: Matches, root: str, limit: int, kind: str) -> None:
        self._wanted = wanted
        self._root = root
        self._limit = limit
        self._kind = kind
        self._seen: set[str] = set()
        self.rows: list[str] = []
        self.full = False

    def exact(self, path: str, *, is_folder: bool) -> None:
        """Put a path that was named exactly first."""
        self._offer(path, is_folder=is_folder)

    def take(self, file: str) -> bool:
        """Take a listed file, with the folders above it; False when no more is needed."""
        file = file.removeprefix("./")
        for folder in self._new_folders(file):
            if self._wanted(folder):
                self._offer(folder, is_folder=True)
        if self._wanted(file):
            self._offer(file, is_folder=False)
        return not self.full

    def _new_folders(self, file: str) -> Iterator[str]:
        new = []
        folder = os.path.dirname(file)
        while folder and folder != self._root and folder + "/" not in self._seen and folder != os.path.dirname(folder):
            self._seen.add(folder + "/")
            new.append(folder)
            folder = os.path.dirname(folder)
        return reversed(new)

    def _offer(self, path: str, *, is_folder: bool) -> None:
        if path in self._seen or self._kind == ("file" if is_folder else "folder"):
            return
        self._seen.add(path)
        if len(self.rows) == self._limit:
            self.full = True
            return
        self.rows.append(plain(shown_name(path)).replace("\n", " ") + "/" * is_folder)


@dataclass(frozen=True, slots=True)
class _Exact:
    path: Path
    is_folder: bool


def _exactly(root: Path, pattern: str) -> _Exact | None:
    """Return what `pattern` names when it is taken as a path under `root`, ignored or not."""
    path = Path(os.path.normpath(root / pattern))
    return _Exact(path, path.is_dir()) if os.path.lexists(path) else None


def _output(listing: _Listing, answer: Answer, pattern: str, engine: Engine) -> ToolOutput:
    lines = list(listing.rows) or [
        f"nothing matches {pattern!r} (what ignore files name is found by its exact path only)"
    ]
    cut = None
    if listing.full:
        lines.append(f"[only the first {len(listing.rows)} paths: narrow the pattern or path]")
        cut = Cut("rows", ((1, len(listing.rows)),), next="narrow the pattern or path")
    text = "\n".join([*lines, *notes(answer, engine)])
    return ToolOutput.text(text, cut=cut, details={"rows": len(listing.rows), "timed_out": answer.timed_out})
