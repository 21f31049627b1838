"""A document in chunks, and what is found in it."""

from hypothesis import given
from hypothesis import strategies as st

from support.docqa import DOCUMENT, FACT
from trimtab.lab.docqa.document import chunks_of
from trimtab.lab.docqa.search import ChunkIndex, holds_phrase


def words(text):
    return len(text.split())


texts = st.lists(st.sampled_from(["one two. ", "three four five! ", "six.\n", "# Head\n", "\n\n", "seven eight nine ten ", "。"]), max_size=60).map("".join)  # fmt: skip


@given(texts, st.integers(3, 12), st.integers(0, 6))
def test_chunks_joined_are_the_text_and_none_is_larger_than_it_may_be(text, size, back):
    chunks = chunks_of(text, words, size=size, back=back)
    assert "".join(chunk.text for chunk in chunks) == text
    assert all(chunk.tokens <= size for chunk in chunks)
    assert [chunk.number for chunk in chunks] == list(range(1, len(chunks) + 1))


def test_a_chunk_ends_with_a_paragraph_when_that_gives_little_back():
    text = "a b c d.\n\ne f. g h i."
    assert [c.text for c in chunks_of(text, words, size=7, back=2)] == ["a b c d.\n\n", "e f. g h i."]
    assert [c.text for c in chunks_of(text, words, size=7, back=1)] == ["a b c d.\n\ne f. ", "g h i."]


def test_a_sentence_larger_than_a_chunk_is_cut_between_words():
    chunks = chunks_of("one two three four five six seven", words, size=3)
    assert all(words(chunk.text) <= 3 for chunk in chunks)
    assert not any(chunk.text.startswith(("ne", "wo", "hree")) for chunk in chunks)


def test_a_chunk_knows_under_which_heading_it_begins_and_a_hit_under_which_it_stands():
    chunks = chunks_of(DOCUMENT, words, size=90, back=10)
    holding = next(chunk for chunk in chunks if FACT in chunk.text)
    assert holding.section == "Surveys"
    assert ChunkIndex(chunks).search("412 l/s")[0].section == "Weirs"
    assert chunks_of("# One\n\na b.\n\n# Two\n\nc d.", words, size=4)[1].section == "Two"


def test_any_phrase_is_enough_and_the_rest_ranks():
    index = ChunkIndex(chunks_of(DOCUMENT, words, size=130, back=30))
    found = index.search("weir at Otter Ford, footbridge")
    assert {hit.chunk.number for hit in found} == {2, 3}
    assert {hit.phrases for hit in found} == {("weir at Otter Ford",), ("footbridge",)}
    assert "lets 412 l/s through" in next(hit for hit in found if hit.chunk.number == 2).highlight
    assert index.search("no such words") == ()
    assert index.search(" , ,") == ()


def test_two_words_may_stand_within_a_phrase_and_three_may_not():
    assert holds_phrase(["the", "old", "weir", "by", "Ford"], ["weir", "Ford"])
    assert holds_phrase(["weir", "a", "b", "Ford"], ["weir", "Ford"])
    assert not holds_phrase(["weir", "a", "b", "c", "Ford"], ["weir", "Ford"])
    assert not holds_phrase(["weir", "a", "Otter", "b", "c", "Ford"], ["weir", "Otter", "Ford"])
    assert not holds_phrase(["Ford", "weir"], ["weir", "Ford"])


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=5), st.lists(st.sampled_from("abcd"), max_size=12))
def test_a_phrase_is_found_where_a_search_of_all_places_finds_it(phrase, text):
    def brute(at, words, slop):
        if not words:
            return True
        return any(
            at + 1 + gap < len(text) and text[at + 1 + gap] == words[0] and brute(at + 1 + gap, words[1:], slop - gap)
            for gap in range(slop + 1)
        )

    everywhere = any(text[at] == phrase[0] and brute(at, phrase[1:], 2) for at in range(len(text)))
    assert holds_phrase(text, phrase) == everywhere
