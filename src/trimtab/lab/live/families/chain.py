"""A setting that names a backend, the backend's module that names a field, and a client that must fill that field.

The second thing to know stands in a file that only the first one leads to.
"""

from random import Random

from trimtab.lab.live.assignment import Assignment, Fact, Move
from trimtab.lab.live.noise import Noise, Size, woven
from trimtab.lab.tasks.material import code
from trimtab.lab.tasks.material.names import SERVICES, fresh
from trimtab.lab.tasks.material.pages import page

NAME = "chain"
_SETTINGS = "ops/backends.toml"
_BACKENDS = ("auk", "bittern", "curlew", "dunlin", "egret", "fulmar", "gannet", "heron", "ibis", "jaeger")
_CLIENTS = 2
_TESTS = """import importlib
import tomllib
import unittest
from pathlib import Path

__unittest = True
SET = tomllib.loads(Path("{settings}").read_text("utf-8"))


class Clients(unittest.TestCase):
    def test_each_client_fills_the_field_that_its_backend_takes(self):
        for name in {names}:
            backend = importlib.import_module("backends." + SET[f"{{name}}_backend"])
            body = importlib.import_module(f"clients.{{name}}").body("q1")
            with self.subTest(name):
                self.assertTrue(body.get(backend.FIELDS[name]) == "q1", "the backend takes another field")
"""
_CLIENT = '''"""The client of {name}."""

FIELD = "reference"


def body(value):
    """What is sent."""
    return {{FIELD: value}}
'''


def make(number: int, size: Size) -> Assignment:
    """Make an assignment of this family."""
    rng = Random(f"live {NAME} {number}")
    noise = Noise(rng, size)
    taken: set[str] = set()
    names = rng.sample(SERVICES, _CLIENTS)
    chosen = rng.sample(_BACKENDS, 2 * _CLIENTS)
    fields = {(backend, name): fresh(rng, code.field_name, taken) for backend in _BACKENDS for name in SERVICES}
    files = {"clients/__init__.py": "", "backends/__init__.py": ""}
    for backend in _BACKENDS:
        rows = "".join(f'{backend.upper()}["{name}"] = "{fields[backend, name]}"\n' for name in SERVICES)
        files[f"backends/{backend}.py"] = (
            f'"""What {backend} takes, by client."""\n\nFIELDS = {backend.upper()} = {{}}\n{rows}'
        )
    truth: dict[str, str] = {}
    facts: list[Fact] = []
    middle: list[Move] = []
    late: list[Move] = []
    for name, backend, wrong in zip(names, chosen, chosen[_CLIENTS:], strict=False):
        files[f"clients/{name}.py"] = _CLIENT.format(name=name)
        truth |= {f"{name}_backend": backend, f"{name}_field": fields[backend, name]}
        path = f"backends/⟨{name}_backend⟩.py"
        facts.append(Fact(f"{name}_backend", rf'\b{name}_backend = "(\w+)"', _SETTINGS, f"{name}_backend", wrong))
        pattern = rf'(?i:⟨{name}_backend⟩)\["{name}"\] = "(\w+)"'
        words = f'⟨{name}_backend⟩["{name}"]'
        facts.append(Fact(f"{name}_field", pattern, path, words, fresh(rng, code.field_name, taken)))
        middle.append(Move("What does that backend take?", "read", {"path": path}))
        edit = {"old": 'FIELD = "reference"', "new": f'FIELD = "⟨{name}_field⟩"'}
        late.append(Move("", "edit", {"path": f"clients/{name}.py", "edits": [edit]}))
    keys = [f'{name}_backend = "{backend}"' for name, backend in zip(names, chosen, strict=False)]
    files[_SETTINGS] = (
        page(rng, lambda dice: f'{code.profile(dice)} = "{dice.choice(_BACKENDS)}"', noise.chars("code"), keys) + "\n"
    )
    files["test_clients.py"] = _TESTS.format(settings=_SETTINGS, names=tuple(names))
    early = [Move("Which backends are set?", "read", {"path": _SETTINGS})]
    moves = woven(noise, early, (*middle, *(noise.look() for _ in range(3)), *late))
    return Assignment(
        NAME,
        number,
        f"The clients of {' and '.join(names)} send a field that their backends don't take. Find out which backend is set for each, which field that backend takes from this client, "
        "look through notes, traces and reports meanwhile, and set FIELD in each client. Change only the clients.",
        files | noise.files,
        tuple(f"clients/{name}.py" for name in names),
        tuple(facts),
        moves,
        truth,
    )
