"""A home with sessions in it, and the index over them."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

import pytest

from support.sessions import ask
from trimtab.context.stores.folder import SessionFolder
from trimtab.sessions.index.index import SessionIndex
from trimtab.types.messages import Message

Said: TypeAlias = Callable[..., Path]


@pytest.fixture
def home(tmp_path: Path) -> SessionFolder:
    """The sessions of a user."""
    ticks = iter(range(100_000))
    start = datetime(2026, 1, 1, tzinfo=UTC)
    return SessionFolder(tmp_path / "sessions", tmp_path / "bodies", now=lambda: start + timedelta(seconds=next(ticks)))


@pytest.fixture
def index(home: SessionFolder, tmp_path: Path) -> SessionIndex:
    """The index over them."""
    return SessionIndex(tmp_path / "index.sqlite", home)


@pytest.fixture
def said(home: SessionFolder) -> Said:
    """Makes a session in which something was said, and returns its file."""

    def make(*messages: Message | str, cwd: str = "/proj", title: str = "") -> Path:
        log, _ = home.begin(cwd)
        log.append_messages([ask(one) if isinstance(one, str) else one for one in messages])
        if title:
            log.set_title(title)
        log.close()
        assert log.path is not None
        return log.path

    return make
