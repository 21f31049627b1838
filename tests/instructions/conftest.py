"""A place for a project with instructions."""

from pathlib import Path

import pytest

from support.instructed import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Nothing in it yet."""
    return Place(tmp_path)
