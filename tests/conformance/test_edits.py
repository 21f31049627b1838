"""Edit and write, called by a model over the whole path."""

import json
import os
import time
from typing import Any

import pytest

from support.cli import Cli, text_of


def edit(cli: Cli, name: str, old: str, new: str) -> dict[str, Any]:
    return cli.call("edit", path=name, edits=[{"old": old, "new": new}])


@pytest.mark.kind(1)
@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc\r\n", "b\nc", "B\nC", b"a\r\nB\r\nC\r\n"),
        (b"a\r\nb\r\nc", "b", "x\ny", b"a\r\nx\r\ny\r\nc"),
        (b"a\r\nb\r\n", "a\r\nb", "c\r\nd", b"c\r\nd\r\n"),
        ("a\r\né\r\n".encode("utf-16"), "é", "è\nf", "a\r\nè\r\nf\r\n".encode("utf-16")),
    ],
)
def test_line_ends_of_windows_are_matched_and_kept(cli: Cli, before: bytes, old: str, new: str, after: bytes) -> None:
    path = cli.file("f.txt", before)
    ended = edit(cli, "f.txt", old, new)
    assert not ended["is_error"], text_of(ended)
    assert path.read_bytes() == after


@pytest.mark.kind(2)
@pytest.mark.parametrize("content", ["a\nB\n", "a\r\nB\r\n", "one line\n", "a\nB"])
def test_overwriting_keeps_line_ends_or_says_so(cli: Cli, content: str) -> None:
    path = cli.file("f.txt", b"a\r\nb\r\n")
    ended = cli.call("write", path="f.txt", content=content)
    data = path.read_bytes()
    kept = data == content.replace("\r\n", "\n").replace("\n", "\r\n").encode()
    assert b"\r\r" not in data
    assert kept or "LF" in text_of(ended)


@pytest.mark.kind(4)
@pytest.mark.parametrize(
    ("bom", "codec"), [(b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")]
)
def test_a_byte_order_mark_is_kept(cli: Cli, bom: bytes, codec: str) -> None:
    path = cli.file("f.txt", bom + "first\nsecond\n".encode(codec))
    ended = edit(cli, "f.txt", "first", "1st")
    assert not ended["is_error"], text_of(ended)
    assert path.read_bytes() == bom + "1st\nsecond\n".encode(codec)


@pytest.mark.kind(5)
@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("She said, “Hello.”\n", 'said, "Hello."', 'said, "Bye."'),
        ("it’s\n", "it's", "it is not"),
        ('say "x"\n', "say “x”", "say “y”"),
    ],
)
def test_quotes_are_refused_with_the_place_or_kept_in_style(cli: Cli, text: str, old: str, new: str) -> None:
    path = cli.file("f.txt", text)
    ended = edit(cli, "f.txt", old, new)
    assert ended["is_error"]
    assert text.strip() in text_of(ended)
    assert path.read_text() == text


@pytest.mark.kind(6)
@pytest.mark.parametrize(
    ("before", "after"),
    [(b"# caf\xe9\nx = 1\n", b"# caf\xe9\nx = 2\n"), (b"\x93q\x94\nx = 1\n", b"\x93q\x94\nx = 2\n")],
)
def test_bytes_of_another_encoding_stay(cli: Cli, before: bytes, after: bytes) -> None:
    path = cli.file("f.py", before)
    ended = edit(cli, "f.py", "x = 1", "x = 2")
    assert path.read_bytes() == (before if ended["is_error"] else after)


@pytest.mark.kind(6)
def test_a_character_that_the_encoding_lacks_is_refused(cli: Cli) -> None:
    path = cli.file("f.py", b"# caf\xe9\nx = 1\n")
    assert edit(cli, "f.py", "x = 1", "x = '你'")["is_error"]
    assert path.read_bytes() == b"# caf\xe9\nx = 1\n"


@pytest.mark.kind(7)
@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("def f():   \n    pass  \n", "def f():\n    pass"),
        ("a b  \nc\n", "a b\nc"),
        ("x＝１\nrest \t\n", "x=1"),
    ],
)
def test_what_only_nearly_matches_rewrites_nothing_else(cli: Cli, text: str, old: str) -> None:
    path = cli.file("f.py", text)
    ended = edit(cli, "f.py", old, "NEW")
    assert ended["is_error"]
    assert path.read_text() == text


@pytest.mark.kind(7)
def test_only_the_span_that_matches_changes(cli: Cli) -> None:
    path = cli.file("f.py", "one  \ntwo\t\nthree \n")
    assert not edit(cli, "f.py", "two", "2")["is_error"]
    assert path.read_text() == "one  \n2\t\nthree \n"


@pytest.mark.kind(9)
@pytest.mark.parametrize(
    "arguments",
    [
        {"edits": json.dumps([{"old": "b", "new": "X"}])},
        {"edits": {"old": "b", "new": "X"}},
        {"edits": json.dumps({"old": "b", "new": "X"})},
        {"oldText": "b", "newText": "X"},
        {"old_string": "b", "new_string": "X"},
        {"edits": [{"oldText": "b", "newText": "X"}]},
    ],
)
def test_other_shapes_of_edits_are_taken(cli: Cli, arguments: dict[str, Any]) -> None:
    path = cli.file("f.txt", "abc\n")
    ended = cli.call("edit", path="f.txt", **arguments)
    assert not ended["is_error"], text_of(ended)
    assert path.read_text() == "aXc\n"


