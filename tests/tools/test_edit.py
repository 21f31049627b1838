"""`edit`: exact, all or nothing, and not a byte outside the spans."""

import codecs
import json
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trimtab.agent.ports import Access, ToolOutput
from trimtab.coding.tools.caps import Caps
from trimtab.coding.tools.edit import coerce_edit, edit_tool
from trimtab.coding.tools.failures import ToolFailure
from trimtab.coding.tools.paths import Workspace

Call = Callable[..., ToolOutput]


def said(output: ToolOutput) -> str:
    return "".join(getattr(p, "text", "") for p in output.parts)


def refusal(output: ToolOutput) -> str:
    assert output.is_error
    return said(output)


def pair(old: str, new: str) -> dict[str, str]:
    return {"old": old, "new": new}


def test_several_edits_are_made_at_once_against_the_original(edit: Call, cwd: Path) -> None:
    (cwd / "f").write_text("one\ntwo\nthree\nfour\n")
    output = edit(path="f", edits=[pair("three\n", "3a\n3b\n"), pair("one", "1")])
    assert output == ToolOutput.text(
        "edited f: 2 replacements, lines 1, 3-4",
        details={
            "changed": [str(cwd / "f")],
            "kind": "edited",
            "diff": "@@ -1,4 +1,5 @@\n-one\n+1\n two\n-three\n+3a\n+3b\n four\n",
        },
    )
    assert (cwd / "f").read_text() == "1\ntwo\n3a\n3b\nfour\n"


def test_row_1_an_edit_with_lf_matches_crlf_and_keeps_it(edit: Call, cwd: Path) -> None:
    (cwd / "f").write_bytes(b"a\r\nb\r\nc\r\n")
    assert said(edit(path="f", edits=[pair("b\nc", "B\nC")])) == "edited f: 1 replacement, lines 2-3"
    assert (cwd / "f").read_bytes() == b"a\r\nB\r\nC\r\n"


def test_row_1_a_file_of_mixed_line_ends_stays_mixed(edit: Call, cwd: Path) -> None:
    (cwd / "f").write_bytes(b"a\r\nb\nc\r\nd\n")
    edit(path="f", edits=[pair("b\n", "b\nb2\n"), pair("c", "c\nc2")])
    assert (cwd / "f").read_bytes() == b"a\r\nb\nb2\nc\r\nc2\r\nd\n"


@pytest.mark.parametrize(
    ("data", "old", "new", "after", "note"),
    [
        (b"\xef\xbb\xbffirst\n", "first", "1st", b"\xef\xbb\xbf1st\n", " (UTF-8 with BOM kept)"),
        (b"x = 1 # caf\xe9\n", "x = 1", "x = 2", b"x = 2 # caf\xe9\n", " (Windows-1252, not UTF-8 kept)"),
        (b"# caf\xe9\n", "café", "thé", b"# th\xe9\n", " (Windows-1252, not UTF-8 kept)"),
        ("日本 ".encode() + b"\xff x", "x", "y", "日本 ".encode() + b"\xff y", " (UTF-8 with invalid bytes kept)"),
        (
            codecs.BOM_UTF16_LE + "é\r\n".encode("utf-16-le"),
            "é\n",
            "🌍\n",
            codecs.BOM_UTF16_LE + "🌍\r\n".encode("utf-16-le"),
            " (UTF-16-LE with BOM kept)",
        ),
        (b"\tx\t= 1", "\tx", "\ty", b"\ty\t= 1", ""),
    ],
)
def test_row_4_and_6_mark_encoding_tabs_and_last_newline_stay(
    edit: Call, cwd: Path, data: bytes, old: str, new: str, after: bytes, note: str
) -> None:
    (cwd / "f").write_bytes(data)
    assert said(edit(path="f", edits=[pair(old, new)])) == "edited f: 1 replacement, line 1" + note
    assert (cwd / "f").read_bytes() == after


def test_row_6_a_character_the_encoding_lacks_is_refused(edit: Call, cwd: Path) -> None:
    (cwd / "f").write_bytes(b"caf\xe9\n")
    assert "it can't hold '日'. Nothing was changed" in refusal(edit(path="f", edits=[pair("caf", "日")]))
    assert (cwd / "f").read_bytes() == b"caf\xe9\n"


