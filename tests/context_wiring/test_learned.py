"""What a session learns of counts and of hiding results outlives it: per project, bounded, and never needed."""

import json
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from support.cli import Cli
from support.small_window import Json, SmallRoom, calls, reads, says, watch
from trimtab.coding.choose import AtFile, Ephemeral, Fork
from trimtab.coding.context.learned import learned_file, regret_of
from trimtab.context.counting.families import family_of
from trimtab.context.counting.ratio import Calibration, CalibrationState, begun_with
from trimtab.context.seeing.regret import KindRecord
from trimtab.context.stores.learned import MOST_MODELS, MOST_SESSIONS, Lessons, LessonsFile
from trimtab.types.models import ModelInfo

MODEL = ModelInfo("local", "tiny", "openai-chat")


def spent(line: Json, tokens: int) -> Json:
    """A line whose request had so many tokens, by the provider's word."""
    return {**line, "usage": {"input": tokens, "output": 20}}


LINES = (
    spent(reads("a.txt"), 1_500),
    spent(reads("b.txt"), 4_000),
    spent(reads("c.txt"), 6_500),
    spent(says("ok"), 9_000),
)


def kept(room: SmallRoom) -> Lessons:
    """What the project's file holds."""
    lessons, problem = LessonsFile(learned_file(room.project())).read()
    assert problem is None
    return lessons


@pytest.mark.anyio
async def test_the_next_session_counts_with_what_the_last_one_learned(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, window=60_000)
    async with room.open(*LINES) as session:
        await session.prompt("read")
        learned = session.context.engine.calibration
    assert learned is not None
    assert kept(room).models == {"local/tiny": learned}
    async with room.open(says("hi"), choice=AtFile(tmp_path / "next.jsonl")) as session:
        meter = session.context.engine.tally.counter.calibration  # type: ignore[attr-defined]
        assert (meter.hidden, meter.band, meter.reports) == (learned.hidden, learned.band, learned.reports)
        halves = [1 + (factor - 1) / 2 for factor in learned.factors]
        assert list(meter.factors.values()) == pytest.approx(halves)
        assert any(factor != 1 for factor in halves)


@pytest.mark.anyio
async def test_the_file_is_private_and_a_session_that_learned_nothing_makes_none(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, window=60_000)
    file = learned_file(room.project())
    async with room.open(says("hi")) as session:
        await session.prompt("hello")
    assert not file.parent.exists()
    async with room.open(*LINES, choice=Ephemeral()) as session:
        await session.prompt("read")
    assert not file.parent.exists()
    async with room.open(*LINES, choice=AtFile(tmp_path / "two.jsonl")) as session:
        await session.prompt("read")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.anyio
async def test_regret_of_other_sessions_is_known_and_a_resumed_one_counts_nothing_twice(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, window=60_000)
    hide = calls(("archive", {"action": "archive", "ids": ["r1"]}))
    usual = LessonsFile(learned_file(room.project()))
    usual.update(models={}, session="earlier", regret={"read": KindRecord(hidden=20, regretted=10)})
    async with room.open(reads("a.txt"), hide, reads("a.txt"), says("done")) as session:
        await session.prompt("read")
        session.context.engine.observe(session.context.engine.look(session.log.snapshot(), session.context.request()))
        own = session.context.engine.regret
        assert session.context.engine.manager.regret.known == regret_of(kept(room))
    assert own is not None
    assert (own.kinds["read"].hidden, own.kinds["read"].regretted) == (1, 1)
    assert regret_of(kept(room)).kinds["read"].hidden == 21
    for choice in (AtFile(room.file), Fork(str(room.file))):
        async with room.open(says("again"), choice=choice) as session:
            await session.prompt("and?")
            engine = session.context.engine
            engine.observe(engine.look(session.log.snapshot(), session.context.request()))
            assert engine.manager.regret.known.kinds["read"].hidden == 20
            assert engine.regret == own
    assert set(kept(room).regret) >= {"earlier"}
    assert kept(room).regret["earlier"]["read"] == KindRecord(hidden=20, regretted=10)


@pytest.mark.anyio
async def test_what_was_learned_about_a_model_outlives_a_switch_to_another(tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, window=60_000)
    async with room.open(*LINES) as session:
        await session.prompt("read")
        learned = session.context.engine.calibration
        await session.set_model("local/tinier")
        assert session.context.engine.model.id == "tinier"
    assert kept(room).models == {"local/tiny": learned}


BROKEN = {
    "no json": b"{",
    "binary": b"\x00\xff" * 50,
    "other json": b"[1, 2]",
    "other types": b'{"models": {"local/tiny": {"family": 3}}}',
    "deep": b'{"models":' + b"[" * 90_000,
    "too large": b" " * 2_000_000,
    "newer": b'{"format": 9}',
    "negative": b'{"regret": {"s": {"read": {"hidden": -8}}}}',
}


