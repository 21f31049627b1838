"""A turn with checks, from the command line to the exit code."""

import os
import signal
import time
from pathlib import Path

import pytest

from support.cli import Cli, Json, Outcome

WRITE: Json = {"tool_calls": [{"name": "write", "arguments": {"path": "a.txt", "content": "good\n"}}]}
SPOIL: Json = {"tool_calls": [{"name": "write", "arguments": {"path": "a.txt", "content": "bad\n"}}]}
DONE: Json = {"text": "done"}
CHECK = ("--verify", "grep -q good a.txt")


def checked(cli: Cli, *lines: Json, flags: tuple[str, ...] = CHECK) -> Outcome:
    return cli.inside(
        "-p", "make a.txt good", "--mode", "json", "--permission", "full", "--model", cli.script(*lines), *flags
    )


def outcomes(outcome: Outcome) -> list[tuple[str, int]]:
    return [(event["outcome"], event["round"]) for event in outcome.of("verify_ended")]


def test_a_check_that_succeeds_is_told_in_events_result_and_exit_code(cli: Cli) -> None:
    outcome = checked(cli, WRITE, DONE)
    assert outcomes(outcome) == [("passed", 1)]
    assert (outcome.code, outcome.result["reason"], outcome.result["verify"]) == (0, "stop", "passed")


def test_a_model_that_is_told_of_a_failure_may_repair_it(cli: Cli) -> None:
    told = {**WRITE, "expect": {"contains": ["`grep -q good a.txt`: exit 1"]}}
    outcome = checked(cli, SPOIL, DONE, told, {"text": "now it is"})
    assert outcomes(outcome) == [("failed", 1), ("passed", 2)]
    assert (outcome.code, outcome.result["text"]) == (0, "now it is")


def test_after_so_many_rounds_the_turn_ends_with_its_own_code(cli: Cli) -> None:
    outcome = checked(cli, SPOIL, DONE, DONE, DONE, flags=(*CHECK, "--set", "verify.rounds=2"))
    assert outcomes(outcome) == [("failed", 1), ("failed", 2), ("failed", 3)]
    assert (outcome.code, outcome.result["reason"], outcome.result["verify"]) == (3, "verify_failed", "failed")
    assert outcome.of("error")[-1]["message"] == "the check failed: `grep -q good a.txt`: exit 1"


def test_a_turn_that_changed_nothing_is_not_checked(cli: Cli) -> None:
    outcome = checked(cli, DONE)
    assert (outcome.code, outcome.result["verify"], outcomes(outcome)) == (0, "skipped", [("skipped", 0)])


@pytest.mark.parametrize(
    ("command", "verify"),
    [
        ("ls; mkdir -p __pycache__ && touch __pycache__/x", "skipped"),
        ("rm old.txt", "failed"),
        ("echo x > new.txt", "failed"),
    ],
)
def test_what_a_command_changed_counts_too_but_for_caches(cli: Cli, command: str, verify: str) -> None:
    cli.file("old.txt", "x")
    call = {"tool_calls": [{"name": "bash", "arguments": {"command": command}}]}
    outcome = checked(cli, call, DONE, flags=("--verify", "false", "--set", "verify.rounds=0"))
    assert outcome.result["verify"] == verify


@pytest.mark.parametrize("flags", [("--no-verify",), ("--no-verify", "--set", "verify.commands=['false']")])
def test_checks_that_were_turned_off_are_skipped(cli: Cli, flags: tuple[str, ...]) -> None:
    assert checked(cli, WRITE, DONE, flags=flags).result["verify"] == "skipped"


def test_without_checks_none_are_configured(cli: Cli) -> None:
    assert checked(cli, WRITE, DONE, flags=()).result["verify"] == "not_configured"


def test_a_deleted_test_still_judges_and_the_model_is_told(cli: Cli) -> None:
    cli.file("tests/check.sh", "grep -q good a.txt\n")
    cheat = {"tool_calls": [{"name": "write", "arguments": {"path": "tests/check.sh", "content": "exit 0\n"}}]}
    told = {**WRITE, "expect": {"contains": ["- tests/check.sh was changed", "as they were before the turn"]}}
    flags = ("--verify", "sh tests/check.sh", "--set", "verify.protect=['tests/**']")
    outcome = checked(cli, SPOIL, cheat, DONE, told, DONE, flags=flags)
    assert outcomes(outcome) == [("failed", 1), ("passed", 2)]
    assert (cli.project / "tests/check.sh").read_text() == "exit 0\n"
    (notice,) = [event["message"] for event in outcome.of("notice") if "protected" in event["message"]]
    assert (
        notice
        == "protected files are not as they were: tests/check.sh was changed; the check takes the old ones (/verify accept takes these from now on)"
    )


