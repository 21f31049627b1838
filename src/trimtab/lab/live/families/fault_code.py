"""The code of the first failure in each of several long logs, which a table of handlers has to know."""

from random import Random

from trimtab.lab.live.assignment import Assignment, Fact, Move
from trimtab.lab.live.noise import Noise, Size, woven
from trimtab.lab.tasks.material.logs import Log, error_code, in_order
from trimtab.lab.tasks.material.names import fresh, service, unlike
from trimtab.lab.tasks.material.pages import page

NAME = "fault-code"
_TABLE = "handlers/table.py"
_NODES = 3
_MARK = "    # what is drained\n"
_TESTS = """import re
import unittest
from pathlib import Path

from handlers.table import HANDLERS

__unittest = True


class Table(unittest.TestCase):
    def test_the_first_failure_of_each_node_is_drained(self):
        for log in sorted(Path("nodes").glob("*.log")):
            code = re.search(r"stopped for good: cause (\\S+)", log.read_text("utf-8"))[1]
            with self.subTest(log.name):
                self.assertTrue(HANDLERS.get(code) == "drain", "what stopped this node isn't drained")

    def test_nothing_else_is_drained(self):
        self.assertTrue(list(HANDLERS.values()).count("drain") == {nodes}, "as many codes are drained as nodes stopped")
"""


def make(number: int, size: Size) -> Assignment:
    """Make an assignment of this family."""
    rng = Random(f"live {NAME} {number}")
    noise = Noise(rng, size)
    taken: set[str] = set()
    files, truth = {"handlers/__init__.py": ""}, dict[str, str]()
    facts: list[Fact] = []
    early: list[Move] = []
    late: list[Move] = []
    for place in range(_NODES):
        node, fault, fact = fresh(rng, service, taken), fresh(rng, error_code, taken), f"cause_{place + 1}"
        path = f"nodes/{node}.log"
        log = Log(rng, faults=0.12)
        key = f"{log.broken('', node)[:18]} ERROR {node} stopped for good: cause {fault}"
        files[path] = in_order(page(rng, log.line, noise.chars("log"), [key])) + "\n"
        truth[fact] = fault
        facts.append(
            Fact(
                fact, rf"{node} stopped for good: cause ([\w-]+)", path, f"{node} stopped for good", unlike(rng, fault)
            )
        )
        early.append(Move(f"What stopped {node}?", "bash", {"command": f"cat {path}"}))
        edit = {"old": _MARK, "new": f'{_MARK}    "⟨{fact}⟩": "drain",\n'}
        late.append(Move("", "edit", {"path": _TABLE, "edits": [edit]}))
    rows = "".join(
        f'    "{fresh(rng, error_code, taken)}": "{rng.choice(("retry", "page", "skip"))}",\n' for _ in range(12)
    )
    files[_TABLE] = f'"""What is done about a fault, by its code."""\n\nHANDLERS = {{\n{rows}{_MARK}}}\n'
    files["test_table.py"] = _TESTS.format(nodes=_NODES)
    early.append(Move("What is known already?", "read", {"path": _TABLE}))
    moves = woven(noise, early, late)
    return Assignment(
        NAME,
        number,
        "Three nodes stopped for good last night; each has a log below nodes/. Find the code of the cause in each, look through notes, traces and reports for anything related, then "
        'give all three codes the handler "drain" in the table of handlers. Other faults in the logs led to nothing and stay as they are.',
        files | noise.files,
        (_TABLE,),
        tuple(facts),
        moves,
        truth,
    )
