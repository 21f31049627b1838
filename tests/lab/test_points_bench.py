"""The benchmark of decision points, on a folder of made sessions."""

import json
from pathlib import Path

import pytest
from benchmarks.points import main


def talk(used: int) -> str:
    """A session of 82 requests: five large results, and later a use of one of them."""
    commands = [f"show {n}" for n in range(5)] + ["true"] * 40 + [f"grep name_of_{used}"] + ["true"] * 35
    lines: list[dict[str, object]] = [{"role": "user", "content": "go"}]
    for number, command in enumerate(commands):
        function = {"name": "bash", "arguments": json.dumps({"command": command})}
        calls = [{"id": f"c{number}", "type": "function", "function": function}]
        text = f"name_of_{number}" + " " * 100 * (number + 4) if number < 5 else "ok"
        lines.append({"role": "assistant", "content": None, "tool_calls": calls})
        lines.append({"role": "tool", "tool_call_id": f"c{number}", "content": text})
    return "\n".join(map(json.dumps, [*lines, {"role": "assistant", "content": "done"}]))


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a session in each split."""
    folder = tmp_path / "sessions"
    folder.mkdir()
    rows = []
    for number, (split, used) in enumerate((("train", 1), ("train", 3), ("eval", 2))):
        (folder / f"{number}.jsonl").write_text(talk(used))
        rows.append({"file": f"{number}.jsonl", "source": f"p{number % 2}", "split": split, "family": number})
    (folder / "index.jsonl").write_text("\n".join(map(json.dumps, rows)))
    monkeypatch.setenv("TRIMTAB_DATA", str(tmp_path))
    return tmp_path


def test_a_folder_of_sessions_gives_tables_and_an_audit(data, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["points", "--by-project", "--audit", "2"])
    assert main() == 0
    told = capsys.readouterr().out
    assert "| eval | 1 | 1 | 5 | 0.200 / 0.200 |\n| train | 2 | 2 | 10 | 0.200 / 0.200 |" in told
    assert "| oracle | 1.000 | 0.000 [0.00, 0.00] | 1.000 [1.00, 1.00] |" in told
    assert (
        "T1, fitted on train without p1, judged on eval of it:\n\nSKIPPED: 1 points to learn on, 0 to judge by" in told
    )
    assert "2 decisions looked at again on recordings that end there; facts used the future at 0" in told


def test_without_a_folder_it_says_that_nothing_is_measured(capsys, monkeypatch):
    monkeypatch.delenv("TRIMTAB_DATA", raising=False)
    monkeypatch.setattr("sys.argv", ["points"])
    assert main() == 0
    assert capsys.readouterr().err == "SKIPPED: TRIMTAB_DATA names no folder of recorded sessions\n"
