"""Constants that must agree with a settings file: how often a client tries again, how long it waits."""

from random import Random

from trimtab.lab.live.assignment import Assignment, Fact, Move
from trimtab.lab.live.noise import Noise, Size, woven
from trimtab.lab.tasks.material import code
from trimtab.lab.tasks.material.names import SERVICES

NAME = "settings-value"
_SETTINGS = "ops/effective.toml"
_TESTS = """import importlib
import tomllib
import unittest
from pathlib import Path

__unittest = True
SET = tomllib.loads(Path("{settings}").read_text("utf-8"))


class Clients(unittest.TestCase):
    def test_each_client_does_what_is_set(self):
        for name in {names}:
            client = importlib.import_module(f"clients.{{name}}")
            with self.subTest(name):
                self.assertTrue(client.attempts() == SET[f"{{name}}_retries"] + 1, "other retries are set")
                self.assertTrue(client.patience() == SET[f"{{name}}_timeout"] / 1000, "another timeout is set")
"""
_CLIENT = '''"""The client of {name}."""

RETRIES = {retries}
TIMEOUT_MS = {timeout}


def attempts():
    """How often a call is made at most."""
    return RETRIES + 1


def patience():
    """Seconds that one call may take."""
    return TIMEOUT_MS / 1000
'''


def make(number: int, size: Size) -> Assignment:
    """Make an assignment of this family."""
    rng = Random(f"live {NAME} {number}")
    noise = Noise(rng, size)
    names = rng.sample(SERVICES, 3)
    settings = {
        f"{service}_{key}": rng.randint(2, 90_000) for service in SERVICES for key in ("limit", "retries", "timeout")
    }
    truth: dict[str, str] = {}
    files: dict[str, str] = {}
    facts: list[Fact] = []
    late: list[Move] = []
    for name in names:
        stale = {"retries": 3, "timeout": 2_500}
        files[f"clients/{name}.py"] = _CLIENT.format(name=name, **stale)
        for key, low, high, constant in (("retries", 5, 19, "RETRIES"), ("timeout", 3_001, 59_999, "TIMEOUT_MS")):
            fact = f"{name}_{key}"
            truth[fact] = str(rng.randint(low, high))
            facts.append(Fact(fact, rf"\b{fact} = (\d+)", _SETTINGS, fact, str(stale[key] + 1)))
            edit = {"old": f"{constant} = {stale[key]}\n", "new": f"{constant} = ⟨{fact}⟩\n"}
            late.append(Move("", "edit", {"path": f"clients/{name}.py", "edits": [edit]}))
    lines = [f"{key} = {value}" for key, value in (settings | truth).items()]
    rng.shuffle(lines)
    files[_SETTINGS] = "\n".join(("# What runs in production, as of last night.", *lines)) + "\n"
    files["clients/__init__.py"] = ""
    files["test_clients.py"] = _TESTS.format(settings=_SETTINGS, names=tuple(names))
    early = [Move("What is set?", "read", {"path": _SETTINGS})]
    early += [Move("And what does the code say?", "read", {"path": f"clients/{name}.py"}) for name in names]
    moves = woven(noise, early, late)
    return Assignment(
        NAME,
        number,
        f"The tests fail: the clients of {', '.join(names)} no longer do what operations set. Find the values that are set, look through the notes, traces and reports for "
        f"anything that speaks against them, then make the constants in clients/ agree. Change neither settings nor tests. {_owner(rng)}",
        files | noise.files,
        tuple(f"clients/{name}.py" for name in names),
        tuple(facts),
        moves,
        truth,
    )


def _owner(rng: Random) -> str:
    return f"(Ticket {code.client(rng)}.)"
