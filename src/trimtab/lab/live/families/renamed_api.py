"""Functions that were renamed in one file, and callers in others that still use the old names."""

from random import Random

from trimtab.lab.live.assignment import Assignment, Fact, Move
from trimtab.lab.live.noise import Noise, Size, woven
from trimtab.lab.tasks.material import code
from trimtab.lab.tasks.material.names import fresh

NAME = "renamed-api"
_API = "core/ledger.py"
_CALLERS = 4
_OTHERS = 34
_FUNCTION = '''

def {new}(rows, by):  # was {old}
    """Give each row its share."""
    return [{factor} * row + by for row in rows]
'''
_CALLER = '''"""A job of every night."""

from core import ledger


def run(rows):
    """Do it."""
    return ledger.{old}(rows, {by})
'''
_TESTS = """import importlib
import unittest

__unittest = True
WANTED = {wanted}


class Jobs(unittest.TestCase):
    def test_each_job_runs(self):
        for name, wanted in WANTED.items():
            with self.subTest(name):
                try:
                    made = importlib.import_module(f"jobs.{{name}}").run([1, 2, 3])
                except AttributeError:
                    self.fail("it calls a function that is gone")
                self.assertTrue(made == wanted, "it calls another function than before")
"""


def make(number: int, size: Size) -> Assignment:
    """Make an assignment of this family."""
    rng = Random(f"live {NAME} {number}")
    noise = Noise(rng, size)
    taken: set[str] = set()
    body: list[str] = []
    files, truth, wanted = {"core/__init__.py": "", "jobs/__init__.py": ""}, dict[str, str](), dict[str, list[int]]()
    facts: list[Fact] = []
    early: list[Move] = [Move("What is it called now?", "read", {"path": _API})]
    late: list[Move] = []
    for place in range(_CALLERS + _OTHERS):
        old, new = (fresh(rng, code.function, taken) for _ in range(2))
        factor, by = 11 + place, rng.randint(2, 400)
        body.append(_FUNCTION.format(new=new, old=old, factor=factor))
        if place >= _CALLERS:
            continue
        job, fact = f"nightly_{place + 1}", f"function_{place + 1}"
        path = f"jobs/{job}.py"
        files[path] = _CALLER.format(old=old, by=by)
        wanted[job] = [factor * row + by for row in (1, 2, 3)]
        truth[fact] = new
        facts.append(Fact(fact, rf"def (\w+)\(rows, by\):  # was {old}\b", _API, f"was {old}", f"{old}_all"))
        early.append(Move("Who calls it?", "read", {"path": path}))
        edit = {"old": f"ledger.{old}(", "new": f"ledger.⟨{fact}⟩("}
        late.append(Move("", "edit", {"path": path, "edits": [edit]}))
    rng.shuffle(body)
    files[_API] = '"""The ledger. All names are new since version 3."""\n' + "".join(body)
    files["test_jobs.py"] = _TESTS.format(wanted=wanted)
    moves = woven(noise, early, late)
    return Assignment(
        NAME,
        number,
        "The nightly jobs in jobs/ call functions of the ledger that have other names since version 3. Find out what each of them is called now, look through the notes, traces and "
        "reports for other users, and repair the calls. Change nothing but the jobs.",
        files | noise.files,
        tuple(f"jobs/{job}.py" for job in wanted),
        tuple(facts),
        moves,
        truth,
    )
