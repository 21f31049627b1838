"""Many runs at once in one folder: every session has to be whole afterwards, and in the list."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from benchmarks.fake_server import Server
from benchmarks.installs import Install
from benchmarks.measure import spend
from benchmarks.start import tau, trimtab
from benchmarks.table import Row

RUNS = 12


def parallel_rows(ours: Install, theirs: Install | None, server: Server) -> list[Row]:
    """How many of the sessions the list knows, and how many of them are sound."""
    ours = _elsewhere(ours)
    with ThreadPoolExecutor(RUNS) as pool:
        list(pool.map(lambda _: trimtab(ours, server, "words-1"), range(RUNS)))
    listed = json.loads(_said(ours, "trimtab", "sessions", "list", "--json"))
    damaged = json.loads(_said(ours, "trimtab", "sessions", "doctor", "--json"))["damaged"]
    peer = ""
    if theirs:
        theirs = _elsewhere(theirs)
        with ThreadPoolExecutor(RUNS) as pool:
            list(pool.map(lambda _: tau(theirs, "words-1"), range(RUNS)))
        here = str(theirs.work)
        peer = f"{sum(here in line for line in _said(theirs, 'tau', 'sessions').splitlines())} listed"
    good = len(listed) == RUNS and not damaged
    said = f"{len(listed)} listed, {len(damaged)} damaged"
    return [Row(f"{RUNS} runs at once in one folder", said, "all, none", good, peer)]


def _elsewhere(install: Install) -> Install:
    folder = install.work / "parallel"
    folder.mkdir()
    return replace(install, work=folder)


def _said(install: Install, program: str, *arguments: str) -> str:
    return spend([install.venv / "bin" / program, *arguments], env=install.env, cwd=install.work).output.decode()
