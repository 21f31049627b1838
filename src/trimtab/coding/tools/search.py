"""What the two search tools share: where a search begins, how many rows it may show, what a glob means, what to say of its end."""

from pathlib import Path

from trimtab.coding.tools.caps import Caps
from trimtab.coding.tools.failures import ToolFailure
from trimtab.coding.tools.glob import Matches, compile_glob
from trimtab.coding.tools.paths import Workspace, missing
from trimtab.coding.tools.ripgrep import Answer, Engine


def search_root(workspace: Workspace, text: str) -> Path:
    """Return the file or folder to search. Raises `ToolFailure` when it is missing or something else."""
    path = workspace.locate(text)
    if not path.exists():
        raise missing(path, workspace.shown(path))
    if not (path.is_dir() or path.is_file()):
        raise ToolFailure(f"{workspace.shown(path)}: not a regular file or folder")
    return path


def row_limit(asked: object, caps: Caps) -> int:
    """Return how many rows to show: what was asked, at most the cap, at least one."""
    return min(max(asked, 1), caps.search_rows) if isinstance(asked, int) else caps.search_rows


def relative(path: Path, cwd: Path) -> str:
    """Return `path` as the searching program gets it: relative inside `cwd`, so that rows read as short as they can."""
    return str(path.relative_to(cwd)) if path.is_relative_to(cwd) else str(path)


def any_of(glob: str, root: Path, cwd: Path) -> Matches:
    """Return whether a path as the program prints it matches `glob`, taken from `root` or from `cwd`."""
    matches = compile_glob(glob)
    prefix = relative(root, cwd) + "/"
    return lambda path: matches(path) or (path.startswith(prefix) and matches(path[len(prefix) :]))


def notes(answer: Answer, engine: Engine) -> list[str]:
    """Return one line for each thing that a reader of the rows must know."""
    lines = []
    if answer.timed_out:
        lines.append(f"[stopped after {engine.timeout_s:g} s: this is a part; search a smaller path]")
    if answer.dropped:
        lines.append(f"[{answer.dropped} matching lines are too long to show]")
    unread = len([line for line in answer.errors.splitlines() if "os error" in line or "denied" in line])
    if unread:
        lines.append(f"[{unread} paths could not be read]")
    if engine.rg is None:
        lines.append("[ripgrep was not found: Python's regular expressions, and slower]")
    return lines
