"""The example with the long document, offline and with a server."""

import runpy
import sys
from pathlib import Path

from support.servers import FakeServer, Reply
from support.servers import sse as events

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "restock.py")


def run(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", [EXAMPLE, *arguments])
    runpy.run_path(EXAMPLE, run_name="__main__")
    return capsys.readouterr().out.split("with management")


def test_management_keeps_what_the_question_needs(monkeypatch, capsys):
    without, managed = run(monkeypatch, capsys)
    assert "1 of 3" in without
    assert "600 kept, 0 lost" in managed
    assert "3 of 3" in managed
    assert "numbers not in source  0" in managed


def test_any_endpoint_goes_in_its_place(monkeypatch, capsys):
    reply = Reply(events({"choices": [{"index": 0, "delta": {"content": "SKU-1032, 99999"}, "finish_reason": "stop"}]}, done=True))  # fmt: skip
    with FakeServer(*[reply] * 3) as server:
        without, managed = run(monkeypatch, capsys, "--base-url", f"{server.url}/v1", "--model", "tiny", "--summaries")
    assert len(server.requests) == 3
    assert "numbers not in source  1: 99999" in without
    assert "summary calls          1" in managed
