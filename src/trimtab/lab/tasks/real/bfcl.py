"""BFCL memory: what users told in earlier conversations, and questions that only those answer.

Files: `bfcl/memory_prereq_conversation/memory_SCENARIO.json` (`question`: turns of messages), `bfcl/BFCL_v4_memory.json` (`id`, `question`, `scenario`) and
`bfcl/possible_answer/BFCL_v4_memory.json` (`id`, `ground_truth`, `source`: a quote, with dots where it was shortened). Questions whose quote isn't found are left out.
"""

from collections.abc import Iterator
from pathlib import Path

from trimtab.lab.tasks.plot import seeded
from trimtab.lab.tasks.real.files import folded, read_once, rows_of
from trimtab.lab.tasks.real.haystack import Gold, Haystack, Piece, picked
from trimtab.lab.tasks.task import Level, Task

NAME = "bfcl-memory"
ROOT = "bfcl"
FILE = "BFCL_v4_memory.json"
_LEAST = 15
"""Characters of the shortest quote."""


def make(folder: Path, seed: int, level: Level) -> Task:
    """Make a task of one scenario: a long chat in which the user tells things, and asks about some of them later."""
    rng = seeded(NAME, seed, level)
    scenario, turns, golds = picked(NAME, _scenarios(folder), seed)
    prompt = (
        f"Hello. I'll tell you about my situation ({scenario}) as we go, and will ask you about it later, for instance:"
    )
    return Haystack(NAME, prompt, rng.sample(golds, len(golds)), turns, chat=True).task(seed, level, rng)


@read_once
def _scenarios(folder: Path) -> tuple[tuple[str, tuple[Piece, ...], tuple[Gold, ...]], ...]:
    root = folder / ROOT
    truth = {row["id"]: row for row in rows_of(root / "possible_answer" / FILE)}
    asked = list(rows_of(root / FILE))
    found = []
    for path in sorted((root / "memory_prereq_conversation").glob("memory_*.json")):
        scenario = path.stem.removeprefix("memory_")
        turns = tuple(_turns(path))
        golds = tuple(
            gold
            for row in asked
            if row["scenario"] == scenario and row["id"] in truth
            for gold in _golds(turns, row["question"][0][0]["content"], truth[row["id"]])
        )
        if golds:
            found.append((scenario, turns, golds))
    return tuple(found)


def _turns(path: Path) -> Iterator[Piece]:
    for row in rows_of(path):
        for turn in row["question"]:
            for message in turn:
                if message["role"] == "user":
                    yield Piece(row["id"], folded(message["content"]))


def _golds(turns: tuple[Piece, ...], question: str, truth: dict[str, object]) -> Iterator[Gold]:
    """The gold of a question: the longest part of its quote that one turn holds."""
    answers, source = truth["ground_truth"], truth["source"]
    if not isinstance(source, str) or not isinstance(answers, list):
        return
    for part in sorted((folded(p).strip() for p in source.split("...")), key=len, reverse=True):
        holding = next((turn for turn in turns if len(part) >= _LEAST and part in turn.text), None)
        if holding is not None:
            yield Gold(holding, part, question, tuple(map(str, answers)))
            return
