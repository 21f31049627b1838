"""Every prefix of a real session gives a request that may leave, wherever the file was cut.

`TRIMTAB_DATA` names a folder with `sessions/index.jsonl`; the sessions of its split `eval` are cut at a few lines each, the same ones on every run,
or with `TRIMTAB_ALL_PREFIXES=1` at every line (hours).
"""

import gzip
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import structs

from support.conversations import MAKERS
from support.engine_session import Session
from support.wire_rules import broken, sent_body
from trimtab.context.engine import Engine
from trimtab.context.validate import rules_for, validate
from trimtab.sessions.chain import messages
from trimtab.sessions.detect import read_recordings
from trimtab.sessions.source import ImportFailed
from trimtab.types.errors import ContextFloor
from trimtab.types.messages import Message

pytestmark = [pytest.mark.slow, pytest.mark.timeout(0)]

_DATA = os.environ.get("TRIMTAB_DATA", "")
_CUTS = 3
_WINDOW = 200_000


@pytest.fixture(scope="module")
def files() -> list[Path]:
    """The session files of the split `eval`."""
    root = Path(_DATA, "sessions")
    if not _DATA or not (root / "index.jsonl").is_file():
        pytest.skip("no real sessions: TRIMTAB_DATA names no folder that has sessions/index.jsonl")
    rows = [json.loads(row) for row in (root / "index.jsonl").read_text().splitlines()]
    return sorted({root / row["file"] for row in rows if row["split"] == "eval"})


def _prefixes(path: Path) -> Iterator[tuple[int, bytes]]:
    data = path.read_bytes()
    lines = (gzip.decompress(data) if path.suffix == ".gz" else data).split(b"\n")
    die = random.Random(path.name)
    every = range(1, len(lines) + 1)
    cuts = every if os.environ.get("TRIMTAB_ALL_PREFIXES") else sorted({die.choice(every) for _ in range(_CUTS)})
    for cut in cuts:
        yield cut, b"\n".join(lines[:cut])


def _conversations(data: bytes) -> list[tuple[Message, ...]]:
    try:
        return [tuple(messages(recording)) for recording in read_recordings(data)]
    except ImportFailed:
        return []  # nothing was said yet


def test_every_prefix_of_every_session_gives_a_request_that_may_leave(files: list[Path]) -> None:
    wrong: list[object] = []
    requests = 0
    for path in files:
        for cut, data in _prefixes(path):
            for talk in _conversations(data):
                for api, maker in MAKERS.items():
                    requests += 1
                    session = Session(Engine(structs.replace(maker, context_window=_WINDOW), session_id="s"))
                    session.log.append([session.engine.admit(message) for message in talk])
                    try:
                        sent = session.prepare().request.messages
                    except ContextFloor as stop:
                        wrong.append((path.name, cut, api, str(stop)))
                        continue
                    problems = validate(sent, rules=rules_for(session.engine.model))
                    wrong += [(path.name, cut, api, p.message) for p in problems]
                    wrong += [
                        (path.name, cut, api, said) for said in broken(api, sent_body(session.engine.model, sent))
                    ]
    assert wrong == []
    assert requests > 500