def test_a_check_that_hangs_is_stopped_and_has_failed(cli: Cli) -> None:
    flags = ("--verify", "sleep 60", "--set", "verify.timeout_s=0.2", "--set", "verify.rounds=0")
    outcome = checked(cli, WRITE, DONE, flags=flags)
    assert outcome.code == 3
    assert "timed out; a check has 0.2 s" in outcome.of("verify_ended")[0]["detail"]


def test_commands_run_in_order_up_to_the_first_that_fails(cli: Cli) -> None:
    flags = (
        "--verify",
        "echo a >> log; true",
        "--verify",
        "echo b >> log; false",
        "--verify",
        "echo c >> log",
        "--set",
        "verify.rounds=0",
    )
    assert checked(cli, WRITE, DONE, flags=flags).code == 3
    assert (cli.project / "log").read_text() == "a\nb\n"


@pytest.mark.parametrize(
    ("check", "told"), [("grep -q kept", (0, "stop", "passed")), ("grep -q changed", (3, "verify_failed", "failed"))]
)
def test_without_rounds_protected_files_are_checked_as_they_were_and_named_to_whoever_reads_the_result(
    cli: Cli, check: str, told: tuple[int, str, str]
) -> None:
    cli.file("test_a.txt", "kept\n")
    change = {"tool_calls": [{"name": "write", "arguments": {"path": "test_a.txt", "content": "changed\n"}}]}
    protect = ("--set", "verify.protect=['test_*']", "--set", "verify.rounds=0")
    outcome = checked(cli, change, DONE, flags=("--verify", f"{check} test_a.txt", *protect))
    (named,) = outcome.result["tampered"]
    assert named == "test_a.txt was changed"
    assert (outcome.code, outcome.result["reason"], outcome.result["verify"]) == told
    assert [event["tampered"] for event in outcome.of("verify_ended")] == [[named]]
    notices = [event["message"] for event in outcome.of("notice")]
    assert sum(one.startswith(f"protected files are not as they were: {named}") for one in notices) == 1
    assert (cli.project / "test_a.txt").read_text() == "changed\n"


def test_a_check_gets_no_key(cli: Cli) -> None:
    cli.env["OPENAI_API_KEY"] = "sk-secret"
    flags = ("--verify", 'test -z "$OPENAI_API_KEY"')
    assert checked(cli, WRITE, DONE, flags=flags).code == 0


def test_a_reviewing_model_sees_task_checks_and_diff_and_its_verdict_counts(cli: Cli) -> None:
    cli.file("a.txt", "old\n")
    sees = {"contains": ["make a.txt good", "true: succeeded", "+good", "-old"]}
    review = cli.script({"text": "FAIL\n- a.txt: say more", "expect": sees}, {"text": "PASS"})
    more = {"tool_calls": [{"name": "write", "arguments": {"path": "a.txt", "content": "good!\n"}}]}
    told = {**more, "expect": {"contains": ["the review says:", "a.txt: say more"]}}
    outcome = checked(cli, WRITE, DONE, told, DONE, flags=("--verify", "true", "--set", f"verify.model={review}"))
    assert outcomes(outcome) == [("failed", 1), ("passed", 2)]


def test_a_reviewing_model_sees_what_commands_did_and_text_mode_shows_what_it_says(cli: Cli) -> None:
    cli.file("a.txt", "old\n")
    cli.file("gone.txt", "words that were there\n")
    cli.file(".ignore", "built\n")
    work = {
        "tool_calls": [{"name": "bash", "arguments": {"command": "sed -i s/old/new/ a.txt; rm gone.txt; touch built"}}]
    }
    sees = {"contains": ["-old", "+new", "-words that were there", "built", "(new; there is no diff of it)"]}
    review = cli.script({"text": "**FAIL**\n- gone.txt: \u001b[31mbring it back", "expect": sees})
    flags = ("--set", f"verify.model={review}", "--set", "verify.rounds=0", "--permission", "full")
    outcome = cli.inside("-p", "go", "--model", cli.script(work, DONE), *flags)
    assert outcome.code == 3, outcome.err
    assert "verify failed (round 1): the review says:\n    **FAIL**\n    - gone.txt: bring it back\n" in outcome.err
    assert "error: the check failed: the review says: gone.txt: bring it back\n" in outcome.err