@pytest.mark.kind(9)
@pytest.mark.parametrize("edits", ["not json", 7, [3], [{"old": 1, "new": "x"}], None, [["b", "X"]]])
def test_other_values_are_one_clear_error(cli: Cli, edits: Any) -> None:
    path = cli.file("f.txt", "abc\n")
    ended = cli.call("edit", path="f.txt", edits=edits)
    assert ended["is_error"]
    assert len(text_of(ended)) < 400
    assert path.read_text() == "abc\n"


@pytest.mark.kind(10)
@pytest.mark.parametrize(
    ("text", "edits"),
    [
        ("abcde\n", [("abc", "X"), ("cde", "Y")]),
        ("a\na\n", [("a", "b")]),
        ("abc\n", [("", "x")]),
        ("abc\n", [("b", "b")]),
        ("abc\n", []),
        ("abc\n", [("a", "x"), ("zz", "y")]),
        ("abab\n", [("ab", "x"), ("ab", "y")]),
    ],
)
def test_an_edit_that_is_wrong_in_part_changes_nothing(cli: Cli, text: str, edits: list[tuple[str, str]]) -> None:
    path = cli.file("f.txt", text)
    ended = cli.call("edit", path="f.txt", edits=[{"old": old, "new": new} for old, new in edits])
    assert ended["is_error"]
    assert text_of(ended)
    assert path.read_text() == text


@pytest.mark.kind(11)
@pytest.mark.parametrize("alias", ["f.txt", "./f.txt", "link.txt", "sub/../f.txt"])
def test_edits_of_one_file_in_one_answer_are_all_applied(cli: Cli, alias: str) -> None:
    path = cli.file("f.txt", "".join(f"line {n};\n" for n in range(8)))
    (cli.project / "link.txt").symlink_to("f.txt")
    (cli.project / "sub").mkdir()
    names = ["f.txt", alias]
    calls = [("edit", {"path": names[n % 2], "edits": [{"old": f"line {n};", "new": f"row {n};"}]}) for n in range(8)]
    ended = cli.calls(*calls)
    assert [e["is_error"] for e in ended] == [False] * 8
    assert path.read_text() == "".join(f"row {n};\n" for n in range(8))


@pytest.mark.kind(12)
def test_a_change_by_others_is_no_conflict_while_the_text_matches(cli: Cli) -> None:
    path = cli.file("f.py", "x=1\ny = 2\n")
    ended = cli.inside(
        *("-p", "go", "--mode", "json", "--permission", "full", "--model"),
        cli.script(
            {"tool_calls": [{"name": "read", "arguments": {"path": "f.py"}}]},
            {"tool_calls": [{"name": "bash", "arguments": {"command": "sed -i 's/x=1/x = 1/' f.py"}}]},
            {
                "tool_calls": [
                    {"name": "edit", "arguments": {"path": "f.py", "edits": [{"old": "y = 2", "new": "y = 3"}]}}
                ]
            },
            {"tool_calls": [{"name": "edit", "arguments": {"path": "f.py", "edits": [{"old": "x=1", "new": "x=9"}]}}]},
            {"text": "done"},
        ),
    ).of("tool_ended")
    assert [e["is_error"] for e in ended] == [False, False, False, True]
    assert path.read_text() == "x = 1\ny = 3\n"


@pytest.mark.kind(14)
def test_one_huge_line_is_edited_in_bounded_time_and_the_session_goes_on(cli: Cli) -> None:
    path = cli.file("f.min.js", "a" * 2_500_000 + "HERE" + "b" * 2_500_000)
    start = time.perf_counter()
    first = cli.inside(
        *("-p", "go", "--mode", "json", "--model"),
        cli.script(
            {
                "tool_calls": [
                    {"name": "edit", "arguments": {"path": "f.min.js", "edits": [{"old": "HERE", "new": "THERE"}]}}
                ]
            },
            {"text": "done"},
        ),
    )
    assert time.perf_counter() - start < 10
    (ended,) = first.of("tool_ended")
    assert not ended["is_error"]
    assert len(json.dumps(ended)) < 100_000
    assert b"aTHEREb" in path.read_bytes()
    again = cli.inside("-p", "more", "--continue", "--model", cli.script({"text": "yes"}))
    assert (again.code, again.out) == (0, "yes\n")


@pytest.mark.kind(15)
@pytest.mark.parametrize("tool", ["edit", "write"])
def test_links_and_modes_survive(cli: Cli, tool: str) -> None:
    real = cli.file("real.sh", "echo a\n")
    real.chmod(0o755)
    os.link(real, cli.project / "hard.sh")
    (cli.project / "link.sh").symlink_to("real.sh")
    if tool == "edit":
        ended = edit(cli, "link.sh", "echo a", "echo b")
    else:
        ended = cli.call("write", path="link.sh", content="eb\n")
    assert not ended["is_error"], text_of(ended)
    assert (cli.project / "link.sh").is_symlink()
    assert real.read_text() in ("echo b\n", "eb\n")
    assert real.stat().st_mode & 0o777 == 0o755
    assert (cli.project / "hard.sh").read_bytes() == real.read_bytes()
