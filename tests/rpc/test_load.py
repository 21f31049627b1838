"""What one client may have in hand: bounded in bytes, whatever it sends and however slowly it reads."""

import os
from collections.abc import Iterator
from contextlib import suppress

import anyio
import anyio.lowlevel
import pytest

from support.cli import Cli
from support.rpc_wire import Json, wired
from trimtab.frontends.rpc import verbs
from trimtab.frontends.rpc.call import Call
from trimtab.frontends.rpc.handlers import HANDLERS
from trimtab.frontends.rpc.host import Host
from trimtab.frontends.rpc.load import MOST_WAITING, Load
from trimtab.frontends.rpc.outbox import Outbox
from trimtab.frontends.rpc.requests import Asked, read_line

LARGE = {"words": "x" * (1 << 20)}


@pytest.fixture
def ends() -> Iterator[tuple[int, int]]:
    """A pipe: where a client reads, where we write."""
    of, to = os.pipe()
    os.set_blocking(of, False)
    yield of, to
    for end in (of, to):
        with suppress(OSError):
            os.close(end)


def call(line: bytes, said: list[Json], *, size: int | None = None) -> Call:
    asked = read_line(line)
    assert isinstance(asked, Asked)
    return Call(Asked(asked.verb, asked.request, asked.id, asked.size if size is None else size), said.append)


async def answered(load: Load, outbox: Outbox, most: list[int]) -> None:
    one = call(b'{"type":"get_messages"}', [])
    one.put = outbox.put
    assert load.take(one) == ""
    async with load.made(one):
        one.answer(LARGE)
        most[0] = max(most[0], outbox.size)


@pytest.mark.anyio
async def test_large_answers_wait_until_the_client_has_read_those_before(ends: tuple[int, int]) -> None:
    of, to = ends
    outbox, most, read = Outbox(to), [0], 0
    load = Load(outbox)
    async with anyio.create_task_group() as group:
        group.start_soon(outbox.run)
        for _ in range(14):
            group.start_soon(answered, load, outbox, most)
        while read < 14 << 20:
            await anyio.wait_readable(of)
            read += len(os.read(of, 1 << 16))
        group.cancel_scope.cancel()
    assert MOST_WAITING < most[0] <= MOST_WAITING + (2 << 20)


@pytest.mark.anyio
async def test_a_client_that_has_left_and_reads_nothing_holds_nothing_up(
    ends: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trimtab.frontends.rpc.load._GONE_S", 0.01)
    outbox, most = Outbox(ends[1]), [0]
    load = Load(outbox)
    load.left = True
    with anyio.fail_after(10):
        async with anyio.create_task_group() as writing:
            writing.start_soon(outbox.run)
            async with anyio.create_task_group() as group:
                for _ in range(14):
                    group.start_soon(answered, load, outbox, most)
            writing.cancel_scope.cancel()
    assert (outbox.broken.is_set(), outbox.size) == (True, 0)
    assert most[0] <= MOST_WAITING + (2 << 20)


def test_lines_without_an_answer_are_bounded_in_bytes_and_one_alone_is_taken() -> None:
    load, said = Load(Outbox(1)), list[Json]()
    first = call(b'{"type":"steer","message":"x"}', said, size=100 << 20)
    assert load.take(first) == ""
    second = call(b'{"type":"prompt","message":"y"}', said, size=1 << 20)
    assert load.take(second).startswith("104,857,600 bytes of commands wait already, and 67,108,864 may.")
    assert load.take(call(b'{"type":"abort"}', said, size=1 << 20)) == ""
    first.answer()
    first.refuse("twice")
    assert [load.take(call(b'{"type":"prompt","message":"y"}', said, size=30 << 20)) for _ in range(3)][:2] == ["", ""]
    assert load.take(call(b'{"type":"prompt","message":"y"}', said, size=30 << 20)) != ""


def test_what_waits_for_a_turn_is_bounded_in_bytes(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trimtab.frontends.rpc.talking._QUEUED_BYTES", 50_000)
    with wired(cli, model=cli.script({"text": "x", "delay_ms": 60_000})) as wire:
        wire.ask("prompt", message="go")
        for _ in range(2):
            wire.ask("follow_up", message="z" * 40_000)
        assert wire.fail("steer", message="more").startswith("messages of 80,000 bytes wait already")
        assert len(wire.ask("clear_queue")["followUp"]) == 2
        wire.ask("steer", message="now there is room")
        wire.ask("abort")


def test_many_commands_at_once_of_every_kind_are_each_answered_once(cli: Cli) -> None:
    kinds = ("get_messages", "steer", "set_model", "nonsense", "get_tree", "abort", "trimtab.redo", "clear_queue")
    with wired(cli, model=cli.script({"text": "ok"})) as wire:
        names = [f"n{n}" for n in range(400)]
        wire.raw(b"".join(b'{"type":"%s","id":"%s"}\n' % (kinds[n % 8].encode(), name.encode()) for n, name in enumerate(names)))  # fmt: skip
        for name in names:
            wire.response(name)
        answers = [record.get("id") for record in wire.seen if record["type"] == "response"]
        assert sorted(answers) == sorted(names)
        assert wire.ask("get_state")["messageCount"] == 0


def test_what_waits_while_another_session_is_opened_is_answered_of_that_one(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def until_it_closes(host: Host, request: object, call: object) -> Json:
        while host.open is not None:
            await anyio.lowlevel.checkpoint()
        return {}

    monkeypatch.setitem(HANDLERS, verbs.GetMessages, until_it_closes)  # type: ignore[arg-type]
    with wired(cli, model=cli.script({"text": "ok"})) as wire:
        wire.prompt("hi")
        asked = [wire.send(kind) for kind in ("get_messages", "get_entries", "get_tree", "new_session")]
        answers = [wire.response(name) for name in asked]
        assert [answer.get("error") for answer in answers] == [None] * 4
        assert answers[1]["data"] == {"entries": [], "leafId": None}
