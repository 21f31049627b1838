"""A host for the context tools: a few items, stores in memory, and a note of every action."""

from collections.abc import Sequence
from datetime import UTC, datetime

from trimtab.context.actions import Action
from trimtab.context.recall.index import Document, Hit, Index
from trimtab.context.seeing.observation import ItemFacts, Observation
from trimtab.context.stores.memories import Memories
from trimtab.context.stores.notes import MemoDict, MemoStore
from trimtab.context.tools.host import Outcome

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ITEMS = (
    ItemFacts(id="e1", kind="user", state="full", tokens=40, full_tokens=40, age=9, position=0, offset=0),
    ItemFacts(id="e3", kind="result", state="full", tokens=8_120, full_tokens=8_120, age=4, position=2, offset=40, handle="r1", tool="bash", pinned=True),
    ItemFacts(id="e5", kind="result", state="stub", tokens=30, full_tokens=900, age=3, position=4, offset=8_160, call_id="call_2", tool="read", superseded_by="r4"),
    ItemFacts(id="e7", kind="result", state="gone", tokens=0, full_tokens=900, age=2, position=6, offset=8_190, handle="r3", tool="read"),
)  # fmt: skip


class FakeHost:
    """What an engine is to the tools. Four characters are a token; an action that names `r99` is refused."""

    def __init__(self, texts: dict[str, str] | None = None, *, memos: MemoStore | None = None) -> None:
        self.actions: list[Action] = []
        self.memos: MemoStore = memos or MemoDict(now=lambda: NOW)
        self.memories = Memories(None, now=lambda: NOW, redact=lambda text: text)
        self.page_tokens = 500
        self.used = 61_234
        self._index = Index()
        for name, text in (texts or {}).items():
            self._index.add(Document(name, "result", "bash", text))

    def resolve(self, name: str) -> str | None:
        """The handle itself."""
        return name if name in self._index else None

    def near(self, name: str) -> Sequence[str]:
        """Nothing."""
        return ()

    def text_of(self, name: str) -> str | None:
        """The text as it was given."""
        document = self._index.get(name)
        return document.text if document else None

    def search(self, query: str, limit: int) -> Sequence[Hit]:
        """Hits of the index."""
        return self._index.search(query, limit)

    def count(self, text: str) -> int:
        """Four characters a token."""
        return -(-len(text) // 4)

    def act(self, actions: Sequence[Action]) -> Sequence[Outcome]:
        """Note the actions."""
        self.actions += actions
        return [
            Outcome("no item\n'r99'", done=False) if "r99" in a.targets else Outcome(f"{a.action} done")
            for a in actions
        ]

    def status(self) -> Observation:
        """A window of 200,000."""
        return Observation(
            step=9, used=self.used, fixed=4_000, window=200_000, room=160_000, reserve=36_000, soft=100_000, target=80_000, hard=150_000, items=ITEMS,
        )  # fmt: skip