def test_a_reviewing_model_that_answers_in_another_form_is_asked_once_more(cli: Cli) -> None:
    asked = {"contains": ["<your_last_answer>\nLooks good to me. PASS", "begins with neither PASS nor FAIL"]}
    review = cli.script({"text": "Looks good to me. PASS"}, {"text": "PASS", "expect": asked})
    assert outcomes(checked(cli, WRITE, DONE, flags=("--set", f"verify.model={review}"))) == [("passed", 1)]


def test_a_reviewing_model_whose_server_fails_gave_no_verdict(cli: Cli) -> None:
    review = cli.script({"error": {"status": 400, "body": "{}"}}, {"text": "PASS"})
    outcome = checked(cli, WRITE, DONE, flags=("--set", f"verify.model={review}"))
    assert (outcome.code, outcome.result["error"]["class"]) == (3, "verify")
    assert "the reviewing model could not be asked" in outcome.result["error"]["message"]


def test_a_reviewing_model_that_says_nothing_useful_is_a_check_that_did_not_pass(cli: Cli) -> None:
    review = cli.script({"text": "Interesting."}, {"text": "Very."})
    outcome = checked(cli, WRITE, DONE, flags=("--set", f"verify.model={review}"))
    assert (outcome.code, outcomes(outcome)) == (3, [("failed", 1)])


def test_what_a_review_took_is_in_the_sums(cli: Cli) -> None:
    review = cli.script({"text": "PASS", "usage": {"input": 700, "output": 1}})
    outcome = checked(cli, WRITE, DONE, flags=("--set", f"verify.model={review}"))
    assert outcome.result["summary_usage"]["input"] == 700


def test_a_run_whose_limit_is_reached_asks_no_reviewing_model(cli: Cli) -> None:
    review = cli.script({"text": "PASS", "usage": {"input": 700, "output": 1}})
    done = {**DONE, "usage": {"input": 60_000, "output": 1}}
    outcome = checked(cli, WRITE, done, flags=("--max-tokens", "60000", "--set", f"verify.model={review}"))
    assert (outcome.result["reason"], outcome.result["verify"]) == ("budget", "failed"), outcome.err
    assert "not reviewed: the run's limit is reached" in outcome.of("verify_ended")[-1]["detail"]
    assert outcome.result["summary_usage"]["input"] == 0


def test_a_reviewing_model_whose_price_nobody_knows_is_refused_before_the_work_where_cost_is_limited(cli: Cli) -> None:
    rows = ", ".join(f'{{id = "{cli.root}/script{n}.jsonl", price_input = 1, price_output = 1}}' for n in (0, 1))
    cli.config(f'[providers.local]\nbase_url = "http://127.0.0.1:9/v1"\n[providers.scripted]\nmodels = [{rows}]\n')
    flags = ("--max-cost", "1", "--set", "verify.model=local/tiny")
    outcome = checked(cli, WRITE, DONE, flags=flags)
    assert (outcome.code, (cli.project / "a.txt").exists()) == (2, False)
    assert "the price of local/tiny isn't known" in outcome.err
    assert checked(cli, WRITE, DONE, flags=(*flags, "--no-verify")).code == 0


def test_a_reviewing_model_that_there_is_not_is_said_before_the_work(cli: Cli) -> None:
    outcome = checked(cli, WRITE, DONE, flags=("--set", "verify.model=nobody/nothing"))
    assert outcome.code == 2
    assert not (cli.project / "a.txt").exists()


def test_a_signal_in_the_middle_of_a_check_stops_it_and_leaves_nothing(cli: Cli, tmp_path: Path) -> None:
    cli.env["TMPDIR"] = str(tmp_path)
    cli.file("tests/t", "1")
    cheat = {"tool_calls": [{"name": "write", "arguments": {"path": "tests/t", "content": "2"}}]}
    flags = ("--verify", "touch $TMPDIR/runs; sleep 60", "--set", "verify.protect=['tests/**']")
    process = cli.start(
        "-p", "go", "--mode", "json", "--permission", "full", "--model", cli.script(cheat, DONE), *flags
    )
    deadline = time.monotonic() + 20
    while not (tmp_path / "runs").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGTERM)
    out, err = process.communicate(timeout=20)
    outcome = Outcome(process.returncode, out, err.decode())
    assert (outcome.code, outcome.result["verify"]) == (143, "failed")
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith("trimtab-")] == []
