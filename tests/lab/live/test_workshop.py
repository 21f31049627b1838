"""The workshop: what may be done in it, and how it ends."""

from dataclasses import replace

import pytest

from trimtab.context.counting.counter import Counter
from trimtab.context.policies.none import NoPolicy
from trimtab.lab.arms.playing import Conditions
from trimtab.lab.live import workshop
from trimtab.lab.live.agent import ScriptedAgent
from trimtab.lab.live.assignment import Assignment, Move
from trimtab.lab.live.meter import Meter, Metered
from trimtab.lab.live.workshop import Limits, Worked, Worker, judged, work
from trimtab.types.entries import MessageEntry
from trimtab.types.messages import ToolResult

TESTS = "import unittest\nfrom told import TOLD\n\nclass It(unittest.TestCase):\n    def test_it(self):\n        self.assertTrue(TOLD == 7)\n"
TOY = Assignment("toy", 0, "make it 7", {"told.py": "TOLD = 3\n", "test_it.py": TESTS}, ("told.py",), (), (), {})


def worked(*moves: Move, seconds: float = 60.0, steps: int = 20) -> Worked:
    """What comes of these moves in the toy repository."""
    assignment = replace(TOY, moves=moves)
    model = Conditions(50_000).played_as
    meter = Meter(model, Counter(model))
    agent = ScriptedAgent(assignment, noticed=1.0, seed=0, tokens=meter.counter.text)
    worker = Worker(model, lambda: Metered(agent, meter, reports=True))
    return work(assignment, NoPolicy(), worker, limits=Limits(steps, seconds))


def results(done: Worked) -> list[str]:
    """What the tools answered."""
    values = [entry.value for entry in done.path]
    return [v.message.text for v in values if isinstance(v, MessageEntry) and isinstance(v.message, ToolResult)]


def bash(command: str) -> Move:
    """A command."""
    return Move("", "bash", {"command": command})


def write(path: str, content: str) -> Move:
    """A file."""
    return Move("", "write", {"path": path, "content": content})


def test_the_tests_judge_what_was_done():
    assert not worked().passed
    done = worked(write("told.py", "TOLD = 7\n"), bash("python3 -m unittest 2>&1"))
    assert (done.passed, done.reason) == (True, "stop")
    assert results(done)[1].endswith("OK")


def test_who_changes_the_tests_changes_nothing():
    easy = TESTS.replace("TOLD == 7", "True")
    done = worked(write("test_it.py", easy), bash("python3 -m unittest 2>&1"))
    assert results(done)[1].endswith("OK")
    assert not done.passed


def test_a_module_that_stands_in_for_the_test_runner_judges_nothing():
    done = worked(write("unittest.py", "class TestCase:\n    pass\n\nraise SystemExit(0)\n"))
    assert not done.passed


@pytest.mark.parametrize(
    "command", ["rm -rf .", "python3 told.py", "touch ../x", "curl http://127.0.0.1:9", "echo x > ../../y"]
)
def test_a_command_that_could_change_something_else_isnt_run(command):
    (told,) = results(worked(bash(command)))
    assert told.startswith("Not run: ")


def test_a_file_outside_the_repository_isnt_written():
    (told,) = results(worked(write("../home/config.toml", "model = 'x'")))
    assert told.startswith("Not run: ")


def test_tests_that_dont_end_dont_pass(tmp_path, monkeypatch):
    monkeypatch.setattr(workshop, "_TESTS_S", 0.5)
    (tmp_path / "told.py").write_text("import time\ntime.sleep(30)\nTOLD = 7\n")
    assert judged(tmp_path, TOY) == (False, "the tests took longer than 0.5 s")


def test_a_turn_ends_with_its_steps_and_with_its_time():
    assert worked(*(bash("ls") for _ in range(9)), steps=4).reason == "max_steps"
    late = worked(*(bash("ls") for _ in range(9)), seconds=0.0)
    assert (late.reason, late.passed) == ("cancelled", False)


def test_nothing_of_the_person_is_read_or_passed_on(monkeypatch, tmp_path):
    (tmp_path / "config.toml").write_text("not toml")
    monkeypatch.setenv("TRIMTAB_HOME", str(tmp_path))
    monkeypatch.setenv("TRIMTAB_MODEL", "nobody/nothing")
    monkeypatch.setenv("A_SECRET", "s3")
    (told,) = results(worked(bash("printenv A_SECRET HOME")))
    assert "s3" not in told
    assert str(tmp_path) not in told
