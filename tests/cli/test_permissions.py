"""`trimtab permissions` says what holds and why, and its exit code whether a call runs unasked."""

import json

import pytest

from support.cli import Cli


def test_the_list_names_each_rule_with_its_place_and_what_wins(cli: Cli) -> None:
    cli.config("[permissions]\nmode = 'ask'\ndeny = ['bash(git push)']\n")
    outcome = cli.inside("permissions")
    assert outcome.code == 0
    assert outcome.out.splitlines() == [
        f"mode ask (user config ({cli.home}/config.toml))",
        f"deny  bash(git push)  permissions.deny[0], user config ({cli.home}/config.toml)",
        "What decides, the first that speaks of a call:",
        "  1. a rule of permissions.deny, wherever it stands",
        "  2. a rule of permissions.ask, wherever it stands; an answer in this session lifts it for the very call that it was about",
        "  3. answers in this session",
        "  4. rules of permissions.allow and tools.bash.allow, none of them a project's",
        "  5. the mode",
    ]
    data = json.loads(cli.inside("permissions", "list", "--json", "--set", 'tools.bash.allow=["npm test"]').out)
    assert (data["mode"], data["allow"]) == (
        "ask",
        [{"rule": "bash(npm test)", "origin": "tools.bash.allow[0], --set tools.bash.allow"}],
    )


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("bash", "ls | wc"), 0),
        (("bash", "ls", "-l"), 0),
        (("bash", "git push && ls"), 1),
        (("bash", "git push", "--permission", "full"), 0),
        (("bash", "[[ a ]]"), 1),
        (("write", "a"), 0),
        (("write", "a", "--permission", "plan"), 1),
        (("edit", "/etc/passwd"), 1),
        (("read", "/etc/passwd"), 0),
        (("mcp__files__read",), 1),
        (("bahs", "ls"), 2),
        (("bash",), 2),
        (("write", ""), 2),
    ],
)
def test_the_exit_code_says_whether_a_call_runs_unasked(cli: Cli, words: tuple[str, ...], code: int) -> None:
    assert cli.inside("permissions", "why", *words).code == code


def test_why_names_each_part_what_decided_and_what_would_allow_it(cli: Cli) -> None:
    outcome = cli.inside("permissions", "why", "bash", "git push \x1b[2J&& ls > ../x")
    assert "\x1b" not in outcome.out
    outcome = cli.inside("permissions", "why", "bash", "rm x && ls > ../x")
    assert outcome.out.splitlines() == [
        "bash rm x && ls > ../x: is asked about; without a person it is refused",
        "  ask    rm x    it may change things; mode auto-edit (default)",
        "  allow  ls      it is known to change nothing",
        "  ask    > ../x  ../x is outside the project; mode auto-edit (default)",
        f'What would let it run unasked: permissions.allow = ["bash(rm x $)", "write({cli.root}/x)"], or --permission full',
    ]
    data = json.loads(cli.inside("permissions", "why", "bash", "rm x && ls", "--json").out)
    assert (data["outcome"], data["would_allow"]) == ("ask", ["bash(rm x $)"])
    assert [(part["what"], part["outcome"]) for part in data["parts"]] == [("rm x", "ask"), ("ls", "allow")]
    assert data["parts"][0]["by"] == {"kind": "mode", "name": "auto-edit", "origin": "default"}


def test_a_rule_that_cannot_act_is_a_mistake_of_settings(cli: Cli) -> None:
    cli.config("[permissions]\nallow = ['bahs(ls)']\n")
    outcome = cli.inside("permissions")
    assert (outcome.code, "did you mean 'bash'?" in outcome.err) == (2, True)


def test_why_names_the_part_that_a_rule_denies_and_where_the_rule_stands(cli: Cli) -> None:
    cli.config("[permissions]\ndeny = ['bash(git push)']\n")
    lines = cli.inside("permissions", "why", "bash", "ls; rm x; sudo git -C . push").out.splitlines()
    place = f"rule bash(git push) (permissions.deny[0], user config ({cli.home}/config.toml))"
    assert lines == [
        "bash ls; rm x; sudo git -C . push: is denied",
        "  allow  ls             it is known to change nothing",
        "  ask    rm x           it may change things; mode auto-edit (default)",
        f"  deny   git -C . push  a rule of permissions.deny refuses 'git -C . push'; {place}",
        "Go on without it, or say what you need.",
    ]
