"""`read`: text of every size and encoding. Row numbers are those of the conformance table."""

import codecs
import json
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trimtab.agent.ports import Access, ToolOutput
from trimtab.coding.tools.caps import Caps
from trimtab.coding.tools.paths import Workspace
from trimtab.coding.tools.read import read_tool
from trimtab.coding.tools.windows import window
from trimtab.types.tools import Cut

Call = Callable[..., ToolOutput]


def said(output: ToolOutput) -> str:
    return "".join(getattr(p, "text", "") for p in output.parts)


def test_a_small_file_is_shown_as_it_is(read: Call, cwd: Path) -> None:
    (cwd / "a.py").write_text("x = 1\n\ty = 2")
    assert read(path="a.py") == ToolOutput.text("x = 1\n\ty = 2", details={"path": "a.py", "lines": [1, 2]})


def test_an_empty_file_says_so(read: Call, cwd: Path) -> None:
    (cwd / "e").touch()
    assert said(read(path="e")) == "[empty file]"


def test_a_part_is_shown_with_its_place_and_how_to_go_on(read: Call, cwd: Path) -> None:
    (cwd / "n").write_text("".join(f"{n}\n" for n in range(1, 11)))
    output = read(path="n", offset=3, limit=2)
    assert said(output) == "3\n4\n[lines 3-4 of 10; go on with offset=5]"
    assert output.cut == Cut("lines", ((3, 4),), 10, "n", "offset=5")
    assert said(read(path="n", offset="10", limit=5)) == "10\n[lines 10-10 of 10]"


def test_the_line_cap_cuts(read: Call, cwd: Path) -> None:
    (cwd / "n").write_text("x\n" * 2_500)
    output = read(path="n", limit=9_999)
    assert output.cut == Cut("lines", ((1, 2_000),), 2_500, "n", "offset=2001")


def test_the_byte_cap_cuts_on_a_whole_line(read: Call, cwd: Path) -> None:
    (cwd / "n").write_text(("x" * 999 + "\n") * 100)
    output = read(path="n")
    assert output.cut == Cut("lines", ((1, 51),), 100, "n", "offset=52")
    assert said(output).startswith(("x" * 999 + "\n") * 51 + "[lines 1-51 of 100")


def test_an_offset_past_the_end_says_how_long_the_file_is(read: Call, cwd: Path) -> None:
    (cwd / "n").write_text("a\nb\n")
    output = read(path="n", offset=9)
    assert output.is_error
    assert said(output) == "n: offset 9 is past the end; it has 2 lines"


def test_row_27_a_long_line_is_cut_on_a_code_point(read: Call, cwd: Path) -> None:
    (cwd / "n").write_text("a" + "😀" * 2_621_440)
    output = read(path="n")
    text = said(output)
    assert text.startswith("a" + "😀" * 12_799 + "\n[line 1 is very long")
    assert output.cut == Cut("bytes", ((1, 51_197),), 10_485_761, "n", "bash: sed -n 1p FILE | cut -c51198-")
    text.encode()


def test_a_long_line_does_not_hide_the_lines_behind_it(read: Call, cwd: Path) -> None:
    (cwd / "n").write_text("x" * 60_000 + "\nnext\n")
    assert said(read(path="n")).endswith("; next line: offset=2]")
    assert said(read(path="n", offset=2)) == "next\n[lines 2-2 of 2]"


def test_row_22_the_head_of_a_huge_file_is_quick_and_small(read: Call, cwd: Path) -> None:
    with (cwd / "huge.log").open("wb") as file:
        block = b"2026-01-01 INFO x\n" * 58_000
        for _ in range(200):
            file.write(block)
    tracemalloc.start()
    start = time.perf_counter()
    output = read(path="huge.log")
    took = time.perf_counter() - start
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert output.cut == Cut("lines", ((1, 2_000),), None, "huge.log", "offset=2001")
    assert took < 1.0
    assert peak < 16_000_000
    assert said(read(path="huge.log", offset=11_600_000, limit=1)).startswith("2026-01-01 INFO x\n[lines 11,600,000")
    (cwd / "huge.log").unlink()


