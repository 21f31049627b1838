"""`find` lists files and folders by name, in path order, and always finds what is named exactly."""

import os
from pathlib import Path

import pytest

from support.search_kit import find, text, tree

pytestmark = pytest.mark.anyio
both = pytest.mark.parametrize("engine", ["rg", "walker"])
FILES = {"src/a.py": "", "src/x/b.py": "", "src/x/c.js": "", "docs/a.md": "", ".hidden/d.py": "", ".git/e.py": ""}


@both
async def test_a_name_is_found_at_any_depth_and_hidden_ones_too(tmp_path: Path, engine: str) -> None:
    output = await find(tree(tmp_path, FILES), engine, pattern="*.py")
    assert (text(output), output.is_error) == (".hidden/d.py\nsrc/a.py\nsrc/x/b.py", False)


@both
async def test_a_pattern_with_a_slash_is_about_the_path(tmp_path: Path, engine: str) -> None:
    tree(tmp_path, FILES)
    assert text(await find(tmp_path, engine, pattern="src/*")) == "src/a.py\nsrc/x/"
    assert text(await find(tmp_path, engine, pattern="x/*", path="src")) == "src/x/b.py\nsrc/x/c.js"


@both
async def test_the_type_selects_files_or_folders(tmp_path: Path, engine: str) -> None:
    tree(tmp_path, FILES)
    assert text(await find(tmp_path, engine, pattern="x*", type="folder")) == "src/x/"
    assert text(await find(tmp_path, engine, pattern="?.*", type="file", path="docs")) == "docs/a.md"


@both
async def test_an_ignored_file_is_found_by_its_exact_path_only(tmp_path: Path, engine: str) -> None:
    tree(tmp_path, {".gitignore": "node_modules\n", "node_modules/x/package.json": "{}", "package.json": "{}"})
    assert text(await find(tmp_path, engine, pattern="node_modules/x/package.json")) == "node_modules/x/package.json"
    assert text(await find(tmp_path, engine, pattern="node_modules")) == "node_modules/"
    assert text(await find(tmp_path, engine, pattern="package.json")) == "package.json"
    nothing = "nothing matches '*x*' (what ignore files name is found by its exact path only)"
    assert text(await find(tmp_path, engine, pattern="*x*")) == nothing


@both
async def test_a_long_list_is_cut_and_says_so(tmp_path: Path, engine: str) -> None:
    output = await find(tree(tmp_path, {f"f{n:03}": "" for n in range(250)}), engine, pattern="f*")
    lines = text(output).splitlines()
    assert (lines[0], lines[199:]) == ("f000", ["f199", "[only the first 200 paths: narrow the pattern or path]"])
    assert output.cut is not None
    assert output.cut.shown == ((1, 200),)


@both
async def test_the_whole_disk_is_no_danger(tmp_path: Path, engine: str) -> None:
    output = await find(Path("/"), engine, pattern="**", limit=5)
    paths, notes = text(output).splitlines()[:5], text(output).splitlines()[5:]
    assert not any(path.startswith("[") for path in paths)
    assert notes[0].startswith("[only the first 5 paths")
    assert all("could not be read" in note for note in notes[1:])  # who isn't root can't look everywhere


@both
async def test_names_that_are_not_utf_8_are_escaped(tmp_path: Path, engine: str) -> None:
    tree(tmp_path, {os.fsdecode(b"a\xff\n\x1b[2J.txt"): ""})
    assert text(await find(tmp_path, engine, pattern="*.txt")) == "a\\xff\\n.txt"


async def test_an_empty_pattern_is_refused(tmp_path: Path) -> None:
    output = await find(tmp_path, "rg", pattern="")
    assert (text(output), output.is_error) == ("pattern must name something, for example *.py", True)
