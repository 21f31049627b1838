"""Tier T2 says the same in every run, but for how long it took."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from support.live_work import ROOMY, SHORT, TIGHT
from trimtab.agent.ports import Answer, NoHooks, Proceed, ToolOutput
from trimtab.context.counting.counter import Counter
from trimtab.context.policies.none import NoPolicy
from trimtab.lab.arms.playing import Conditions
from trimtab.lab.bench.row import Row
from trimtab.lab.executor import executor_for
from trimtab.lab.live import play as playing
from trimtab.lab.live import steady, workshop
from trimtab.lab.live.agent import ScriptedAgent
from trimtab.lab.live.assignment import Assignment, Move
from trimtab.lab.live.meter import Meter, Metered
from trimtab.lab.live.play import LiveItem, play_item
from trimtab.lab.live.steady import PLACE, Places, Steady
from trimtab.lab.live.workshop import Worked, Worker, work
from trimtab.types.entries import MessageEntry
from trimtab.types.messages import ToolCall, ToolResult
from trimtab.types.tools import Cut

ARMS = ("rules", "summary", "swe-agent")

LATER = datetime(2031, 12, 24, tzinfo=UTC)


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Moves temp folders, and forgets what was played."""

    def move(name: str) -> None:
        place = tmp_path / name
        place.mkdir()
        monkeypatch.setenv("TMPDIR", str(place))
        monkeypatch.setattr(tempfile, "tempdir", str(place))
        playing._whole.cache_clear()

    return move


def timeless(row: Row) -> Row:
    """A row without the one figure that a clock gives."""
    return structs.replace(row, policy_ms=0.0)


