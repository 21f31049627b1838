"""Exact sums out of many accounts, all of which are written down in one go at the end."""

import json
from random import Random

from trimtab.lab.live.assignment import Assignment, Fact, Move
from trimtab.lab.live.noise import Noise, Size, woven
from trimtab.lab.tasks.material.names import PLACES, amount, product, unlike
from trimtab.lab.tasks.material.pages import page

NAME = "totals"
_SITES = 5
_TESTS = """import json
import re
import unittest
from pathlib import Path

__unittest = True


class Totals(unittest.TestCase):
    def test_every_site_is_there_with_its_total(self):
        told = json.loads(Path("totals.json").read_text("utf-8"))
        for account in sorted(Path("accounts").glob("*.txt")):
            site, total = re.search(r"carried forward for (.+): (\\S+)", account.read_text("utf-8")).groups()
            with self.subTest(site):
                self.assertTrue(told.get(site) == total, "the account has another total")
"""


def make(number: int, size: Size) -> Assignment:
    """Make an assignment of this family."""
    rng = Random(f"live {NAME} {number}")
    noise = Noise(rng, size)
    sites = rng.sample(PLACES, _SITES)
    files, truth = {"totals.json": "{}\n"}, dict[str, str]()
    facts: list[Fact] = []
    early: list[Move] = []
    told: dict[str, str] = {}
    for place, site in enumerate(sites, 1):
        fact, path = f"total_{place}", f"accounts/account-{place}.txt"
        truth[fact] = amount(rng)
        key = f"carried forward for {site}: {truth[fact]}"
        files[path] = page(rng, _booked, noise.chars("table"), [key]) + "\n"
        facts.append(
            Fact(
                fact,
                rf"carried forward for {site}: ([\d,.]+\d)",
                path,
                f"carried forward for {site}",
                unlike(rng, truth[fact]),
            )
        )
        early.append(Move(f"The account of {site}.", "bash", {"command": f"cat {path}"}))
        told[site] = f"⟨{fact}⟩"
    files["test_totals.py"] = _TESTS
    text = json.dumps(told, ensure_ascii=False, indent=1) + "\n"
    late = [Move("Now I write all of them down.", "write", {"path": "totals.json", "content": text})]
    moves = woven(noise, early, late)
    return Assignment(
        NAME,
        number,
        f"Read the accounts of {', '.join(sites)} below accounts/, look through notes, traces and reports for corrections, then write totals.json: an object that gives for each of these "
        "sites the total that its account carries forward, as a string, digit by digit. Change nothing else.",
        files | noise.files,
        ("totals.json",),
        tuple(facts),
        moves,
        truth,
    )


def _booked(rng: Random) -> str:
    kind = rng.choice(("booked", "returned", "carried over from last year", "written off"))
    return f"{rng.randint(1, 28):02}.{rng.randint(1, 12):02} {kind} for {rng.choice(PLACES)}: {amount(rng, 10, 90_000)} ({product(rng)})"
