"""A batch: wishes collected one by one, with what they take out and where they break the cache; what policies of ours make their answer of.

add(elide, item, why) … ──▶ gain, edge ──actions──▶ one action for each kind and reason
"""

from collections.abc import Iterable
from typing import Any

from trimtab.context.actions import Action, ActionName
from trimtab.context.policies.weighing import gain_of
from trimtab.context.seeing.observation import ItemFacts


class Batch:
    """Wishes collected by kind and reason, with the tokens that they take out. `names`: tokens of names that a stub keeps; `share`: of a result that is compressed."""

    def __init__(self, need: int, names: int = 0, share: float = 0.0) -> None:
        self.need = need
        self.names = {"names": names} if names else {}
        self.shortened = {"share": share, "otherwise": "elide", **self.names} if share else {}
        self.gain = 0
        self.edge: int | None = None
        self._taken: set[str] = set()
        self._wanted: dict[tuple[ActionName, str], list[str]] = {}

    @property
    def missing(self) -> int:
        """Tokens still to go."""
        return self.need - self.gain

    def add(self, name: ActionName, item: ItemFacts, reason: str) -> None:
        """Want one thing of one item; a second wish for the same item, or one that gains nothing, is passed over."""
        gain = gain_of(Action(name, params=self._params(name)), item)
        if item.id in self._taken or gain <= 0:
            return
        self._taken.add(item.id)
        self.gain += gain
        if item.sent:
            self.edge = item.offset if self.edge is None else min(self.edge, item.offset)
        self._wanted.setdefault((name, reason), []).append(item.id)

    def fill(self, name: ActionName, items: Iterable[ItemFacts], reason: str) -> None:
        """Want the same of one item after another until enough goes."""
        for item in items:
            if self.missing <= 0:
                return
            self.add(name, item, reason)

    def actions(self) -> tuple[Action, ...]:
        """The wishes, each kind and reason one action."""
        return tuple(
            Action(name, tuple(ids), self._params(name), reason) for (name, reason), ids in self._wanted.items()
        )

    def _params(self, name: ActionName) -> dict[str, Any]:
        return dict(self.names if name == "elide" else self.shortened if name == "compress" else {})
