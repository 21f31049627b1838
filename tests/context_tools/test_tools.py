"""What the context tools do with a call."""

import errno
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.context_host import NOW, FakeHost
from trimtab.context.actions import Action
from trimtab.context.stores.disk import disk
from trimtab.context.stores.notes import MemoFolder
from trimtab.context.tools.host import ContextToolHost, ToolReply
from trimtab.context.tools.profiles import context_tools

LOG = "".join(f"line {n} of the log\n" for n in range(300))


def no_marker(value: object) -> str | None:
    """Refuse what holds the live marker."""
    return "a pointer stands in content; read it first" if "<m1>" in repr(value) else None


def call(host: ContextToolHost, name: str, /, **arguments: object) -> ToolReply:
    """Call a tool of the largest profile."""
    tools = {tool.spec.name: tool for tool in context_tools("pilot", host, refuse=no_marker)}
    return tools[name].handle(arguments)


@pytest.fixture
def host() -> FakeHost:
    return FakeHost({"r1": LOG, "r2": "the port is 4711"})


@pytest.mark.parametrize(
    ("name", "arguments", "action"),
    [
        ("archive", {"action": "archive", "ids": ["r1", "[r2]", "r1"]}, Action("elide", ("r1", "r2"))),
        (
            "archive",
            {"action": "archive", "ids": ["r1"], "summary": "all fine "},
            Action("elide", ("r1",), {"summary": "all fine"}),
        ),
        ("archive", {"action": "unarchive", "ids": "r1"}, Action("reload", ("r1",))),
        ("archive", {"action": "archive", "ids": '["r1", "r2"]'}, Action("elide", ("r1", "r2"))),
        ("plan", {"strategy": " look "}, Action("restate", (), {"text": "look", "label": "plan"})),
        (
            "edit_context",
            {"action": "summarize", "id": "r1", "summary": "fine"},
            Action("summarize", ("r1",), {"summary": "fine"}),
        ),
        (
            "edit_context",
            {"action": "truncate", "id": "r1", "first": "line 1 ", "last": "line 9 "},
            Action("truncate", ("r1",), {"first": "line 1 ", "last": "line 9 "}),
        ),
        (
            "edit_context",
            {"action": "truncate", "id": "r1", "last": "z"},
            Action("truncate", ("r1",), {"last": "z"}),
        ),
        (
            "edit_context",
            {"action": "compress", "id": "r1", "percent": "20"},
            Action("compress", ("r1",), {"share": 0.2}),
        ),
        ("edit_context", {"action": "compress", "id": "r1"}, Action("compress", ("r1",), {"share": 0.3})),
        (
            "edit_context",
            {"action": "fold", "id": "[r1]", "match": "error"},
            Action("fold", ("r1",), {"keep": ["error"]}),
        ),
        ("edit_context", {"action": "fold", "id": "r1"}, Action("fold", ("r1",))),
        ("edit_context", {"action": "delete", "id": "r1"}, Action("drop", ("r1",))),
        ("edit_context", {"action": "restore", "id": "r1"}, Action("reload", ("r1",))),
        ("edit_context", {"action": "restore", "id": "r1", "page": 2}, Action("reload", ("r1",), {"page": 2})),
        (
            "edit_context",
            {"action": "expire", "id": "r1", "steps": 5},
            Action("expire", ("r1",), {"after_steps": 5}),
        ),
        ("edit_context", {"action": "expire", "id": "r1"}, Action("expire", ("r1",), {"when_superseded": True})),
        ("edit_context", {"action": "pin", "id": "r1", "summary": None}, Action("pin", ("r1",))),
        ("edit_context", {"action": "unpin", "id": "r1"}, Action("unpin", ("r1",))),
    ],
)
def test_a_call_becomes_an_action_and_one_line(host, name, arguments, action):
    assert call(host, name, **arguments) == ToolReply(f"{action.action} done")
    assert host.actions == [action]


