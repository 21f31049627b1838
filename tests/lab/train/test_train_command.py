"""`trimtab train` at the command line."""

import subprocess
import sys
from pathlib import Path

import pytest

from trimtab.frontends.cli import train as cli
from trimtab.frontends.cli.app import main


def test_help_loads_no_training_library() -> None:
    code = (
        "import sys; from trimtab.frontends.cli.app import main; main(['train', '--help']);"
        "sys.exit(bool({'torch', 'numpy', 'trimtab.lab'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--variant" in done.stdout


def test_a_missing_extra_is_told_with_its_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "find_spec", lambda _: None)
    assert main(["train"]) == 2
    assert "trimtab[train]" in capsys.readouterr().err


def test_what_is_no_choice_is_refused_before_anything_is_loaded(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "--variant", "best"]) == 2
    assert "snapshot" in capsys.readouterr().err
    assert main(["train", "--minutes", "0"]) == 2


def test_weights_that_cannot_be_read_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    assert main(["train", "--needed", str(tmp_path / "none.json")]) == 2
    assert "none.json" in capsys.readouterr().err
    (tmp_path / "bad.json").write_text("{}")
    assert main(["train", "--needed", str(tmp_path / "bad.json")]) == 2
    assert "holds no weights" in capsys.readouterr().err


def test_teachers_that_are_not_there_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    assert main(["train", "--teachers", "nobody", "--workers", "1", "--out", str(tmp_path)]) == 2
    assert "nobody" in capsys.readouterr().err


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from support.training import TINY

    monkeypatch.setattr(cli, "_config", lambda *_: TINY)


@pytest.mark.usefixtures("_small")
def test_the_output_is_where_the_weights_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from support.training import short_suite

    with short_suite():
        assert main(["train", "--workers", "1", "--out", str(tmp_path)]) == 0
        said = capsys.readouterr()
        assert Path(said.out.strip()).is_file()
        assert "validation, step 0" in said.err
        assert main(["train", "--workers", "1", "--out", str(tmp_path)]) == 0
        assert "done before" in capsys.readouterr().err


@pytest.mark.usefixtures("_small")
def test_an_interrupt_says_that_the_same_command_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("trimtab.lab.train.train.train", interrupted)
    assert main(["train", "--workers", "1", "--out", str(tmp_path)]) == 130
    assert "goes on" in capsys.readouterr().err
