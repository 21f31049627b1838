"""Who is asked around requests and compactions: the hooks of others, or nobody."""

from collections.abc import Callable
from typing import Protocol

from trimtab.context.asks import Consent, Consented
from trimtab.types.entries import EditEntry
from trimtab.types.messages import Message, User
from trimtab.types.models import ModelRequest


class Around(Protocol):
    """Asked by the transcript. None of it raises, and all of it has time limits."""

    async def before_request(self, request: ModelRequest, said: Callable[[], tuple[Message, ...]]) -> tuple[User, ...]:
        """What is to be recorded before the request is made, behind the conversation, which `said` gives."""
        ...

    @property
    def hears_compactions(self) -> bool:
        """Whether to ask before one at all."""
        ...

    async def before_compaction(self, model: str, ask: Consent) -> Consented:
        """What there is against a compaction in the window of `model`, or what is wanted of it."""
        ...

    async def edited(self, entry_id: str, entry: EditEntry) -> None:
        """An edit was recorded."""
        ...


class NobodyAround:
    """Lets all go on."""

    async def before_request(self, request: ModelRequest, said: Callable[[], tuple[Message, ...]]) -> tuple[User, ...]:
        """Nothing."""
        return ()

    @property
    def hears_compactions(self) -> bool:
        """No."""
        return False

    async def before_compaction(self, model: str, ask: Consent) -> Consented:
        """Nothing."""
        return Consented()

    async def edited(self, entry_id: str, entry: EditEntry) -> None:
        """Nobody listens."""