@pytest.mark.parametrize(
    ("text", "old", "hint"),
    [
        ("She said, “Hello.”\n", 'said, "Hello."', "quotes, dashes or special spaces (the file has “ ”)"),
        ("if x:\n\treturn 1\n", "if x:\n    return 1", "indentation (the file has tabs)"),
        ("def f():   \n    pass\n", "def f():\n    pass", "blanks at line ends"),
        ("x  =  1\n", "x = 1", "blanks inside a line"),
        ("value = compute(first, third)\n", "value = compute(first, second)", "the words"),
    ],
)
def test_row_5_and_7_a_near_miss_shows_the_place_and_changes_nothing(
    edit: Call, cwd: Path, text: str, old: str, hint: str
) -> None:
    (cwd / "f").write_text("# top\n" + text)
    expected = f"f is unchanged: old isn't in the file. Most like it, from line 2 (differs in {hint}):\n"
    assert refusal(edit(path="f", edits=[pair(old, "new")])).startswith(expected + text.split("\n")[0].rstrip())
    assert (cwd / "f").read_text() == "# top\n" + text


def test_an_edit_made_before_is_recognised(edit: Call, cwd: Path) -> None:
    (cwd / "f").write_text("a\nnew_value = 2\n")
    message = refusal(edit(path="f", edits=[pair("old_thing()", "new_value = 2")]))
    assert message.endswith("new is already there, at line 2: was this edit made before?")


def test_a_text_like_nothing_in_the_file_says_so(edit: Call, cwd: Path) -> None:
    (cwd / "f").write_text("abc\n")
    assert refusal(edit(path="f", edits=[pair("zzz yyy", "q")])).endswith("Nothing is like it; read the file again.")


@pytest.mark.parametrize(
    ("old", "found"),
    [
        ("value_777 = compute( 777 )", "from line 778 (differs in blanks inside a line):\nvalue_777 = compute(777)\n"),
        (
            "value_249999 = computed(249999)",
            "from line 250000 (differs in the words):\nvalue_249999 = compute(249999)\n",
        ),
    ],
)
def test_a_miss_in_a_large_file_is_explained_quickly(edit: Call, cwd: Path, old: str, found: str) -> None:
    (cwd / "f").write_text("".join(f"value_{n} = compute({n})\n" for n in range(250_000)))
    start = time.perf_counter()
    message = refusal(edit(path="f", edits=[pair(old, "x")]))
    assert time.perf_counter() - start < 15
    assert found in message


@pytest.mark.parametrize(
    ("text", "edits", "why"),
    [
        ("abcde", [pair("abc", "X"), pair("cde", "Y")], "edits 1 and 2 overlap; join them into one"),
        ("a\na", [pair("a", "b")], "old occurs 2 times (lines 1, 2); add lines around it to make it unique"),
        ("aaa", [pair("aa", "b")], "old occurs 2 times (lines 1, 1); add lines around it to make it unique"),
        ("a", [pair("", "b")], "old is empty; to make or replace a whole file use write"),
        ("a", [pair("a", "a")], "old and new are the same (line ends apart, which stay as they are)"),
        ("a", [], "edits is empty: give at least one {old, new}"),
        (
            "ab",
            [pair("a", "x"), pair("zz", "y")],
            "edit 2: old isn't in the file. Nothing is like it; read the file again.",
        ),
    ],
)
def test_row_10_a_bad_edit_changes_nothing(edit: Call, cwd: Path, text: str, edits: list[Any], why: str) -> None:
    (cwd / "f").write_text(text)
    assert refusal(edit(path="f", edits=edits)) == f"f is unchanged: {why}"
    assert (cwd / "f").read_text() == text


