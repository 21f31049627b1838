"""`trimtab context learned`: what the sessions of a folder taught, shown and forgotten."""

import json
from pathlib import Path

from support.cli import Cli
from support.small_window import reads, says


def taught(tmp_path: Path) -> Cli:
    """A folder in which a session has learned: its provider reported more than was counted, and a hidden file was read again."""
    cli = Cli.at(tmp_path)
    for letter in "abcdef":
        cli.file(f"{letter}.txt", "".join(f"{letter} line {n} holds item_{n}\n" for n in range(200)))
    used = (1_500, 4_500, 7_500, 10_000, 12_000, 9_000, 11_000, 9_000)
    steps = [*(reads(f"{letter}.txt") for letter in "abcdefa"), says("done")]
    lines = [{**step, "usage": {"input": tokens, "output": 30}} for step, tokens in zip(steps, used, strict=True)]
    window = ["--set", "providers.scripted.context_window=16000"]
    assert cli.inside("-p", "read", "--model", cli.script(*lines), "--permission", "full", *window).code == 0
    return cli


def test_before_any_session_there_is_nothing(tmp_path: Path) -> None:
    cli = Cli.at(tmp_path)
    outcome = cli.inside("context", "learned")
    assert (outcome.code, outcome.out.startswith("nothing yet (")) == (0, True)
    assert not (cli.home / "learned").exists()


def test_it_shows_models_and_tools_in_words_and_as_json(tmp_path: Path) -> None:
    cli = taught(tmp_path)
    shown = cli.inside("context", "learned")
    assert shown.code == 0, shown.err
    assert "after" in shown.out
    assert "hidden results were fetched again" in shown.out
    data = json.loads(cli.inside("context", "learned", "--json").out)
    assert set(data) == {"file", "problem", "forgotten", "models", "tools", "sessions"}
    (model,) = data["models"].values()
    assert model["reports"] > 0
    (row,) = data["tools"]
    assert (row["tool"], row["regretted"] > 0) == ("read", True)
    assert data["sessions"] == 1


def test_a_reset_forgets_all_of_it_and_says_so(tmp_path: Path) -> None:
    cli = taught(tmp_path)
    assert "forgotten" in cli.inside("context", "learned", "--reset").out
    assert list((cli.home / "learned").glob("*.json")) == []
    assert "there was nothing" in cli.inside("context", "learned", "--reset").out
    assert json.loads(cli.inside("context", "learned", "--json").out)["models"] == {}


def test_a_broken_file_is_said_to_be_left_aside_and_a_reset_removes_it(tmp_path: Path) -> None:
    cli = taught(tmp_path)
    (file,) = (cli.home / "learned").glob("*.json")
    file.write_text("{")
    assert "is left aside" in cli.inside("context", "learned").out
    assert cli.inside("context", "learned", "--reset").code == 0
    assert not file.exists()


def test_what_an_edit_led_to_is_told_with_it(tmp_path: Path) -> None:
    cli = taught(tmp_path)
    window = ["--set", "providers.scripted.context_window=16000"]
    entries = [json.loads(line) for line in cli.sessions[0].read_text("utf-8").splitlines()]
    told = {
        e["id"]: cli.inside("context", "explain", "last", e["id"], *window).out for e in entries if e["type"] == "edit"
    }
    (regretted,) = [edit for edit, text in told.items() if "read again:" in text]
    data = json.loads(cli.inside("context", "explain", "last", regretted, "--json", *window).out)
    (regret,) = data["edit"]["regrets"]
    assert (regret["edit"], regret["cause"], regret["tool"]) == (regretted, "read", "read")
    assert f"{regret['tokens']:,} tokens" in told[regretted]
