"""Every prefix of a real session gives a request that may leave, wherever the file was cut, in windows large and small.

`TRIMTAB_DATA` names a folder with `sessions/index.jsonl`. All cuts of all sessions of its split `eval` are shuffled once, by a fixed seed; the test
takes the first few. With `TRIMTAB_ALL_PREFIXES=1` it takes all (a day), with `TRIMTAB_ALL_PREFIXES=3/50` the third of fifty parts, which together are all.

Each cut is tried with every family of APIs, each in another window and by another policy; which is drawn from the name and place of the cut, so a
cut meets the same ones in every run, and every pair of window and policy is met by every family.
"""

import gzip
import json
import os
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from msgspec import structs

from support.conversations import MAKERS
from support.engine_session import Session
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

_DATA = os.environ.get("TRIMTAB_DATA", "")
_SAMPLE = 60
_LARGEST = 200_000
_WAYS = [(window, policy) for window in (8_000, 30_000, _LARGEST) for policy in ("rules", "summary")]


def _part(cuts: Sequence[tuple[Path, int]], wanted: str) -> list[tuple[Path, int]]:
    """The cuts that `wanted` names: the sample (empty), all of them (`1`), or part i of n (`i/n`)."""
    shuffled = list(cuts)
    random.Random(7).shuffle(shuffled)
    if not wanted:
        return shuffled[:_SAMPLE]
    part, _, parts = wanted.partition("/")
    number, count = int(part), int(parts or 1)
    if not 1 <= number <= count:
        raise ValueError(f"TRIMTAB_ALL_PREFIXES={wanted}: write 1, or i/n with i from 1 to n")
    return shuffled[number - 1 :: count]


def _lines(path: Path) -> list[bytes]:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).split(b"\n")


@pytest.fixture(scope="module")
def cuts() -> list[tuple[Path, int]]:
    """The chosen cuts of the session files of the split `eval`, file by file."""
    root = Path(_DATA, "sessions")
    if not _DATA or not (root / "index.jsonl").is_file():
        pytest.skip("no real sessions: TRIMTAB_DATA names no folder that has sessions/index.jsonl")
    rows = [json.loads(row) for row in (root / "index.jsonl").read_text().splitlines()]
    files = sorted({root / row["file"] for row in rows if row["split"] == "eval"})
    every = [(path, cut) for path in files for cut in range(1, len(_lines(path)) + 1)]
    return sorted(_part(every, os.environ.get("TRIMTAB_ALL_PREFIXES", "")))


def _conversations(data: bytes) -> list[tuple[Message, ...]]:
    try:
        return [tuple(messages(recording)) for recording in read_recordings(data)]
    except ImportFailed:
        return []  # nothing was said yet


def _ways(path: Path, cut: int) -> Iterator[tuple[Api, int, str]]:
    """How this cut is tried: each family in another window or by another policy."""
    drawn = random.Random(f"{path.name}:{cut}").sample(_WAYS, len(MAKERS))
    for api, (window, policy) in zip(MAKERS, drawn, strict=True):
        yield api, window, policy


def _wrong_with(talk: tuple[Message, ...], api: Api, window: int, policy: str, seen: Counter[str]) -> list[str]:
    """What is wrong with the request that follows `talk`. A stop is right only where what must stay is too much for a small window."""
    seen["requests"] += 1
    session = Session(Engine(structs.replace(MAKERS[api], context_window=window), session_id="s", policy=policy))
    session.log.append([session.engine.admit(message) for message in talk])
    model, hard = session.engine.model, session.engine.budget.hard
    try:
        prepared = session.prepare()
    except ContextFloor as stop:
        seen["stops"] += 1
        floor = floor_of(session.engine.look(session.view, session.request)).total
        return [] if window < _LARGEST and floor > hard else [f"stopped with {floor:,} that must stay: {stop}"]
    sent = prepared.request.messages
    used = session.engine.look(prepared.view, session.request).used
    return [
        *([f"{used:,} tokens of {hard:,}"] if used > hard else []),
        *(problem.message for problem in validate(sent, rules=rules_for(model))),
        *broken(api, sent_body(model, sent)),
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
                wrong += [(path.name, cut, *way, said) for said in _wrong_with(talk, *way, seen)]
    print(f"prefixes: {seen['cuts']} cuts, {seen['requests']} requests, {seen['stops']} stops, {len(wrong)} wrong")
    assert wrong == []
    assert seen["requests"] > 3 * len(cuts)
    assert seen["stops"] < seen["requests"] / 20


def test_the_parts_of_an_exhaustive_run_are_all_cuts_once() -> None:
    every = [(Path(name), cut) for name in ("a", "b") for cut in range(1, 101)]
    parts = [_part(every, f"{number}/7") for number in range(1, 8)]
    assert sorted(cut for part in parts for cut in part) == every
    assert sorted(_part(every, "1")) == every
    assert _part(every, "") == _part(every, "1")[:_SAMPLE]
    with pytest.raises(ValueError, match="from 1 to n"):
        _part(every, "8/7")