def test_an_action_that_was_not_done_is_an_error_and_keeps_its_arguments(host):
    assert call(host, "archive", action="archive", ids=["r99"], summary="s") == ToolReply(
        "no item 'r99'", is_error=True
    )


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("archive", {"action": "archive"}, "missing required field `ids`; nothing was done: correct the call"),
        ("archive", {"action": "hide", "ids": ["r1"]}, "Invalid enum value 'hide'"),
        ("archive", {"action": "archive", "ids": [" ", "[]"]}, "ids is empty"),
        ("archive", {"action": "archive", "ids": [1]}, "Expected `str`"),
        ("archive", {"action": "archive", "ids": ["r1"], "force": True}, "unknown field `force`"),
        ("plan", {"strategy": "  "}, "plan needs strategy"),
        ("edit_context", {"action": "summarize", "id": "r1"}, "summarize needs summary"),
        ("edit_context", {"action": "truncate", "id": "r1", "first": " "}, "truncate needs first or last"),
        ("edit_context", {"action": "compress", "id": "r1", "percent": 0}, "percent is what is kept, 1 to 99, not 0"),
        ("edit_context", {"action": "expire", "id": "r1", "steps": 0}, "steps is 1 or more"),
        ("edit_context", {"action": "pin", "id": "[]"}, "pin needs id"),
        ("memo", {"action": "read"}, "read needs key"),
        ("memo", {"action": "write", "key": "k", "content": " "}, "write needs content"),
        ("memo", {"action": "write", "key": "k" * 201, "content": "x"}, "key has 201 characters, 200 are allowed"),
        ("memo", {"action": "write", "key": "k", "content": "x", "summary": "s" * 301}, "301 characters, 300 are allowed"),
        ("memo", {"action": "write", "key": "k", "content": "see <m1>"}, "a pointer stands in content"),
        ("memo", {"action": "read", "key": "k"}, "no memo 'k'; there are: none yet"),
        ("memo", {"action": "delete", "key": "k"}, "no memo 'k'"),
        ("memory", {"action": "memorize", "key": "k"}, "memorize needs summary"),
        ("memory", {"action": "memorize", "key": " ", "summary": "s"}, "memorize needs key"),
        ("memory", {"action": "memorize", "key": "k", "summary": "s", "content": "<m1>"}, "a pointer stands in content"),
        ("memory", {"action": "load", "key": "k"}, "no memory 'k'; memorize makes one"),
        ("memory", {"action": "append", "key": "k", "content": "x"}, "no memory 'k'"),
        ("memory", {"action": "delete", "key": "k"}, "no memory 'k'"),
        ("recall", {}, "give a query"),
        ("recall", {"id": "r99"}, "no item 'r99'"),
        ("recall", {"id": "r1", "page": "second"}, "Expected `int`"),
    ],
)  # fmt: skip
def test_a_call_that_can_not_be_right_is_told_why_and_does_nothing(host, name, arguments, said):
    reply = call(host, name, **arguments)
    assert (said in reply.text, reply.is_error) == (True, True)
    assert (host.actions, host.memos.infos(), host.memories.all()) == ([], (), ())


def test_a_memo_leaves_the_call_and_can_be_read_back(host):
    reply = call(host, "memo", action="write", key="ledger", summary="who\nowns it", content="the ledger owns balances")
    assert reply == ToolReply("kept memo 'ledger', version 1: 24 bytes, verified")
    assert call(host, "memo", action="read", key="ledger").text == (
        "[memo 'ledger': page 1 of 1; the end]\nthe ledger owns balances"
    )
    assert call(host, "memo", action="list").text == "ledger (24 bytes): who owns it"
    assert call(host, "memo", action="delete", key="ledger").is_error is False
    assert call(host, "memo", action="list").text == "no memos yet"


def test_a_long_memo_is_read_by_pages_that_join(host):
    call(host, "memo", action="write", key="log", content=LOG)
    first = call(host, "memo", action="read", key="log").text
    pages = int(re.match(r"\[memo 'log': page 1 of (\d+); go on with page 2]\n", first)[1])
    texts = [call(host, "memo", action="read", key="log", page=n).text for n in range(1, pages + 1)]
    assert "".join(text.partition("\n")[2] for text in texts) == LOG
    assert max(host.count(text) for text in texts) <= host.page_tokens


def test_a_memo_that_is_taken_for_an_item_is_told_how_to_read(host):
    call(host, "memo", action="write", key="ledger", content="x")
    reply = call(host, "recall", id="ledger")
    assert reply.is_error
    assert reply.text.endswith("; there is a memo of that key: memo action=read key=ledger")


def test_an_unknown_memo_is_answered_with_those_there_are(host):
    call(host, "memo", action="write", key="ledger", content="x")
    assert call(host, "memo", action="read", key="legder").text == "no memo 'legder'; there are: 'ledger'"


class FullDisk:
    """Has no room."""

    def open(self, path: Path, *, create: bool) -> int:
        return disk.open(path, create=create)

    def write(self, _fd: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, "no space left")

    def sync(self, fd: int) -> None:
        disk.sync(fd)


def test_a_memo_that_could_not_be_written_stays_in_the_call(tmp_path):
    host = FakeHost(memos=MemoFolder(tmp_path / "memos", now=lambda: NOW, disk=FullDisk()))
    reply = call(host, "memo", action="write", key="ledger", content="x")
    assert ("no space left" in reply.text, "free some space" in reply.text, reply.is_error) == (True, True, True)


