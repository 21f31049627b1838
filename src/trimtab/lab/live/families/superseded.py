"""Limits that were decided once and decided anew later: whoever goes by the first decision writes the wrong one."""

from random import Random

from trimtab.lab.live.assignment import Assignment, Fact, Move
from trimtab.lab.live.noise import Noise, Size, woven
from trimtab.lab.tasks.material import prose
from trimtab.lab.tasks.material.names import SERVICES
from trimtab.lab.tasks.material.pages import page

NAME = "superseded-limit"
_FIRST, _LAST = "decisions/0007.md", "decisions/0031.md"
_LIMITS = 3
_TESTS = """import importlib
import re
import unittest
from pathlib import Path

__unittest = True
DECIDED = {{}}
for page in sorted(Path("decisions").glob("*.md")):
    DECIDED |= dict(re.findall(r"The cut-off for (\\w+) is (\\d+) days", page.read_text("utf-8")))


class Limits(unittest.TestCase):
    def test_each_limit_is_the_one_that_was_decided_last(self):
        for name in {names}:
            limits = importlib.import_module(f"limits.{{name}}")
            with self.subTest(name):
                self.assertTrue(str(limits.CUTOFF_DAYS) == DECIDED[name], "another limit was decided last")
"""


def make(number: int, size: Size) -> Assignment:
    """Make an assignment of this family."""
    rng = Random(f"live {NAME} {number}")
    noise = Noise(rng, size)
    names = rng.sample(SERVICES, _LIMITS)
    files, truth = {"limits/__init__.py": ""}, dict[str, str]()
    facts: list[Fact] = []
    late: list[Move] = []
    decided: dict[str, list[str]] = {_FIRST: [], _LAST: []}
    for name in names:
        before, first, last = rng.sample(range(11, 400), 3)
        decided[_FIRST].append(f"The cut-off for {name} is {first} days.")
        decided[_LAST].append(
            f"The cut-off for {name} is {last} days. This takes the place of what was decided before."
        )
        path = f"limits/{name}.py"
        files[path] = f'"""What is too late for {name}."""\n\nCUTOFF_DAYS = {before}\n'
        truth[name] = str(last)
        facts.append(Fact(name, rf"The cut-off for {name} is (\d+) days", _LAST, f"The cut-off for {name}", str(first)))
        edit = {"old": f"CUTOFF_DAYS = {before}\n", "new": f"CUTOFF_DAYS = ⟨{name}⟩\n"}
        late.append(Move("", "edit", {"path": path, "edits": [edit]}))
    for path, lines in decided.items():
        files[path] = page(rng, prose.paragraph, noise.chars("prose"), lines, gap="\n\n") + "\n"
    files["test_limits.py"] = _TESTS.format(names=tuple(names))
    early = [Move("What was decided?", "read", {"path": path}) for path in (_FIRST, _LAST)]
    moves = woven(noise, early, late)
    return Assignment(
        NAME,
        number,
        f"The limits for {', '.join(names)} aren't those that were decided. Read the decisions (a later one takes the place of an earlier one), look through notes, traces and reports "
        "for what speaks against them, then set the limits below limits/. Change nothing else.",
        files | noise.files,
        tuple(f"limits/{name}.py" for name in names),
        tuple(facts),
        moves,
        truth,
    )
