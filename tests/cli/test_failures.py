"""What goes wrong inside a running command reaches the person as one message, never as a traceback."""

import os

import pytest

from support.cli import Cli, finish
from trimtab.frontends.cli.app import _ended_by


def test_answering_a_call_that_nobody_asked_is_one_message(cli: Cli) -> None:
    script = cli.script({"text": "hello"})
    assert cli.inside("-p", "hi", "--model", script).code == 0
    outcome = cli.inside("answer", "last", "call_9", "yes", "--model", script)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.splitlines() == ["trimtab: No call 'call_9' waits for an answer.", "  Waiting: none."]


def test_a_reader_that_goes_away_ends_the_run_without_a_word(cli: Cli) -> None:
    reader, writer = os.pipe()
    os.close(reader)  # before the run begins: one that closes later may come after the last line
    process = cli.start(
        "-p", "hi", "--mode", "json", "--no-session", "--model", cli.script({"text": "hello"}), stdout=writer
    )
    os.close(writer)
    outcome = finish(process)
    assert (outcome.code, outcome.err) == (1, "")


def test_a_bug_beside_an_expected_error_is_not_hidden() -> None:
    both = ExceptionGroup("", [BrokenPipeError(), ZeroDivisionError()])
    with pytest.raises(ExceptionGroup):
        _ended_by(both, talked=True)
