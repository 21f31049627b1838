"""Each line of the checklist has proofs, and each proof is a test of this repository."""

import ast

import pytest

from support.pages import ROOT
from trimtab.frontends.cli.commands import COMMANDS
from trimtab.lab.report.checklist import CHECKLIST

NODES = [proof for line in CHECKLIST for proof in line.proofs]


@pytest.mark.parametrize("node", NODES)
def test_a_proof_is_a_test_that_exists(node: str) -> None:
    file, _, name = node.partition("::")
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    assert name in {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}


@pytest.mark.parametrize("line", CHECKLIST, ids=lambda line: line.what)
def test_a_line_has_a_proof_and_its_commands_exist(line) -> None:
    assert line.proofs
    for command in line.commands:
        program, name, *_ = command.split()
        assert (program, name in COMMANDS) == ("trimtab", True)


def test_the_checklist_is_the_one_that_was_asked_for() -> None:
    assert [line.what for line in CHECKLIST] == [
        "Three layers",
        "Unique ids",
        "Reason, target, before and after on every action",
        "Reload after a summary",
        "Output reserve",
        "Rule fallback",
        "Real tokenizers",
        "Offline data set",
        "Summary cache",
        "Efficiency in the final metric",
    ]
