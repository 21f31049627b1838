"""Fixtures that every folder uses."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio."""
    return "asyncio"
