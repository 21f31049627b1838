"""Whatever happens to the files, the index says what a scan of them says."""

import os
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from support.sessions import header, line, now
from trimtab.context.recall.words import index_words
from trimtab.context.stores.bodies import MemoryBodies
from trimtab.context.stores.folder import SessionFolder
from trimtab.context.stores.scan import scan
from trimtab.sessions.index.index import SessionIndex
from trimtab.sessions.index.query import parse
from trimtab.sessions.index.texts import rows_of

WORDS = ("apple", "pear", "日本語", "fooBar", "x_y")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
LINES = st.one_of(
    st.tuples(st.sampled_from("abcd"), TEXTS).map(lambda pair: line(pair[0], None, pair[1])),
    st.sampled_from(
        [b"noise", b"\0\0\0", b'{"type":"session_info","id":"t","parent":null,"time":"","title":"pear pie"}']
    ),
)
CHANGES = st.one_of(
    st.tuples(st.just("append"), st.integers(0, 2), LINES, st.sampled_from([b"\n", b"\n", b""])),
    st.tuples(st.just("tear"), st.integers(0, 2), st.integers(1, 60)),
    st.tuples(st.just("rewrite"), st.integers(0, 2), st.lists(LINES, max_size=3)),
    st.tuples(st.just("delete"), st.integers(0, 2)),
    st.just(("ask",)),
)


def change(path: Path, what: str, *how: object) -> None:
    match what, how:
        case "append", (bytes() as data, bytes() as end):
            with path.open("ab") as file:
                file.write((b"" if path.exists() and path.stat().st_size else header() + b"\n") + data + end)
        case "tear", (int() as size,) if path.exists():
            os.truncate(path, max(path.stat().st_size - size, 0))
        case "rewrite", (list() as lines,):
            path.write_bytes(b"\n".join([header(), *lines]) + b"\n")
        case "delete", ():
            path.unlink(missing_ok=True)
        case _:
            pass


def scanned(folder: Path, word: str) -> set[tuple[str, str, str]]:
    """Session file, entry and text of everything that holds `word`."""
    wanted = set(parse(word).terms)
    found = set()
    for path in folder.glob("*.jsonl"):
        for row in rows_of(scan(path.read_bytes()), MemoryBodies()):
            if wanted <= {f'"{w}"' for w in index_words(row.text)}:
                found.add((path.name, row.entry, row.role))
    return found


@settings(max_examples=60, deadline=None)
@given(st.lists(CHANGES, min_size=1, max_size=12))
def test_the_index_finds_and_lists_what_a_scan_does(changes):
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        home = SessionFolder(root / "sessions", root / "bodies", now=now)
        folder = home.folder_of("/proj")
        folder.mkdir(parents=True)
        index = SessionIndex(root / "index.sqlite", home)
        for what, *more in [*changes, ("ask",)]:
            if what != "ask":
                number, *how = more
                change(folder / f"T_name{number}.jsonl", what, *how)
                continue
            assert index.listing() == home.listing()
            for word in WORDS:
                hits = index.search(parse(word), limit=1_000).hits
                assert {(h.session.path.name, h.entry_id, h.role) for h in hits} == scanned(folder, word)
