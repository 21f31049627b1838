"""One small real model for the whole run; without its packages these tests are skipped, or fail when `make check-llm` has installed them."""

import os
from collections.abc import AsyncIterator, Iterator

import pytest
from anyio.from_thread import start_blocking_portal

from support.small_model import APIS, ROOMY, WINDOW, SmallModel, open_model
from trimtab.coding.local_model import local_model, missing_packages
from trimtab.types.models import Api


@pytest.fixture(scope="session")
def base_url() -> Iterator[str]:
    """The served model's base URL."""
    yield from _served(WINDOW)


@pytest.fixture(scope="session")
def roomy_url() -> Iterator[str]:
    """The same model with a window in which a system prompt, context tools and some work have room."""
    yield from _served(ROOMY)


def _served(window: int) -> Iterator[str]:
    if missing := missing_packages():
        say = pytest.fail if os.environ.get("NEED_LLM") else pytest.skip
        say(f"no small real model: {', '.join(missing)} not installed (make check-llm installs it)")
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(local_model(window=window)) as url:
        yield url


@pytest.fixture(params=APIS)
def api(request: pytest.FixtureRequest) -> Api:
    """Each API that the server speaks."""
    found: Api = request.param
    return found


@pytest.fixture
async def model(base_url: str, api: Api) -> AsyncIterator[SmallModel]:
    """The model over `api`."""
    async with open_model(base_url, api) as opened:
        yield opened
