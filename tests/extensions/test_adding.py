"""Extensions of others: added from files and repositories, shown first, kept with where they came from, updated, taken out."""

import io
import json
import os
import socket
import subprocess
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

from support.cli import Cli, Outcome
from trimtab.coding.extensions.adding import keeping
from trimtab.coding.extensions.adding.fetch import fetch
from trimtab.coding.extensions.adding.git import git_tree
from trimtab.coding.extensions.adding.offer import offers
from trimtab.coding.extensions.adding.record import read_record
from trimtab.coding.extensions.adding.source import read_source
from trimtab.coding.extensions.adding.tree import Entry
from trimtab.frontends.cli.extensions import command
from trimtab.types.errors import StoreError, UsageError

NOTES = "API = 1\ndef extend(api):\n    api.command('notes', lambda rest, here: 'ports')\n    api.on_tool_call(print)\n"
NAMES = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Home and project."""
    return Cli.at(tmp_path)


def git(folder: Path, *words: str) -> str:
    """What git prints."""
    env = {**os.environ, **NAMES, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(("git", "-C", folder, *words), env=env, check=True, capture_output=True, text=True).stdout


def repository(root: Path, files: dict[str, str]) -> Path:
    """A bare repository with a commit of these files, made without a working tree."""
    folder = root / "shared.git"
    folder.mkdir()
    git(folder, "init", "-q", "--bare", "-b", "main", ".")
    commit(folder, files)
    return folder


def commit(folder: Path, files: dict[str, str]) -> None:
    """Another commit. A text that begins with `-> ` is a link."""
    stream = ["commit refs/heads/main", "committer a <a@b> 0 +0000", "data 1", "x", "deleteall"]
    for name, text in files.items():
        mode, data = ("120000", text[3:]) if text.startswith("-> ") else ("100644", text)
        stream += [f"M {mode} inline {name}", f"data {len(data.encode())}", data]
    words = ("git", "-C", folder, "fast-import", "--quiet", "--force")
    subprocess.run(words, input="\n".join([*stream, ""]).encode(), check=True, capture_output=True)


def extensions(cli: Cli) -> list[str]:
    """What the home holds, hidden names too, but for the lock."""
    folder = cli.home / "extensions"
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file() and p.name != ".lock")


def added(cli: Cli, source: object, *more: str) -> Outcome:
    return cli.inside("extensions", "add", str(source), "--yes", *more)


def listed(cli: Cli) -> dict[str, tuple[str, str | None]]:
    """Name to state and commit."""
    rows = json.loads(cli.inside("extensions", "list", "--json").out)
    return {row["name"]: (row["state"], row["commit"]) for row in rows}


def test_extensions_of_a_repository_are_shown_kept_with_their_commit_and_act(cli: Cli) -> None:
    files = {"notes.py": NOTES, "team/__init__.py": NOTES.replace("notes", "team") + "from . import words\n"}
    rest = {"team/words.py": "", "setup.py": "import nosuch", "tests/__init__.py": "", ".github/x.py": NOTES}
    source = repository(cli.root, {**files, **rest})
    head = git(source, "rev-parse", "main").strip()
    outcome = added(cli, source)
    assert (outcome.code, outcome.out) == (
        0,
        "added: notes, team. It acts from the next session on, or after /reload.\n",
    )
    assert "registers, by its text: command /notes, hook tool_call" in outcome.err
    assert extensions(cli) == [".added.json", "notes.py", "team/__init__.py", "team/words.py"]
    assert listed(cli) == {"notes": ("as added", head), "team": ("as added", head)}
    assert cli.inside("-p", "/team", "--model", cli.script({"text": "paid"})).out == "ports\n"


def test_nothing_is_added_where_nobody_says_yes(cli: Cli) -> None:
    (cli.root / "notes.py").write_text(NOTES)
    outcome = cli.inside("extensions", "add", str(cli.root / "notes.py"))
    assert (outcome.code, outcome.out) == (2, "")
    assert "notes.py: 106 bytes, sha256" in outcome.err
    assert "--yes takes what was shown" in outcome.err
    assert extensions(cli) == []


def test_a_person_sees_the_text_before_a_yes(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    class Typed(io.StringIO):
        def isatty(self) -> bool:
            return True

    (cli.root / "notes.py").write_text(f"{NOTES}# \u202e\x1b[31m\n")
    said: list[str] = []
    monkeypatch.setattr("click.echo", lambda text="", **_: said.append(str(text)))
    for typed, state in (("show\nno\n", {}), ("show\nyes\n", {"notes": "as added"})):
        monkeypatch.setattr("sys.stdin", Typed(typed))
        monkeypatch.setattr("click.termui.visible_prompt_func", lambda *_: input())
        with mock.patch.dict(os.environ, cli.environment()):
            with suppress(UsageError):
                command.main(["add", str(cli.root / "notes.py")], standalone_mode=False)
            assert {name: one.source for name, one in read_record(cli.home / "extensions").items()} == {
                name: str(cli.root / "notes.py") for name in state
            }
    text = "\n".join(said)
    assert "  def extend(api):" in text
    assert "<U+202E>" in text
    assert "\x1b" not in text


def test_a_taken_name_needs_force_and_a_file_of_yours_is_kept(cli: Cli) -> None:
    (cli.home / "extensions").mkdir(parents=True)
    (cli.home / "extensions" / "notes.py").write_text("# mine\n")
    (cli.root / "notes.py").write_text(NOTES)
    assert added(cli, cli.root / "notes.py").code == 2
    assert extensions(cli) == ["notes.py"]
    outcome = added(cli, cli.root / "notes.py", "--force")
    assert outcome.code == 0
    (kept,) = (cli.home / "extensions" / ".replaced").iterdir()
    assert (kept.read_text(), "what was there is kept" in outcome.err) == ("# mine\n", True)


def test_an_update_shows_the_difference_and_leaves_what_was_changed_here(cli: Cli) -> None:
    source = repository(cli.root, {"notes.py": NOTES, "other.py": NOTES.replace("notes", "other")})
    assert added(cli, source).code == 0
    assert "as it is there" in cli.inside("extensions", "update").out
    commit(source, {"notes.py": f"{NOTES}import nosuchmodule\n", "other.py": NOTES})
    (cli.home / "extensions" / "other.py").write_text("# mine\n")
    outcome = cli.inside("extensions", "update", "--yes")
    assert (outcome.code, outcome.out.startswith("updated: notes.")) == (1, True)
    assert "    +import nosuchmodule" in outcome.err
    assert "isn't loaded before it is: nosuchmodule" in outcome.err
    assert "other: other has changed since it was added" in " ".join(outcome.err.split())
    assert (cli.home / "extensions" / "other.py").read_text() == "# mine\n"
    assert [state for state, _ in listed(cli).values()] == ["as added", "changed here"]


def test_what_was_added_is_taken_out_and_what_was_not_is_yours(cli: Cli) -> None:
    (cli.root / "notes.py").write_text(NOTES)
    assert added(cli, cli.root / "notes.py").code == 0
    (cli.home / "extensions" / "mine.py").write_text(NOTES)
    assert "put there by you" in cli.inside("extensions", "remove", "mine").err
    assert "Did you mean notes?" in cli.inside("extensions", "remove", "note").err
    assert cli.inside("extensions", "remove", "notes").code == 0
    assert (extensions(cli), listed(cli)) == ([".added.json", "mine.py"], {})


def test_a_branch_a_tag_and_a_commit_are_fetched_by_ref(cli: Cli) -> None:
    source = repository(cli.root, {"notes.py": NOTES})
    git(source, "tag", "-a", "-m", "x", "v1", "main")
    first = git(source, "rev-parse", "main").strip()
    commit(source, {"notes.py": f"{NOTES}# new\n"})
    for ref in ("v1", first):
        fetched = fetch(str(source), ref, cli.project)
        assert (fetched.origin.commit, fetched.offers[0].files) == (first, {"notes.py": NOTES.encode()})
    assert fetch(f"file://{source}", "main", cli.project).origin.commit != first


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("http://host/x", "nothing is fetched by http://"),
        ("git://host/x", "nothing is fetched by git://"),
        ("ext::sh -c id", "there is no ext::sh -c id"),
        ("https://me:secret@host/x", "holds a login"),
        ("https://token@host/x", "holds a login"),
        ("ssh://-oProxyCommand=id/x", "names no repository"),
        ("ssh://-x@host/x", "names no repository"),
        ("file://host/x", "nothing is fetched by file://"),
        ("https://[::1", "is no address"),
        ("github.com/a/b", "there is no github.com/a/b"),
        ("a\x1b[31m", "no source"),
        (" ", "no source"),
    ],
)
def test_a_source_that_could_be_more_than_an_address_is_refused(tmp_path: Path, source: str, why: str) -> None:
    with pytest.raises(UsageError) as problem:
        read_source(source, "", tmp_path)
    assert why in problem.value.message
    assert "secret" not in str(problem.value)
    assert problem.value.hint


@pytest.mark.parametrize("ref", ["-x", "a:b", "a..b", "a b", "+main", "main@{1}", "x\x1b"])
def test_a_ref_that_could_mean_more_than_a_name_is_refused(tmp_path: Path, ref: str) -> None:
    with pytest.raises(UsageError, match="no name of a branch"):
        read_source("https://host/x", ref, tmp_path)


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"pk/__init__.py": NOTES, "pk/l.py": "-> /etc/passwd"}, "l.py in it is a link"),
        ({"pk/__init__.py": NOTES, "pk/A.py": "", "pk/a.py": ""}, "upper and lower case"),
        ({"pk/__init__.py": NOTES, '"pk/a\\033[31m.py"': ""}, "a file with the name"),
        ({"pk/__init__.py": NOTES, **{f"pk/{n}.py": "" for n in range(200)}}, "more than 200 files"),
        ({"mcp.py": NOTES}, "can't be called mcp"),
        ({"notes.py": "print('no extension')"}, "there is no extension"),
        ({"notes.py": "(" * 3000}, "there is no extension"),
        ({"notes.py": "#" * 4_000_001}, "larger than 4,000,000 bytes"),
    ],
)
def test_what_is_not_put_on_a_disk_is_refused_as_a_whole(cli: Cli, files: dict[str, str], why: str) -> None:
    outcome = added(cli, repository(cli.root, files))
    assert (outcome.code, extensions(cli)) == (2, [])
    assert why in " ".join(outcome.err.split())
    assert "\x1b" not in outcome.err


def test_a_link_in_a_folder_is_refused_too(cli: Cli) -> None:
    (cli.root / "pk").mkdir()
    (cli.root / "pk" / "__init__.py").write_text(NOTES)
    (cli.root / "pk" / "more").symlink_to("/")
    outcome = added(cli, cli.root / "pk")
    assert (outcome.code, "more in it is a link" in outcome.err) == (2, True)


@pytest.mark.parametrize("name", ["../x.py", "a//b.py", "a/./b.py", "a\\b.py"])
def test_a_path_that_leads_out_is_refused(name: str) -> None:
    class Odd:
        def __init__(self) -> None:
            self.commit = ""
            self.entries = {path: Entry(path, "file", 1) for path in ("pk/__init__.py", f"pk/{name}")}

        def read(self, paths: list[str]) -> dict[str, bytes]:
            return dict.fromkeys(paths, NOTES.encode())

    with pytest.raises(UsageError, match="a file with the name"):
        offers(Odd(), "shared")


def test_settings_and_hooks_of_a_repository_run_nothing(cli: Cli) -> None:
    source = repository(cli.root, {"notes.py": NOTES, ".gitattributes": "*.py filter=evil\n"})
    ran = cli.root / "ran"
    git(source, "config", "uploadpack.packObjectsHook", f"touch {ran}; ")
    git(source, "config", "filter.evil.smudge", f"touch {ran}")
    for hook in ("post-checkout", "post-upload-pack", "reference-transaction"):
        (source / "hooks").mkdir(exist_ok=True)
        (source / "hooks" / hook).write_text(f"#!/bin/sh\ntouch {ran}\n")
        (source / "hooks" / hook).chmod(0o755)
    assert added(cli, source).code == 0
    assert not ran.exists()


def test_a_server_that_never_answers_is_given_up(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        source = read_source(f"https://127.0.0.1:{server.getsockname()[1]}/x", "", tmp_path)
        with pytest.raises(UsageError, match=r"took more than 0\.2 s"):
            git_tree(source, tmp_path, within_s=0.2)


def test_a_failure_in_the_middle_leaves_all_as_it_was(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = cli.home / "extensions"
    folder.mkdir(parents=True)
    (folder / "notes.py").write_text("# mine\n")
    (cli.root / "notes.py").write_text(NOTES)
    fetched = fetch(str(cli.root / "notes.py"), "", cli.project)
    second = replace(fetched.offers[0], name="second", package=True)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(keeping, "write_record", full)
    with pytest.raises(StoreError, match="No space left"):
        keeping.keep(folder, [fetched.offers[0], second], fetched.origin, force=True)
    assert extensions(cli) == ["notes.py"]
    assert (folder / "notes.py").read_text() == "# mine\n"


def test_what_a_killed_process_moved_away_comes_back(cli: Cli) -> None:
    folder = cli.home / "extensions"
    (folder / ".adding-1" / "old").mkdir(parents=True)
    (folder / ".adding-1" / "old" / "mine.py").write_text("# mine\n")
    (cli.root / "notes.py").write_text(NOTES)
    assert added(cli, cli.root / "notes.py").code == 0
    assert extensions(cli) == [".added.json", "mine.py", "notes.py"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "can't be read"),
        ('{"format": 2, "extensions": {}}', "a newer Trimtab"),
        ('{"format": 1, "extensions": {"../../x": {"source": "s"}}}', "names an extension ../../x"),
    ],
)
def test_a_damaged_record_is_an_error_that_says_what_to_do(cli: Cli, text: str, why: str) -> None:
    (cli.home / "extensions").mkdir(parents=True)
    (cli.home / "extensions" / ".added.json").write_text(text)
    outcome = cli.inside("extensions")
    assert (outcome.code, why in " ".join(outcome.err.split())) == (2, True)
    assert "Move it away" in outcome.err or "Update Trimtab" in outcome.err
