"""The library: the document as its reader gets at it. Nothing can be searched or read before the index is built."""

from collections.abc import Callable

from trimtab.context.tools.host import ToolReply
from trimtab.lab.docqa.calls import ReadChunk, ReadMultiChunks, SearchEngine
from trimtab.lab.docqa.document import Chunk, chunks_of
from trimtab.lab.docqa.search import ChunkIndex

MOST_CHUNKS = 3
"""Chunks that one call shows."""
_UNBUILT = ToolReply("there is no index yet: call buildIndex first", is_error=True)


class Library:
    """One document. `read` are the numbers of the chunks that were shown, in order and with repeats; `empty` counts searches in a row that found nothing."""

    def __init__(
        self, text: str, count: Callable[[str], int], *, size: int, back: int, hits: int, searches: int
    ) -> None:
        self._text, self._count = text, count
        self._size, self._back, self._hits = size, back, hits
        self.searches_left = searches
        self.read: list[int] = []
        self.empty = 0
        self._chunks: tuple[Chunk, ...] = ()
        self._index: ChunkIndex | None = None

    @property
    def built(self) -> bool:
        """Whether there is an index."""
        return self._index is not None

    @property
    def shown(self) -> str:
        """The text of all chunks that were read."""
        return "\n".join(self._chunks[number - 1].text for number in dict.fromkeys(self.read))

    def analyze(self) -> ToolReply:
        """Say how long the document is."""
        words = len(self._text.split())
        return ToolReply(
            f"the document has {len(self._text):,} characters, {words:,} words, about {self._count(self._text):,} tokens"
        )

    def build(self) -> ToolReply:
        """Cut the document and index it."""
        if self._index is None:
            self._chunks = chunks_of(self._text, self._count, size=self._size, back=self._back)
            self._index = ChunkIndex(self._chunks)
        if not self._chunks:
            return ToolReply("the document is empty", is_error=True)
        return ToolReply(f"{len(self._chunks)} chunks, numbered 1 to {len(self._chunks)}")

    def search(self, call: SearchEngine) -> ToolReply:
        """Find chunks."""
        if self._index is None:
            return _UNBUILT
        if self.searches_left <= 0:
            return ToolReply("no searches are left; work with what you have found, and finish", is_error=True)
        self.searches_left -= 1
        found = self._index.search(call.keyword, self._hits)
        self.empty = 0 if found else self.empty + 1
        if not found:
            return ToolReply("no chunk holds any of these phrases; try fewer or other words")
        rows = []
        for hit in found:
            section = f" ({hit.section})" if hit.section else ""
            rows.append(
                f"chunk {hit.chunk.number}{section}, score {hit.score:.2f}, {'; '.join(hit.phrases)}: {hit.highlight}"
            )
        return ToolReply("\n".join(rows))

    def read_one(self, call: ReadChunk) -> ToolReply:
        """Show a chunk, or the one behind the last that was shown."""
        if self._index is None:
            return _UNBUILT
        number = (self.read[-1] if self.read else 0) + 1 if call.enable_scan else call.chunk_id
        if call.enable_scan and number > len(self._chunks):
            return ToolReply("that was the last chunk", is_error=True)
        return self._show([number])

    def read_some(self, call: ReadMultiChunks) -> ToolReply:
        """Show several chunks."""
        if self._index is None:
            return _UNBUILT
        if not call.chunk_ids:
            return ToolReply("chunk_ids is empty", is_error=True)
        numbers = list(dict.fromkeys(call.chunk_ids))
        reply = self._show(numbers[:MOST_CHUNKS])
        left = numbers[MOST_CHUNKS:]
        if not left or reply.is_error:
            return reply
        return ToolReply(f"{reply.text}\n\n(not shown, {MOST_CHUNKS} is the most: {', '.join(map(str, left))})")

    def _show(self, numbers: list[int]) -> ToolReply:
        wrong = [number for number in numbers if not 1 <= number <= len(self._chunks)]
        if wrong:
            return ToolReply(f"there is no chunk {wrong[0]}; they are numbered 1 to {len(self._chunks)}", is_error=True)
        self.read += numbers
        seen = len(set(self.read))
        parts = [f"chunk {n} of {len(self._chunks)}\n{self._chunks[n - 1].text.strip()}" for n in numbers]
        return ToolReply("\n\n".join([*parts, f"({seen} of {len(self._chunks)} chunks read so far)"]))
