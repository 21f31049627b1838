"""`trimtab train` at the command line."""

import subprocess
import sys
from pathlib import Path

import pytest

from trimtab.context.policies.learned.features import ITEM_FEATURES, SCHEMA, WHOLE_FEATURES
from trimtab.context.policies.learned.network import Dense, Network
from trimtab.context.policies.learned.weights import Weights, write_weights
from trimtab.frontends.cli import train as cli
from trimtab.frontends.cli.app import main
from trimtab.lab.one_writer import one_writer

ITEM, GATE = len(ITEM_FEATURES), len(WHOLE_FEATURES)


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


@pytest.mark.parametrize("minutes", ["nan", "inf", "1e300"])
def test_a_budget_that_is_no_number_is_refused(minutes: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    assert main(["train", "--minutes", minutes]) == 2
    assert "is no budget" in capsys.readouterr().err


def test_a_device_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    assert main(["train", "--device", "abacus"]) == 2
    assert "no device 'abacus'" in capsys.readouterr().err


def test_weights_that_cannot_be_read_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    assert main(["train", "--needed", str(tmp_path / "none.json")]) == 2
    assert "none.json" in capsys.readouterr().err
    (tmp_path / "bad.json").write_text("{}")
    assert main(["train", "--needed", str(tmp_path / "bad.json")]) == 2
    assert "holds no weights" in capsys.readouterr().err


def test_weights_that_say_nothing_of_what_is_needed_are_refused_before_anything_is_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    choices = Weights(schema=SCHEMA, kind="choices", item=_zeros(ITEM + GATE), gate=_zeros(GATE + ITEM))
    (tmp_path / "choices.json").write_bytes(write_weights(choices))
    for stage in ("clone", "all", "ablation"):
        out = tmp_path / stage
        given = ("--needed", str(tmp_path / "choices.json"), "--out", str(out))
        assert main(["train", "--stage", stage, "--workers", "1", *given]) == 2
        assert "weights of kind 'choices' don't say what is needed" in capsys.readouterr().err
        assert not out.exists()


def _zeros(inputs: int) -> Network:
    return Network((Dense(((0.0,) * inputs,), (0.0,)),), (0.0,) * inputs, (1.0,) * inputs)


def test_sessions_are_for_the_first_stage_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    assert main(["train", "--stage", "rl", "--from-sessions", str(tmp_path)]) == 2
    assert "--stage needed" in capsys.readouterr().err
    assert (
        main(
            [
                "train",
                "--stage",
                "needed",
                "--workers",
                "1",
                "--from-sessions",
                str(tmp_path),
                "--out",
                str(tmp_path / "o"),
            ]
        )
        == 2
    )
    assert "no files" in capsys.readouterr().err


def test_teachers_that_are_not_there_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    assert main(["train", "--stage", "rl", "--teachers", "nobody", "--workers", "1", "--out", str(tmp_path)]) == 2
    assert "nobody" in capsys.readouterr().err


def test_a_second_training_in_a_folder_is_refused_as_long_as_the_first_one_lasts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    command = ("train", "--stage", "rl", "--teachers", "nobody", "--workers", "1", "--out", str(tmp_path))
    with one_writer(tmp_path, "train"):
        assert main(command) == 2
        assert f"another trimtab train writes in {str(tmp_path)!r}: process " in capsys.readouterr().err
    main(command)
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
        assert main(["train", "--stage", "rl", "--workers", "1", "--out", str(tmp_path)]) == 0
        said = capsys.readouterr()
        assert Path(said.out.strip()).is_file()
        assert "validation, step 0" in said.err
        assert main(["train", "--stage", "rl", "--workers", "1", "--out", str(tmp_path)]) == 0
        assert "done before" in capsys.readouterr().err


@pytest.mark.usefixtures("_small")
def test_an_interrupt_says_that_the_same_command_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("trimtab.lab.train.train.train", interrupted)
    assert main(["train", "--stage", "rl", "--workers", "1", "--out", str(tmp_path)]) == 130
    assert "goes on" in capsys.readouterr().err
