"""Runs that nobody watches: limits, answers by a schema, worktrees, a safe start."""

import json
import subprocess
from pathlib import Path

import pytest

from support.cli import Cli, Json, Outcome, text_of

LOOK: Json = {"tool_calls": [{"name": "ls", "arguments": {}}], "usage": {"input": 500, "output": 10}}
SCHEMA: Json = {
    "type": "object",
    "properties": {"files": {"type": "integer"}},
    "required": ["files"],
    "additionalProperties": False,
}


def run(cli: Cli, *lines: Json, flags: tuple[str, ...] = ()) -> Outcome:
    return cli.inside("-p", "go", "--mode", "json", "--model", cli.script(*lines), *flags)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--max-tokens", "1000"), "1,020 of 1,000 tokens"),
        (("--max-cost", "$0.001"), "$0.0010 of $0.001"),
    ],
)
def test_a_limit_ends_the_run_with_its_own_code_and_everything_done_is_in_the_result(
    cli: Cli, flags: tuple[str, ...], said: str
) -> None:
    model = cli.script(LOOK, LOOK, LOOK)
    name = model.removeprefix("scripted/")
    prices = ("--set", f'providers.scripted.models=[{{id="{name}", price_input=1.0, price_output=0.0}}]')
    outcome = cli.inside("-p", "go", "--mode", "json", "--model", model, *flags, *prices)
    assert (outcome.code, outcome.result["reason"], outcome.result["steps"]) == (6, "budget", 2)
    assert said in outcome.of("error")[-1]["message"]


def test_a_limit_of_cost_that_nobody_can_keep_is_refused_before_anything_is_asked(cli: Cli) -> None:
    outcome = run(cli, LOOK, flags=("--max-cost", "1"))
    assert (outcome.code, outcome.events) == (2, [])
    assert "--max-tokens" in outcome.err


def test_when_the_time_is_up_the_run_ends(cli: Cli) -> None:
    outcome = run(cli, {"text": "late", "delay_ms": 20_000}, flags=("--max-time", "0.2s"))
    assert (outcome.code, outcome.result["reason"]) == (6, "budget")


@pytest.mark.parametrize(
    "flags",
    [("--max-time", "soon"), ("--max-time", "0"), ("--max-cost", "-1"), ("--max-cost", "€2"), ("--max-tokens", "0")],
)
def test_an_amount_that_is_none_is_refused(cli: Cli, flags: tuple[str, ...]) -> None:
    assert run(cli, LOOK, flags=flags).code == 2


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("1.5s", 1.5), ("10m", 600), ("1h30m", 5400), ("2h", 7200), ("1m5s", 65)]
)
def test_times_are_written_as_people_write_them(text: str, seconds: float) -> None:
    from trimtab.frontends.cli.amounts import Duration

    assert Duration().convert(text, None, None) == seconds


def schema(cli: Cli, value: object = SCHEMA) -> tuple[str, str]:
    path = cli.root / "schema.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return ("--output-schema", str(path))


@pytest.mark.parametrize(
    "answer", ['{"files": 3}', '```json\n{"files": 3}\n```', 'Here:\n```\n{"files": 3}\n```\nDone.']
)
def test_an_answer_that_fits_is_a_value_in_the_result(cli: Cli, answer: str) -> None:
    outcome = run(cli, {"text": answer}, flags=schema(cli))
    assert (outcome.code, outcome.result["output"]) == (0, {"files": 3})


def test_in_text_mode_standard_output_is_the_json_alone(cli: Cli) -> None:
    outcome = cli.inside("-p", "go", "--model", cli.script({"text": '```json\n{"files": 3}\n```'}), *schema(cli))
    assert outcome.out == '{"files": 3}\n'


def test_the_model_is_told_the_schema_and_may_repair_its_answer_once(cli: Cli) -> None:
    first = {"text": "three files", "expect": {"contains": ["additionalProperties"]}}
    second = {"text": '{"files": 3}', "expect": {"contains": ["it isn't JSON"]}}
    outcome = run(cli, first, second, flags=schema(cli))
    assert (outcome.code, outcome.result["steps"], outcome.result["output"]) == (0, 2, {"files": 3})


