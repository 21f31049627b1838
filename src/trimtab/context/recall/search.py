"""What `recall` answers: hits for a query, a page of an item, or the lines of one item that hold a query.

    {query}        ──search──▶ hits, exact first, a line or three of each, and the page that they stand on
    {id, page}     ──resolve, text_of──▶ a head line, then the exact text of the page
    {id, query}    ──▶ the lines of that item

Pure: everything comes through `ArchiveReader`. An answer keeps to `max_tokens`, and whatever it leaves out it says how to get.
"""

from dataclasses import dataclass

from trimtab.context.recall.index import Document, Hit, Index
from trimtab.context.recall.pages import LEAST_TOKENS, item_room, page, page_at, page_ends
from trimtab.context.recall.reader import ArchiveReader

_HITS = 10
"""Hits on one page of answers."""
_LINES = 100
"""Lines of one item that an answer may list."""
_PAGED_HIT, _PAGED_ITEM = 1 << 17, 1 << 21
"""Characters of an item up to which its lines are told with their page, in hits and in the lines of that item: all of it is counted."""
_LAST_PAGE = 100_000
_ECHO = 80
"""Characters of a query or a name that an answer repeats."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """The answer. `is_error`: the request can't be right; finding nothing isn't an error."""

    text: str
    is_error: bool = False


def recall(archive: ArchiveReader, *, query: str = "", name: str = "", number: int = 1, max_tokens: int) -> Recalled:
    """Answer one request in at most `max_tokens` (but 96 at least). `number`: which page, of the item or of the hits.

    `max_tokens` has to be the same for each page of an item, since it decides where pages end.
    """
    query, name, number = query.strip(), name.strip(), min(max(number, 1), _LAST_PAGE)
    max_tokens = max(max_tokens, LEAST_TOKENS)
    if name:
        answer = _of_item(archive, name, query, number, max_tokens)
    elif query:
        answer = _hits(archive, query, number, max_tokens)
    else:
        answer = Recalled("give a query to search for, or the id of an item to read", is_error=True)
    return answer


def _of_item(archive: ArchiveReader, name: str, query: str, number: int, max_tokens: int) -> Recalled:
    found = archive.resolve(name)
    if found is None:
        return Recalled(_no_item(archive, name, max_tokens), is_error=True)
    text = archive.text_of(found)
    if text is None:
        return Recalled(f"item {_echo(name)} holds no text; its pictures come back with unarchive", is_error=True)
    if query:
        return _lines(archive, found, text, query, max_tokens)
    part = page(text, number, item_room(found, max_tokens, archive.count), archive.count)
    total = text.count("\n") + (not text.endswith("\n"))
    head = f"[{found}: page {part.number} of {part.of}, lines {part.first_line}-{part.last_line} of {total}"
    head += "; there is no such page" if number != part.number else ""
    head += f"; go on with page {part.number + 1}]" if part.number < part.of else "; the end]"
    return Recalled(f"{head}\n{part.text}")


def _no_item(archive: ArchiveReader, name: str, max_tokens: int) -> str:
    """What is near, as far as it has room, and where ids stand."""
    told = f"no item {_echo(name)}: "
    rest = "use an id that a stub, a result's head or a list of hits shows, or search with {query}"
    near = [one for one in archive.near(name) if len(one) <= _ECHO]
    while near and archive.count(f"{told}near are {', '.join(near)}; {rest}") > max_tokens:
        near.pop()
    return f"{told}near are {', '.join(near)}; {rest}" if near else told + rest


def _lines(archive: ArchiveReader, name: str, text: str, query: str, max_tokens: int) -> Recalled:
    """Hits inside one item: an index of its own, each line a document."""
    lines = Index(fts=False)
    for n, line in enumerate(text.split("\n"), 1):
        lines.add(Document(str(n), "line", "", line))
    found = lines.exact(query, len(lines)) or lines.ranked(query, 2 * _HITS)
    if not found:
        return Recalled(f"{name} holds nothing of {_echo(query)}; without a query its pages can be read")
    pages = _Pages(archive, name, max_tokens, text=text, longest=_PAGED_ITEM)
    in_order = sorted((int(hit.id), hit.lines[0].text) for hit in found)
    rows = [f"  line {n}{pages.of_line(n)}: {line}" for n, line in in_order[:_LINES]]
    return Recalled(_joined(archive, f"{len(found)} lines of {name} for {_echo(query)}", rows, max_tokens))


def _hits(archive: ArchiveReader, query: str, number: int, max_tokens: int) -> Recalled:
    start = (number - 1) * _HITS
    found = tuple(archive.search(query, start + _HITS + 1))
    shown = found[start : start + _HITS]
    if not shown:
        if start:
            return Recalled(f"no page {number} of hits for {_echo(query)}: {len(found)} in all")
        return Recalled(
            f"nothing holds {_echo(query)}, as it stands or by its words; try fewer or other words, such as a name or number"
        )
    rows = [_hit(archive, hit, max_tokens) for hit in shown]
    head = f"hits {start + 1}-{start + len(shown)} for {_echo(query)}; read one with {{id, page}}"
    head += f", more with page {number + 1}" if len(found) > start + _HITS else ""
    return Recalled(_joined(archive, head, rows, max_tokens))


def _hit(archive: ArchiveReader, hit: Hit, max_tokens: int) -> str:
    text = archive.text_of(hit.id) if hit.size <= _PAGED_HIT else None
    pages = _Pages(archive, hit.id, max_tokens, text=text, longest=_PAGED_HIT)
    how = f"{hit.matches} exact" if hit.exact else "by words"
    head = f"{hit.id} ({hit.tool or hit.kind}, {hit.size:,} characters, {how})"
    return "\n".join((head, *(f"  line {line.number}{pages.of_line(line.number)}: {line.text}" for line in hit.lines)))


class _Pages:
    """On which page of an item a line is; says nothing for an item of one page, or one that takes too long to count."""

    def __init__(self, archive: ArchiveReader, name: str, max_tokens: int, *, text: str | None, longest: int) -> None:
        self._text = text or ""
        room = item_room(name, max_tokens, archive.count)
        counted = room < len(self._text) <= longest
        self._ends = page_ends(self._text, room, archive.count) if counted else ()

    def of_line(self, number: int) -> str:
        """Return `, page 3`, or nothing."""
        if len(self._ends) < 2:
            return ""
        start = 0
        for _ in range(number - 1):
            start = self._text.find("\n", start) + 1
        return f", page {page_at(self._ends, start)}"


def _joined(archive: ArchiveReader, head: str, rows: list[str], max_tokens: int) -> str:
    """Head and as many rows as fit; what doesn't is counted."""
    text = head
    for n, row in enumerate(rows):
        longer = f"{text}\n{row}"
        rest = len(rows) - n - 1
        if archive.count(f"{longer}\n{_left(rest)}" if rest else longer) > max_tokens:
            return f"{text}\n{_left(rest + 1)}"
        text = longer
    return text


def _left(rows: int) -> str:
    return f"{rows} more had no room; ask more narrowly"


def _echo(text: str) -> str:
    return repr(text if len(text) <= _ECHO else text[:_ECHO] + "…")
