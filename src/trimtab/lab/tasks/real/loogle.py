"""LooGLE: questions about one long document, with the sentences that answer them.

Files: `loogle/shortdep_qa.jsonl.gz` and `loogle/longdep_qa.jsonl.gz`: `input` (the document), `title`, `qa_pairs` (a Python literal: `Q`, `A`, `S`). Some lines of these files are
no valid JSON; they are left out, and so are questions whose evidence isn't found in the document. Where evidence is several passages, the first one that is found counts.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trimtab.lab.tasks.plot import seeded
from trimtab.lab.tasks.real.files import folded, read_once, rows_of
from trimtab.lab.tasks.real.haystack import CHARS, Gold, Haystack, Piece, picked
from trimtab.lab.tasks.task import Level, Task

NAME = "loogle"
FILES = ("shortdep_qa.jsonl.gz", "longdep_qa.jsonl.gz")
_LEAST = 20
"""Characters of the shortest evidence."""


def make(folder: Path, seed: int, level: Level) -> Task:
    """Make a task of a document: it is read in chunks of the level's size."""
    rng = seeded(NAME, seed, level)
    title, text, pairs = picked(NAME, _documents(folder), seed)
    chunks = _chunks(title, text, round(level.tokens * CHARS))
    golds = [gold for pair in pairs for gold in _golds(chunks, pair)]
    prompt = f"Read '{title}' and answer these questions:"
    return Haystack(NAME, prompt, rng.sample(golds, len(golds)), chunks).task(seed, level, rng)


@read_once
def _documents(folder: Path) -> tuple[tuple[str, str, tuple[tuple[str, str, tuple[str, ...]], ...]], ...]:
    """Title, text, and (question, answer, evidence) of each document of which anything can be asked."""
    found = []
    for name in FILES:
        path = folder / NAME / name
        for row in rows_of(path) if path.is_file() else ():
            text = folded(row["input"])
            pairs = tuple(_asked(row["qa_pairs"], text))
            if pairs:
                found.append((row["title"], text, pairs))
    return tuple(found)


def _asked(pairs: str, text: str) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    try:
        listed: list[dict[str, Any]] = ast.literal_eval(pairs)
    except (ValueError, SyntaxError):
        return
    for pair in listed:
        shown = pair.get("S") or ()
        evidence = tuple(
            e for e in map(folded, [shown] if isinstance(shown, str) else shown) if len(e) >= _LEAST and e in text
        )
        if evidence:
            yield folded(pair["Q"]), str(pair["A"]), evidence


def _chunks(title: str, text: str, chars: int) -> list[Piece]:
    """The document in pieces of about `chars` characters, each beginning a little before the end of the one in front of it."""
    overlap = min(600, chars // 3)
    starts = range(0, max(1, len(text) - overlap), max(1, chars - overlap))
    return [Piece(f"{title} [{number}/{len(starts)}]", text[at : at + chars]) for number, at in enumerate(starts, 1)]


def _golds(chunks: list[Piece], pair: tuple[str, str, tuple[str, ...]]) -> Iterator[Gold]:
    question, answer, evidence = pair
    for text in evidence:
        holding = next((chunk for chunk in chunks if text in chunk.text), None)
        if holding is not None:
            yield Gold(holding, text, question, (answer,))
            return