def test_an_answer_that_does_not_fit_leaves_standard_output_empty(cli: Cli) -> None:
    model = cli.script({"text": "a"}, {"text": "three files"})
    outcome = cli.run("-p", "count", "--model", model, *schema(cli))
    assert (outcome.code, outcome.out) == (7, "")
    assert "three files" in outcome.err


def test_an_answer_that_does_not_fit_twice_ends_with_its_own_code(cli: Cli) -> None:
    outcome = run(cli, {"text": '{"files": "3"}'}, {"text": '{"files": null}'}, flags=schema(cli))
    assert (outcome.code, outcome.result["reason"], outcome.result["output"]) == (7, "schema_failed", None)
    assert outcome.of("error")[-1]["message"] == (
        "the answer doesn't fit the schema: $.files: None is not of type 'integer'"
    )


@pytest.mark.parametrize(
    "value",
    ["{", "[]", {"type": "objekt"}, "\ud83d".encode("utf-8", "surrogatepass").decode("latin-1"), "[" * 100_000],
)
def test_a_schema_that_is_none_is_refused_before_anything_is_asked(cli: Cli, value: object) -> None:
    outcome = run(cli, {"text": "{}"}, flags=schema(cli, value))
    assert (outcome.code, outcome.events) == (2, [])
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"$ref": "http://127.0.0.1:1/x.json"}, "leads nowhere (nothing is fetched)"),
        ({"properties": {"a": {"items": {"$ref": "#/$defs/b"}}}}, "'#/$defs/b' leads nowhere"),
        ({"$ref": "#"}, "refers to itself without end"),
        ({"anyOf": [{"type": "null"}, {"allOf": [{"$ref": "#"}]}]}, "refers to itself without end"),
    ],
    ids=str,
)
def test_a_schema_that_cannot_be_followed_is_refused_before_anything_is_asked(cli: Cli, value: Json, said: str) -> None:
    outcome = run(cli, {"text": "{}"}, flags=schema(cli, value))
    assert (outcome.code, outcome.events, cli.sessions) == (2, [], [])
    assert said in outcome.err


def test_a_schema_of_trees_is_followed(cli: Cli) -> None:
    tree = {"type": "object", "required": ["name"], "properties": {"below": {"items": {"$ref": "#"}}}}
    outcome = run(cli, {"text": '{"name": "a", "below": [{"name": "b"}]}'}, flags=schema(cli, tree))
    assert (outcome.code, outcome.result["output"]["below"]) == (0, [{"name": "b"}])


def test_a_pattern_that_takes_for_ever_is_given_up_and_the_run_ends(cli: Cli) -> None:
    slow = {"type": "string", "pattern": "^(a+)+$"}
    answer = {"text": json.dumps("a" * 44 + "!")}
    flags = (*schema(cli, slow), "--max-time", "2s")
    outcome = cli.run("-p", "go", "--mode", "json", "--model", cli.script(answer, answer), *flags)
    assert (outcome.code, outcome.result["reason"]) == (6, "budget")


def test_a_safe_start_has_nothing_of_the_projects_own_whatever_was_trusted(cli: Cli) -> None:
    cli.file(".trimtab/config.toml", "append_system_prompt = 'LOUD'\n")
    assert (
        cli.inside(
            "-p", "go", "--trust", "folder", "--model", cli.script({"text": "ok", "expect": {"contains": ["LOUD"]}})
        ).code
        == 0
    )
    assert (
        cli.inside("-p", "go", "--safe", "--model", cli.script({"text": "ok", "expect": {"absent": ["LOUD"]}})).code
        == 0
    )
    assert cli.inside("-p", "go", "--model", cli.script({"text": "ok", "expect": {"contains": ["LOUD"]}})).code == 0


