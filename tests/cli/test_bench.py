"""`trimtab bench` as a person or a script meets it."""

import io
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import redirect_stderr
from dataclasses import replace

import pytest
from msgspec import structs

from support.cli import SOURCES, Cli, Outcome, finish
from support.made_rows import made_row
from support.published import write_published
from support.servers import wait_until
from support.transcripts import CLAUDE_CODE
from trimtab.frontends.cli import bench
from trimtab.frontends.cli.progress import Watched, arriving, told
from trimtab.lab.bench import playing
from trimtab.lab.bench.findings import Findings
from trimtab.lab.bench.folder import rows_in
from trimtab.lab.executor import Here
from trimtab.lab.one_writer import one_writer
from trimtab.types.errors import UsageError
from trimtab.types.extras import install_hint

SMALL = ("bench", "none", "truncate", "--each", "1", "--seeds", "1")


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A small bench that was run once, with its folder."""
    cli = Cli.at(tmp_path_factory.mktemp("bench"))
    outcome = cli.inside(*SMALL, "--out", "out", "--by-project")
    return cli, outcome, cli.project / "out"


def test_arms_stand_side_by_side_on_the_same_stories(done):
    _, outcome, _ = done
    assert outcome.code == 0, outcome.err
    lines = outcome.out.splitlines()
    assert lines[0] == "T0 validation: 3 families, 3 tasks, 1 seed: 3 stories under every arm"
    assert lines[2:4] == ["Effect", lines[3]]
    assert lines[3].split()[:2] == ["ARM", "SUCCESS"]
    assert [line.split()[0] for line in lines[4:6]] == ["none", "truncate"]
    assert "Against none" in lines
    assert "By family, by reward" in lines


def test_the_folder_says_which_line_was_run_there_and_how_long_it_took(done):
    cli, _, out = done
    (line,) = (json.loads(one) for one in (out / "timings.jsonl").read_text().splitlines())
    assert line["command"] == "trimtab bench none truncate --each 1 --seeds 1 --by-project --out out"
    assert line["seconds"] > 0
    (cli.project / "again").mkdir()
    before = json.dumps({"command": line["command"].replace("--out out", "--out again"), "seconds": 100.0})
    (cli.project / "again" / "timings.jsonl").write_text(before + '\n{"comm')
    cli.inside(*SMALL, "--by-project", "--out", "again")
    (line,) = (json.loads(one) for one in (cli.project / "again" / "timings.jsonl").read_text().splitlines())
    assert 100.0 < line["seconds"] < 200.0, "a run that goes on is one run, and a line that was cut off is none"


def test_few_seeds_are_said(done):
    _, outcome, _ = done
    assert outcome.err == "note: T0 validation: nothing is claimed: there are 3 stories, and a claim takes 5\n"


def test_the_folder_holds_rows_a_manifest_and_the_tables(done):
    _, _, out = done
    assert len(rows_in(out)) == 6
    names = {path.name for path in out.iterdir()}
    assert {"rows.jsonl", "manifest.json", "bench.json", "figures.csv", "differences.csv", "verdicts.csv"} <= names
    arguments = json.loads((out / "manifest.json").read_text())["arguments"]
    assert arguments == {"arms": "none truncate", "each": "1", "seeds": "1"}


def test_what_was_played_is_not_played_again_and_says_the_same(done, monkeypatch):
    cli, first, _ = done
    monkeypatch.setattr(playing, "played", lambda job: pytest.fail(f"{job} is played again"))
    assert cli.inside(*SMALL, "--out", "out", "--by-project") == first


def test_as_json_all_of_it_is_one_object(done):
    cli, _, out = done
    found = json.loads(cli.inside(*SMALL, "--out", "out", "--by-project", "--json").out)
    assert found == json.loads((out / "bench.json").read_text())
    assert found["sections"][0]["tier"] == "T0"


def test_a_run_that_was_stopped_keeps_what_was_played_and_goes_on(cli, monkeypatch):
    real, names = playing.played, []

    def stops(job):
        names.append(job.name)
        if len(names) == 3:
            raise KeyboardInterrupt
        return real(job)

    monkeypatch.setattr(playing, "played", stops)
    stopped = cli.inside(*SMALL, "--out", "out")
    assert (stopped.code, stopped.out) == (130, "")
    assert stopped.err.splitlines()[0] == "stopped; 4 rows are kept in out, and the same command goes on"
    names.clear()
    monkeypatch.setattr(playing, "played", lambda job: names.append(job.name) or real(job))
    assert cli.inside(*SMALL, "--out", "out").code == 0
    assert len(names) == 1


@pytest.fixture
def session(cli):
    return cli.file("work/session.jsonl", CLAUDE_CODE)


def test_recorded_sessions_are_played_at_two_prices_each_for_itself(cli, session):
    outcome = cli.inside("bench", "none", "rules", "--sessions", "work", "--out", "out")
    assert outcome.code == 0, outcome.err
    heads = [line for line in outcome.out.splitlines() if line.startswith("T1 ")]
    assert heads == [
        f"T1 recordings at {prices} prices: 1 project, 1 session: 1 story under every arm"
        for prices in ("quarter", "tenth-written")
    ]


def test_a_signal_ends_a_bench_and_its_workers_with_a_word_and_the_same_command_goes_on(cli):
    process = cli.start("bench", "none", "truncate", "--workers", "2", "--out", "out")
    assert wait_until((cli.project / "out" / "rows.jsonl").exists, seconds=30)
    process.terminate()
    stopped = finish(process)
    assert stopped.code == 143
    assert re.fullmatch(r"stopped; \d+ rows are kept in out, and the same command goes on\n", stopped.err)
    assert not (cli.project / "out" / "bench.lock").exists()
    assert cli.inside(*SMALL, "--out", "out").code == 0


def test_a_signal_says_where_nothing_is_kept(cli, monkeypatch):
    def ended(job):
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(playing, "played", ended)
    assert cli.inside(*SMALL) == Outcome(143, b"", "stopped; nothing is kept without --out DIR\n")


def test_a_second_bench_in_a_folder_is_refused_and_what_a_killed_one_left_blocks_nobody(cli):
    first = cli.start("bench", "none", "truncate", "--out", "out")
    try:
        rows, lock = (cli.project / "out" / name for name in ("rows.jsonl", "bench.lock"))
        assert wait_until(rows.exists, seconds=20)
        second = cli.inside(*SMALL, "--out", "out")
        assert (second.code, second.out) == (2, "")
        told, hint = second.err.splitlines()
        assert told.startswith(f"trimtab: another trimtab bench writes in 'out': process {first.pid}, since 20")
        assert hint == "  Wait until it ends, or name another folder with --out."
    finally:
        first.kill()
        first.communicate()
    assert lock.exists(), "nobody removed it"
    after = cli.inside(*SMALL, "--out", "out")
    assert after.code == 0, after.err
    assert not lock.exists()


def test_a_record_that_another_machine_left_blocks_nobody(tmp_path):
    (tmp_path / "bench.lock").write_text('{"pid":1,"boot_id":"","host":"elsewhere","started":"2026-01-01T00:00:00Z"}')
    with one_writer(tmp_path, "bench"), pytest.raises(UsageError, match="another trimtab bench"):
        one_writer(tmp_path, "bench").__enter__()


def test_a_folder_that_cannot_be_made_is_told_with_what_to_do(cli):
    cli.file("file", "")
    for out, code, said in (("file", 2, "'file' is no folder"), ("file/out", 1, "'file/out' can't be written")):
        outcome = cli.inside(*SMALL, "--out", out)
        assert (outcome.code, outcome.out) == (code, "")
        assert said in outcome.err
        assert "--out" in outcome.err.splitlines()[1]


def test_an_arm_that_is_a_step_of_the_path_is_played_too(cli, session):
    steps = ("--step", "supervised=mask", "--step", "rl=mask(keep=3)")
    outcome = cli.inside("bench", "none", *steps, "--sessions", str(session), "--prices", "tenth")
    lines = outcome.out.splitlines()
    (at,) = [number for number, line in enumerate(lines) if line.startswith("The path")]
    assert [line.split()[:3] for line in lines[at + 2 : at + 4]] == [
        ["supervised", "mask", "-"],
        ["RL", "mask(keep=3)", "+0.00"],
    ]
    assert lines[at + 4].startswith("Missing: fixed summary (no summary was played); ")


def test_a_recording_without_an_answer_is_skipped_and_told_as_such(cli):
    line = {"type": "user", "message": {"role": "user", "content": "hi"}, "uuid": "a", "sessionId": "s"}
    cli.file("work/asked.jsonl", json.dumps({**line, "timestamp": "2026-01-01T00:00:00Z"}) + "\n")
    outcome = cli.inside("bench", "none", "--sessions", "work/asked.jsonl")
    assert outcome.code == 1
    assert "work/asked.jsonl is skipped: no model answers in it" in outcome.err


def test_a_bad_recording_is_skipped_and_told(cli, session):
    cli.file("work/bad.json", "nothing")
    outcome = cli.inside(
        "bench", "none", "--sessions", str(session), "--sessions", "work/bad.json", "--prices", "tenth"
    )
    assert outcome.code == 1
    assert outcome.out.startswith("T1 recordings at tenth prices: 1 project, 1 session")
    few, first, *rest = outcome.err.splitlines()
    assert few == "note: T1 recordings at tenth prices: nothing is claimed: there is 1 story, and a claim takes 5"
    assert first.startswith("trimtab: work/bad.json is skipped: ")
    assert rest == ["  Name the format, if it has one of these: " + rest[0].partition("these: ")[2]]


def test_two_processes_play_the_same_rows(cli, session):
    cli.file("work/other.jsonl", CLAUDE_CODE.replace(b"greet", b"leave"))
    for workers in ("1", "2"):
        outcome = cli.inside("bench", "none", "rules", "--sessions", "work", "--workers", workers, "--out", workers)
        assert outcome.code == 0, outcome.err
    alone, beside = ([structs.replace(row, policy_ms=0.0) for row in rows_in(cli.project / n)] for n in "12")
    assert alone == beside
    assert len(alone) == 8


def test_sessions_of_the_index_are_found_by_the_environment(cli, session):
    folder = cli.root / "data" / "sessions"
    folder.mkdir(parents=True)
    (folder / "s.jsonl").write_bytes(CLAUDE_CODE)
    (folder / "index.jsonl").write_text('{"file": "s.jsonl", "source": "work", "split": "eval", "family": 1}\n')
    found = Cli(cli.root, {"TRIMTAB_DATA": str(cli.root / "data")}).inside("bench", "none", "--split", "eval", "--json")
    assert found.code == 0, found.err
    assert {(s["part"], *s["project"]) for s in json.loads(found.out)["sections"]} == {("eval", "work")}


def test_tasks_of_real_material_are_played_from_the_data_folder_and_what_it_lacks_is_told(cli):
    folder = write_published(cli.root / "data")
    (folder / "loogle/shortdep_qa.jsonl.gz").unlink()
    by_environment = Cli(cli.root, {"TRIMTAB_DATA": str(folder)}).inside(*SMALL, "--part", "real", "--out", "out")
    assert by_environment.code == 0, by_environment.err
    assert by_environment.out.splitlines()[0] == "T0 real: 4 families, 4 tasks, 1 seed: 4 stories under every arm"
    assert by_environment.err.splitlines() == [
        f"note: loogle is skipped: {str(folder)!r} has no loogle/shortdep_qa.jsonl.gz",
        "note: T0 real: nothing is claimed: there are 4 stories, and a claim takes 5",
    ]
    assert {row.part for row in rows_in(cli.project / "out")} == {"real"}
    by_option = cli.inside(*SMALL, "--part", "real", "--data", str(folder))
    assert (by_option.code, by_option.err) == (0, by_environment.err)
    assert by_option.out.split("Efficiency")[0] == by_environment.out.split("Efficiency")[0]
    found = json.loads((cli.project / "out" / "manifest.json").read_text())
    assert sorted(found["files"]) == sorted({row.family for row in rows_in(cli.project / "out")})


def test_a_damaged_file_of_real_material_is_told_and_the_other_families_go_on(cli):
    folder = write_published(cli.root / "data")
    file = folder / "tau2-banking/documents.jsonl.gz"
    file.write_bytes(file.read_bytes()[:40])
    outcome = cli.inside(*SMALL, "--part", "real", "--data", str(folder))
    assert outcome.code == 1
    assert outcome.out.startswith("T0 real: 4 families")
    told, hint = outcome.err.splitlines()[1:]
    assert told.startswith(f"trimtab: tau2-banking 0, seed 0 is skipped: {str(file)!r} can't be read: ")
    assert hint.startswith("  Put the published files there")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nosuch",), "there is no policy 'nosuch'"),
        (("none", "learned(weights='w')", "--out", "out"), "the weights 'w' can't be read"),
        (("none", "cost-gate:learned(weights='.')", "--out", "out"), "the weights '.' can't be read"),
        (("none", "--step", "rl=learned(weights='w')", "--out", "out"), "the weights 'w' can't be read"),
        (
            ("none", "--part", "test", "--candidate", "learned(weights='w')", "--out", "out"),
            "the weights 'w' can't be read",
        ),
        (("none", "--against", "mask"), "'mask' isn't among the arms"),
        (("none", "--part", "test"), "the test part judges one candidate"),
        (("none", "--candidate", "mask"), "the test part judges one candidate"),
        (("none", "--part", "test", "--candidate", "mask"), "the test part is opened on the record"),
        (("none", "--step", "rl"), "--step 'rl' says no arm"),
        (("none", "--step", "magic=mask"), "the path has no step 'magic'"),
        (("none", "--step", "foo=bar"), "the path has no step 'foo'"),
        (("none", "--sessions", "x", "--split", "eval"), "--sessions names files"),
        (("none", "--sessions", "x", "--part", "train"), "--part: of generated tasks"),
        (("none", "--seeds", "2", "--part", "train", "--split", "eval"), "--part and --seeds: of generated tasks"),
        (("none", "--model", "p/m"), "--model: only assignments"),
        (("none", "--live", "--part", "train"), "--part: of generated tasks, not of assignments"),
        (("none", "--live", "--split", "eval"), "--live works on assignments"),
        (("none", "--live", "--model", "nowhere/none"), "nowhere"),
        (("none", "--window", "9k", "--data", "x"), "--window and --data: of recorded sessions"),
        (("none", "--prices", "free"), "--prices 'free' names no prices"),
        (("none", "--split", "eval"), "nothing says where recorded sessions are"),
        (("none", "--part", "real", "--out", "out"), "made of files of published benchmarks, and nothing says where"),
        (("none", "--part", "real", "--data", "."), "published benchmarks, and '.' has files of none of them"),
        (("none", "--part", "real", "--candidate", "mask"), "the test part judges one candidate"),
        (("none", "--part", "train", "--data", "."), "--data: of recorded sessions, and none are named"),
        (("none", "--part", "real", "--live", "--data", "."), "--part and --data: of generated tasks"),
        (("none", "--part", "real", "--split", "eval", "--data", "."), "--part: of generated tasks, not of recorded"),
        (("none", "--sessions", ".", "--prices", "free"), "no session of a known agent lies in '.'"),
        (("none", "--each", "0"), "0 is not in the range"),
    ],
)
def test_what_does_not_go_together_is_said_with_a_next_step(cli, arguments, said):
    outcome = cli.inside("bench", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err
    assert len(outcome.err.splitlines()) >= 2
    assert not (cli.project / "out").exists()


def test_without_numpy_it_is_said_what_to_install(cli, monkeypatch):
    monkeypatch.setattr(bench, "find_spec", lambda name: None)
    outcome = cli.inside("bench", "none")
    assert (outcome.code, outcome.err.splitlines()[0]) == (
        2,
        "trimtab: trimtab bench needs numpy, which isn't installed",
    )


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [(("bench", "none", "--out", "out"), "lab"), (("train", "--out", "out"), "train"), (("report", "."), "report")],
)
def test_a_process_without_numpy_says_which_extra_brings_it(cli, arguments, extra):
    code = "import sys; sys.modules['numpy'] = None; from trimtab.main import main; sys.exit(main())"
    ran = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=cli.project,
        env=cli.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    told, hint = ran.stderr.splitlines()
    assert (ran.returncode, ran.stdout) == (2, "")
    assert re.fullmatch("trimtab: .* needs? .*numpy, which (isn't|aren't) installed", told)
    assert hint.startswith(f"  {install_hint(extra)}")
    assert not (cli.project / "out").exists()


def test_stories_that_not_every_arm_played_are_told(cli, session, monkeypatch):
    """One arm breaks in one of two sessions: what it played there is left out for all."""
    cli.file("work/other.jsonl", CLAUDE_CODE)
    real = playing.played

    def halved(job):
        done = real(job)
        return replace(done, rows=tuple(row for row in done.rows if "other" not in row.story or row.arm == "none"))

    monkeypatch.setattr(playing, "played", halved)
    outcome = cli.inside("bench", "none", "truncate", "--sessions", "work", "--prices", "tenth")
    assert outcome.out.startswith("T1 recordings at tenth prices: 1 project, 1 session: 1 story under every arm")
    assert outcome.err.splitlines() == [
        "note: T1 recordings at tenth prices: nothing is claimed: there is 1 story, and a claim takes 5",
        "note: T1 recordings at tenth prices: 1 story is left out, which not every arm played",
    ]


def test_the_test_part_is_opened_on_the_record_and_a_second_look_is_told(cli, monkeypatch):
    """What the test part holds is not looked at here: nothing of it is played."""
    monkeypatch.setattr(playing, "suite_jobs", lambda *arguments, **options: [])
    first = cli.inside("bench", "none", "--part", "test", "--candidate", "mask", "--out", "out")
    second = cli.inside("bench", "none", "--part", "test", "--candidate", "rules", "--out", "out")
    assert "opened before" not in first.err
    assert "warning: the test part was opened before, at 20" in second.err
    assert "to judge mask" in second.err
    opened = [json.loads(line) for line in (cli.project / "out" / "opened.jsonl").read_text().splitlines()]
    assert [one["candidate"] for one in opened] == ["mask", "rules"]


def test_help_and_completion_load_nothing_of_the_lab():
    code = "import sys, trimtab.frontends.cli.bench; print([m for m in sys.modules if m.split('.')[:2] == ['trimtab', 'lab'] or m == 'numpy'])"
    ran = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": SOURCES}, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "[]\n"


def test_a_terminal_is_told_how_far_it_is_and_how_long_the_rest_takes():
    times = iter([0.0, 10.0, 250.0])
    with redirect_stderr(Terminal()) as err:
        assert list(arriving(iter(["a", "b"]), 2, str, now=lambda: next(times))) == ["a", "b"]
    assert err.getvalue().split("\r\x1b[K") == [
        "",
        "─" * 24 + " 0 of 2",
        "━" * 12 + "─" * 12 + " 1 of 2, 10 s left: a",
        "━" * 24 + " 2 of 2, 0 s left: b",
        "",
    ]


def test_what_an_executor_maps_arrives_with_what_is_done():
    with redirect_stderr(Terminal()) as err:
        watched = Watched(Here(), {"square": "squared"})
        found = watched.map(square, iter([1, 2]))
        assert next(found) == 1
        told("a line that stays")
        assert list(found) == [4]
        assert list(watched.map(str, [])) == []
    first, *shown = re.sub(r", \d+ s left", "", err.getvalue()).split("\r\x1b[K")
    bars = ["─" * 24 + " 0 of 2", "━" * 12 + "─" * 12 + " 1 of 2: squared", "━" * 24 + " 2 of 2: squared"]
    assert (first, shown) == ("", [*bars[:2], "a line that stays\n", bars[2], ""])


def square(number):
    return number * number


def test_of_nothing_and_to_nobody_no_progress_is_told():
    with redirect_stderr(Terminal()) as err:
        assert list(arriving(iter(()), 0, str)) == []
    with redirect_stderr(io.StringIO()) as pipe:
        assert list(arriving(iter(["a"]), 1, str)) == ["a"]
    assert (err.getvalue(), pipe.getvalue()) == ("", "")


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    "line",
    [
        *(("bench", option, "") for option in ("--out", "--data", "--sessions")),
        *(("report", ""), ("report", "--out", "", "x")),
    ],
)
def test_an_empty_name_is_not_taken_for_the_folder_that_one_stands_in(cli, line):
    done = cli.inside(*line)
    assert (done.code, done.out) == (2, "")
    assert "an empty name is that of nothing" in done.err


@pytest.mark.parametrize("option", ["--each", "--seeds", "--workers"])
def test_a_number_that_nothing_could_be_done_with_is_refused(cli, option):
    done = cli.inside("bench", option, "999999999999")
    assert done.code == 2
    assert f"'{option}'" in done.err


def test_arms_of_which_none_can_be_played_live_are_refused_in_words(cli):
    done = cli.inside("bench", "--live", "clairvoyant", "--each", "1", "--seeds", "1")
    assert (done.code, done.out) == (2, "")
    assert "clairvoyant: what knows the future can't be played live" in done.err


@pytest.mark.parametrize("line", [("report", "{}"), ("bench", "--sessions", "{}"), ("bench", "--out", "{}")])
def test_a_name_that_is_too_long_is_told_and_no_traceback(cli, line):
    if line[0] == "report":
        pytest.importorskip("altair")
    done = cli.inside(*(word.format("a" * 5_000) for word in line), *(("none",) if line[0] == "bench" else ()))
    assert done.code in (1, 2)
    assert "File name too long" in done.err
    assert len(done.err) < 12_000


@pytest.mark.parametrize(
    "line",
    [(*SMALL, "--step", "rl=none", "--step", "rl=truncate"), ("report", "x", "--step", "rl=a", "--step", "rl=b")],
)
def test_a_step_that_is_said_twice_is_refused(cli, line):
    if line[0] == "report":
        pytest.importorskip("altair")
    done = cli.inside(*line)
    assert done.code == 2
    assert "--step says rl twice, with different arms" in done.err


def test_output_that_has_no_room_is_told_without_a_word_of_a_session(cli):
    done = subprocess.run(
        ["bash", "-c", '"$@" >/dev/full', "sh", sys.executable, "-m", "trimtab", "bench", "--help"],
        cwd=cli.project,
        env=cli.environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    said = "trimtab: standard output can't be written: No space left on device\n  Send it where there is room.\n"
    assert (done.returncode, done.stderr) == (1, said)


def test_an_arm_that_names_a_file_has_a_short_name_in_tables_and_a_line_says_whose_it_is(capsys):
    arm = 'learned(weights="/home/me/lab/runs/rl-3/weights.json")'
    rows = [made_row(name, number=n, seed=n) for name in ("none", arm) for n in range(5)]
    bench._print(Findings(rows, ("none", arm), arm))
    told = capsys.readouterr().out
    assert "Against learned(rl-3)" in told
    assert [line for line in told.splitlines() if "/home/me" in line] == [f"learned(rl-3) stands for {arm}."]
