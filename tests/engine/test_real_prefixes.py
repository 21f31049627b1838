"""Every prefix of a real session gives a request that may leave, wherever the file was cut, in windows large and small.

`TRIMTAB_DATA` names a folder with `sessions/index.jsonl`. There are two ways to come to a prefix:

    resumed   the messages up to the cut go into a new session at once, and its first request has to make them fit
    lived     one session goes through the file, a request at each line; its edits stand when the next line comes

All cuts (lived: all files) of the split `eval` are shuffled once, by a fixed seed; a test takes the first few. With `TRIMTAB_ALL_PREFIXES=1` it takes all
(resumed a day, lived four hours), with `TRIMTAB_ALL_PREFIXES=3/50` the third of fifty parts, which together are all. `TRIMTAB_WAYS=1` tries one way of each instead of one for every family.

Each cut is tried with every family of APIs, each in another window and by another policy; which is drawn from the name and place of the cut (lived:
from the name), so a cut meets the same ones in every run, and every pair of window and policy is met by every family.
"""

import gzip
import json
import os
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pytest
from msgspec import structs

from support.conversations import MAKERS
from support.engine_session import Outside, Session
from support.wire_rules import broken, sent_body
from trimtab.context.cycle.floor import floor_of
from trimtab.context.engine import Engine
from trimtab.context.validate import rules_for, validate
from trimtab.sessions.chain import messages
from trimtab.sessions.detect import read_recordings
from trimtab.sessions.source import ImportFailed
from trimtab.types.errors import ContextFloor
from trimtab.types.messages import Message
from trimtab.types.models import Api

T = TypeVar("T")
_DATA = os.environ.get("TRIMTAB_DATA", "")
_SAMPLE = 60
_LIVES = 4
_STRETCH = 60
_FRAME = 130
"""Tokens of a summary that says nothing but what it stands for."""
_LARGEST = 200_000
_WAYS = [(window, policy) for window in (8_000, 30_000, _LARGEST) for policy in ("rules", "summary")]


def _part(cuts: Sequence[T], wanted: str, sample: int = _SAMPLE) -> list[T]:
    """The cuts that `wanted` names: the sample (empty), all of them (`1`), or part i of n (`i/n`)."""
    shuffled = list(cuts)
    random.Random(7).shuffle(shuffled)
    if not wanted:
        return shuffled[:sample]
    part, _, parts = wanted.partition("/")
    number, count = int(part), int(parts or 1)
    if not 1 <= number <= count:
        raise ValueError(f"TRIMTAB_ALL_PREFIXES={wanted}: write 1, or i/n with i from 1 to n")
    return shuffled[number - 1 :: count]


def _lines(path: Path) -> list[bytes]:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).split(b"\n")


@pytest.fixture(scope="module")
def files() -> list[Path]:
    """The session files of the split `eval`."""
    root = Path(_DATA, "sessions")
    if not _DATA or not (root / "index.jsonl").is_file():
        pytest.skip("no real sessions: TRIMTAB_DATA names no folder that has sessions/index.jsonl")
    rows = [json.loads(row) for row in (root / "index.jsonl").read_text().splitlines()]
    return sorted({root / row["file"] for row in rows if row["split"] == "eval"})


@pytest.fixture
def cuts(files: list[Path]) -> list[tuple[Path, int]]:
    """The chosen cuts of them, file by file."""
    every = [(path, cut) for path in files for cut in range(1, len(_lines(path)) + 1)]
    return sorted(_part(every, os.environ.get("TRIMTAB_ALL_PREFIXES", "")))


def _conversations(data: bytes) -> list[tuple[Message, ...]]:
    try:
        return [tuple(messages(recording)) for recording in read_recordings(data)]
    except ImportFailed:
        return []  # nothing was said yet


def _ways(path: Path, cut: int | None = None) -> Iterator[tuple[Api, int, str]]:
    """How this cut is tried: each family in another window or by another policy."""
    chance = random.Random(f"{path.name}:{cut}")
    drawn = chance.sample(_WAYS, len(MAKERS))
    ways = [(api, window, policy) for api, (window, policy) in zip(MAKERS, drawn, strict=True)]
    many = int(os.environ.get("TRIMTAB_WAYS", "0"))
    yield from chance.sample(ways, many) if many else ways


