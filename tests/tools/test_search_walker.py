"""The walker agrees with ripgrep on random trees with random ignore files."""

import subprocess
from pathlib import Path

import anyio
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from support.search_kit import find, grep, text, tree
from trimtab.coding.tools.ripgrep import find_rg
from trimtab.coding.tools.walker import files_under

NAMES = st.sampled_from(["a", "b", "ab", "a.log", ".h"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
LINES = st.sampled_from(["foo", "bar foo", "FOO", "", "x\tfoo\r", "é foo"])
RULES = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "/", "**/"]),
    st.sampled_from(["a", "b/", "*.log", "a/b", "a*", ".h", "[ab]", "a/**", "**/b", "{a,b}"]),
)
IGNORE_FILES = st.builds(
    lambda folder, name, rules: (f"{folder}{name}", "\n".join(rules)),
    st.sampled_from(["", "a/", "b/"]),
    st.sampled_from([".gitignore", ".ignore", ".rgignore"]),
    st.lists(RULES, max_size=3),
)
_RG = [
    find_rg() or "",
    "--no-config",
    "--hidden",
    "--glob=!.git",
    "--no-require-git",
    "--no-ignore-global",
    "--sort=path",
]


def _listed(folder: Path) -> list[str]:
    told = subprocess.run([*_RG, "--files", "--null", "--", str(folder)], capture_output=True, check=False).stdout
    return [name.decode() for name in told.split(b"\0")[:-1]]


def _write(root: Path, files: list[tuple[str, str]]) -> None:
    for name, content in files:
        try:
            tree(root, {name: content})
        except (NotADirectoryError, FileExistsError, IsADirectoryError):
            continue


@settings(max_examples=40, deadline=None)
@example(files=[("a/b/a", "")], rules=[(".gitignore", "b/")], below="", repository="a/.git/HEAD")
@example(files=[("b/a", "")], rules=[(".gitignore", "a"), (".ignore", "!b/")], below="", repository="")
@example(files=[("b/a", "")], rules=[(".gitignore", "/a")], below="", repository="")
@example(files=[("b", "")], rules=[(".gitignore", "**/**/b")], below="", repository="")
@example(files=[("a/b/a", "")], rules=[(".gitignore", "a")], below="a/b", repository="a/.git/HEAD")
@given(
    files=st.lists(st.tuples(PATHS, st.just("")), max_size=8),
    rules=st.lists(IGNORE_FILES, max_size=4),
    below=st.sampled_from(["", "a", "b"]),
    repository=st.sampled_from(["", ".git/HEAD", "a/.git/HEAD"]),
)
def test_the_same_files_are_listed(
    tmp_path_factory: pytest.TempPathFactory,
    files: list[tuple[str, str]],
    rules: list[tuple[str, str]],
    below: str,
    repository: str,
) -> None:
    # ripgrep 14.1 doesn't see `b/a/b` under `**/a/b` of the folder above when it starts in `b`; git does, and so do we.
    assume(not (below and any("**" in text for _, text in rules)))
    root = tmp_path_factory.mktemp("tree")
    _write(root, [*files, *rules, *([(repository, "")] if repository else []), (f"{below}/q".lstrip("/"), "")])
    start = root / below if (root / below).is_dir() else root
    assert list(files_under(str(start))) == _listed(start)


def test_an_ignored_folder_that_is_named_is_searched(tmp_path: Path) -> None:
    tree(tmp_path, {".gitignore": "/a\n", "a/b/f": "", "a/.gitignore": "g\n", "a/g": ""})
    assert list(files_under(str(tmp_path))) == [str(tmp_path / ".gitignore")]
    assert list(files_under(str(tmp_path / "a/b"))) == [str(tmp_path / "a/b/f")]


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(
    files=st.lists(st.tuples(PATHS, st.lists(LINES, max_size=6).map("\n".join)), max_size=5),
    pattern=st.sampled_from(["foo", "^foo", "foo$", "o+", ""]),
    context=st.integers(0, 2),
    ignore_case=st.booleans(),
)
def test_the_same_rows_are_shown(
    tmp_path_factory: pytest.TempPathFactory,
    files: list[tuple[str, str]],
    pattern: str,
    context: int,
    ignore_case: bool,
) -> None:
    root = tmp_path_factory.mktemp("tree")
    _write(root, files)

    async def rows(engine: str) -> list[str]:
        found = await grep(root, engine, pattern=pattern, context=context, ignore_case=ignore_case)
        return [text(found), text(await find(root, engine, pattern="a*"))]

    assert anyio.run(rows, "walker") == anyio.run(rows, "rg")
