"""What the context tools need of whoever runs them, and what they give back.

    call ──▶ ContextTool.handle(arguments) ──actions──▶ host.act ──▶ outcomes ──▶ ToolReply, one line
                                           ├─store────▶ host.memos, host.memories
                                           └─question─▶ host.search, text_of, status

The agent's wiring and the facade for embedders are both hosts. A handler is synchronous and may touch a disk (memo, memory): an agent
calls it in a worker thread.

The one rule: what a model sent is an argument, not an order. A handler never raises for it; it answers with what is wrong and the next step.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from trimtab.context.actions import Action
from trimtab.context.recall.reader import ArchiveReader
from trimtab.types.tools import ToolSpec

if TYPE_CHECKING:
    from trimtab.context.seeing.observation import Observation
    from trimtab.context.stores.memories import Memories
    from trimtab.context.stores.notes import MemoStore


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an action, in one line. `done` is false where nothing changed."""

    text: str
    done: bool = True


class ContextToolHost(ArchiveReader, Protocol):
    """An engine with its stores, as the tools see it; `resolve`, `text_of`, `search` and `count` are those of `ArchiveReader`."""

    @property
    def memos(self) -> "MemoStore":
        """Where memos go."""
        ...

    @property
    def memories(self) -> "Memories":
        """The long-term memory of the project."""
        ...

    @property
    def page_tokens(self) -> int:
        """How many tokens one answer may have: small against the window, and the same all session, for page numbers count in it."""
        ...

    def act(self, actions: Sequence[Action]) -> Sequence[Outcome]:
        """Plan, check and apply actions in the name of the model; an outcome for each, in order. Never raises for an action."""
        ...

    def status(self) -> "Observation":
        """Return the context as it stands."""
        ...


Refuse: TypeAlias = Callable[[object], str | None]
"""Says why arguments must not be written anywhere: a live stub or pointer stands in them. None: they may."""


@dataclass(frozen=True, slots=True)
class ToolReply:
    """What a model reads."""

    text: str
    is_error: bool = False


Handler: TypeAlias = Callable[[Mapping[str, Any]], ToolReply]


@dataclass(frozen=True, slots=True)
class ContextTool:
    """One tool, bound to its host."""

    spec: ToolSpec
    handle: Handler


def acted(host: ContextToolHost, action: Action) -> ToolReply:
    """Do one action and tell its outcome."""
    outcomes = host.act([action])
    done = bool(outcomes) and all(outcome.done for outcome in outcomes)
    text = "; ".join(" ".join(outcome.text.split()) for outcome in outcomes) or "nothing was done"
    return ToolReply(text, is_error=not done)