class Life:
    """A session that is lived through: what was said so far, and how its requests are made."""

    def __init__(self, api: Api, window: int, policy: str) -> None:
        self.way = (api, window, policy)
        self.talk: tuple[Message, ...] = ()
        self.session = self._new()

    def _new(self) -> Session:
        api, window, policy = self.way
        return Session(Engine(structs.replace(MAKERS[api], context_window=window), session_id="s", policy=policy))

    def goes_on(self, talk: tuple[Message, ...]) -> None:
        """Take in what came; from the beginning, where the longer file tells what was before in another way."""
        if talk[: len(self.talk)] != self.talk:
            self.talk, self.session = (), self._new()
        self.session.log.append([self.session.engine.admit(message) for message in talk[len(self.talk) :]])
        self.talk = talk

    def wrong(self, seen: Counter[str]) -> list[str]:
        """What is wrong with the request that follows. A stop is right only where what must stay is too much for a small window."""
        seen["requests"] += 1
        session = self.session
        session.outside = Outside()
        model, hard = session.engine.model, session.engine.budget.hard
        try:
            prepared = session.prepare()
        except ContextFloor as stop:
            seen["stops"] += 1
            look = session.engine.look(session.view, session.request)
            waits = {place for index in look.view.open_places for place in look.view.group(index)}
            stays = floor_of(look).total + _FRAME + sum(size for shown, size in look.sizes() if shown.place in waits)
            most = stays * look.used // look.estimate.tokens  # decisions go by the upper end of a band
            return [] if self.way[1] < _LARGEST and most > hard else [f"stopped with {most:,} that must stay: {stop}"]
        sent = prepared.request.messages
        used = session.engine.look(prepared.view, session.request).used
        return [
            *([f"{used:,} tokens of {hard:,}"] if used > hard else []),
            *(problem.message for problem in validate(sent, rules=rules_for(model))),
            *broken(self.way[0], sent_body(model, sent)),
        ]


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_every_prefix_of_every_session_gives_a_request_that_may_leave(cuts: list[tuple[Path, int]]) -> None:
    wrong: list[object] = []
    seen: Counter[str] = Counter(cuts=len(cuts))
    lines: tuple[Path, list[bytes]] | None = None
    for path, cut in cuts:
        if lines is None or lines[0] != path:
            lines = (path, _lines(path))
        for talk in _conversations(b"\n".join(lines[1][:cut])):
            for way in _ways(path, cut):
                life = Life(*way)
                life.goes_on(talk)
                wrong += [(path.name, cut, *way, said) for said in life.wrong(seen)]
    print(f"prefixes: {seen['cuts']} cuts, {seen['requests']} requests, {seen['stops']} stops, {len(wrong)} wrong")
    assert wrong == []
    assert seen["requests"] > 3 * len(cuts) or "TRIMTAB_WAYS" in os.environ
    assert seen["stops"] < seen["requests"] / 20


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_every_prefix_of_a_session_that_is_lived_through_gives_a_request_that_may_leave(files: list[Path]) -> None:
    wanted = os.environ.get("TRIMTAB_ALL_PREFIXES", "")
    wrong: list[object] = []
    seen: Counter[str] = Counter()
    for path in _part(files, wanted, _LIVES):
        lines = _lines(path)
        lives: dict[tuple[int, tuple[Api, int, str]], Life] = {}
        for cut in range(1, len(lines) + 1 if wanted else _STRETCH):
            seen["cuts"] += 1
            for number, talk in enumerate(_conversations(b"\n".join(lines[:cut]))):
                for way in _ways(path):
                    life = lives.setdefault((number, way), Life(*way))
                    if talk == life.talk:
                        continue  # the line said nothing: the request is the one that was looked at
                    life.goes_on(talk)
                    wrong += [(path.name, cut, *way, said) for said in life.wrong(seen)]
    print(
        f"prefixes lived: {seen['cuts']} cuts, {seen['requests']} requests, {seen['stops']} stops, {len(wrong)} wrong"
    )
    assert wrong == []
    assert seen["requests"] - seen["stops"] > seen["cuts"] or "TRIMTAB_WAYS" in os.environ


def test_the_parts_of_an_exhaustive_run_are_all_cuts_once() -> None:
    every = [(Path(name), cut) for name in ("a", "b") for cut in range(1, 101)]
    parts = [_part(every, f"{number}/7") for number in range(1, 8)]
    assert sorted(cut for part in parts for cut in part) == every
    assert sorted(_part(every, "1")) == every
    assert _part(every, "") == _part(every, "1")[:_SAMPLE]
    with pytest.raises(ValueError, match="from 1 to n"):
        _part(every, "8/7")