@pytest.mark.parametrize(
    ("spec", "family"),
    [*((arm, "superseded-limit") for arm in ARMS), *(("rules", family) for family in ("totals", "fault-code"))],
)
def test_a_story_that_is_played_again_elsewhere_and_on_another_day_gives_the_same_row(
    spec: str, family: str, played, elsewhere: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = []
    for place in ("a", "a-place-with-a-name-that-takes-a-good-many-tokens-0123456789"):
        elsewhere(place)
        rows.append(timeless(played(spec, family)))
        monkeypatch.setattr("trimtab.coding.opening.now", lambda: LATER)
    assert rows[0] == rows[1]


def test_two_workers_give_the_rows_that_one_gives(elsewhere: Callable[[str], None]) -> None:
    items = [
        LiveItem(arm, family, 1, Conditions(TIGHT), size=SHORT)
        for family in ("superseded-limit", "totals")
        for arm in ("none",)
    ]
    found = []
    for workers in (1, 2):
        elsewhere(str(workers))
        executor = executor_for(workers)
        try:
            found.append([timeless(row) for row in executor.map(play_item, items)])
        finally:
            executor.close()
    assert found[0] == found[1]


TESTS = """import os, time, unittest

class It(unittest.TestCase):
    def test_it(self):
        time.sleep(float(open("slow.txt").read()))
        self.fail(f"in {os.getcwd()}, of {sorted({'a', 'b', 'c'})} and {hash('a')}")
"""


def worked(*moves: Move, slow: float = 0.0, seen: list[str] | None = None) -> Worked:
    """What comes of these moves, shown as it is to a script. `seen` takes the system prompts."""
    model = Conditions(ROOMY).played_as
    files = {"slow.txt": "0", "test_it.py": TESTS}
    assignment = Assignment("toy", 0, "work", files, ("told.py",), (), moves, {})
    meter = Meter(model, Counter(model))
    agent = ScriptedAgent(assignment, noticed=1.0, seed=0, tokens=meter.counter.text)

    class Seeing:
        """The agent; it notes what it is told."""

        def stream(self, request):
            """What the agent says."""
            if seen is not None:
                seen.append(request.system)
            return agent.stream(request)

    worker = Worker(model, lambda: Metered(Seeing(), meter, reports=True), steady=True)
    slower = replace(assignment, files={**files, "slow.txt": str(slow)})
    return work(slower, NoPolicy(), worker)


def results(done: Worked) -> list[str]:
    """What the tools answered, as it was recorded."""
    values = [entry.value for entry in done.path]
    return [v.message.text for v in values if isinstance(v, MessageEntry) and isinstance(v.message, ToolResult)]


def bash(command: str) -> Move:
    """A command."""
    return Move("", "bash", {"command": command})


def test_neither_the_folder_nor_the_time_that_it_took_is_in_what_is_shown() -> None:
    found = [
        worked(bash("python3 -m unittest 2>&1"), bash("pwd; printenv HOME; cat nothing"), slow=slow)
        for slow in (0.0, 0.05)
    ]
    first, second = ([structs.replace(entry.value, time="") for entry in done.path] for done in found)
    assert first == second, "all that was recorded, ids too"
    tests, places = results(found[0])
    assert "Ran 1 test in 0.000s" in tests
    assert f"in {PLACE}/work, of ['a', 'b', 'c']" in tests
    assert places.startswith(f"{PLACE}/work\n{PLACE}/home\n")


def test_the_system_prompt_names_the_place_and_the_day_that_are_shown() -> None:
    seen: list[str] = []
    worked(seen=seen)
    assert f"Working folder: {PLACE}/work\n" in seen[0]
    assert f"Date: {steady.DAY}" in seen[0]
    assert tempfile.gettempdir() not in seen[0]


def test_a_path_that_was_shown_leads_where_it_is_meant_and_is_judged_as_that() -> None:
    done = worked(
        Move("", "read", {"path": f"{PLACE}/work/slow.txt"}),
        Move("", "write", {"path": f"{PLACE}/work/told.py", "content": "TOLD = 1\n"}),
        Move("", "write", {"path": f"{PLACE}/home/told.py", "content": "TOLD = 1\n"}),
        bash(f"cat {PLACE}/work/told.py"),
    )
    read, wrote, outside, shown = results(done)
    assert read == "0.0"
    assert "told.py" in wrote
    assert outside.startswith("Not run: ")
    assert shown == "TOLD = 1"
    assert tempfile.gettempdir() not in "".join(results(done))


def test_a_long_output_is_named_the_same_and_can_be_read() -> None:
    moves = (
        bash("seq 1 30000"),
        bash("seq 1 30001"),
        Move("", "read", {"path": f"{PLACE}/outputs/2", "offset": 30001}),
    )
    first, second, read = results(worked(*moves))
    assert f"the whole: {PLACE}/outputs/1 " in first
    assert f"the whole: {PLACE}/outputs/2 " in second
    assert "30001" in read


def test_what_a_live_model_is_shown_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    monkeypatch.setattr(workshop, "make_steady", lambda *given: made.append(given))
    assert not Worker(Conditions(50_000).played_as, lambda: NoHooks()).steady  # type: ignore[arg-type, return-value]
    worked()
    assert len(made) == 1


TEXTS = st.lists(st.sampled_from(["/tmp/x", "/tmp/x/work/a.py", "/tmp/x/home/o/output-a_1.txt", " ", "\n", "é", "/y"]))


@given(TEXTS.map("".join))
def test_what_is_shown_is_meant_as_what_it_was(text: str) -> None:
    places = Places(Path("/tmp/x"), Path("/tmp/x/home/o"))
    shown = places.shown(text)
    assert "/tmp/x" not in shown
    assert places.shown(places.meant(shown)) == shown
    assert places.shown(shown) == shown


def test_hooks_hear_what_is_meant_and_what_they_say_is_shown() -> None:
    heard: list[ToolCall] = []

    class Inner:
        """Refuses, and notes what it is asked."""

        async def before_tool(self, call: ToolCall) -> Proceed | Answer:
            """Not here."""
            heard.append(call)
            return Answer(ToolOutput.text("not in /tmp/x/work", is_error=True))

        async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
            """The output."""
            return output

    hooks = Steady(Inner(), Places(Path("/tmp/x"), None))
    call = ToolCall("1", "bash", {"command": f"ls {PLACE}/work", "more": [f"{PLACE}/work/a", 3]}, "")
    answered = anyio.run(hooks.before_tool, call)
    assert answered == Answer(ToolOutput.text(f"not in {PLACE}/work", is_error=True))
    assert heard[0].arguments == {"command": "ls /tmp/x/work", "more": ["/tmp/x/work/a", 3]}
    cut = Cut("lines", ((1, 2),), total=9, where="/tmp/x/work/long", next="")
    details = {"duration_ms": 17, "output_file": "/tmp/x/work/long", "exit_code": 0}
    output = replace(ToolOutput.text("in /tmp/x/work", details=details), cut=cut)
    shown = anyio.run(hooks.after_tool, call, output)
    assert shown.details == {"duration_ms": 0, "output_file": f"{PLACE}/work/long", "exit_code": 0}
    assert shown.cut == structs.replace(cut, where=f"{PLACE}/work/long")
    assert shown.parts == ToolOutput.text(f"in {PLACE}/work").parts
