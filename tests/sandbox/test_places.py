"""Where commands may write when nobody says anything, and what of it can't be talked into being elsewhere."""

import os
import socket
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from trimtab.coding.sandbox.places import Grounds, look, make_caches
from trimtab.coding.sandbox.plan import Confinement, Place


@pytest.fixture
def grounds(tmp_path: Path) -> Grounds:
    """A project and a home side by side."""
    root = Path(os.path.realpath(tmp_path))
    for folder in ("project", "home/.cache", "data"):
        (root / folder).mkdir(parents=True)
    return Grounds(str(root / "project"), str(root / "home"), environment={"PATH": "/nowhere"})


def below(plan: Confinement, grounds: Grounds) -> list[tuple[str, str]]:
    """The places below the test's folder, by their path in it."""
    root = os.path.dirname(grounds.project) + "/"
    return [(p.kind, p.path.removeprefix(root)) for p in plan.places if p.path.startswith(root)]


def test_project_temp_and_caches_may_be_written(grounds: Grounds) -> None:
    plan = look(grounds)
    assert below(plan, grounds) == [("write", "project"), ("write", "home/.cache")]
    assert {"/tmp", "/var/tmp"} & set(map(os.path.realpath, plan.write))
    assert plan.missing == (grounds.project + "/.trimtab",)


def test_the_home_folder_and_what_lies_around_it_are_no_project(grounds: Grounds) -> None:
    root = os.path.dirname(grounds.project)
    assert root not in look(replace(grounds, project=root)).write
    assert "/" not in look(replace(grounds, project="/")).write


def test_in_a_home_folder_its_dot_files_stay(grounds: Grounds) -> None:
    home = Path(grounds.home)
    (home / ".bashrc").write_text("")
    (home / ".ssh").mkdir()
    (home / "work").mkdir()
    plan = look(replace(grounds, project=grounds.home))
    may = {name: plan.may_write(str(home / name)) for name in (".bashrc", ".ssh/x", "work/x", ".cache/x", "new")}
    assert may == {".bashrc": False, ".ssh/x": False, "work/x": True, ".cache/x": True, "new": True}


def test_temp_and_cache_variables_count_unless_they_name_the_home_folder(grounds: Grounds) -> None:
    data = os.path.dirname(grounds.project) + "/data"
    given = replace(grounds, environment={"TMPDIR": data, "XDG_CACHE_HOME": grounds.home, "GOCACHE": "relative"})
    assert below(look(given), grounds) == [("write", "data"), ("write", "project"), ("write", "home/.cache")]
    for wide in ("/", grounds.home, os.path.dirname(grounds.home), ""):
        assert wide not in look(replace(grounds, environment={"TMPDIR": wide, "GOMODCACHE": wide})).write


def test_more_to_write_is_relative_to_the_project_or_to_the_home_folder(grounds: Grounds) -> None:
    more = ("../data", "~/tools", "gone", "/nowhere", "a\0b", "")
    (Path(grounds.home) / "tools").mkdir()
    plan = look(replace(grounds, write=more, sockets=("a\0b",)))
    assert below(plan, grounds)[-4:] == [
        ("write", "data"),
        ("write", "project"),
        ("write", "home/.cache"),
        ("write", "home/tools"),
    ]
    assert plan.ignored == ("gone", "/nowhere", "a\0b")


def test_a_link_in_the_project_to_elsewhere_opens_nothing(grounds: Grounds) -> None:
    (Path(grounds.project) / "build").symlink_to(grounds.home)
    plan = look(replace(grounds, write=("build",)))
    assert grounds.home not in plan.write
    assert plan.ignored == ("build",)


def test_trimtabs_own_folders_stay_and_open_only_if_named(grounds: Grounds) -> None:
    own = grounds.project + "/own"
    os.mkdir(own)
    kept = look(replace(grounds, own=(own,)))
    assert not kept.may_write(own + "/config.toml")
    assert not look(replace(grounds, own=(own,), write=(".",))).may_write(own + "/config.toml")
    assert look(replace(grounds, own=(own,), write=("own",))).may_write(own + "/config.toml")


def test_sockets_of_programs_that_run_commands_are_closed_unless_they_are_named(grounds: Grounds) -> None:
    with tempfile.TemporaryDirectory(prefix="t") as folder:
        path = str(Path(folder).resolve() / "s[1].sock")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            for variable, value in (
                ("DOCKER_HOST", f"unix://{path}"),
                ("TMUX", f"{path},12,0"),
                ("DBUS_SESSION_BUS_ADDRESS", f"unix:path={path},guid=12"),
                ("NVIM", path),
            ):
                given = replace(grounds, environment={variable: value})
                assert Place("close", path) in look(given).places
                assert Place("close", path) not in look(replace(given, sockets=(path,))).places
            given = replace(
                grounds, environment={"DOCKER_HOST": "tcp://127.0.0.1:1", "TMUX": "\x00\x1b", "NVIM": folder}
            )
            assert [p for p in look(given).places if p.kind == "close" and folder in p.path] == []


def test_the_caches_of_installed_programs_are_made(grounds: Grounds, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "npm").write_text("#!/bin/sh\n")
    (programs / "npm").chmod(0o755)
    home = Path(grounds.home)
    (home / ".cache").rmdir()
    make_caches(replace(grounds, environment={"PATH": str(programs)}))
    assert sorted(path.name for path in home.iterdir()) == [".cache", ".npm"]
    assert (home / ".npm").stat().st_mode & 0o777 == 0o700
    make_caches(replace(grounds, home=str(tmp_path / "no/home")))


@pytest.mark.parametrize("home", ["", "relative", "."])
def test_without_a_home_folder_the_project_is_none(grounds: Grounds, home: str) -> None:
    """Where HOME isn't set, no dot file of the project is kept and no cache is made in it."""
    (Path(grounds.project) / ".venv").mkdir()
    given = replace(grounds, home=home, write=("~/x",))
    make_caches(given)
    assert below(look(given), grounds) == [("write", "project")]
    assert [path.name for path in Path(grounds.project).iterdir()] == [".venv"]
