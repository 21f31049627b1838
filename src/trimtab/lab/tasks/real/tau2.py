"""tau2-banking: an agent of a bank, 698 documents, and for each task the documents that it rests on.

Files: `tau2-banking/documents.jsonl.gz` (`id`, `title`, `content`) and `tau2-banking/tasks.json.gz` (`user_scenario.instructions`, `evaluation_criteria.actions`, `required_documents`). Which line of a
document matters isn't said: it is taken to be the one that shares most words with what the agent has to do in the end.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trimtab.lab.tasks.plot import seeded
from trimtab.lab.tasks.real.files import read_once, rows_of, text_of
from trimtab.lab.tasks.real.haystack import Gold, Haystack, Piece, picked
from trimtab.lab.tasks.task import Level, Task

NAME = "tau2-banking"
_LEAST = 20
"""Characters of the shortest line that can matter."""
_WORDS = re.compile(r"[a-z0-9]{4,}")


def make(folder: Path, seed: int, level: Level) -> Task:
    """Make a task of one customer: the documents that their case rests on stand among all others."""
    documents, cases = _bank(folder)
    case = picked(NAME, cases, seed)
    wanted = frozenset(_words(json.dumps(case["evaluation_criteria"]["actions"])))
    golds = [
        gold for name in case["required_documents"] if name in documents for gold in _golds(documents[name], wanted)
    ]
    pool = [piece for name, piece in documents.items() if name not in case["required_documents"]]
    prompt = f"A customer is on the line. What is known of them:\n{case['user_scenario']['instructions']}\nFind the rules that their case rests on:"
    rng = seeded(NAME, seed, level)
    return Haystack(NAME, prompt, rng.sample(golds, len(golds)), pool).task(seed, level, rng)


@read_once
def _bank(folder: Path) -> tuple[dict[str, Piece], list[dict[str, Any]]]:
    """All documents by id, and the cases that rest on any of them."""
    documents = {
        row["id"]: Piece(row["title"], row["content"]) for row in rows_of(folder / NAME / "documents.jsonl.gz")
    }
    cases = json.loads(text_of(folder / NAME / "tasks.json.gz"))
    return documents, [case for case in cases if any(name in documents for name in case["required_documents"])]


def _golds(piece: Piece, wanted: frozenset[str]) -> Iterator[Gold]:
    lines = [line.strip() for line in piece.text.splitlines() if len(line.strip()) >= _LEAST]
    once = [line for line in lines if piece.text.count(line) == 1]
    if once:
        line = max(once, key=lambda text: (len(wanted.intersection(_words(text))), len(text)))
        yield Gold(piece, line, f"Which rule of '{piece.name}' applies?", (line,))


def _words(text: str) -> list[str]:
    return _WORDS.findall(text.lower())
