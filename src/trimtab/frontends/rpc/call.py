"""One request on its way to its one answer.

Call ──answer(data)──▶ {"type": "response", "success": true, …}
     └─refuse(why)───▶ {"type": "response", "success": false, "error": …}
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from trimtab.frontends.rpc.requests import Asked, Id
from trimtab.frontends.rpc.values import Json
from trimtab.types.errors import TrimtabError


class Null:
    """The answer holds null; None as an answer means that it holds nothing."""


NULL: Final = Null()
_LONGEST = 4_000
"""Characters of an error: it may repeat what was sent."""
Answer: TypeAlias = Mapping[str, Any] | Null | None


def response(command: str, *, id: Id | None, data: Answer = None, error: str | None = None) -> Json:
    """The record that answers a request."""
    head: Json = {} if id is None else {"id": id}
    head |= {"type": "response", "command": command, "success": error is None}
    if error is not None:
        return {**head, "error": error if len(error) <= _LONGEST else f"{error[:_LONGEST]}…"}
    return head if data is None else {**head, "data": None if isinstance(data, Null) else data}


@dataclass(slots=True)
class Call:
    """A request, and the way back. Answered once; what is said later is dropped."""

    asked: Asked
    put: Callable[[Json], None]
    answered: bool = False
    later: bool = False
    """Whoever took it answers when it is done."""
    done: Callable[[], None] = lambda: None
    """Told once it was answered."""

    def answer(self, data: Answer = None) -> None:
        """It was done."""
        self._say(response(self.asked.verb.name, id=self.asked.id, data=data))

    def refuse(self, why: TrimtabError | str) -> None:
        """It wasn't."""
        words = (
            why if isinstance(why, str) else f"{why.message}. {why.hint}".removesuffix(" ") if why.hint else why.message
        )
        self._say(response(self.asked.verb.name, id=self.asked.id, error=words))

    def _say(self, record: Json) -> None:
        if not self.answered:
            self.answered = True
            self.put(record)
            self.done()
