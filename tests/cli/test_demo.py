"""The demo: offline, in a window far too small, and honest about what happened to it."""

import re

import pytest

from support.cli import Cli, Outcome
from trimtab.coding.demo import NEEDLE, WINDOW


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return Cli.at(tmp_path_factory.mktemp("demo")).inside("demo")


def test_it_ends_well_and_says_that_its_model_is_a_script(shown: Outcome) -> None:
    assert shown.code == 0, shown.err
    assert "The model is a SCRIPT" in shown.out
    assert "run once more outside the agent: pass" in shown.out


@pytest.mark.parametrize("kind", ["elide", "offload", "fold", "compact"])
def test_its_account_shows_each_kind_of_edit(shown: Outcome, kind: str) -> None:
    assert re.search(rf"^  step \d+  {kind} +[\d,]+ → +[\d,]+ tokens", shown.out, re.M)


def test_it_shows_the_audit_the_recalled_line_an_undo_and_the_bill(shown: Outcome) -> None:
    assert re.search(r"^Compaction: \d+ items, digest; audit of facts: \d+ stand in it, \d+ added", shown.out, re.M)
    assert re.search(rf"^Recall found the exact line: .*{NEEDLE} .* charged 0$", shown.out, re.M)
    assert re.search(r"^Undo: the \w+ of step \d+ .* taken back, ", shown.out, re.M)
    sent, kept = re.search(r"^Sent ([\d,]+) prompt tokens .* would have been ([\d,]+)", shown.out, re.M).groups()  # type: ignore[union-attr]
    assert int(sent.replace(",", "")) < int(kept.replace(",", ""))
    assert f"{WINDOW:,}" in shown.out
