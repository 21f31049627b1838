"""What is packed: all that the tests need goes into the source archive, all that runs into the wheel."""

import os
import re
import subprocess
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from support.pages import ROOT

TARGETS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]
PATTERNS = [pattern.removeprefix("/") for pattern in TARGETS["sdist"]["include"]]


def test_the_wheel_is_the_whole_package_data_files_too() -> None:
    brought = {"docs": "trimtab/docs", "examples": "trimtab/examples"}
    assert TARGETS["wheel"] == {"packages": ["src/trimtab"], "force-include": brought}
    data = {path.suffix for path in (ROOT / "src" / "trimtab").rglob("*") if path.is_file()} - {".py", ".pyc"}
    assert data == {".css", ".json", ".md", ".toml", ".typed"}
    ignored = (ROOT / ".gitignore").read_text("utf-8")
    assert not re.search(r"\.(css|json|md|toml|typed)\b", ignored)


def test_examples_that_pages_link_to_lie_beside_the_pages_in_the_wheel_too_and_are_small() -> None:
    brought = TARGETS["wheel"]["force-include"]
    pages = (ROOT / "docs").rglob("*.md")
    linked = {link for page in pages for link in re.findall(r"\]\(\.\./(examples/[^)#]*)", page.read_text("utf-8"))}
    assert {"examples/extensions/protect.py", "examples/extensions/glossary/__init__.py"} <= linked
    assert all((ROOT / link).exists() for link in linked)
    assert Path(brought["docs"]).parent == Path(brought["examples"]).parent
    files = [path for path in (ROOT / "examples").rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert sum(path.stat().st_size for path in files) < 100_000


def test_everything_that_the_source_archive_names_exists() -> None:
    assert [pattern for pattern in PATTERNS if not list(ROOT.glob(pattern))] == []


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="only a checkout knows what is tracked")
def test_the_source_archive_names_everything_that_is_tracked() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    tops = {name.split("/")[0] for name in listed.splitlines()}
    assert {top for top in tops if not any(fnmatchcase(top, pattern) for pattern in PATTERNS)} == set()


def test_installing_again_says_how_to_go_on(tmp_path: Path) -> None:
    """As after `make demo`: the environment is there, and nothing is left to do."""
    (tmp_path / "bin").mkdir()
    for stamp in (".venv", ".base"):
        (tmp_path / "bin" / stamp).touch()
    make = ["make", "--no-print-directory", "install", f"VENV={tmp_path}"]
    environment = {"PATH": os.environ["PATH"]}
    done = subprocess.run(make, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"ready: source {tmp_path}/bin/activate\n", "")
