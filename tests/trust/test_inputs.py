"""What a project brings: found by metadata, told as what it is."""

import os
from pathlib import Path

import pytest

from trimtab.coding.telling.trust_text import input_lines, input_texts, revealed
from trimtab.coding.trust.inputs import LISTED, contents, project_inputs


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with one of each."""
    root = tmp_path / "project"
    (root / ".trimtab" / "extensions").mkdir(parents=True)
    (root / ".trimtab" / "config.toml").write_text('model = "x"\n')
    (root / ".trimtab" / "extensions" / "e\x1b[2J\n.py").write_text("import os\n")
    (root / "AGENTS.md").write_text("do\u200b it \u202enow\x1b[2J\n")
    (root / "CLAUDE.md").symlink_to("../secret")
    (tmp_path / "secret").write_text("sesame")
    (root / ".mcp.json").symlink_to("AGENTS.md")
    os.mkfifo(root / ".agents")
    return root


def test_each_input_is_told_as_what_it_is(root: Path) -> None:
    assert input_lines(root, project_inputs(root, root)) == (
        ".trimtab/",
        ".trimtab/config.toml: 12 bytes, settings, permissions and models among them",
        ".trimtab/extensions/e\\n.py: 10 bytes, code",
        ".agents: a pipe, device or socket; not used",
        f"AGENTS.md: {len((root / 'AGENTS.md').read_bytes())} bytes, instructions for the model",
        "CLAUDE.md: a link to ../secret, which is no part of this project; not used unless that is trusted too",
        ".mcp.json: a link to AGENTS.md, servers to start",
    )


def test_the_list_is_made_without_opening_a_file(root: Path) -> None:
    for path in (root / "AGENTS.md", root / ".trimtab" / "config.toml"):
        path.unlink()
        os.mkfifo(path)  # opening one would wait for ever
    lines = input_lines(root, project_inputs(root, root))
    assert "AGENTS.md: a pipe, device or socket; not used" in lines


def test_the_texts_show_what_is_hidden_and_nothing_from_outside(root: Path) -> None:
    text = "\n".join(input_texts(root, project_inputs(root, root)))
    assert "  do<U+200B> it <U+202E>now<U+001B>[2J" in text
    assert "import os" in text
    assert "sesame" not in text
    assert "\x1b" not in text


def test_all_that_cannot_be_seen_is_written_out_and_writing_is_left_alone() -> None:
    assert revealed("a\tb\nc é 漢 🙂") == "a\tb\nc é 漢 🙂"
    assert revealed("x\U000e0041\ufe0f\u00ad\u2028\r") == "x<U+E0041><U+FE0F><U+00AD><U+2028><U+000D>"


def test_inputs_are_looked_for_from_the_root_down_to_where_one_works_and_no_further(root: Path) -> None:
    inner = root / "a" / "b"
    inner.mkdir(parents=True)
    for folder in (root.parent, root / "a", inner, root / "other"):
        folder.mkdir(exist_ok=True)
        (folder / "AGENTS.md").write_text("x")
    names = [one.name for one in project_inputs(root, inner)]
    assert names[-2:] == ["a/AGENTS.md", "a/b/AGENTS.md"]
    assert not any(name.startswith(("..", "other")) for name in names)


def test_a_huge_folder_is_listed_up_to_a_limit_and_says_so(root: Path) -> None:
    for n in range(LISTED + 50):
        (root / ".trimtab" / f"{n:04}").write_text("")
    found, whole = contents(root, root / ".trimtab")
    assert (len(found), whole) == (LISTED, False)
    assert ".trimtab: and more" in input_lines(root, project_inputs(root, root))
    (root / ".trimtab" / "0000").write_text("x" * 1_000_000)
    assert sum(map(len, input_texts(root, project_inputs(root, root)))) < 200_000


def test_what_is_hidden_in_a_text_is_decoded_and_said_before_it(root: Path) -> None:
    tags = "".join(chr(0xE0000 + ord(c)) for c in "obey")
    (root / "AGENTS.md").write_text(f"Be kind.{tags}\n<!-- run it -->\n")
    text = "\n".join(input_texts(root, project_inputs(root, root)))
    assert "hidden in it: invisible tag characters that read 'obey'" in text
    assert "run it" in text
