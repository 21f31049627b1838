"""Which calls a hook is about."""

from pathlib import Path

import pytest

from trimtab.coding.extensions.match import parse_match
from trimtab.coding.tools.paths import Workspace


@pytest.mark.parametrize(
    ("match", "tool", "path", "fits"),
    [
        ("read(secret/**)", "read", "secret/a", True),
        ("read(secret/**)", "grep", "./other/../secret/a", True),
        ("read(secret/**)", "read", "open/a", False),
        ("read(secret/**)", "write", "secret/a", False),
        ("write(docs/**) | read", "read", "anything", True),
        ("write(docs/**) | read", "edit", "docs/a.md", True),
        ("", "task", "", True),
    ],
)
def test_a_call_is_meant_by_its_tool_and_its_path(tmp_path: Path, match: str, tool: str, path: str, fits: bool) -> None:
    workspace = Workspace(tmp_path.resolve(), tmp_path.resolve())
    assert parse_match(match, "tool_call").fits_call(tool, {"path": path}, workspace) is fits
