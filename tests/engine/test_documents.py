"""What a result shows of a file or a page, and when that reads otherwise."""

import pytest

from support.engine_session import Session, lines, model
from trimtab.context.actions import Action
from trimtab.context.engine import Engine
from trimtab.context.seeing.documents import document_of, stale_documents
from trimtab.context.telling.layers import summary_index


def session() -> Session:
    return Session(Engine(model(100_000), session_id="s", policy="none"))


def shown(name: str, arguments: dict[str, object], *, error: bool = False) -> str | None:
    made = session()
    made.say("look")
    made.work("text", name=name, arguments=arguments, error=error)
    return document_of(made.view, made.view.slots[2])


@pytest.mark.parametrize(
    ("name", "arguments", "document"),
    [
        ("read", {"path": "src/a.py"}, "src/a.py"),
        ("Read", {"file_path": "/x/a.py", "offset": 3}, '/x/a.py#{"offset": 3}'),
        ("fetch", {"url": "https://x.io/a"}, "https://x.io/a"),
        ("fetch", {"url": "https://x.io/a", "page": 2}, 'https://x.io/a#{"page": 2}'),
        ("fetch", {"url": "file:///etc/passwd"}, None),
        ("write", {"path": "src/a.py"}, None),
        ("bash", {"command": "cat src/a.py"}, None),
    ],
)
def test_a_result_shows_the_file_or_address_that_its_call_read(
    name: str, arguments: dict[str, object], document: str | None
) -> None:
    assert shown(name, arguments) == document


def test_a_failed_read_shows_no_document() -> None:
    assert shown("read", {"path": "src/a.py"}, error=True) is None


def test_what_was_written_or_reads_otherwise_since_is_stale_and_says_so_beside_its_source_and_version() -> None:
    made = session()
    made.say("look")
    for path in ("a.py", "b.py", "c.py"):
        made.work(lines(1_500, seed=len(path)), name="read", arguments={"path": path})
    made.act(Action("summarize", ("c1", "c2", "c3"), {"summary": "values of modules"}))
    rows = summary_index(made.view)
    ids = [made.view.slots[n].id for n in (2, 4, 6)]
    assert [(rows[i]["source"], rows[i]["stale"]) for i in ids] == [("a.py", False), ("b.py", False), ("c.py", False)]
    made.work("ok", name="edit", arguments={"path": "a.py"})
    made.work(lines(1_500, seed=77), name="read", arguments={"path": "b.py"})
    made.work(lines(1_500, seed=4), name="read", arguments={"path": "c.py"})
    rows = summary_index(made.view)
    assert [rows[i]["stale"] for i in ids] == [True, True, False]
    assert len({rows[i]["version"] for i in ids}) == 1
    assert rows[ids[0]]["age"] == 3


def test_a_compaction_is_stale_when_something_that_it_stands_for_is() -> None:
    made = session()
    made.say("look")
    made.work(lines(1_500), name="read", arguments={"path": "a.py"})
    made.say("and now?")
    made.act(Action("compact", (made.view.slots[1].id,), {"mode": "digest"}))
    (edit,) = made.edits
    lead = made.view.applied[0].id
    assert edit.author == "user"
    assert summary_index(made.view)[lead]["stale"] is False
    made.work("ok", name="write", arguments={"path": "a.py"})
    assert summary_index(made.view)[lead]["stale"] is True
    assert stale_documents(made.view)