def git(*arguments: str, cwd: Path) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    done = subprocess.run(("git", *who, *arguments), cwd=cwd, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def repository(cli: Cli) -> Cli:
    git("init", "-q", "-b", "main", cwd=cli.project)
    cli.file("sub/a.txt", "one\n")
    git("add", "-A", cwd=cli.project)
    git("commit", "-qm", "first", cwd=cli.project)
    return cli


WRITE: Json = {"tool_calls": [{"name": "write", "arguments": {"path": "a.txt", "content": "two\n"}}]}


def test_a_run_in_a_worktree_leaves_the_checkout_as_it_is_and_the_name_finds_it_again(repository: Cli) -> None:
    flags = ("--worktree", "fix-it", "--cwd", str(repository.project / "sub"))
    first = run(repository, WRITE, {"text": "done"}, flags=flags)
    tree = repository.root / "project-worktrees" / "fix-it"
    assert first.code == 0, first.err
    assert (tree / "sub" / "a.txt").read_text() == "two\n"
    assert git("status", "--porcelain", cwd=repository.project) == ""
    assert git("branch", "--show-current", cwd=tree).strip() == "trimtab/fix-it"
    again = run(repository, {"text": "done"}, flags=flags)
    assert (again.code, "which was there" in again.err) == (0, True)


def test_what_is_not_committed_is_told_to_stay_behind(repository: Cli) -> None:
    assert "stays there" not in run(repository, {"text": "done"}, flags=("--worktree", "one")).err
    repository.file("sub/a.txt", "not committed\n")
    repository.file("new.txt", "")
    told = f"; what isn't committed in {repository.project} (changed or new: 2) stays there"
    assert told in run(repository, {"text": "done"}, flags=("--worktree", "two")).err


def test_a_hook_of_the_project_does_not_run_for_a_worktree(repository: Cli) -> None:
    hook = repository.file(".git/hooks/post-checkout", "#!/bin/sh\ntouch ran\n")
    hook.chmod(0o755)
    assert run(repository, {"text": "done"}, flags=("--worktree", "x")).code == 0
    assert list(repository.root.rglob("ran")) == []


def test_a_program_that_the_repository_names_runs_for_a_worktree_only_where_it_is_trusted(repository: Cli) -> None:
    repository.file(".git/info/attributes", "* filter=x\n")
    git("config", "filter.x.smudge", f"touch {repository.root}/ran; cat", cwd=repository.project)
    outcome = run(repository, {"text": "done"}, flags=("--worktree", "x"))
    assert (outcome.code, (repository.root / "ran").exists()) == (2, False)
    assert "filter.x.smudge" in outcome.err
    assert "trimtab trust" in outcome.err
    trusted = ("--worktree", "x", "--trust", "once")
    assert run(repository, {"text": "done"}, flags=(*trusted, "--safe")).code == 2
    assert run(repository, {"text": "done"}, flags=trusted).code == 0
    assert (repository.root / "ran").exists()


@pytest.mark.parametrize("name", ["../out", "-b", "a b", "", "x.lock", "a..b", "\x1b[31m"])
def test_a_name_that_is_none_is_refused(repository: Cli, name: str) -> None:
    outcome = run(repository, {"text": "done"}, flags=("--worktree", name))
    assert outcome.code == 2
    assert "\x1b" not in outcome.err
    assert not (repository.root / "project-worktrees").exists()


def test_without_a_repository_there_is_no_worktree(cli: Cli) -> None:
    outcome = run(cli, {"text": "done"}, flags=("--worktree", "x"))
    assert outcome.code == 2
    assert "--worktree needs a git repository with a commit" in outcome.err


def test_what_a_person_set_before_each_command_is_run_and_a_project_sets_nothing_there(cli: Cli) -> None:
    run = {"tool_calls": [{"name": "bash", "arguments": {"command": "greet you"}}]}
    setting = 'tools.bash.prefix="greet() { echo hello $1; }"'
    outcome = cli.inside(
        "-p",
        "go",
        "--mode",
        "json",
        "--permission",
        "full",
        "--set",
        setting,
        "--model",
        cli.script(run, {"text": "ok"}),
    )
    assert "hello you" in text_of(outcome.of("tool_ended")[0])
    cli.file(".trimtab/config.toml", "[tools.bash]\nprefix = 'touch /tmp/never'\n")
    refused = cli.inside("-p", "go", "--trust", "once", "--model", cli.script({"text": "ok"}))
    assert "tools.bash.prefix" in refused.err
