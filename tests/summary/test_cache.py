"""Summaries found again: in the session, and in the file that all sessions of a project share."""

import os
from pathlib import Path

import pytest

from support.talk import said
from trimtab.context.stores import summary_file
from trimtab.context.stores.summary_file import SummaryFile
from trimtab.context.summary.cache import KeptSummary, SummaryCache, SummaryKey, content_hash
from trimtab.types.errors import StoreError


def kept(content="h", *, text="record", source=None, model="m"):
    return KeptSummary(SummaryKey(content, "p1", model), text, source=source, meta={"mode": "serialised", "ms": 5})


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


def test_the_summary_of_a_documents_old_text_gives_way_to_that_of_its_new_one():
    cache = SummaryCache()
    cache.put(kept("v1", source="a.md"))
    cache.put(kept("v1", source="a.md", model="n"))
    cache.put(kept("v1", source="b.md"))
    cache.put(kept("v2", source="a.md"))
    assert cache.get(SummaryKey("v2", "p1", "m")) is not None
    assert cache.get(SummaryKey("v1", "p1", "n")) is None
    assert len(cache) == 1 + (cache.get(SummaryKey("v1", "p1", "m")) is not None)


def test_the_least_recently_used_gives_way():
    cache = SummaryCache(limit=2)
    cache.put(kept("a"))
    cache.put(kept("b"))
    cache.get(SummaryKey("a", "p1", "m"))
    cache.put(kept("c"))
    assert [cache.get(SummaryKey(name, "p1", "m")) is not None for name in "abc"] == [True, False, True]


def test_only_summaries_of_documents_are_worth_a_file_and_each_is_given_once():
    cache = SummaryCache()
    cache.put(kept("run"))
    cache.put(kept("v1", source="a.md"))
    assert [(one.key.content, one.meta) for one in cache.take_unsaved()] == [("v1", {"mode": "serialised"})]
    assert cache.take_unsaved() == ()
    cache.fill([kept("v2", source="b.md")])
    assert cache.take_unsaved() == ()


def test_another_session_finds_what_was_kept_and_only_the_owner_may_read_it(tmp_path: Path):
    path = tmp_path / "data" / "p.jsonl"
    SummaryFile(path).keep([kept("v1", source="a.md")])
    SummaryFile(path).keep([kept("v1", source="b.md", model="n")])
    assert [one.source for one in SummaryFile(path).load()] == ["a.md", "b.md"]
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


def test_a_changed_document_takes_the_place_of_what_was_kept_of_it(tmp_path: Path):
    file = SummaryFile(tmp_path / "p.jsonl")
    file.keep([kept("v1", source="a.md"), kept("w1", source="b.md")])
    file.keep([kept("v2", source="a.md")])
    assert [(one.source, one.key.content) for one in file.load()] == [("b.md", "w1"), ("a.md", "v2")]


def test_the_oldest_give_way_by_number_and_by_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(summary_file, "MOST", 3)
    file = SummaryFile(tmp_path / "p.jsonl")
    file.keep([kept(f"v{n}", source=f"{n}.md") for n in range(5)])
    assert [one.source for one in file.load()] == ["2.md", "3.md", "4.md"]
    monkeypatch.setattr(summary_file, "MOST_BYTES", 2 * len(file.path.read_bytes()) // 3 + 1)
    file.keep([kept("v5", source="5.md")])
    assert [one.source for one in file.load()] == ["4.md", "5.md"]


@pytest.mark.parametrize("data", [b"", b"{}\n[", b"\xff\xfe", b'{"key": 1}\n', b"[" * 100_000])
def test_a_file_that_is_nonsense_counts_as_empty_and_is_replaced(tmp_path: Path, data: bytes):
    file = SummaryFile(tmp_path / "p.jsonl")
    file.path.write_bytes(data)
    assert file.load() == ()
    file.keep([kept("v1", source="a.md")])
    assert len(file.load()) == 1


def test_a_file_that_is_far_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = SummaryFile(tmp_path / "p.jsonl")
    file.keep([kept("v1", source="a.md")])
    monkeypatch.setattr(summary_file, "_MOST_READ", 10)
    assert file.load() == ()


def test_a_disk_that_refuses_is_an_error_that_names_the_file_and_leaves_it_as_it_was(tmp_path: Path):
    file = SummaryFile(tmp_path / "p.jsonl")
    file.keep([kept("v1", source="a.md")])
    os.mkdir(file.path.with_name("p.jsonl.new"))
    with pytest.raises(StoreError, match=r"p\.jsonl"):
        file.keep([kept("v2", source="b.md")])
    assert [one.source for one in file.load()] == ["a.md"]


def test_a_pipe_in_place_of_the_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "p.jsonl")
    assert SummaryFile(tmp_path / "p.jsonl").load() == ()
