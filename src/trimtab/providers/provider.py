"""What every provider of this package is: something that streams the answer to a request.

The same shape as the loop's port `agent.ports.Provider`; providers and loop are siblings, so neither imports the other.
"""

from collections.abc import AsyncIterator
from typing import Protocol

from trimtab.types.models import ModelRequest
from trimtab.types.stream import StreamEvent


class Provider(Protocol):
    """A model one can ask. The stream never raises: failure is its last event (`Ended` with an error)."""

    def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Send one request and yield what comes back. Closing the iterator gives the request up."""
        ...
