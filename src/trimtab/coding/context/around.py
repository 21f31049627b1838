"""Who is asked around requests and compactions: the hooks of others, or nobody."""

from collections.abc import Callable
from typing import Protocol

from trimtab.types.entries import EditEntry
from trimtab.types.messages import Message, User
from trimtab.types.models import ModelRequest


class Around(Protocol):
    """Asked by the transcript. None of it raises, and all of it has time limits."""

    async def before_request(self, request: ModelRequest, said: Callable[[], tuple[Message, ...]]) -> tuple[User, ...]:
        """What is to be recorded before the request is made, behind the conversation, which `said` gives."""
        ...

    async def before_summary(self, model: str) -> str:
        """Why no model is to be asked for a summary; empty when one may be."""
        ...

    async def edited(self, entry_id: str, entry: EditEntry) -> None:
        """An edit was recorded."""
        ...


class NobodyAround:
    """Lets all go on."""

    async def before_request(self, request: ModelRequest, said: Callable[[], tuple[Message, ...]]) -> tuple[User, ...]:
        """Nothing."""
        return ()

    async def before_summary(self, model: str) -> str:
        """No reason."""
        return ""

    async def edited(self, entry_id: str, entry: EditEntry) -> None:
        """Nobody listens."""
