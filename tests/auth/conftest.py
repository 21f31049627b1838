"""A home of its own, a project in it, and an authorization server on loopback."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.auth_server import AuthServer
from support.cli import Cli
from support.logging_in import LoginDesk
from trimtab.coding.project import Project, open_project


@pytest.fixture
def auth() -> Iterator[AuthServer]:
    """The server."""
    with AuthServer() as server:
        yield server


@pytest.fixture
def desk(auth: AuthServer) -> LoginDesk:
    """A frontend with a browser."""
    return LoginDesk(auth.browse)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Home and project of one test."""
    return Cli.at(tmp_path)


@pytest.fixture
def project(cli: Cli, auth: AuthServer) -> Callable[..., Project]:
    """Opens the project, with a provider `office` that one logs in to at the server."""

    def make(overrides: dict[str, Any] | None = None, **env: str) -> Project:
        tree = auth.settings() if overrides is None else overrides
        return open_project(cli.project, overrides=tree, env={**cli.environment(), **env})

    return make