def test_memos_that_can_not_be_listed_are_an_error_not_none(tmp_path):
    (tmp_path / "memos").symlink_to(tmp_path / "memos")
    host = FakeHost(memos=MemoFolder(tmp_path / "memos", now=lambda: NOW))
    assert call(host, "memo", action="list").is_error


def test_a_memory_comes_back_with_what_belongs_to_it(host):
    call(host, "memory", action="memorize", key="proxy", summary="caddy", entities=["gateway"])
    reply = call(
        host, "memory", action="memorize", key="gateway", summary="on\nport 4711", content="nginx",
        entities="gateway", relations=["the gateway calls the ledger"], source=["r1"],
    )  # fmt: skip
    assert reply == ToolReply("kept memory 'gateway': 5 characters")
    assert call(host, "memory", action="append", key="gateway", content="behind a tunnel").is_error is False
    assert call(host, "memory", action="load", key="gateway").text.splitlines() == [
        "memory gateway (updated 2026-03-01T12:00:00.000Z): on port 4711",
        "nginx",
        "behind a tunnel",
        "entities: gateway",
        "relations: the gateway calls the ledger",
        "source: r1",
        "related proxy: caddy",
    ]


def test_an_unknown_memory_is_answered_with_keys_that_may_be_meant(host):
    call(host, "memory", action="memorize", key="gateway ports", summary="s")
    call(host, "memory", action="memorize", key="weather", summary="s")
    reply = call(host, "memory", action="load", key="ports")
    assert reply == ToolReply("no memory 'ports'; close to it: 'gateway ports'", is_error=True)


def test_a_forgotten_memory_is_gone(host):
    call(host, "memory", action="memorize", key="k", summary="s")
    call(host, "memory", action="update", key="k", summary="t")
    assert (
        call(host, "memory", action="delete", key="k").text == "memory 'k' is forgotten; its records stay in the file"
    )
    assert host.memories.all() == ()


def test_recall_finds_and_reads(host):
    assert "r2 (bash, 16 characters, 1 exact)\n  line 1: the port is 4711" in call(host, "recall", query="4711").text
    assert call(host, "recall", id="[r2]").text.endswith("\nthe port is 4711")
    assert "page 2 of" in call(host, "recall", id="r1", page="2").text


def test_status_tells_the_window_and_the_biggest_items(host):
    assert call(host, "context_status").text.splitlines() == [
        "window 200,000 tokens, reserve 36,000 for the answer, margin 4,000, used 61,234 (38% of what is usable), 98,766 left",
        "  r1 bash: 8,120 tokens, 4 steps old, pinned",
        "  e1 user: 40 tokens, 9 steps old",
        "  call_2 read stub: 30 tokens, 3 steps old, superseded",
    ]


def test_status_says_by_how_much_the_window_is_over(host):
    host.used = 160_500
    assert "500 over" in call(host, "context_status", anything="goes").text


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.sampled_from(["archive", "write", "r1", "load", "fold"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
NAMES = ["archive", "memo", "recall", "plan", "edit_context", "memory", "context_status"]
FIELDS = st.sampled_from(["action", "ids", "id", "key", "summary", "content", "query", "page", "strategy", "steps", "percent", "entities"])  # fmt: skip


@given(st.sampled_from(NAMES), st.dictionaries(FIELDS | st.text(max_size=3), JUNK, max_size=5))
def test_no_arguments_make_a_tool_raise(name, arguments):
    reply = {t.spec.name: t for t in context_tools("pilot", FakeHost({"r1": LOG}), refuse=no_marker)}[name].handle(
        arguments
    )
    assert reply.text
    reply.text.encode()


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, '["r1"', '"r1"', "[" * 100 + "]" * 100])
def test_a_list_that_comes_as_text_is_one_item_where_it_is_no_list(host, text):
    reply = call(host, "archive", action="archive", ids=text)
    assert reply.text


def test_a_memory_whose_file_was_written_since_says_so_when_it_is_loaded(host: FakeHost, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    host.memories.folder = tmp_path
    call(host, "memory", action="memorize", key="parser", summary="reads rows", source=["a.py", "r1"])
    os.utime(tmp_path / "a.py", (NOW.timestamp() - 60, NOW.timestamp() - 60))
    assert "written since" not in call(host, "memory", action="load", key="parser").text
    os.utime(tmp_path / "a.py", (NOW.timestamp() + 60, NOW.timestamp() + 60))
    said = call(host, "memory", action="load", key="parser").text
    assert "written since: a.py; look there before you rely on this" in said.splitlines()
