"""Searching what was said: which texts are found, in which order, and what is shown of them."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from session_index.conftest import Said
from support.sessions import result, say
from trimtab.context.stores.folder import SessionFolder
from trimtab.sessions.index.index import SessionIndex
from trimtab.sessions.index.query import parse
from trimtab.sessions.index.refresh import words_of
from trimtab.sessions.index.searching import snippet_of
from trimtab.types.errors import TrimtabError
from trimtab.types.messages import Assistant, Text, Thinking, ToolCall, ToolResult

KEY = "sk-" + "a1b2" * 8


def titles(index: SessionIndex, query: str, cwd: str | None = None) -> list[str]:
    return [hit.session.title for hit in index.search(parse(query), cwd).hits]


def test_a_hit_says_which_session_which_entry_and_who_said_it(home: SessionFolder, index: SessionIndex, said: Said):
    path = said("why does it fail?", say("The port is taken by another server."))
    (hit,) = index.search(parse("another port")).hits
    log = home.open(path, read_only=True)
    assert (hit.session.path, hit.entry_id, hit.role, hit.snippet) == (
        path,
        log.archive.path()[1].id,
        "assistant",
        "The port is taken by another server.",
    )
    assert hit.time.startswith("2026-01-01T")


def test_all_words_have_to_be_in_one_text(index: SessionIndex, said: Said):
    said("red apple")
    said("red", "apple")
    assert titles(index, "apple red") == ["red apple"]


def test_where_no_text_has_all_words_those_with_some_are_found_and_it_says_so(index: SessionIndex, said: Said):
    said("red apple")
    found = index.search(parse("red pear"))
    assert ([hit.session.title for hit in found.hits], found.all_words) == (["red apple"], False)
    assert index.search(parse("nothing here")).all_words


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ('"connection refused"', {"one"}),
        ('"refused connection"', set()),
        ('"nection ref"', set()),
        ("connec*", {"one", "two"}),
        ("onnec*", set()),
        ("CONNECTION", {"one", "two"}),
        ('here "connection refused"', {"one"}),
        ('"connection refused', {"one"}),
    ],
)
def test_phrases_and_beginnings_of_words(index: SessionIndex, said: Said, query: str, found: set[str]):
    said("Connection\n refused here", title="one")
    said("refused: connection", title="two")
    assert set(titles(index, query)) == found


@pytest.mark.parametrize("query", ["日本", "本語", "日本語", "語", "日*", '"日本語"', "データベース"])
def test_scripts_without_spaces_are_found_by_any_two_letters(index: SessionIndex, said: Said, query: str):
    said("日本語のデータベース")
    said("中文")
    assert titles(index, query) == ["日本語のデータベース"]


@pytest.mark.parametrize("query", ["parse url", "parseURL", "parse_url*", "cafe", "ＣＡＦＥ", "resume"])
def test_parts_of_names_accents_and_full_width_are_no_obstacle(index: SessionIndex, said: Said, query: str):
    said("call parseURL and parse_url in the café's résumé")
    assert len(titles(index, query)) == 1


def test_answers_thoughts_calls_and_results_are_searched_and_so_is_the_title(index: SessionIndex, said: Said):
    call = ToolCall("c", "bash", {"command": "make\nwheel", "n": [7781]}, '{"command":"make\\nwheel"}')
    thought = Assistant((Thinking("perhaps zebras"), call), stop_reason="tool_use")
    said("hi", thought, ToolResult("c", "bash", (Text("built okapi"),), is_error=False), title="About giraffes")
    roles = {
        word: [h.role for h in index.search(parse(word)).hits]
        for word in ("zebras", "wheel", "7781", "okapi", "giraffes")
    }
    assert roles == {
        "zebras": ["assistant"],
        "wheel": ["assistant"],
        "7781": ["assistant"],
        "okapi": ["tool"],
        "giraffes": ["title"],
    }


def test_the_best_comes_first_and_of_equals_the_newest(index: SessionIndex, said: Said):
    said("apple " * 3, title="first")
    said("apple among many other words that have nothing to do with it " * 5, title="long")
    said("apple " * 3, title="second")
    assert [s for s in titles(index, "apple") if s != "long"] == ["second", "first"]
    assert titles(index, "apple")[-1] == "long"


def test_only_the_folder_that_was_asked_about_is_searched(index: SessionIndex, said: Said):
    said("apple one", cwd="/a")
    said("apple two", cwd="/b")
    assert titles(index, "apple", "/a") == ["apple one"]
    assert sorted(titles(index, "apple")) == ["apple one", "apple two"]


def test_no_more_than_the_limit_is_returned_and_it_says_that_there_is_more(index: SessionIndex, said: Said):
    said(*(f"apple {n}" for n in range(5)))
    found = index.search(parse("apple"), limit=3)
    assert (len(found.hits), found.more) == (3, True)
    assert not index.search(parse("apple"), limit=5).more


@pytest.mark.parametrize(
    "query",
    [
        '"',
        '""',
        "*",
        "AND",
        "NOT x",
        "a NEAR(b)",
        "words:x",
        "x OR",
        "-x",
        "(",
        "'; DROP TABLE files; --",
        "\0",
        "a\0b",
        "🙂",
        "\ud800",
        "^x",
        "x" * 100_000,
        '"' * 999,
        " ",
        "{x}",
        "%_",
    ],
)
def test_no_query_is_an_error(index: SessionIndex, said: Said, query: str):
    said("a text with 🙂 and NEAR")
    assert index.search(parse(query)).hits is not None


@given(st.text())
def test_whatever_is_typed_is_a_query(text: str):
    query = parse(text)
    assert query.fits(text) or query.phrases


def test_what_has_no_word_in_it_is_found_as_it_stands(index: SessionIndex, said: Said):
    said("all good 🙂")
    said("??? what")
    assert titles(index, "🙂") == ["all good 🙂"]
    assert titles(index, "???") == ["??? what"]


def test_no_secret_is_found_shown_or_kept(index: SessionIndex, said: Said):
    said(f"password: hunter2hunter2 and the key {KEY}", result("c", f"export TOKEN={KEY}"))
    (hit,) = index.search(parse("key")).hits[:1]
    assert KEY not in hit.snippet
    assert index.search(parse(KEY)).hits == ()
    assert index.search(parse("hunter2hunter2")).hits == ()
    kept = index.path.read_bytes()
    assert (KEY.encode() in kept, b"hunter2" in kept) == (False, False)


def test_a_snippet_shows_the_place_in_one_harmless_line():
    text = "word " * 100 + "the \x1b[31mneedle\u202e stands\nhere " + "word " * 100
    shown = snippet_of(text, parse("needle"))
    assert "the needle stands here" in shown
    assert (shown[0], shown[-1], len(shown) < 200, shown.isprintable()) == ("…", "…", True, True)


def test_what_was_said_later_is_found_without_reading_what_came_before(
    home: SessionFolder, index: SessionIndex, said: Said, monkeypatch
):
    path = said("one", "two")
    index.search(parse("one"))
    log = home.open(path)
    log.append_messages([say("three")])
    log.close()
    cut = []
    monkeypatch.setattr("trimtab.sessions.index.refresh.words_of", lambda text: cut.append(text) or words_of(text))
    assert len(index.search(parse("three")).hits) == 1
    assert cut == ["three"]


def test_a_large_body_is_searched_too(index: SessionIndex, said: Said):
    said("begin " + "x" * 90_000 + " needle")
    assert len(index.search(parse("needle")).hits) == 1


def test_where_nothing_can_be_written_a_search_finds_the_same(home: SessionFolder, said: Said, tmp_path):
    said("apple")
    (tmp_path / "file").write_text("no folder")
    assert titles(SessionIndex(tmp_path / "file" / "index.sqlite", home), "apple") == ["apple"]


def test_a_python_without_full_text_search_says_so(index: SessionIndex, said: Said, monkeypatch):
    said("apple")
    monkeypatch.setitem(sys.modules, "sqlite3", None)
    with pytest.raises(TrimtabError, match="full-text search"):
        index.search(parse("apple"))


def test_texts_that_are_deleted_or_rewritten_are_found_no_more(index: SessionIndex, said: Said):
    path, other = said("apple"), said("pear")
    assert len(titles(index, "apple")) == 1
    path.write_bytes(other.read_bytes().replace(b"pear", b"plums"))
    assert [titles(index, word) for word in ("apple", "plums", "pear")] == [[], ["plums"], ["pear"]]
    path.unlink()
    assert titles(index, "plums") == []