def test_row_10_a_text_that_occurs_everywhere_lists_a_few_lines(edit: Call, cwd: Path) -> None:
    (cwd / "f").write_text("x\n" * 500)
    assert "more than 10 times (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …)" in refusal(
        edit(path="f", edits=[pair("x", "y")])
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {"edits": [pair("a", "b")]},
        {"edits": json.dumps([pair("a", "b")])},
        {"edits": json.dumps(pair("a", "b"))},
        {"edits": pair("a", "b")},
        {"edits": [{"oldText": "a", "newText": "b"}]},
        {"oldText": "a", "newText": "b"},
        {"old_string": "a", "new_string": "b"},
        {"old": "a", "new": "b"},
    ],
)
def test_row_9_every_known_shape_of_edits_is_taken(edit: Call, cwd: Path, arguments: dict[str, Any]) -> None:
    (cwd / "f").write_text("a")
    assert not edit(path="f", **arguments).is_error
    assert (cwd / "f").read_text() == "b"
    once = coerce_edit({"path": "f", **arguments})
    assert once == {"path": "f", "edits": [pair("a", "b")]} == coerce_edit(once)


@pytest.mark.parametrize("edits", ["[{", 3, None, [3], '"text"'])
def test_row_9_any_other_shape_is_one_clear_error(edits: object) -> None:
    with pytest.raises(ToolFailure, match="edits must be a list of"):
        coerce_edit({"path": "f", "edits": edits})


def test_a_pair_without_new_is_refused(edit: Call, cwd: Path) -> None:
    (cwd / "f").write_text("a")
    assert refusal(edit(path="f", edits=[{"old": "a"}])) == "new must be a text; it is missing"


def test_row_12_a_file_changed_by_others_is_edited_when_the_text_still_matches(edit: Call, cwd: Path) -> None:
    (cwd / "f").write_text("a\nb\n")
    edit(path="f", edits=[pair("a", "A")])
    (cwd / "f").write_text("# formatted\nA\n\nb\n")
    edit(path="f", edits=[pair("b", "B")])
    assert (cwd / "f").read_text() == "# formatted\nA\n\nB\n"


def test_row_14_a_one_line_file_of_5_mb_is_edited_in_bounded_time(edit: Call, cwd: Path) -> None:
    (cwd / "f").write_text("x" * 2_500_000 + "!" + "x" * 2_500_000)
    start = time.perf_counter()
    output = edit(path="f", edits=[pair("!", "?")])
    assert time.perf_counter() - start < 10
    assert output.details == {
        "changed": [str(cwd / "f")],
        "kind": "edited",
        "diff": None,
        "diff_note": "diff too large",
    }


def test_row_15_symlink_mode_and_hard_link_are_kept(edit: Call, cwd: Path) -> None:
    (cwd / "f").write_text("a")
    (cwd / "f").chmod(0o755)
    (cwd / "link").symlink_to("f")
    edit(path="link", edits=[pair("a", "b")])
    os.link(cwd / "f", cwd / "hard")
    edit(path="hard", edits=[pair("b", "c")])
    assert (cwd / "link").is_symlink()
    assert (cwd / "f").read_text() == "c"
    assert stat.S_IMODE((cwd / "f").stat().st_mode) == 0o755


def test_only_regular_text_files_of_bounded_size_are_edited(workspace: Workspace, edit: Call, cwd: Path) -> None:
    os.mkfifo(cwd / "p")
    (cwd / "bin").write_bytes(b"a\0b")
    assert refusal(edit(path="p", edits=[pair("a", "b")])) == "p is a named pipe, not a regular file"
    assert refusal(edit(path="bin", edits=[pair("a", "b")])) == "bin: binary, 3 bytes; edit changes text only"
    assert refusal(edit(path="none", edits=[pair("a", "b")])).startswith("none: no such file or folder")
    with (cwd / "big").open("wb") as file:
        file.truncate(65 << 20)
    assert "edit takes files up to 67,108,864" in refusal(edit(path="big", edits=[pair("a", "b")]))


def test_row_11_two_edits_of_one_file_claim_the_same_path(workspace: Workspace) -> None:
    (workspace.cwd / "f").touch()
    (workspace.cwd / "link").symlink_to("f")
    tool = edit_tool(workspace, caps=Caps())
    assert tool.access({"path": "f"}) == tool.access({"path": "./link"})
    assert tool.access({"path": "f"}) == Access(writes=frozenset({str(workspace.cwd / "f")}))