def test_crlf_is_shown_as_lf_and_noted(read: Call, cwd: Path) -> None:
    (cwd / "w").write_bytes(b"a\r\nb\r\n")
    assert said(read(path="w")) == "a\nb\n[CRLF line ends]"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (codecs.BOM_UTF8 + b"x\n", "x\n[UTF-8 with BOM]"),
        (codecs.BOM_UTF16_LE + "é🌍\n".encode("utf-16-le"), "é🌍\n[UTF-16-LE with BOM]"),
        (codecs.BOM_UTF16_BE + "é\n".encode("utf-16-be"), "é\n[UTF-16-BE with BOM]"),
        (codecs.BOM_UTF32_LE + "é\n".encode("utf-32-le"), "é\n[UTF-32-LE with BOM]"),
        (b"# caf\xe9 \x80\n", "# café €\n[Windows-1252, not UTF-8]"),
        ("日本 ".encode() + b"\xff\n", "日本 \ufffd\n[UTF-8 with invalid bytes]"),
    ],
)
def test_row_25_text_in_any_encoding_is_readable(read: Call, cwd: Path, data: bytes, text: str) -> None:
    (cwd / "f").write_bytes(data)
    assert said(read(path="f")) == text


def test_an_odd_byte_far_down_is_read_too(read: Call, cwd: Path) -> None:
    (cwd / "f").write_bytes(b"plain\n" * 20_000 + b"caf\xe9\n")
    assert said(read(path="f", offset=20_001)).startswith("café\n[Windows-1252")


def test_a_notebook_is_shown_as_cells(read: Call, cwd: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "words"]},
        {
            "cell_type": "code",
            "source": "1 + 1",
            "outputs": [
                {"output_type": "stream", "text": ["hi\n"]},
                {"output_type": "display_data", "data": {"image/png": "aGk=", "text/plain": "<Figure>"}},
                {"output_type": "error", "ename": "ValueError", "evalue": "no"},
            ],
        },
    ]
    (cwd / "n.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4}))
    assert said(read(path="n.ipynb")) == (
        "# %% [markdown] 0\n# Title\nwords\n\n# %% [code] 1\n1 + 1\n# output:\nhi\n"
        "# output:\n<Figure> [image/png]\n# output:\nValueError: no\n[notebook as text; the file itself is JSON]"
    )


def test_a_damaged_notebook_is_shown_as_text(read: Call, cwd: Path) -> None:
    (cwd / "n.ipynb").write_text('{"cells": [')
    assert said(read(path="n.ipynb")) == '{"cells": ['


def test_details_never_repeat_the_text(read: Call, cwd: Path) -> None:
    (cwd / "n").write_text("secret words\n" * 50)
    assert "secret" not in json.dumps(read(path="n").details)


def test_a_read_claims_the_real_file(workspace: Workspace) -> None:
    (workspace.cwd / "real").touch()
    (workspace.cwd / "link").symlink_to("real")
    tool = read_tool(workspace, caps=Caps(), images=False)
    assert tool.access({"path": "link"}) == Access(reads=frozenset({str(workspace.cwd / "real")}))
    assert tool.access({"path": "a\0b"}) == Access()


@pytest.mark.parametrize("arguments", [{}, {"path": 3}, {"path": "f", "offset": "x"}, {"path": "f", "limit": True}])
def test_bad_arguments_are_answered_in_words(read: Call, cwd: Path, arguments: dict[str, object]) -> None:
    (cwd / "f").write_text("x")
    output = read(**arguments)
    assert output.is_error
    assert " must be a " in said(output)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text(st.sampled_from("a\né🌍"), max_size=60),
    st.integers(1, 12),
    st.integers(1, 12),
    st.integers(4, 30),
    st.integers(1, 9),
    st.booleans(),
)
def test_a_window_holds_the_lines_it_says(
    text: str, first: int, lines: int, size: int, block: int, count: bool
) -> None:
    data = text.encode()
    source = iter([data[i : i + block] for i in range(0, len(data), block)])
    found = window(source, first=first, lines=lines, size=size, count_all=count)
    every = data.splitlines(keepends=True) if b"\r" not in data else []
    assert len(found.data) <= size
    assert found.data.decode() in text
    if count:
        assert found.total == len(every)
    if found.cut_inside:
        assert found.first == found.last
        assert every[first - 1].startswith(found.data)
        assert len(every[first - 1].rstrip(b"\n")) == found.line_bytes or not count
    else:
        assert found.data == b"".join(every[first - 1 : found.last])
        assert found.last - first + 1 <= lines
