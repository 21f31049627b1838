"""`grep` finds what is there, shows little, and says what it left out; with ripgrep and without."""

import os
import shutil
import time
from pathlib import Path

import anyio
import pytest
from blockbuster import blockbuster_ctx

from support.search_kit import NO_MATCHES, find, grep, text, tree
from trimtab.agent.ports import Access, ToolRun
from trimtab.coding.tools.grep import GrepTool
from trimtab.coding.tools.paths import Workspace
from trimtab.types.tools import Cut

pytestmark = pytest.mark.anyio
both = pytest.mark.parametrize("engine", ["rg", "walker"])


@both
async def test_rows_are_path_line_text_in_path_order(tmp_path: Path, engine: str) -> None:
    tree(tmp_path, {"b.txt": "x\nfoo 1\n", "a/z.txt": "foo 2", "a.txt": "no\n"})
    output = await grep(tmp_path, engine, pattern=r"foo \d")
    assert (text(output), output.is_error, output.cut) == ("a/z.txt:1:foo 2\nb.txt:2:foo 1", False, None)


@both
@pytest.mark.parametrize("pattern", ["--help", "-e foo", "-v", "--"])
async def test_a_pattern_that_starts_with_a_dash_is_a_pattern(tmp_path: Path, engine: str, pattern: str) -> None:
    tree(tmp_path, {"f": f"see {pattern} here\nelse\n"})
    assert text(await grep(tmp_path, engine, pattern=pattern)) == f"f:1:see {pattern} here"


@both
async def test_no_matches_is_an_answer_not_an_error(tmp_path: Path, engine: str) -> None:
    output = await grep(tree(tmp_path, {"f": "x"}), engine, pattern="y")
    assert (text(output), output.is_error) == (NO_MATCHES, False)


@both
async def test_bulk_search_obeys_ignore_files_and_an_exact_path_does_not(tmp_path: Path, engine: str) -> None:
    tree(
        tmp_path,
        {".gitignore": "node_modules/\n", ".ignore": "*.log\n", "node_modules/x/package.json": "foo", "a.log": "foo"},
    )
    assert text(await grep(tmp_path, engine, pattern="foo")) == NO_MATCHES
    assert text(await grep(tmp_path, engine, pattern="foo", glob="*.log")) == NO_MATCHES
    exact = await grep(tmp_path, engine, pattern="foo", path="node_modules/x/package.json")
    assert text(exact) == "node_modules/x/package.json:1:foo"
    assert text(await grep(tmp_path, engine, pattern="foo", path="a.log")) == "a.log:1:foo"


@both
async def test_hidden_files_are_searched_and_git_is_not(tmp_path: Path, engine: str) -> None:
    tree(tmp_path, {".github/ci.yml": "foo", ".git/config": "foo"})
    assert text(await grep(tmp_path, engine, pattern="foo")) == ".github/ci.yml:1:foo"


@both
async def test_a_glob_selects_files_from_the_path_or_from_the_folder(tmp_path: Path, engine: str) -> None:
    tree(tmp_path, {"src/a.py": "foo", "src/x/b.py": "foo", "src/c.js": "foo"})
    assert text(await grep(tmp_path, engine, pattern="foo", glob="*.py")) == "src/a.py:1:foo\nsrc/x/b.py:1:foo"
    assert text(await grep(tmp_path, engine, pattern="foo", glob="src/*.py")) == "src/a.py:1:foo"
    assert text(await grep(tmp_path, engine, pattern="foo", glob="x/*", path="src")) == "src/x/b.py:1:foo"


@both
async def test_literal_and_ignore_case(tmp_path: Path, engine: str) -> None:
    tree(tmp_path, {"f": "F(x)\nfx\n"})
    assert text(await grep(tmp_path, engine, pattern="f(x)", literal=True, ignore_case=True)) == "f:1:F(x)"
    assert text(await grep(tmp_path, engine, pattern="f(x)")) == "f:2:fx"


@both
async def test_context_marks_its_lines_and_the_gaps(tmp_path: Path, engine: str) -> None:
    tree(tmp_path, {"f": "1\nfoo\n3\n4\n5\nfoo\n7\n", "g": "foo\n"})
    output = await grep(tmp_path, engine, pattern="foo", context=1)
    assert text(output) == "f-1-1\nf:2:foo\nf-3-3\n--\nf-5-5\nf:6:foo\nf-7-7\n--\ng:1:foo"


@both
async def test_an_invalid_pattern_is_explained_with_the_way_out(tmp_path: Path, engine: str) -> None:
    output = await grep(tree(tmp_path, {"f": "x"}), engine, pattern="foo(")
    assert output.is_error
    assert text(output).startswith("regex parse error")
    assert text(output).endswith("To search for the text itself, pass literal: true.")


@both
async def test_rows_beyond_the_cap_are_left_out_and_it_is_said(tmp_path: Path, engine: str) -> None:
    tree(tmp_path, {"a": "foo\n" * 150, "b": "foo\n" * 150})
    output = await grep(tmp_path, engine, pattern="foo")
    assert output.cut == Cut("rows", ((1, 200),), next="narrow the pattern, path or glob")
    assert text(output).splitlines()[199:] == [
        "b:50:foo",
        "[only the first 200 rows: narrow the pattern, path or glob]",
    ]
    assert len(text(await grep(tmp_path, engine, pattern="foo", limit=3)).splitlines()) == 4


