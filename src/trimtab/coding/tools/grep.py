"""The `grep` tool: lines of files that match a regular expression.

    arguments → Question → ripgrep records → rows `path:line:text` (context `path-line-text`) → text + Cut

A file's rows wait for the end of that file, because only there is known whether it is binary; binary files are counted, not
shown. The search stops with the first row that doesn't fit, so a huge tree costs what is shown.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from trimtab.agent.ports import Access, ToolOutput, ToolRun
from trimtab.coding.tools.caps import Caps
from trimtab.coding.tools.failures import ToolFailure, answering
from trimtab.coding.tools.glob import Matches
from trimtab.coding.tools.paths import Workspace, shown_name
from trimtab.coding.tools.ripgrep import (
    TIMEOUT_S,
    Answer,
    End,
    Engine,
    LineData,
    Match,
    Near,
    Question,
    Record,
    Summary,
    search,
)
from trimtab.coding.tools.search import any_of, notes, relative, row_limit, search_root
from trimtab.coding.tools.terminal import plain
from trimtab.types.text import scrub
from trimtab.types.tools import Cut, ToolSpec

MAX_CONTEXT = 20
SKIPPED = "files that ignore files name were skipped; one given as path is always searched"

_SPEC = ToolSpec(
    name="grep",
    description="Search file contents. Obeys ignore files; an exact path is always searched.",
    parameters={
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "description": "regex"},
            "path": {"type": "string"},
            "glob": {"type": "string"},
            "literal": {"type": "boolean"},
            "ignore_case": {"type": "boolean"},
            "context": {"type": "integer"},
            "limit": {"type": "integer"},
        },
        "required": ["pattern"],
    },
)


@dataclass(frozen=True, slots=True)
class GrepTool:
    """Searches under `workspace`; `rg` is ripgrep's path (`ripgrep.find_rg`), None for the slower walker.

    A search is stopped after `timeout_s` seconds; what it found by then is the result.
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
        return "search file contents"

    @property
    def guidelines(self) -> tuple[str, ...]:
        """Nothing beyond the schema."""
        return ()

    def access(self, arguments: Mapping[str, Any]) -> Access:
        """A search may read anything below its path, so it waits for every earlier write."""
        return Access(reads="*")

    async def run(self, arguments: Mapping[str, Any], run: ToolRun) -> ToolOutput:
        """Search; an error result for a bad pattern or path, a plain sentence when nothing matches."""
        return await answering(self._run)(arguments, run)

    async def _run(self, arguments: Mapping[str, Any], _run: ToolRun) -> ToolOutput:
        pattern = scrub(str(arguments["pattern"]))
        path = await anyio.to_thread.run_sync(search_root, self.workspace, str(arguments.get("path") or "."))
        limit = row_limit(arguments.get("limit"), self.caps)
        question = Question(
            path=relative(path, self.workspace.cwd),
            pattern=pattern,
            literal=bool(arguments.get("literal", False)),
            ignore_case=bool(arguments.get("ignore_case", False)),
            context=min(max(int(arguments.get("context") or 0), 0), MAX_CONTEXT),
            max_count=limit + 1,
        )
        glob = arguments.get("glob")
        wanted = any_of(str(glob), path, self.workspace.cwd) if glob else None
        rows = _Rows(self.workspace, path, limit, self.caps, wanted, separated=question.context > 0)
        engine = Engine(self.rg, self.workspace.cwd, self.timeout_s)
        answer = await search(question, rows.take, engine)
        if not (rows.complete or rows.full or answer.timed_out):
            raise ToolFailure(_why_none(answer.errors))
        return _output(rows, answer, engine)


class _Rows:
    """Collects rows until `limit` rows or the byte cap are full."""

    def __init__(
        self, workspace: Workspace, root: Path, limit: int, caps: Caps, wanted: Matches | None, *, separated: bool
    ) -> None:
        self._workspace = workspace
        self._root = root
        self._limit = limit
        self._caps = caps
        self._wanted = wanted
        self._separated = separated
        self._file: list[str] = []
        self._last_line = 0
        self._room = caps.read_bytes
        self.rows: list[str] = []
        self.binary = 0
        self.full = False
        self.complete = False

    def take(self, record: Record) -> bool:
        """Take a record; False when no more is needed."""
        if isinstance(record, Match | Near):
            if len(self._file) <= self._limit:
                self._add(record.data, ":" if isinstance(record, Match) else "-")
        elif isinstance(record, End):
            if record.data.binary_offset is not None:
                self.binary += bool(self._file)
            else:
                self._keep()
            self._file, self._last_line = [], 0
        elif isinstance(record, Summary):
            self.complete = True
        return not self.full

    def finish_file(self) -> None:
        """Keep what there is of a file whose end never came."""
        self._keep()

    def _add(self, line: LineData, mark: str) -> None:
        name = line.path.value()
        shown = plain(shown_name(_relative_name(name))).replace("\n", " ")
        if self._wanted and not self._wanted(_relative_name(name)):
            return
        if self._workspace.leaves_out(self._workspace.cwd / _relative_name(name), self._root):
            return
        if self._workspace.secret and self._workspace.is_secret(self._workspace.cwd / _relative_name(name)):
            return
        if self._separated and self._last_line and line.line_number > self._last_line + 1:
            self._file.append("--")
        self._last_line = line.line_number
        at = line.submatches[0].start if line.submatches else 0
        text = _around(line.lines.value(), at, self._caps.search_row_chars)
        self._file.append(f"{shown}{mark}{line.line_number}{mark}{text}")

    def _keep(self) -> None:
        if self._separated and self.rows and self._file:
            self._file.insert(0, "--")
        for row in self._file:
            self._room -= len(row.encode()) + 1
            if len(self.rows) >= self._limit or self._room < 0:
                self.full = True
                return
            self.rows.append(row)


def _output(rows: _Rows, answer: Answer, engine: Engine) -> ToolOutput:
    if answer.timed_out:
        rows.finish_file()
    lines = rows.rows or [f"no matches ({SKIPPED})"]
    cut = None
    if rows.full:
        lines = [*lines, f"[only the first {len(rows.rows)} rows: narrow the pattern, path or glob]"]
        cut = Cut("rows", ((1, len(rows.rows)),), next="narrow the pattern, path or glob")
    if rows.binary:
        lines = [*lines, f"[{rows.binary} binary {'file matches' if rows.binary == 1 else 'files match'}]"]
    text = "\n".join([*lines, *notes(answer, engine)])
    return ToolOutput.text(text, cut=cut, details={"rows": len(rows.rows), "timed_out": answer.timed_out})


def _relative_name(name: bytes) -> str:
    return name.removeprefix(b"./").decode("utf-8", "surrogateescape")


def _around(line: bytes, at: int, size: int) -> str:
    """Return the line, or `size` characters of it with the match at byte `at` in view."""
    text = line.decode("utf-8", "replace").rstrip("\r\n")
    if len(text) <= size:
        return plain(text)
    middle = len(line[:at].decode("utf-8", "replace"))
    start = max(0, min(middle - size // 4, len(text) - size))
    end = start + size
    return f"{'…' if start else ''}{plain(text[start:end])}{'…' if end < len(text) else ''} ({len(text):,} characters)"


def _why_none(errors: str) -> str:
    reason = plain(errors).removeprefix("rg: ")[:1000] or "the search program died"
    return f"{reason}\nTo search for the text itself, pass literal: true." if "regex parse error" in reason else reason
