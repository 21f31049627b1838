"""Run a search tool on a folder, with ripgrep or with our own walker."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trimtab.agent.ports import ToolOutput, ToolRun
from trimtab.coding.tools.find import FindTool
from trimtab.coding.tools.grep import GrepTool
from trimtab.coding.tools.paths import Workspace
from trimtab.coding.tools.ripgrep import find_rg
from trimtab.types.messages import Text

WALKER_NOTE = "\n[ripgrep was not found: Python's regular expressions, and slower]"
RG = find_rg()
NO_MATCHES = "no matches (files that ignore files name were skipped; one given as path is always searched)"


def tree(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write `files` under `root` and return it."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


async def _ignore(_text: str) -> None: ...


async def grep(root: Path, engine: str, *, timeout_s: float = 30, **arguments: Any) -> ToolOutput:
    return await GrepTool(_workspace(root), _program(engine), timeout_s=timeout_s).run(
        arguments, ToolRun("call", _ignore)
    )


async def find(root: Path, engine: str, **arguments: Any) -> ToolOutput:
    return await FindTool(_workspace(root), _program(engine)).run(arguments, ToolRun("call", _ignore))


def text(output: ToolOutput) -> str:
    """The text, without the note that the walker adds."""
    (part,) = output.parts
    assert isinstance(part, Text)
    return part.text.replace(WALKER_NOTE, "")


def _workspace(root: Path) -> Workspace:
    return Workspace(root, Path("/nonexistent"))


def _program(engine: str) -> str | None:
    if engine == "walker":
        return None
    assert RG, "ripgrep is a dependency"
    return RG
