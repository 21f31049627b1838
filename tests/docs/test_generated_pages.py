"""The generated pages say what the code says."""

import importlib
import os
import re
import subprocess
import sys
from typing import get_args

import pytest

from support.pages import ROOT
from trimtab.agent.events import TurnReason


@pytest.fixture(scope="module")
def make_docs():
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        yield importlib.import_module("make_docs")
    finally:
        sys.path.remove(str(ROOT / "scripts"))


def test_no_generated_page_is_stale(make_docs, capsys):
    code = make_docs.main(["--check"])
    assert (code, capsys.readouterr().out) == (0, "")


def test_a_stale_page_is_shown_and_fails(make_docs, tmp_path, monkeypatch, capsys):
    page = tmp_path / "cli.md"
    page.write_text("# Something else\n")
    monkeypatch.setattr(make_docs, "ROOT", tmp_path)
    monkeypatch.setattr(make_docs, "DOCS", tmp_path)
    monkeypatch.setattr(make_docs, "PAGES", {"cli.md": make_docs.cli_page})
    assert make_docs.main(["--check"]) == 1
    assert "-# Something else" in capsys.readouterr().out
    assert page.read_text() == "# Something else\n"
    assert make_docs.main([]) == 0
    assert page.read_text() == make_docs.cli_page()


def test_every_setting_has_a_meaning(make_docs):
    rows = [line for line in make_docs.settings_page().splitlines() if line.startswith("| `")]
    assert len(rows) > 50
    assert [row for row in rows if row.endswith("|  |")] == []


@pytest.mark.parametrize("page", ["events_page", "cli_page"])
def test_every_field_and_option_has_a_meaning(make_docs, page):
    rows = [line for line in getattr(make_docs, page)().splitlines() if line.startswith("| `")]
    assert len(rows) > 20
    assert [row for row in rows if row.endswith("|  |")] == []


def test_every_way_a_turn_ends_has_words(make_docs):
    assert set(make_docs.REASONS) == set(get_args(TurnReason))


def test_the_script_runs_from_anywhere(tmp_path):
    script = str(ROOT / "scripts" / "make_docs.py")
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, script, "-h"], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"--check\b", done.stdout)
