"""The example, offline and with a server."""

import json
import runpy
import sys
from pathlib import Path

import pytest

from support.servers import FakeServer, Reply
from support.servers import sse as events
from trimtab.lab.export.files import read_rows

EXAMPLE = str(Path(__file__).parents[3] / "examples" / "document_qa.py")
SMALL = ("--steps", "8", "--chunk-tokens", "400")


@pytest.fixture
def run(monkeypatch, capsys):
    def running(*arguments):
        monkeypatch.setattr(sys, "argv", [EXAMPLE, *SMALL, *arguments])
        runpy.run_path(EXAMPLE, run_name="__main__")
        return capsys.readouterr().out

    return running


@pytest.mark.parametrize("arguments", [(), ("--cleanup",)])
def test_a_script_answers_offline(run, arguments):
    out = run("--questions", "2", *arguments)
    assert out.splitlines()[-1].endswith(" of 2 right")
    assert ("0 forced" in out) == (not arguments)


def test_rows_are_written(run, tmp_path):
    path = tmp_path / "rows.jsonl.gz"
    out = run("--questions", "1", "--out", str(path), "--rollouts", "2", "--rows", "16")
    made = list(read_rows(path))
    assert out.splitlines()[-1] == f"{len(made):,} rows in {path}"
    assert {row.tier for row in made} == {"T0"}


def said(name, **arguments):
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": "c1", "type": "function", "function": function}
    return Reply(events({"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}, done=True))  # fmt: skip


def test_any_endpoint_goes_in_its_place(run):
    with FakeServer(said("buildIndex"), said("readChunk", chunk_id=1), said("finish", answer="nothing")) as server:
        out = run("--questions", "1", "--base-url", f"{server.url}/v1", "--model", "tiny")
    assert "wrong    finished    3 turns" in out
    assert len(server.requests) == 3


def test_a_server_that_refuses_is_told(run):
    refusal = Reply(b'{"error": {"message": "no such key"}}', status=401)
    with FakeServer(refusal) as server, pytest.raises(SystemExit, match="there/tiny"):
        run("--questions", "1", "--base-url", f"{server.url}/v1", "--model", "tiny")


def test_a_family_that_isnt_there_is_told(run):
    with pytest.raises(SystemExit, match="no family 'nope'"):
        run("--family", "nope")


def test_a_family_whose_stories_read_nothing_is_told(run):
    with pytest.raises(SystemExit, match="read no document"):
        run("--family", "misleading-turn", "--questions", "1")
