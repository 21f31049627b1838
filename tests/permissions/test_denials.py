"""A denied command stays denied in every usual dress, and a rule denies nothing that it doesn't say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.coding.permissions.denials import denied
from trimtab.coding.permissions.rules import Rule
from trimtab.coding.permissions.shell import Unclear, parse


def is_denied(command: str, *rules: str) -> bool:
    return denied(parse(command), [Rule("bash", rule) for rule in rules]) is not None


@pytest.mark.parametrize(
    "command",
    [
        "git push",
        "git push --force origin",
        "git -C . push",
        'git -C "$DIR" push',
        "git --no-pager push",
        "git -c a.b=c --git-dir=x --work-tree y -p push",
        "/usr/bin/git push",
        "./git push",
        "ls && git push | cat",
        "echo $(git push)",
        "env git push",
        "env -i A=b git push",
        "/usr/bin/env -u X git push",
        "sudo git push",
        "sudo -u me -n /usr/bin/git -C . push",
        "command git push",
        "command -- git push",
        "exec git push",
        "nice -n 5 git push",
        "nice -19 git push",
        "timeout 5 git push",
        "timeout -k 1 --signal KILL 5 git push",
        "timeout --foreground 5 git push",
        "time git push",
        "time -p git push",
        "/usr/bin/time -v git push",
        "nohup git push",
        "xargs git push",
        "xargs -I{} git push {}",
        "xargs -n1 -r git push",
        "sh -c 'git push'",
        "bash -lc 'ls; git -C x push'",
        "bash -e -c 'git push' x",
        "zsh -c 'sudo git push'",
        "eval git push",
        "eval 'git push'",
        "find . -name x -exec git push ';'",
        "A=b git push",
        "sudo env nice nohup git push",
    ],
)
def test_a_denied_command_is_seen_in_every_dress(command: str) -> None:
    assert is_denied(command, "git push")


@pytest.mark.parametrize(
    "command",
    [
        "git pull",
        "git stash push",
        "git log push",
        "git -C push status",
        "echo git push",
        "sudo echo git push",
        "xargs grep git push",
        "legit push",
        "sh -c 'echo git push'",
        "cat git push",
        "env",
        "sh",
    ],
)
def test_nothing_else_is_denied(command: str) -> None:
    assert not is_denied(command, "git push")


@pytest.mark.parametrize(
    ("rule", "command", "expected"),
    [
        ("rm", "sudo /bin/rm -rf x", True),
        ("rm -rf", "/bin/rm -rf x", True),
        ("rm -rf", "rm -r -f x", False),
        ("./deploy.sh", "bash deploy.sh prod", True),
        ("./deploy.sh", "sh -e ./deploy.sh", True),
        ("/usr/bin/git push", "git push", True),
        ("docker push", "docker --context x push y", True),
        ("cargo publish", "cargo +nightly publish", True),
        ("python -m pip", "python3 -m pip", False),
        ("python -m pip", "/usr/bin/python -m pip install", True),
        ("git push *", "git -C x push y", True),
        ("sudo", "env sudo ls", True),
        ("git push", "$X push", False),
        ("git push", "git $X", False),
    ],
)
def test_what_rules_of_denial_see(rule: str, command: str, expected: bool) -> None:
    assert is_denied(command, rule) is expected


def test_nesting_without_end_is_unclear_not_endless() -> None:
    for command in ("env " * 2_000 + "ls", "sudo --what " * 700, "find " + "-exec find " * 400):
        with pytest.raises(Unclear):
            is_denied(command, "git push")
    assert not is_denied("sudo --what " * 15 + "ls", "git push")


CARRIERS = st.sampled_from(
    [
        "env",
        "env -i A=1",
        "sudo",
        "sudo -u me",
        "command",
        "nice -n 3",
        "timeout 9",
        "nohup",
        "xargs",
        "exec",
        "time -p",
    ]
)
PROGRAMS = st.sampled_from(["git", "/usr/bin/git", "./git", "git -C x", "git --no-pager", "git -c a=b -P"])


@given(st.lists(CARRIERS, max_size=5), PROGRAMS, st.sampled_from(["", " -f", " origin main"]))
def test_dresses_can_be_worn_over_each_other(carriers: list[str], program: str, rest: str) -> None:
    assert is_denied(" ".join([*carriers, f"{program} push{rest}"]), "git push")
