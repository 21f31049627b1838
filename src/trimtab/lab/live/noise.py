"""What stands between the reading and the using: files, logs and listings that nobody needs, and the steps that look at them.

Noise(rng) ──look──▶ a file more in the repository, and a move that shows a page of it        ──woven──▶ the plan of an assignment
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from trimtab.lab.live.assignment import TESTS, Move
from trimtab.lab.tasks.material import code, prose
from trimtab.lab.tasks.material.logs import Log, metric_line, test_line
from trimtab.lab.tasks.material.pages import CHARS, page

_EARLY = 0.3
"""The part of them by which everything has been read that has to be known."""
_LATE = 0.75
"""The part of them after which it is used."""


@dataclass(frozen=True, slots=True)
class Size:
    """How long an assignment is: the least and the most steps that look at something nobody needs, and tokens of one such thing (also of one that is needed)."""

    steps: tuple[int, int] = (18, 34)
    tokens: tuple[int, int] = (500, 2_400)


USUAL = Size()
"""Forty requests, about, of which the last has 40,000 to 70,000 tokens where everything is kept."""


class Noise:
    """Makes files and looks at them. `files`: those made so far, by path."""

    def __init__(self, rng: Random, size: Size) -> None:
        self.rng = rng
        self.size = size
        self.files: dict[str, str] = {}
        self._log = Log(rng)

    def look(self) -> Move:
        """A file more, and a step that looks at it."""
        kind = self.rng.choice((self._notes, self._trace, self._source, self._report))
        return kind()

    def chars(self, material: str) -> int:
        """How long a page of a material is here."""
        return int(self.rng.randint(*self.size.tokens) * CHARS[material])

    def _notes(self) -> Move:
        path = self._keep("notes", "md", page(self.rng, prose.paragraph, self.chars("prose"), gap="\n\n"))
        return Move("Does anybody write about it?", "read", {"path": path})

    def _trace(self) -> Move:
        path = self._keep("traces", "log", page(self.rng, self._log.line, self.chars("log")))
        return Move("What did it do at run time?", "bash", {"command": f"cat {path}"})

    def _source(self) -> Move:
        path = self._keep("legacy", "txt", page(self.rng, code.source_line, self.chars("code")))
        return Move("This part may be older.", "read", {"path": path})

    def _report(self) -> Move:
        line = self.rng.choice((test_line, metric_line))
        path = self._keep("reports", "txt", page(self.rng, line, self.chars("log")))
        last = self.files[path].count("\n") + 1
        return Move("And the report of last night.", "bash", {"command": f"sed -n 1,{last}p {path}"})

    def _keep(self, folder: str, ending: str, text: str) -> str:
        path = f"{folder}/{folder}-{len(self.files) + 1:02}.{ending}"
        self.files[path] = text + "\n"
        return path


def woven(noise: Noise, early: Sequence[Move], late: Sequence[Move]) -> tuple[Move, ...]:
    """Return a plan: the tests, `early` in its first part, `late` in its last, each in its order, noise around both, the tests once more."""
    rng, steps = noise.rng, noise.rng.randint(*noise.size.steps)
    first, last = int(_EARLY * steps), int(_LATE * steps)
    places = [(at, move) for at, move in zip(_spread(rng, 0, first, len(early)), early, strict=True)]
    places += [(at, move) for at, move in zip(_spread(rng, last, steps, len(late)), late, strict=True)]
    plan = [Move("I'll see what fails.", "bash", {"command": TESTS})]
    for step in range(steps + 1):
        plan += [move for at, move in places if at == step]
        plan += [noise.look()] if step < steps else []
    return (*plan, Move("Do the tests pass now?", "bash", {"command": TESTS}))


def _spread(rng: Random, low: int, high: int, many: int) -> list[int]:
    return sorted(rng.randint(low, high) for _ in range(many))
