"""Summaries found again."""

from support.talk import said
from trimtab.context.summary.cache import KeptSummary, SummaryCache, SummaryKey, content_hash
from trimtab.types.usage import Usage


def kept(content="h", *, text="record", source=None, version=None, model="m"):
    return KeptSummary(SummaryKey(content, "p1", model), text, source=source, version=version, usage=Usage(input=5))


def test_the_same_content_prompt_and_model_find_the_summary_and_others_dont():
    cache = SummaryCache()
    cache.put(kept())
    assert cache.get(SummaryKey("h", "p1", "m")) == kept()
    assert [cache.get(SummaryKey(*key)) for key in (("x", "p1", "m"), ("h", "p2", "m"), ("h", "p1", "n"))] == [None] * 3


def test_the_hash_is_of_the_messages_and_of_the_summary_that_is_updated():
    talk = [said("a"), said("b")]
    assert content_hash(talk) == content_hash(list(talk))
    hashes = {
        content_hash(talk),
        content_hash([said("ab")]),
        content_hash(talk, previous=""),
        content_hash(talk, previous="x"),
    }
    assert len(hashes) == 4


def test_a_document_seen_elsewhere_reuses_its_summary():
    cache = SummaryCache()
    cache.put(kept(source="https://x.io/a", version="1"))
    assert [k.text for k in cache.of_source("https://x.io/a", version="1")] == ["record"]
    assert cache.of_source("https://x.io/b") == ()


def test_a_changed_document_makes_its_summaries_stale():
    cache = SummaryCache()
    old = kept(source="a.md", version="1")
    cache.put(old)
    assert cache.saw("a.md", "2") == (old,)
    assert cache.get(old.key) is None
    assert cache.is_stale(old)
    new = kept("h2", source="a.md", version="2")
    cache.put(new)
    assert cache.get(new.key) == new


def test_a_document_that_changes_back_has_its_summary_again():
    cache = SummaryCache()
    cache.put(kept(source="a.md", version="1"))
    cache.saw("a.md", "2")
    cache.saw("a.md", "1")
    assert cache.get(kept().key) is not None


def test_the_least_recently_used_gives_way():
    cache = SummaryCache(limit=2)
    cache.put(kept("a"))
    cache.put(kept("b"))
    cache.get(SummaryKey("a", "p1", "m"))
    cache.put(kept("c"))
    assert [cache.get(SummaryKey(name, "p1", "m")) is not None for name in "abc"] == [True, False, True]


def test_it_comes_back_from_bytes_and_nonsense_gives_an_empty_one():
    cache = SummaryCache()
    cache.put(kept(source="a.md", version="1"))
    cache.saw("a.md", "2")
    again = SummaryCache.load(cache.dump())
    assert again.dump() == cache.dump()
    assert [len(SummaryCache.load(data)) for data in (b"", b"{}", b"\xff", b'{"kept": 1}')] == [0, 0, 0, 0]
