"""`trimtab report` as a person meets it."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.bench_rows import folder, row, rows_of
from support.cli import Cli
from trimtab.types.extras import install_hint


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli.at(tmp_path)


def test_a_folder_becomes_a_page(cli: Cli) -> None:
    pytest.importorskip("altair", reason="plots need the extra `report`")
    pytest.importorskip("vl_convert", reason="plots need the extra `report`")
    bench = folder(cli.root / "bench", list(rows_of("T0", "test", stories=3, seeds=(0, 1))))
    page = cli.root / "page.html"
    done = cli.inside("report", str(bench), "--out", str(page), "--date", "2026-11-30")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{page}: 78 rows, ")
    text = page.read_text("utf-8")
    assert "2026-11-30" in text
    assert f"trimtab report {bench} --out {page} --date 2026-11-30" in text
    assert (cli.root / "page-tables" / "effect-t0-test.csv").is_file()


@pytest.mark.timeout(300)
def test_what_a_terminal_obeys_is_in_no_page_whatever_arms_are_called(cli: Cli) -> None:
    pytest.importorskip("altair", reason="plots need the extra `report`")
    pytest.importorskip("vl_convert", reason="plots need the extra `report`")
    rows = [row(arm) for arm in ("none", "a\x1b[31mb\x9b\u202e\x07")]
    bench = folder(cli.root / "bench", rows)
    page = bench / "page.html"
    done = cli.inside("report", str(bench), "--out", str(page))
    assert done.code == 0, done.err
    assert not set("\x1b\x9b\u202e\x07") & set(page.read_text("utf-8"))
    assert not list(bench.glob(".*"))


def test_help_loads_nothing_that_draws_or_counts(cli: Cli) -> None:
    code = (
        "import sys; from trimtab.main import main; sys.argv[1:] = ['report', '--help']; main();"
        "sys.exit(' '.join({'altair', 'numpy', 'vl_convert', 'trimtab.lab.report'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=cli.project,
        env=cli.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "--out FILE.html" in done.stdout


def test_no_folder_and_one_that_is_not_there_are_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trimtab.lab.report.drawing.find_spec", lambda name: name)
    done = cli.inside("report")
    assert (done.code, done.err.splitlines()[0]) == (2, "trimtab: no folder to report on")
    done = cli.inside("report", str(cli.root / "gone"))
    assert done.code == 2
    assert "no such folder" in done.err


@pytest.mark.parametrize(
    ("step", "said"), [("rl", "--step 'rl' says no arm"), ("luck=rules", "the path has no step 'luck'")]
)
def test_a_step_that_can_not_be_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch, step: str, said: str) -> None:
    monkeypatch.setattr("trimtab.lab.report.drawing.find_spec", lambda name: name)
    done = cli.inside("report", str(cli.root), "--step", step)
    assert done.code == 2
    assert said in done.err


@pytest.mark.parametrize("module", ["numpy", "altair", "vl_convert"])
def test_what_is_not_installed_is_named_with_the_extra(cli: Cli, monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    monkeypatch.setattr("trimtab.lab.report.drawing.find_spec", lambda name: None if name == module else name)
    done = cli.inside("report", str(cli.root))
    assert done.code == 2
    assert done.err.splitlines() == [
        f"trimtab: a report needs {module}, which isn't installed",
        f"  {install_hint('report')}",
    ]


def test_rows_of_another_version_are_told_with_their_place(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trimtab.lab.report.drawing.find_spec", lambda name: name)
    (cli.root / "rows.jsonl").write_text('{"arm": "none"}\n')
    done = cli.inside("report", str(cli.root))
    assert done.code == 2
    assert "rows.jsonl:1 is no Row of this version" in done.err
