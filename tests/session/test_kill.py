"""SIGKILL at any instant: what was acknowledged is in the file, and the session goes on."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.sessions import ask, now, reopened, texts
from trimtab.context.stores.log import SessionLog

WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from trimtab.context.stores.log import SessionLog
from trimtab.types.messages import user
log = SessionLog.open(Path(sys.argv[1]), now=lambda: datetime.now(UTC))
while True:
    for entry_id in log.append_messages([user("x" * n) for n in (10, 3000, 100_000)]):
        print(entry_id, flush=True)
"""


@pytest.mark.parametrize("seed", range(8))
def test_a_killed_writer_loses_no_acknowledged_entry(tmp_path: Path, seed: int):
    path = tmp_path / "s.jsonl"
    SessionLog.create(path, "/proj", now=now).close()
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    acknowledged = [process.stdout.readline().strip()]
    time.sleep(random.Random(seed).uniform(0, 0.05))
    process.kill()
    rest, _ = process.communicate()
    acknowledged += [line.strip() for line in rest.splitlines(keepends=True) if line.endswith("\n")]
    log = SessionLog.open(path, now=now)
    there = [entry.id for entry in log.archive.path()]
    log.append_messages([ask("on")])
    log.close()
    assert [i for i in there if i in acknowledged] == acknowledged
    again = reopened(path)
    assert again.damage == () or {d.kind for d in again.damage} <= {"unreadable"}
    assert set(map(len, texts(again.view()))) <= {2, 10, 3000, 100_000}
    assert texts(again.view())[-1] == "on"
