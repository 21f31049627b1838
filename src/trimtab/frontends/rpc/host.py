"""What handlers work with: the desk of the session that is open, and what outlives it.

handler(host, request, call) ──▶ the answer's data, or None         raises `TrimtabError`, or `call.later` and answers itself
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from trimtab.coding.session import Session
from trimtab.frontends.rpc.call import Answer, Call
from trimtab.frontends.rpc.desk import WireDesk
from trimtab.frontends.rpc.dialogs import WirePerson
from trimtab.frontends.rpc.outbox import Outbox
from trimtab.frontends.rpc.stream import Stream
from trimtab.frontends.rpc.values import Json
from trimtab.frontends.rpc.verbs import Events


@dataclass(slots=True)
class Host:
    """`desk` and `stream` are those of the session that is open; `stop_job` takes back what is being done in the lane, where it can be."""

    outbox: Outbox
    person: WirePerson
    start: Callable[..., object]
    stop_job: Callable[[], None]
    events: Events = "own"
    open: tuple[WireDesk, Stream] | None = None

    @property
    def desk(self) -> WireDesk:
        """The desk."""
        assert self.open is not None
        return self.open[0]

    @property
    def stream(self) -> Stream:
        """What is told of the session."""
        assert self.open is not None
        return self.open[1]

    @property
    def session(self) -> Session:
        """The session that is open."""
        return self.desk.session

    def put(self, record: Json) -> None:
        """Send a record."""
        self.outbox.put(record)


Handler: TypeAlias = Callable[[Host, Any, Call], Awaitable[Answer]]
