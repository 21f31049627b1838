"""`trimtab train` at the command line."""

import errno
import io
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import redirect_stderr
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
    assert "[train]" in capsys.readouterr().err


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


@pytest.mark.parametrize("device", ["meta", "hpu", "privateuseone", "cuda:999", "", "a" * 5_000])
def test_a_device_that_does_not_count_is_refused_before_anything_is_made(
    device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    assert main(["train", "--device", device, "--out", str(tmp_path / "out")]) == 2
    assert "there is no device" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option", ["--seed", "--seeds", "--each", "--workers"])
def test_a_number_that_nothing_could_be_done_with_is_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    for number in ("999999999999", "18446744073709551616", "1" * 5_000):
        assert main(["train", "--stage", "ablation", option, number]) == 2
        assert f"'{option}'" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--out", "--needed", "--from-sessions"])
def test_an_empty_name_is_not_taken_for_the_folder_that_one_stands_in(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", option, ""]) == 2
    assert "an empty name is that of nothing" in capsys.readouterr().err


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


def test_a_folder_without_sessions_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    given = ("--workers", "1", "--from-sessions", str(tmp_path), "--out", str(tmp_path / "o"))
    assert main(["train", "--stage", "needed", *given]) == 2
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
def test_a_terminal_is_told_what_is_done_and_how_far_it_is_and_nobody_else(tmp_path: Path) -> None:
    from support.training import short_suite

    screens = []
    for name, stream in (("seen", Terminal()), ("unseen", io.StringIO())):
        with short_suite(), redirect_stderr(stream):
            assert main([*_SMALLEST, "--out", str(tmp_path / name)]) == 0
        screens.append(stream.getvalue())
    seen, unseen = screens
    shown = [part.partition("\n")[0] for part in seen.split("\r\x1b[K")]
    for doing in ("lessons of teachers", "rollouts", "validation"):
        assert [line for line in shown if re.fullmatch(rf"━+ (\d+) of \1, 0 s left: {doing}", line)], shown
    lines = [line for line in shown if line and "━" not in line and "─" not in line]
    assert lines[0] == "lessons: 1 of 1 plays"
    assert not {"━", "─", "\x1b"} & set(unseen)
    assert unseen.startswith("lessons: 1 of 1 plays\n")


def test_whatever_training_hands_out_has_words_for_a_person() -> None:
    pytest.importorskip("torch")
    from trimtab.lab.labels.collected import rows_of_session, rows_of_task
    from trimtab.lab.train.judging import judge
    from trimtab.lab.train.rollouts import played
    from trimtab.lab.train.teachers import taught

    assert {one.__name__ for one in (rows_of_task, rows_of_session, taught, played, judge)} == set(cli.DOING)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_says_that_the_same_command_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, number: int, code: int
) -> None:
    monkeypatch.setattr("trimtab.lab.train.train.train", lambda *_, **__: os.kill(os.getpid(), number))
    assert main([*_SMALLEST, "--out", str(tmp_path)]) == code
    assert capsys.readouterr().err == "broken off; the same command goes on from the last step\n"


_SMALLEST = ("train", "--stage", "rl", "--workers", "1")
_PROCESS = """
import sys
import time
from support.training import TINY, short_suite
from trimtab.frontends.cli import train as cli
from trimtab.main import main

told = cli.told


def waiting(line):
    told(line)
    if line.startswith("step 1:"):
        time.sleep(60)  # for the signal: the run would be over before a slow test has sent it


cli.told = waiting
cli._config = lambda *_: TINY
with short_suite():
    sys.exit(main())
"""


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("_small")
def test_a_training_that_a_signal_ended_keeps_its_steps_and_leaves_nothing_half_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from support.training import short_suite

    command = [*_SMALLEST, "--out", str(tmp_path)]
    with subprocess.Popen(
        [sys.executable, "-c", _PROCESS, *command],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        said = []
        for line in process.stderr or ():
            said.append(line)
            if line.startswith("step 1:"):
                process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 143, said
    assert said[-1] == "broken off; the same command goes on from the last step\n"
    assert not [line for line in said if "Traceback" in line]
    assert not [*tmp_path.rglob("*.new"), *tmp_path.rglob("*.lock")]
    with short_suite():
        assert main(command) == 0
    again = capsys.readouterr().err
    assert "step 2:" in again
    done = ("clone: epoch", "validation, step 0", "step 1:")
    assert not [line for line in again.splitlines() if line.startswith(done)]


@pytest.mark.usefixtures("_small")
def test_a_disk_that_is_full_at_any_file_ends_a_training_with_a_word_and_the_same_command_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from support.training import short_suite

    room, real = [0], Path.replace

    def replace(source: Path, target: Path) -> None:
        if room[0] == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        room[0] -= 1
        real(source, target)

    monkeypatch.setattr(Path, "replace", replace)
    command = (*_SMALLEST, "--out", str(tmp_path / "full"))
    with short_suite():
        codes = []
        while not codes or codes[-1] == 1:
            room[0] = len(codes) + 1
            codes.append(main(command))
            said = capsys.readouterr()
            if codes[-1] == 1:
                told, hint = said.err.splitlines()[-2:]
                assert re.fullmatch(r"trimtab: '.*' can't be written: No space left on device", told)
                assert hint.endswith("the same command goes on from what is kept.")
                assert not list(tmp_path.rglob("*.new"))
        assert (codes[-1], len(codes) > 3) == (0, True), codes
        room[0] = -1
        assert main((*_SMALLEST, "--out", str(tmp_path / "whole"))) == 0
    full, whole = (next((tmp_path / name).glob("rl-*/weights.json")).read_bytes() for name in ("full", "whole"))
    same = [{**json.loads(data), "record": None} for data in (full, whole)]
    assert same[0] == same[1]
