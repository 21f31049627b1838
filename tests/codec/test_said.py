"""What a person is reminded of a prompt by: their words, not the files that came along."""

import pytest

from trimtab.types.messages import Image, Part, Text, User

FILE = Text('<file path="a.txt">\none\n</file>\n')
FOLDER = Text('<folder path="src">\nb.py\n</folder>\n')


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ((Text("look @a.txt\n\n"), FILE), ("look @a.txt\n\n",)),
        ((FILE, FOLDER), ("@a.txt", "@src")),
        ((Text("why?\n\n"), Text("piped\n"), FILE), ("why?\n\n", "piped\n")),
        ((Image("image/png", "AA=="), Text(" ")), (" ",)),
        ((Text('<file path="a.txt"> is what I wrote'),), ('<file path="a.txt"> is what I wrote',)),
        ((), ()),
    ],
)
def test_words_are_said_and_files_named_only_where_nothing_else_was(
    parts: tuple[Part, ...], said: tuple[str, ...]
) -> None:
    assert User(parts).said == said
    assert User(parts, typed="/review a.txt").said == ("/review a.txt",)