@pytest.mark.anyio
@pytest.mark.parametrize("kind", [*BROKEN, "a folder"])
async def test_a_file_that_cant_be_used_is_a_notice_and_nothing_more(kind: str, tmp_path: Path) -> None:
    room = SmallRoom.at(tmp_path, window=60_000)
    file = learned_file(room.project())
    if kind == "a folder":
        file.mkdir(parents=True)
    else:
        file.parent.mkdir(parents=True)
        file.write_bytes(BROKEN[kind])
    async with room.open(*LINES) as session:
        watcher = watch(session)
        turn = await session.prompt("read")
        assert turn.reason == "stop"
        notices = [e.message for e in watcher.pending() if type(e).__name__ == "Notice"]  # type: ignore[attr-defined]
    (notice,) = [n for n in notices if str(file) in n]
    assert "context learned --reset" in notice
    if kind == "newer":
        assert file.read_bytes() == BROKEN[kind]
    elif kind != "a folder":
        assert set(kept(room).models) == {"local/tiny"}


def learned_state(**changes: Any) -> CalibrationState:
    """A state as it would be after some reports."""
    calibration = Calibration(family_of(MODEL))
    calibration.learn_hidden(100)
    return CalibrationState(
        **{**{f: getattr(calibration.state, f) for f in CalibrationState.__struct_fields__}, **changes}
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"factors": (9.0,) * 6},
        {"factors": (1.0,)},
        {"covariance": (1e300,) * 36},
        {"covariance": (-1.0,) * 36},
        {"noise": 0.0},
        {"band": 1e9},
        {"hidden": -1e12},
        {"family": "another"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_state_that_nothing_could_have_taught_is_not_believed(changes: dict[str, Any]) -> None:
    family = family_of(MODEL)
    assert begun_with(family, learned_state()).hidden == 100
    assert begun_with(family, learned_state(**changes)).state == Calibration(family).state
    assert Calibration(family, learned_state(**changes)).state == Calibration(family).state


def test_processes_that_write_at_once_lose_nothing_of_each_other(tmp_path: Path) -> None:
    file = LessonsFile(tmp_path / "learned" / "p.json")

    def write(number: int) -> None:
        file.update(
            models={f"p/{number % 8}": learned_state(reports=number)},
            session=f"s{number}",
            regret={"read": KindRecord(hidden=1)},
        )

    threads = [threading.Thread(target=write, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lessons, problem = file.read()
    assert problem is None
    assert set(lessons.models) == {f"p/{n}" for n in range(8)}
    assert regret_of(lessons).kinds["read"].hidden == 16
    assert {p.name for p in file.path.parent.iterdir()} == {"p.json", "p.json.lock"}


def test_only_so_many_models_and_sessions_are_kept_and_the_oldest_goes(tmp_path: Path) -> None:
    file = LessonsFile(tmp_path / "p.json")
    for number in range(MOST_SESSIONS + 3):
        file.update(models={f"p/{number}": learned_state()}, session=f"s{number}", regret={"t": KindRecord(hidden=1)})
    file.update(models={"p/13": learned_state()}, session="s3", regret={"t": KindRecord(hidden=2)})
    lessons, _ = file.read()
    assert len(lessons.models) == MOST_MODELS
    assert list(lessons.models)[-1] == "p/13"
    assert len(lessons.regret) == MOST_SESSIONS
    assert list(lessons.regret)[-1] == "s3"
    assert regret_of(lessons, without=("s3",)).kinds["t"].hidden == MOST_SESSIONS - 1


def test_a_replay_is_the_same_whatever_was_learned(tmp_path: Path) -> None:
    cli = Cli.at(tmp_path)
    for letter in "abcdef":
        cli.file(f"{letter}.txt", "".join(f"{letter} line {n} holds item_{n}\n" for n in range(200)))
    lines = [*(reads(f"{letter}.txt") for letter in "abcdef"), says("done")]
    assert cli.inside("-p", "go", "--model", cli.script(*(spent(line, 2_000) for line in lines))).code == 0
    replay = ["replay", str(cli.sessions[0]), "--policy", "rules", "--window", "16000", "--json"]
    before = cli.inside(*replay)
    (file,) = cli.home.glob("learned/*.json")
    file.write_bytes(json.dumps({"regret": {"other": {"read": {"hidden": 50, "regretted": 50}}}}).encode())
    assert cli.inside(*replay).out == before.out
    file.write_bytes(b"broken")
    assert cli.inside(*replay).out == before.out
