"""Sessions of a program, in an empty home."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from trimtab.coding import OpenOptions, ScriptedProvider

Answers = Callable[..., OpenOptions]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the agent works."""
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def answering(tmp_path: Path) -> Answers:
    """Options for a session whose model answers with these lines of a script, in a home of its own."""

    def options(*script: Mapping[str, Any], **more: Any) -> OpenOptions:
        env = {"TRIMTAB_HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"}
        made: OpenOptions = {"model": "scripted/none", "provider": ScriptedProvider(script), "env": env}
        return made | more

    return options