@both
async def test_exactly_the_cap_is_not_cut(tmp_path: Path, engine: str) -> None:
    output = await grep(tree(tmp_path, {"a": "foo\n" * 200}), engine, pattern="foo")
    assert (len(text(output).splitlines()), output.cut) == (200, None)


@both
async def test_a_huge_line_is_shown_around_the_match(tmp_path: Path, engine: str) -> None:
    tree(tmp_path, {"f": "é" * 2_000_000 + "needle" + "y" * 2_000_000})
    row = text(await grep(tmp_path, engine, pattern="needle"))
    assert row.startswith("f:1:…é")
    assert row.endswith("y… (4,000,006 characters)")
    assert (len(row) < 600, "needle" in row) == (True, True)


@both
async def test_binary_files_are_counted_not_shown(tmp_path: Path, engine: str) -> None:
    tree(tmp_path, {"a.bin": b"foo\0foo\n", "b.txt": "foo", "c.bin": b"\0\nfoo"})
    assert text(await grep(tmp_path, engine, pattern="foo")) == "b.txt:1:foo\n[2 binary files match]"


@both
async def test_odd_bytes_in_names_and_lines_are_shown_safely(tmp_path: Path, engine: str) -> None:
    tree(tmp_path, {"é.txt": b"\xfffoo\x1b[31m\x07\r\n"})
    tree(tmp_path, {os.fsdecode(b"b\xff.txt"): "foo"})
    expected = "b\\xff.txt:1:foo\né.txt:1:\ufffdfoo\\x07"
    assert text(await grep(tmp_path, engine, pattern="foo")) == expected


@both
async def test_line_ends_and_encodings_are_no_obstacle(tmp_path: Path, engine: str) -> None:
    tree(tmp_path, {"crlf": "foo\r\nbar\r\n", "utf16": "foo\n".encode("utf-16"), "bom": b"\xef\xbb\xbffoo\n"})
    assert text(await grep(tmp_path, engine, pattern="^foo$")) == "bom:1:foo\ncrlf:1:foo\nutf16:1:foo"


@both
async def test_links_are_not_followed_out_of_the_root(tmp_path: Path, engine: str) -> None:
    tree(tmp_path, {"out/secret": "foo", "in/f": "foo"})
    (tmp_path / "in/link").symlink_to(tmp_path / "out")
    (tmp_path / "in/loop").symlink_to(tmp_path / "in")
    assert text(await grep(tmp_path / "in", engine, pattern="foo")) == "f:1:foo"


@pytest.mark.parametrize(
    ("path", "said"), [("nothing", "nothing: no such file or folder"), ("pipe", "pipe: not a regular file or folder")]
)
async def test_a_path_that_cannot_be_searched_is_refused_at_once(tmp_path: Path, path: str, said: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    output = await grep(tmp_path, "rg", pattern="x", path=path)
    assert output.is_error
    assert text(output).startswith(said)


@both
async def test_an_endless_search_stops_in_time_and_shows_its_part(engine: str) -> None:
    began = time.monotonic()
    output = await grep(Path("/"), engine, timeout_s=0.3, pattern="no such text at all \u2603")
    assert time.monotonic() - began < 10
    assert "[stopped after 0.3 s: this is a part; search a smaller path]" in text(output)


@both
async def test_a_search_can_be_cancelled(engine: str) -> None:
    began = time.monotonic()
    with anyio.move_on_after(0.2) as scope:
        await grep(Path("/"), engine, pattern="no such text at all \u2603")
    assert (scope.cancelled_caught, time.monotonic() - began < 10) == (True, True)


async def test_a_failing_search_beside_another_command_does_not_disturb_it(tmp_path: Path) -> None:
    outputs: dict[str, str] = {}

    async def run(pattern: str) -> None:
        outputs[pattern] = text(await grep(tmp_path, "rg", pattern=pattern))

    tree(tmp_path, {"f": "foo"})
    async with anyio.create_task_group() as group:
        group.start_soon(run, "(")
        group.start_soon(run, "foo")
    assert (outputs["foo"], "regex parse error" in outputs["("]) == ("f:1:foo", True)


async def test_a_search_waits_for_earlier_writes(tmp_path: Path) -> None:
    tool = GrepTool(Workspace(tmp_path, tmp_path), None)
    assert tool.access({"pattern": "x"}) == Access(reads="*")


async def test_a_program_that_dies_is_an_error_not_an_empty_answer(tmp_path: Path) -> None:
    async def update(_text: str) -> None: ...

    tool = GrepTool(Workspace(tmp_path, tmp_path), shutil.which("false"))
    output = await tool.run({"pattern": "x"}, ToolRun("c", update))
    assert (text(output), output.is_error) == ("the search program died", True)


@both
async def test_nothing_blocks_the_event_loop(tmp_path: Path, engine: str) -> None:
    tree(tmp_path, {"f": "foo"})
    with blockbuster_ctx("trimtab"):
        found = [text(await grep(tmp_path, engine, pattern="foo")), text(await find(tmp_path, engine, pattern="f"))]
        missing = await grep(tmp_path, engine, pattern="foo", path="g")
    assert (found, missing.is_error) == (["f:1:foo", "f"], True)


@both
async def test_a_lone_surrogate_in_a_pattern_finds_nothing_and_breaks_nothing(tmp_path: Path, engine: str) -> None:
    assert text(await grep(tree(tmp_path, {"f": "a"}), engine, pattern="\udc83")) == NO_MATCHES
