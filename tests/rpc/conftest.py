"""A command line in an empty home."""

from pathlib import Path

import pytest

from support.cli import Cli


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Home and project of one test."""
    return Cli.at(tmp_path)
