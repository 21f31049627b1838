"""Searching the archive: exact first, then by words, whatever a query holds."""

import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.recall.full_text import FullTextRanker
from trimtab.context.recall.index import Document, Hit, Index, Line
from trimtab.context.recall.ranking import PlainRanker

TEXTS = {
    "r1": "starting the gateway\nlistening on port 4711\nready",
    "r2": "def open_ledger(path):\n    return Ledger(path)",
    "r3": "the ledger was closed\nthe ledger was opened\nthe ledger balances",
    "r4": "東京都の天気は晴れです\n大阪は雨",
    "r5": "error E4711: the port is taken",
}


def index_of(texts: dict[str, str], *, fts: bool = True) -> Index:
    """An index of results."""
    index = Index(fts=fts)
    for name, text in texts.items():
        index.add(Document(name, "result", "bash", text))
    return index


def ids(hits: tuple[Hit, ...]) -> list[str]:
    """Their names."""
    return [hit.id for hit in hits]


@pytest.fixture(params=[True, False], ids=["fts5", "plain"])
def index(request) -> Index:
    return index_of(TEXTS, fts=request.param)


def test_a_text_as_it_stands_is_found_with_its_line(index):
    assert index.search("on port 4711")[0] == Hit(
        "r1", "result", "bash", 49, 1.0, exact=True, matches=1, lines=(Line(2, "listening on port 4711"),)
    )


def test_of_exact_hits_the_newest_comes_first(index):
    assert ids(index.exact("4711")) == ["r5", "r1"]


def test_exact_hits_come_before_ranked_ones_and_none_comes_twice(index):
    index.add(Document("r6", "result", "bash", "error, error, error"))
    found = index.search("error E4711")
    assert [(hit.id, hit.exact) for hit in found] == [("r5", True), ("r6", False), ("r1", False)]


def test_another_case_counts_where_nothing_stands_as_written(index):
    assert ids(index.exact("LISTENING ON")) == ["r1"]
    assert ids(index.exact("Ledger")) == ["r2"]


def test_a_hit_tells_how_often_and_on_which_lines(index):
    hit = index.exact("ledger")[0]
    assert (hit.id, hit.matches, [line.number for line in hit.lines]) == ("r3", 3, [1, 2, 3])


def test_words_in_any_order_find_the_item_that_holds_most_of_them(index):
    assert ids(index.ranked("taken port error"))[0] == "r5"


def test_a_ranked_hit_shows_the_line_with_most_of_the_words(index):
    assert index.ranked("closed ledger", 1)[0].lines == (Line(1, "the ledger was closed"),)


def test_a_part_of_a_name_is_found(index):
    assert "r2" in ids(index.ranked("ledger open"))


@pytest.mark.parametrize("query", ["天気", "東京の天気", "雨", "大阪 天気"])
def test_a_text_without_spaces_is_found_by_its_parts(index, query):
    assert ids(index.search(query)) == ["r4"]


def test_a_second_document_of_an_id_is_left_out(index):
    index.add(Document("r1", "result", "bash", "something else"))
    assert (len(index), index.get("r1").text, index.search("something else")) == (5, TEXTS["r1"], ())


def test_documents_that_come_after_a_search_are_found_too(index):
    assert index.ranked("thunderstorm") == ()
    index.add(Document("r6", "user", "", "a thunderstorm over the port"))
    assert ids(index.ranked("thunderstorm")) == ["r6"]


def test_a_long_line_is_shown_around_the_hit():
    index = index_of({"r1": "a" * 5_000 + " needle " + "b" * 5_000})
    (line,) = index.exact("needle")[0].lines
    assert line.number == 1
    assert "needle" in line.text
    assert len(line.text) <= 162


def test_no_more_than_the_limit_comes_back(index):
    assert len(index.search("the", 2)) == 2
    assert index.search("the", 0) == ()


QUERIES = [
    '"',
    "AND",
    "port AND",
    "NEAR(",
    "a* OR (b",
    "words:port",
    "^port",
    "-port",
    "'; DROP TABLE rows; --",
    "\0",
    "%_",
    "()",
    "🙂",
]


@pytest.mark.parametrize("query", QUERIES)
def test_what_means_something_to_a_search_engine_means_itself(index, query):
    index.add(Document("odd", "user", "", f"before {query} after"))
    assert "odd" in ids(index.search(query))


SHARED = {fts: index_of(TEXTS, fts=fts) for fts in (True, False)}
ODD = st.text(st.sampled_from("\"*^():-+{}[]|&~'\\%_ \n\0aport東京") | st.characters(), max_size=40)


@given(ODD, st.booleans())
def test_any_query_is_safe(query, fts):
    assert len(SHARED[fts].search(query)) <= len(TEXTS)


WORDS = st.sampled_from(["port", "gateway", "ledger", "open_file", "error", "東京", "大阪市", "E4711", "the"])


@given(
    st.lists(st.lists(WORDS, max_size=12).map(" ".join), min_size=1, max_size=12),
    st.lists(WORDS, min_size=1, max_size=4),
)
def test_the_plain_ranking_is_that_of_fts5(texts, query):
    documents = {f"r{n}": text for n, text in enumerate(texts)}
    both = [index_of(documents, fts=fts).ranked(" ".join(query)) for fts in (True, False)]
    assert [(h.id, pytest.approx(h.score, abs=1e-8)) for h in both[0]] == [(h.id, h.score) for h in both[1]]


@given(st.text(min_size=1).filter(str.strip), st.text(), st.text())
def test_whatever_was_recorded_is_found_by_its_own_text(needle, before, after):
    index = index_of({"r1": before + needle + after, "r2": "another"})
    assert "r1" in ids(index.exact(needle))


def test_without_sqlite_the_plain_ranking_takes_over(monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlite3", None)
    assert FullTextRanker.open() is None
    assert ids(index_of(TEXTS).ranked("gateway")) == ["r1"]


def test_a_ranker_knows_nothing_of_what_it_was_not_given():
    assert (PlainRanker().top(["word"], 5), FullTextRanker.open().top(["word"], 5)) == ([], [])
    assert FullTextRanker.open().top([], 5) == []


def test_threads_may_add_and_search_at_once():
    index = Index()
    problems: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for n in range(50):
                index.add(Document(f"{name}{n}", "result", "", f"item {n} of {name}"))
                assert index.search(f"item {n} of {name}")[0].exact
                index.ranked(name)
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (problems, len(index), len(index.ranked("item", 200))) == ([], 150, 150)
