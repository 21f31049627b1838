"""Lost in the middle: a value under a key among many, and passages of which one holds the answer.

Files: `lost-in-the-middle/kv-retrieval-75_keys.jsonl.gz` (`ordered_kv_records`, `key`, `value`) and `nq-open-oracle.jsonl.gz` (`question`, `answers`, `ctxs` with
`title`, `text`, `isgold`). Passages of other rows are the haystack.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from trimtab.lab.tasks.plot import seeded
from trimtab.lab.tasks.real.files import read_once, rows_of
from trimtab.lab.tasks.real.haystack import Gold, Haystack, Piece
from trimtab.lab.tasks.task import Level, Task

FOLDER = "lost-in-the-middle"
PAIRS = f"{FOLDER}-pairs"
PASSAGES = f"{FOLDER}-passages"
PAIRS_FILE, PASSAGES_FILE = "kv-retrieval-75_keys.jsonl.gz", "nq-open-oracle.jsonl.gz"


def pairs(folder: Path, seed: int, level: Level) -> Task:
    """Make a task of keys and values: pages of pairs, of which some are asked for."""
    golds, pool = _pairs(folder)
    return _shuffled(PAIRS, "Look up the values of these keys:", golds, pool, seed, level)


def passages(folder: Path, seed: int, level: Level) -> Task:
    """Make a task of passages: of each question one passage holds the answer."""
    golds, pool = _passages(folder)
    return _shuffled(PASSAGES, "Answer these questions from the passages:", golds, pool, seed, level)


def _shuffled(
    name: str, prompt: str, golds: tuple[Gold, ...], pool: tuple[Piece, ...], seed: int, level: Level
) -> Task:
    rng = seeded(name, seed, level)
    return Haystack(name, prompt, rng.sample(golds, len(golds)), pool).task(seed, level, rng)


@read_once
def _pairs(folder: Path) -> tuple[tuple[Gold, ...], tuple[Piece, ...]]:
    golds: list[Gold] = []
    pool: list[Piece] = []
    for number, row in enumerate(rows_of(folder / FOLDER / PAIRS_FILE)):
        records = [(key, value) for key, value, *_ in row["ordered_kv_records"]]
        piece = Piece(f"pairs-{number}", "\n".join(json.dumps({key: value}) for key, value in records))
        golds.append(Gold(piece, row["value"], f"Which value has the key {row['key']}?", (row["value"],)))
        pool.append(Piece(f"pairs-{number}", "\n".join(json.dumps({k: v}) for k, v in records if k != row["key"])))
    return tuple(golds), tuple(pool)


@read_once
def _passages(folder: Path) -> tuple[tuple[Gold, ...], tuple[Piece, ...]]:
    golds: list[Gold] = []
    pool: list[Piece] = []
    for row in rows_of(folder / FOLDER / PASSAGES_FILE):
        for passage in row["ctxs"]:
            piece = Piece(passage["title"], passage["text"])
            pool.append(piece)
            if passage.get("isgold"):
                golds += _answered(piece, row["question"], row["answers"])
    return tuple(golds), tuple(pool)


def _answered(piece: Piece, question: str, answers: list[str]) -> Iterator[Gold]:
    """The gold of a passage: the first sentence that holds an answer is the evidence."""
    for sentence in re.split(r"(?<=[.!?])\s+", piece.text):
        held = tuple(answer for answer in answers if answer in sentence)
        if held and len(sentence) >= 20:
            yield Gold(piece, sentence, f"{question}?", held)
            return
