"""What in the project decides what runs later stays as it is, and git works all the same."""

import subprocess
from pathlib import Path

import pytest

from sandbox.conftest import BACKENDS, WHOLE, World

WAYS = {
    "writing a hook": "printf '#!/bin/sh\\n' > .git/hooks/pre-commit",
    "moving a hook there": "echo bad > x; chmod +x x; mv x .git/hooks/pre-commit",
    "linking a hook there": "echo bad > x; ln x .git/hooks/pre-commit; ln -s ../../x .git/hooks/post-commit",
    "another mode of a hook": "chmod 000 .git/hooks/*.sample",
    "other hooks": "git config core.hooksPath evil",
    "writing git's settings": "printf '[core]\\nfsmonitor = evil\\n' >> .git/config",
    "writing by a link": "ln -s .git/config c; echo bad >> c",
    "writing by a hard link": "ln .git/config c && echo bad >> c",
    "replacing git's settings": "echo bad > x; mv -f x .git/config",
    "removing": "rm -rf .git/hooks .git/config .trimtab own",
    "another git folder": "mv .git old && cp -r old .git && echo bad > .git/config",
    "another hooks folder": "mv .git/hooks .git/old && mkdir .git/hooks && echo bad > .git/hooks/pre-commit",
    "another project": "cd .. && mv project old && cp -r old project && echo bad > project/.trimtab/config.toml",
    "the project's settings": "echo bad > .trimtab/config.toml",
    "a new setting": "echo bad > .trimtab/more",
    "other settings": "mv .trimtab old; mkdir .trimtab; echo bad > .trimtab/config.toml",
    "the agent's own settings": "echo bad > own/config.toml",
    "the agent's own folder": "mv own old; mkdir own; echo bad > own/config.toml",
    "exchanging": "mkdir e; python3 -c \"import ctypes; ctypes.CDLL(None).renameat2(-100, b'e', -100, b'own', 2)\"; echo bad > own/config.toml",
}


def kept(world: World) -> dict[str, object]:
    return {name: world.tree(world.project / name) for name in (".trimtab", "own", ".git/hooks")} | {
        "config": (world.project / ".git/config").read_bytes()
    }


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", WHOLE)
def test_it_stays_by(world: World, name: str, way: str) -> None:
    before = kept(world)
    ran = world.run(name, WAYS[way])
    assert kept(world) == before, ran.stdout


def test_landlock_alone_can_not_keep_it(world: World) -> None:
    """As the documentation says: below a folder that is open nothing can be closed."""
    assert world.run("landlock", WAYS["writing a hook"]).returncode == 0


@pytest.mark.parametrize("name", WHOLE)
def test_a_setting_opens_what_it_names(world: World, name: str) -> None:
    plan = world.plan(write=(".git/config",))
    assert world.run(name, "echo '[x]' >> .git/config && echo bad > .git/hooks/x", plan=plan).returncode != 0
    assert (world.project / ".git/config").read_text().endswith("[x]\n")
    assert not (world.project / ".git/hooks/x").exists()


GIT = "git -c user.name=a -c user.email=a@b"
WORK = (
    f"echo a > a && git add a && {GIT} commit -qm one && git checkout -qb other && echo b >> a && {GIT} commit -qam two && "
    f"git checkout -q - && {GIT} merge -q --no-ff -m merged other && echo c >> a && {GIT} stash -q && {GIT} stash pop -q && git checkout -q a && "
    f"git tag t && {GIT} rebase -q HEAD~1 && git gc -q && git fsck && git worktree add -q wt && git status --short && git log --format=%s -n 1"
)


@pytest.mark.parametrize("name", BACKENDS)
def test_git_works(world: World, name: str) -> None:
    ran = world.run(name, WORK)
    assert ran.returncode == 0, ran.stdout
    assert ran.stdout.splitlines()[-1] in ("two", "merged")


@pytest.mark.parametrize("name", BACKENDS)
def test_git_works_in_a_worktree_whose_git_folder_is_elsewhere(world: World, name: str) -> None:
    main = world.root / "main"
    for words in (
        ["init", "-q", str(main)],
        ["-C", str(main), "-c", "user.name=a", "-c", "user.email=b", "commit", "-q", "--allow-empty", "-m", "x"],
        ["-C", str(main), "worktree", "add", "-q", str(world.root / "tree")],
    ):
        subprocess.run(["git", *words], check=True, stdin=subprocess.DEVNULL)
    plan = world.plan(project=str(world.root / "tree"))
    moved = World(world.root)
    ran = moved.run(
        name, f"cd ../tree && echo a > a && git add a && {GIT} commit -qm one && git log --format=%s -n 1", plan=plan
    )
    assert (ran.returncode, ran.stdout) == (0, "one\n")
    ran = moved.run(name, "cd ../tree && echo bad > ../main/file", plan=plan)
    assert not (main / "file").exists()
    if name != "landlock":
        moved.run(name, "cd ../tree && echo bad > ../main/.git/hooks/x; rm .git; echo 'gitdir: /x' > .git", plan=plan)
        assert not (main / ".git/hooks/x").exists()
        assert (world.root / "tree/.git").read_text().startswith(f"gitdir: {main}")


@pytest.mark.parametrize("name", WHOLE)
def test_a_new_repository_in_the_project_is_its_own_matter(world: World, name: str) -> None:
    ran = world.run(name, f"git init -q sub && cd sub && git config a.b c && {GIT} commit -q --allow-empty -m x")
    assert ran.returncode == 0, ran.stdout
    assert Path(world.project / "sub/.git/config").exists()
