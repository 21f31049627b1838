"""What `recall` answers."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.recall.index import Document, Hit, Index
from trimtab.context.recall.near import near_names
from trimtab.context.recall.search import recall


class Archive:
    """Items by handle, with call ids beside them. Four characters are a token."""

    def __init__(self, texts: dict[str, str | None]) -> None:
        self._texts = texts
        self._index = Index()
        for name, text in texts.items():
            self._index.add(Document(name, "result", "bash", text or ""))

    def resolve(self, name: str) -> str | None:
        name = name.removeprefix("call_")
        return name if name in self._texts else None

    def near(self, name: str) -> tuple[str, ...]:
        return near_names(name, list(self._texts))

    def text_of(self, name: str) -> str | None:
        return self._texts[name]

    def search(self, query: str, limit: int) -> tuple[Hit, ...]:
        return self._index.search(query, limit)

    def count(self, text: str) -> int:
        return -(-len(text) // 4)


LOG = "".join(f"{n}: request served in {n * 7 % 90} ms\n" for n in range(1, 400))
ARCHIVE = Archive({"r1": LOG, "r2": "the port is 4711", "r3": None, "r4": "東京の天気"})


def test_an_item_is_read_page_by_page_in_its_exact_words():
    answer = recall(ARCHIVE, name="r1", max_tokens=500)
    pages = int(re.match(r"\[r1: page 1 of (\d+), lines 1-\d+ of 399; go on with page 2]\n", answer.text)[1])
    texts = [recall(ARCHIVE, name="r1", number=n, max_tokens=500).text for n in range(1, pages + 1)]
    assert "".join(text.partition("\n")[2] for text in texts) == LOG
    assert texts[-1].partition("\n")[0].endswith("of 399; the end]")


def test_an_item_can_be_named_by_its_call():
    assert recall(ARCHIVE, name="call_r2", max_tokens=500).text == (
        "[r2: page 1 of 1, lines 1-1 of 1; the end]\nthe port is 4711"
    )


def test_a_page_too_far_is_the_last_one_and_says_so():
    answer = recall(ARCHIVE, name="r2", number=10**30, max_tokens=500)
    assert answer.text == "[r2: page 1 of 1, lines 1-1 of 1; there is no such page; the end]\nthe port is 4711"


def test_a_query_lists_hits_with_line_and_page():
    answer = recall(ARCHIVE, query="300: request", max_tokens=500)
    hits = answer.text.splitlines()
    assert hits[0] == "hits 1-1 for '300: request'; read one with {id, page}"
    assert hits[1].startswith("r1 (bash, ")
    page = int(re.fullmatch(r"  line 300, page (\d+): 300: request served in 30 ms", hits[2])[1])
    assert "\n300: request" in recall(ARCHIVE, name="r1", number=page, max_tokens=500).text


def test_a_query_within_an_item_gives_its_lines_in_order():
    answer = recall(ARCHIVE, name="r1", query="served in 0 ms", max_tokens=2_000)
    assert [int(n) for n in re.findall(r"^  line (\d+), page \d+: ", answer.text, re.M)] == [90, 180, 270, 360]


def test_a_text_without_spaces_is_found():
    assert recall(ARCHIVE, query="天気", max_tokens=500).text.splitlines()[1:] == [
        "r4 (bash, 5 characters, 1 exact)",
        "  line 1: 東京の天気",
    ]


def test_words_within_an_item_are_found_too():
    assert "line 7: 7: request" in recall(ARCHIVE, name="r1", query="ms 7 in request", max_tokens=5_000).text


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("r12", ("r11", "r10", "r9", "r8", "r7")),
        ("[r12~4kq2m7xa", ("r11", "r10", "r9", "r8", "r7")),
        ("r3", ("r2", "r4", "r1", "r5", "r6")),
        ("call_abd", ("call_abc", "call_xyz")),
        ("nothing like it", ("r11", "r10", "r9", "r8", "r7")),
    ],
)
def test_a_name_that_there_is_not_is_answered_with_those_that_may_be_meant(name, near):
    names = [f"r{n}" for n in range(1, 12) if n != 3] + ["call_abc", "call_xyz"]
    assert near_names(name, names) == near


def test_with_nothing_to_name_nothing_is_named():
    assert near_names("r1", []) == ()
    assert "near" not in recall(Archive({}), name="r1", max_tokens=500).text


@given(st.text(min_size=1, max_size=2_000), st.lists(st.text(min_size=1, max_size=200), max_size=20))
def test_an_unknown_name_is_answered_within_the_budget(name, names):
    archive = Archive(dict.fromkeys(names, "x"))
    if archive.resolve(name.strip()) is None and name.strip():
        assert archive.count(recall(archive, name=name, max_tokens=96).text) <= 96


@pytest.mark.parametrize(
    ("asked", "said", "is_error"),
    [
        ({}, "give a query", True),
        ({"query": "  "}, "give a query", True),
        ({"name": "r99"}, "no item 'r99': near are r4, r3, r2, r1; use an id that", True),
        ({"name": "r3"}, "holds no text", True),
        ({"query": "unheard of xyzzy"}, "nothing holds 'unheard of xyzzy'", False),
        ({"name": "r2", "query": "xyzzy"}, "r2 holds nothing of 'xyzzy'", False),
        ({"query": "port", "number": 5}, "no page 5 of hits", False),
    ],
)
def test_what_can_not_be_answered_says_the_next_step(asked, said, is_error):
    answer = recall(ARCHIVE, **asked, max_tokens=500)
    assert (said in answer.text, answer.is_error) == (True, is_error)


def test_more_than_ten_hits_come_in_pages():
    many = Archive({f"r{n}": f"needle {n}" for n in range(1, 24)})
    pages = [recall(many, query="needle", number=n, max_tokens=2_000).text for n in (1, 2, 3)]
    assert [text.splitlines()[0] for text in pages] == [
        "hits 1-10 for 'needle'; read one with {id, page}, more with page 2",
        "hits 11-20 for 'needle'; read one with {id, page}, more with page 3",
        "hits 21-23 for 'needle'; read one with {id, page}",
    ]
    assert sorted(re.findall(r"^r\d+", "\n".join(pages), re.M)) == sorted(f"r{n}" for n in range(1, 24))


def test_hits_without_room_are_counted():
    many = Archive({f"r{n}": f"needle {n} " + "x" * 200 for n in range(1, 8)})
    assert recall(many, query="needle", max_tokens=150).text.endswith(" more had no room; ask more narrowly")


TEXT = st.text(st.sampled_from("ab 4\n東🙂") | st.characters(), max_size=600)


@given(st.lists(TEXT, min_size=1, max_size=4), TEXT, st.integers(-5, 50), st.integers(0, 300))
def test_an_answer_keeps_to_its_budget(texts, query, number, max_tokens):
    archive = Archive({f"r{n}": text for n, text in enumerate(texts)})
    for name in ("", "r0", query):
        answer = recall(archive, query=query, name=name, number=number, max_tokens=max_tokens)
        assert archive.count(answer.text) <= max(max_tokens, 96)
