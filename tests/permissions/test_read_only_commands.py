"""Which commands are known to change nothing, and which tricks don't make one look so."""

import pytest

from trimtab.coding.permissions.commands import is_read_only, unsafe_variables, unwrap
from trimtab.coding.permissions.shell import Command, parse


def known(script: str) -> bool:
    return all(_known(command) for command in parse(script))


def _known(command: Command) -> bool:
    if unsafe_variables(command) or command.writes:
        return False
    if not command.words or is_read_only(command.words):
        return True
    inner = unwrap(command)
    return inner is not None and all(_known(c) for c in inner)


@pytest.mark.parametrize(
    "script",
    [
        "ls -la /tmp",
        "cat $FILE *.txt ~/x",
        "git status",
        "git --no-pager log --oneline -5",
        "git -C sub diff HEAD~1 -- src",
        "git branch --show-current",
        "git stash list",
        "git config user.name",
        "git remote -v",
        "git --version",
        "git diff | grep x && ls",
        "find . -name '*.py' -type f",
        "rg -n foo src",
        "sort -rn -k2 f | uniq -c | head -3",
        "sed -n '1,20p' f",
        "sed -n -e '/^a/,$p' f",
        "sed 's/a b/c/g' f",
        "xargs grep foo",
        "find . | xargs -n1 wc -l",
        "timeout 5 ls",
        "timeout -s KILL 5 nice -n 3 cat f",
        "env",
        "env LANG=C ls",
        "bash -c 'ls | wc'",
        "command -v python",
        "python --version",
        "/usr/bin/env ls",
        "for f in a b; do head -1 $f; done",
        'while read -r f; do wc -l "$f"; done',
        'f=$(ls | head -1); cat "$f"',
        "LC_ALL=C sort f",
        "[ -f x ] && echo yes",
        "set -euo pipefail; date +%s",
        "npm ls",
        "cd src && ls",
    ],
)
def test_it_is_known_to_change_nothing(script: str) -> None:
    assert known(script)


@pytest.mark.parametrize(
    "script",
    [
        "rm x",
        "./ls",
        "/tmp/ls",
        "$CMD",
        "l* x",
        "npm test",
        "pytest",
        "make",
        "python x.py",
        "python -c 1",
        "python --version x",
        "ls; rm x",
        "ls $(rm x)",
        'ls "`rm x`"',
        "ls <(rm x)",
        "if ls; then rm x; fi",
        "find . -delete",
        "find . -exec rm {} +",
        "find . -fprintf x y",
        "find $X",
        "find . -name *.py",
        "sort -o f g",
        "sort -rnof g",
        "sort --out=f g",
        "sort $X g",
        'sort "$X" g',
        'sort "-$X" g',
        "sort a$X",
        "sort *",
        "uniq a b",
        "rg --pre x y",
        "rg -z x",
        "fd -x rm",
        "tree -o f",
        "date -s x",
        "hostname x",
        "printf -v PATH x",
        "test -v 'a[$(id)]'",
        "sed -i s/a/b/ f",
        "sed -n 'w f' g",
        "sed 's/a/b/w f' g",
        "sed 's/a/b/e' g",
        "sed '1e id' g",
        "sed -f f g",
        "sed -n $X f",
        "awk '{print}' f",
        "git push",
        "git commit -m x",
        "git branch x",
        "git branch -D x",
        "git tag x",
        "git stash",
        "git stash -p",
        "git stash drop",
        "git config a.b c",
        "git config --unset a.b",
        "git -c core.pager=x log",
        "git --exec-path=x log",
        "git diff --output=f",
        "git diff --ext-d",
        "git log $X",
        "git grep -Ox a",
        "git remote add a b",
        "git $X",
        "git alias",
        "xargs rm",
        "xargs sort",
        "xargs sh -c 'ls'",
        "xargs -I{} {}",
        "xargs -I ls ls rm",
        "timeout 5 rm x",
        "timeout --x 5 ls",
        "env -S 'rm x'",
        "env PATH=. ls",
        "env $X ls",
        "bash -c 'rm x'",
        "bash -c $X",
        "bash x.sh",
        "bash -ic ls",
        "eval ls",
        "source x",
        ". x",
        "exec ls",
        "sudo ls",
        "tee f",
        "PATH=. ls",
        "GIT_PAGER=x git log",
        "LD_PRELOAD=x ls",
        "PATH=.; ls",
        "for PATH in .; do ls; done",
        "export X=1",
        "read PATH",
        "npm_config_x=1 npm ls",
        "http_proxy=x ls",
        "less f",
        "curl x",
    ],
)
def test_it_is_not_known_to_change_nothing(script: str) -> None:
    assert not known(script)
