"""Ids of calls, each of them once in a conversation: some servers count from zero in every answer, and give two calls one id.

    answer    call_0         ──▶ call_0          its result, call_0 ──▶ call_0
    answer    call_0         ──▶ call_0_2        its result, call_0 ──▶ call_0_2: the newest call of that id that waits for one

APIs refuse a request in which two calls have one id, and a stub of the first could not be told from that of the second. A program goes on with
the ids that its server gave; the dicts that it gets back have ours.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class CallIds:
    """What became of the ids of one conversation."""

    _again: dict[str, list[list[str]]] = field(default_factory=dict)
    """Of each id that was given more than once: what its calls are named, a list for each answer."""
    _waiting: dict[str, None] = field(default_factory=dict)
    """Names of the calls that have no result yet."""

    def of_calls(self, given: Sequence[str], taken: Collection[str]) -> list[str]:
        """Name the calls of one answer. `taken` are the names of all calls before it."""
        names: list[str] = []
        for call_id in given:
            name, number = call_id, 1
            while name in taken or name in names:
                number += 1
                name = f"{call_id}_{number}"
            names.append(name)
        for call_id in dict.fromkeys(given):
            here = [name for own, name in zip(given, names, strict=True) if own == call_id]
            if here != [call_id]:
                self._again.setdefault(call_id, [[call_id]] if call_id in taken else []).append(here)
        self._waiting.update(dict.fromkeys(names))
        return names

    def of_result(self, given: str) -> str:
        """Name the call that a result answers: of those with its id the newest that waits, else the newest."""
        names = self.names_of(given)
        name = next((name for name in names if name in self._waiting), self._again.get(given, [[given]])[-1][-1])
        self._waiting.pop(name, None)
        return name

    def names_of(self, given: str) -> list[str]:
        """Return the names of all calls that were given that id: the newest answer's first, those of one answer in its order."""
        return [name for names in reversed(self._again.get(given, [[given]])) for name in names]

    def dump(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "again": {call_id: [list(n) for n in names] for call_id, names in self._again.items()},
            "waiting": [*self._waiting],
        }

    def load(self, dumped: dict[str, Any]) -> None:
        """Take over what `dump` gave."""
        self._again = {call_id: [list(n) for n in names] for call_id, names in dumped["again"].items()}
        self._waiting = dict.fromkeys(dumped["waiting"])
