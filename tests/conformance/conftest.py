"""Ties tests to kinds, and prints the pass table when only this folder is run."""

from collections import Counter
from pathlib import Path

import pytest

from conformance.kinds import KINDS, NOT_BUILT
from support.cli import Cli

_HERE = Path(__file__).parent


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "kind(number): the kind of failure that this test shows to be impossible")


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Home and project of one test."""
    return Cli.at(tmp_path)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Note the kinds before anything can skip the test; the notes travel with its report, between processes too."""
    item.user_properties.extend(("kind", mark.args[0]) for mark in item.iter_markers("kind"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print a row for each kind."""
    if not config.args or any(_HERE not in (Path(a).resolve(), *Path(a).resolve().parents) for a in config.args):
        return
    outcomes: dict[int, Counter[str]] = {number: Counter() for number in KINDS}
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in terminalreporter.stats.get(outcome, []):
            for name, number in report.user_properties:
                if name == "kind":
                    outcomes[number][outcome] += 1
    rows = {number: (words, _word(outcomes[number])) for number, words in KINDS.items()}
    rows |= {number: ("", f"skip: {why}") for number, why in NOT_BUILT.items()}
    terminalreporter.section("conformance")
    for number, (words, result) in sorted(rows.items()):
        terminalreporter.write_line(f"{number:>4}  {words:<95}  {result}" if words else f"{number:>4}  {result}")


def _word(counted: "Counter[str]") -> str:
    if counted["failed"] or counted["error"]:
        return f"FAIL ({counted['failed'] + counted['error']} of {counted.total()})"
    if not counted["passed"]:
        return "not run"
    return f"pass ({counted['passed']})" + (f", {counted['skipped']} skipped" if counted["skipped"] else "")
