"""The three examples run as their first lines say."""

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one file, and a home with nothing."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "notes.txt").write_text("x\n")
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("TRIMTAB_HOME", str(tmp_path / "home"))
    return tmp_path


def run(name: str, *arguments: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")


def test_one_prompt(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        run("one_shot.py", monkeypatch=monkeypatch)
    said = capsys.readouterr()
    assert (ended.value.code, said.err) == (0, "")
    assert said.out.splitlines() == [
        "[ls {'path': '.'}]",
        "These are the files.",
        "stop after 2 steps, 0 tokens, cost unknown",
    ]
    assert list((tmp_path / "home").rglob("*.jsonl")) == []


def test_a_model_that_there_is_not_is_said_with_the_next_step(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run("one_shot.py", "hi", "--model", "nobody/nothing", monkeypatch=monkeypatch)
    assert ended.value.code == 2
    assert "nobody" in capsys.readouterr().err


def test_a_tool_of_ones_own(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run("custom_tool.py", monkeypatch=monkeypatch)
    asked, *_, last = capsys.readouterr().out.splitlines()
    assert asked == "asked:"
    assert last == "Answer(product='lamp', ordered=20) {'lamp': 20}"


def test_a_policy_of_ones_own(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run("own_policy.py", monkeypatch=monkeypatch)
    *edits, last = capsys.readouterr().out.splitlines()
    assert [edit.split(":")[0] for edit in edits] == ["elide by policy"] * 2
    assert last == "Three parts."
