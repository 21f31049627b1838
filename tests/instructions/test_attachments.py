"""`@` in the words of a person: which of them are files, and what becomes of the others."""

import os
import stat
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.instructed import Place
from trimtab.coding.attachments import attached
from trimtab.coding.mentions import being_typed, mentions, written
from trimtab.frontends.cli.inputs import line_parts, prompt_parts
from trimtab.types.errors import UsageError
from trimtab.types.messages import Part, Text


def told(parts: tuple[Part, ...]) -> list[str]:
    """The texts of parts."""
    return [part.text for part in parts if isinstance(part, Text)]


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("what does @property do?", ""),
        ("thanks @alice", ""),
        ("thanks @alice.", ""),
        ("install @types/node please", "@types/node names no file here, so it is sent as text"),
        ("see @gone.txt, please", "@gone.txt names no file here, so it is sent as text"),
        ('see @"gone for good"', "@gone for good names no file here, so it is sent as text"),
        ("write to me@example.org", ""),
        ("a lone @ sign, and @\x00x", ""),
        ("@" + "x" * 5_000, ""),
    ],
)
def test_a_word_that_names_no_file_is_text(place: Place, line: str, note: str) -> None:
    said = line_parts(line, place.project())
    assert said.parts == (Text(line),)
    assert said.notes == ((note,) if note else ())


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("see @a.txt, and @b.txt.", ["a.txt", "b.txt"]),
        ("(@a.txt)", ["a.txt"]),
        ("is it @a.txt?!", ["a.txt"]),
        ("@a.txt @a.txt @./a.txt", ["a.txt"]),
        ("**see** @dot.", ["dot."]),
        ('@"two words.txt" and', ["two words.txt"]),
        ("@'two words.txt'.", ["two words.txt"]),
        (r"@two\ words.txt, now", ["two words.txt"]),
        ("see\n@a.txt\n", ["a.txt"]),
    ],
)
def test_what_closes_a_sentence_is_not_of_the_name_and_quotes_keep_blanks(
    place: Place, line: str, names: list[str]
) -> None:
    for name in ("a.txt", "b.txt", "two words.txt", "dot."):
        place.write(f"work/{name}", f"in {name}\n")
    said = attached(line, place.project())
    assert told(said.parts) == [f'<file path="{name}">\nin {name}\n\n</file>\n' for name in names]
    assert said.notes == ()


def test_a_folder_is_listed_within_the_caps(place: Place) -> None:
    for number in range(5):
        place.write(f"work/src/f{number}.py", "x\n")
    (text,) = told(attached("look at @src.", place.project(tools={"ls": {"max_rows": 3}})).parts)
    assert text.startswith('<folder path="src">\nf0.py')
    assert "f2.py" in text
    assert "f3.py" not in text
    assert "[3 of 5 entries; " in text
    assert text.endswith("\n</folder>\n")


def test_a_file_that_is_there_and_cannot_be_shown_is_said(place: Place) -> None:
    project = place.project()
    place.write("work/x.bin", b"\0\1\2" * 100)
    place.write("work/long.txt", "x\n" * 9_000)
    os.mkfifo(place.cwd / "pipe")
    assert attached("see @x.bin.", project).notes == ("@x.bin is binary, 300 bytes: that is all the model is told",)
    (note,) = attached("see @long.txt", project).notes
    assert note.startswith("@long.txt is longer than what is attached: [")
    with pytest.raises(UsageError, match="@pipe: "):
        attached("see @pipe, please", project)
    secret = place.write("home/auth.json", "{}")
    with pytest.raises(UsageError, match="no tool opens this file"):
        attached(f"see @{secret}", project)
    if os.geteuid():
        place.write("work/closed.txt", "x").chmod(stat.S_IWUSR)
        with pytest.raises(UsageError, match=r"@closed\.txt: "):
            attached("@closed.txt", project)


def test_a_pasted_log_of_a_thousand_names_is_looked_at_in_part(place: Place) -> None:
    said = attached(" ".join(f"@user{number}" for number in range(1_000)), place.project())
    assert said == type(said)((), ("only the first 200 words with an @ are looked at for files",))


def test_arguments_of_a_run_attach_as_lines_do_and_only_once(place: Place) -> None:
    place.write("work/a.txt", "A\n")
    place.write("work/two words.txt", "B\n")
    project = place.project()
    a = '<file path="a.txt">\nA\n\n</file>\n'
    parts, notes = prompt_parts(["compare @a.txt,", "@a.txt", "@two words.txt", "@types/node", "xa.txt"], project)
    assert told(parts)[0] == "compare @a.txt, @types/node xa.txt\n\n"
    assert told(parts)[1:] == [a, '<file path="two words.txt">\nB\n\n</file>\n']
    assert notes[-1] == "@types/node names no file here, so it is sent as text"
    assert prompt_parts(["@alice says hi"], project)[0] == (Text("@alice says hi"),)
    with pytest.raises(UsageError, match=r"@diff\.patch: there is no such file"):
        prompt_parts(["review", "@diff.patch"], project)


@given(st.text("ab @\"'\\ \t\n.,()/~\u202e\x1b", max_size=40))
def test_any_text_has_mentions_whose_names_get_shorter(text: str) -> None:
    for mention in mentions(text):
        names = list(mention.names())
        assert names[0] == mention.name
        assert all(long.startswith(short) and short for long, short in pairwise(names))


@given(st.text("ab .,()'\"", min_size=1, max_size=12), st.sampled_from(["", '"', "'"]))
def test_a_name_that_is_offered_is_read_as_that_name(name: str, quote: str) -> None:
    typed = written(name, quote)
    if typed is None or name.isspace():
        return
    (mention,) = mentions(f"see @{quote}{typed}")
    assert mention.name == name
    so_far = being_typed(f"see @{quote}{name[:1]}" if name[0] not in " \"'" else f"see @{quote}")
    assert so_far is not None
    assert so_far[2] == quote
