"""`write`: atomic, and in the dress of the file it replaces."""

import os
import resource
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from trimtab.agent.ports import Access, ToolOutput
from trimtab.coding.tools.caps import Caps
from trimtab.coding.tools.paths import Workspace
from trimtab.coding.tools.write import write_tool

Call = Callable[..., ToolOutput]


def said(output: ToolOutput) -> str:
    return "".join(getattr(p, "text", "") for p in output.parts)


def refusal(output: ToolOutput) -> str:
    assert output.is_error
    return said(output)


def test_a_new_file_is_made_with_its_folders(write: Call, cwd: Path) -> None:
    output = write(path="a/b/c.txt", content="x\ny")
    assert output == ToolOutput.text(
        "created a/b/c.txt: 2 lines, 3 bytes",
        details={
            "changed": [str(cwd / "a/b/c.txt")],
            "kind": "created",
            "diff": "@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file\n",
        },
    )
    assert (cwd / "a/b/c.txt").read_bytes() == b"x\ny"


def test_a_new_file_obeys_the_umask(write: Call, cwd: Path) -> None:
    old = os.umask(0o027)
    try:
        write(path="n", content="")
    finally:
        os.umask(old)
    assert stat.S_IMODE((cwd / "n").stat().st_mode) == 0o640


def test_row_2_crlf_is_kept_never_doubled_and_said(write: Call, cwd: Path) -> None:
    (cwd / "w").write_bytes(b"a\r\nb\r\n")
    assert said(write(path="w", content="a\nB\n")) == "replaced w: 2 lines, 6 bytes (CRLF line ends kept)"
    assert (cwd / "w").read_bytes() == b"a\r\nB\r\n"
    write(path="w", content="1\r\n2\r\n3\n")
    assert (cwd / "w").read_bytes() == b"1\r\n2\r\n3\r\n"


@pytest.mark.parametrize(
    ("old", "content", "new", "note"),
    [
        (b"\xef\xbb\xbfa\n", "é\n", b"\xef\xbb\xbf\xc3\xa9\n", "UTF-8 with BOM kept"),
        (b"\xff\xfea\0\n\0", "b\n", b"\xff\xfeb\0\n\0", "UTF-16-LE with BOM kept"),
        (b"caf\xe9\n", "th\xe9\n", b"th\xe9\n", "Windows-1252, not UTF-8 kept"),
        (b"caf\xe9\n", "日\n", "日\n".encode(), "was Windows-1252, not UTF-8, which can't hold this; now UTF-8"),
        (b"a\0b", "text\n", b"text\n", "the old content was binary"),
        (b"a\nb\n", "a\r\n", b"a\r\n", "the old file had LF line ends; now as given"),
        (b"a\r\nb\n", "c\n", b"c\n", "the old file mixed CRLF and LF; now as given"),
    ],
)
def test_row_4_and_6_the_encoding_of_the_old_file_is_kept_or_named(
    write: Call, cwd: Path, old: bytes, content: str, new: bytes, note: str
) -> None:
    (cwd / "f").write_bytes(old)
    assert said(write(path="f", content=content)).endswith(f" ({note})")
    assert (cwd / "f").read_bytes() == new


def test_row_15_mode_and_symlink_are_kept(write: Call, cwd: Path) -> None:
    (cwd / "real.sh").write_text("old\n")
    (cwd / "real.sh").chmod(0o755)
    (cwd / "link").symlink_to("real.sh")
    output = write(path="link", content="new\n")
    assert (cwd / "link").readlink() == Path("real.sh")
    assert (cwd / "real.sh").read_text() == "new\n"
    assert stat.S_IMODE((cwd / "real.sh").stat().st_mode) == 0o755
    assert output.details is not None
    assert output.details["changed"] == [str(cwd / "real.sh")]


def test_row_15_hard_links_stay_one_file(write: Call, cwd: Path) -> None:
    (cwd / "a").write_text("a long old text\n")
    os.link(cwd / "a", cwd / "b")
    write(path="a", content="new\n")
    assert (cwd / "b").read_text() == "new\n"
    write(path="a", content="longer than before\n" * 9)
    assert (cwd / "b").read_text() == "longer than before\n" * 9


def test_a_dangling_link_makes_its_target(write: Call, cwd: Path) -> None:
    (cwd / "link").symlink_to("sub/target")
    write(path="link", content="x")
    assert (cwd / "sub/target").read_text() == "x"


@pytest.mark.parametrize("linked", [False, True])
def test_a_full_disk_leaves_the_old_file_and_no_litter(write: Call, cwd: Path, linked: bool) -> None:
    (cwd / "f").write_text("precious\n")
    if linked:
        os.link(cwd / "f", cwd / "g")
    before = sorted(os.listdir(cwd))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    try:
        output = write(path="f", content="x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert refusal(output) == "f: larger than a file may be here; nothing was changed"
    assert (cwd / "f").read_text() == "precious\n"
    assert sorted(os.listdir(cwd)) == before


def test_what_is_no_regular_file_is_refused(write: Call, cwd: Path) -> None:
    os.mkfifo(cwd / "p")
    (cwd / "d").mkdir()
    (cwd / "loop").symlink_to("loop")
    (cwd / "f").touch()
    assert refusal(write(path="p", content="x")) == "p is a named pipe, not a regular file"
    assert refusal(write(path="d", content="x")) == "d is a folder; use ls"
    assert refusal(write(path="/dev/null", content="x")) == "/dev/null is a character device, not a regular file"
    assert refusal(write(path="loop", content="x")) == "loop: too many symbolic links (a loop?)"
    assert refusal(write(path="f/x", content="x")) == "f/x: a part of the path is a file, not a folder"
    assert refusal(write(path="n" * 300, content="x")).endswith(": the name is too long")


def test_the_same_content_writes_nothing(write: Call, cwd: Path) -> None:
    (cwd / "f").write_bytes(b"a\r\n")
    before = (cwd / "f").stat().st_mtime_ns
    output = write(path="f", content="a\n")
    assert output == ToolOutput.text("f already holds exactly this; nothing was written", details={"changed": []})
    assert (cwd / "f").stat().st_mtime_ns == before


def test_row_27_a_lone_surrogate_is_written_as_a_mark(write: Call, cwd: Path) -> None:
    write(path="f", content="a\udc83b")
    assert (cwd / "f").read_text() == "a\ufffdb"


def test_row_14_a_diff_that_is_too_large_is_left_out(write: Call, cwd: Path) -> None:
    (cwd / "f").write_text("x" * 5_000_000)
    details = write(path="f", content="y" + "x" * 5_000_000).details
    assert details == {"changed": [str(cwd / "f")], "kind": "overwritten", "diff": None, "diff_note": "diff too large"}


def test_a_write_claims_the_real_file(workspace: Workspace) -> None:
    (workspace.cwd / "link").symlink_to("real")
    access = write_tool(workspace, caps=Caps()).access({"path": "link"})
    assert access == Access(writes=frozenset({str(workspace.cwd / "real")}))
