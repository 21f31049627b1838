"""What importing a layer costs, in milliseconds over an interpreter that imports nothing."""

from functools import partial

from benchmarks.installs import Install
from benchmarks.measure import cpu, in_turn, spend
from benchmarks.table import Row

MODULES = (
    "trimtab.types",
    "trimtab.context.stores.log",
    "trimtab.agent",
    "trimtab.providers",
    "trimtab.providers.http",
    "trimtab.coding.session",
)
ROUNDS = 5


def import_rows(install: Install) -> list[Row]:
    """CPU of a process that imports one module, less that of one that imports none."""
    code = {name: f"import {name}" for name in MODULES}
    cases = {
        name: partial(spend, [install.python, "-c", text], env=install.env, cwd=install.work)
        for name, text in {"bare": "pass", **code}.items()
    }
    used = {name: cpu(runs) for name, runs in in_turn(cases, rounds=ROUNDS).items()}
    return [Row(f"import {name}", f"{(used[name] - used['bare']) * 1000:.0f} ms") for name in MODULES]
