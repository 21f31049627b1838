"""Jobs: which stories are played, and what is left to play."""

from dataclasses import replace

import pytest
from msgspec import structs

from support.published import packed, write_published
from support.transcripts import CLAUDE_CODE
from trimtab.context.counting.counter import Counter
from trimtab.lab.bench.playing import (
    FileJob,
    TaskJob,
    asked_for,
    file_jobs,
    files_of_jobs,
    key_of,
    lacking,
    played,
    real_jobs,
    suite_jobs,
)
from trimtab.lab.bench.section import sections_of
from trimtab.lab.bench.sources import indexed, named, prices_named, published
from trimtab.lab.corpora.trajectory import Place
from trimtab.lab.executor import Here
from trimtab.lab.suite import PARTS, drawn, drawn_real
from trimtab.lab.tasks.real.registry import REAL
from trimtab.types.errors import UsageError

ARMS = ("none", "truncate")


@pytest.fixture
def session(tmp_path):
    path = tmp_path / "work" / "s.jsonl"
    path.parent.mkdir()
    path.write_bytes(CLAUDE_CODE)
    return path


def file_job(path, **more) -> FileJob:
    return FileJob(path, Place(name="s.jsonl", project="work", split="eval"), None, ("quarter", "tenth"), ARMS, **more)


def untimed(row):
    """The row without the time that it took."""
    return structs.replace(row, policy_ms=0.0)


def test_a_part_is_played_seed_by_seed_so_that_a_run_that_stops_has_all_tasks():
    jobs = suite_jobs("validation", 2, 2, ARMS)
    families = PARTS["validation"]
    assert len(jobs) == 2 * 2 * len(families)
    assert [(job.seed, job.number) for job in jobs[: 2 * len(families)]] == [(0, 0)] * len(families) + [(0, 1)] * len(
        families
    )


def test_a_task_is_played_under_every_arm_at_one_table():
    job = TaskJob("train", "tool-chain", 3, 1, ARMS)
    done = played(job)
    one = drawn("train", "tool-chain", 3, seed=1)
    assert [row.arm for row in done.rows] == list(ARMS)
    assert {(row.story, row.seed, row.window, row.regime) for row in done.rows} == {
        (one.task.name, 1, one.conditions.window, one.conditions.regime.name)
    }
    assert {key_of(row) for row in done.rows} == {job.key}


def test_a_task_is_played_at_prices_that_are_named_and_so_is_another_job():
    number = next(n for n in range(20) if drawn("train", "tool-chain", n).conditions.regime.name != "uncached")
    drawn_job, named_job = (TaskJob("train", "tool-chain", number, 1, ("none",), p) for p in ("", "uncached"))
    (plain,), (priced,) = played(drawn_job).rows, played(named_job).rows
    assert (priced.regime, priced.story, priced.window) == ("uncached", plain.story, plain.window)
    assert priced.judged["expected"].usd != plain.judged["expected"].usd
    assert key_of(priced) == named_job.key != drawn_job.key == key_of(plain)
    assert asked_for([named_job], [plain, priced]) == [priced]
    assert [section.key.title for section in sections_of([plain, priced], ("none",))] == [
        "T0 train",
        "T0 train at uncached prices",
    ]


def test_each_story_is_played_at_each_of_the_prices_that_are_named():
    jobs = suite_jobs("validation", 1, 1, ARMS, prices=("tenth", "uncached"))
    assert [(job.family, job.prices) for job in jobs][:2] == [
        (PARTS["validation"][0], p) for p in ("tenth", "uncached")
    ]


def test_real_material_is_played_under_every_arm_and_its_rows_say_so(tmp_path):
    folder = write_published(tmp_path)
    jobs = real_jobs(folder, 1, 2, ARMS)
    assert [(job.family, job.seed) for job in jobs] == [(family, seed) for seed in (0, 1) for family in REAL]
    done = played(jobs[0])
    one = drawn_real(folder, REAL[0], 0)
    assert [row.arm for row in done.rows] == list(ARMS)
    assert {(row.tier, row.part, row.family, row.story, row.window, row.regime) for row in done.rows} == {
        ("T0", "real", REAL[0], one.task.name, one.conditions.window, one.conditions.regime.name)
    }
    assert {key_of(row) for row in done.rows} == {jobs[0].key}
    assert lacking(jobs[:1], done.rows) == []
    (priced,) = played(replace(jobs[0], arms=ARMS[:1], prices="uncached")).rows
    assert [section.key.title for section in sections_of([done.rows[0], priced], ARMS)] == [
        "T0 real",
        "T0 real at uncached prices",
    ]


def test_real_material_that_cannot_be_read_is_told_and_the_others_go_on(tmp_path):
    folder = write_published(tmp_path)
    packed(folder / "loogle/shortdep_qa.jsonl.gz", "{}\n")
    done = {job.family: played(job) for job in real_jobs(folder, 1, 1, ("none",))}
    assert [family for family, one in done.items() if not one.failed] == [name for name in REAL if name != "loogle"]
    (failed,) = done["loogle"].failed
    assert (failed.name, bool(failed.why), bool(failed.hint)) == ("loogle 0, seed 0", True, True)


def test_of_families_without_files_it_is_said_which_and_of_none_at_all_what_to_set(tmp_path):
    folder = write_published(tmp_path / "there")
    assert published(str(folder)) == (folder, [])
    (folder / "tau2-banking/tasks.json.gz").unlink()
    (folder / "tau2-banking/documents.jsonl.gz").unlink()
    assert published(str(folder))[1] == [
        f"tau2-banking is skipped: {str(folder)!r} has no tau2-banking/documents.jsonl.gz and no tau2-banking/tasks.json.gz"
    ]
    assert {job.family for job in real_jobs(folder, 1, 1, ARMS)} == {*REAL} - {"tau2-banking"}
    for data, said in (("", "nothing says where they are"), (str(tmp_path), "has files of none of them")):
        with pytest.raises(UsageError, match=said) as problem:
            published(data)
        assert "TRIMTAB_DATA" in problem.value.hint
        assert "loogle/shortdep_qa.jsonl.gz" in problem.value.hint


def test_the_files_of_jobs_are_known_by_what_their_rows_are_called(session, tmp_path):
    folder = write_published(tmp_path)
    jobs = [*real_jobs(folder, 2, 1, ARMS), *suite_jobs("train", 1, 1, ARMS), file_job(session)]
    files = files_of_jobs(jobs)
    assert list(files) == [*REAL, "s.jsonl"]
    assert files["s.jsonl"] == (session,)
    assert [path.name for path in files["tau2-banking"]] == ["documents.jsonl.gz", "tasks.json.gz"]


def test_a_recording_is_played_at_every_price_under_every_arm(session):
    done = played(file_job(session))
    assert [(row.regime, row.arm) for row in done.rows] == [(p, a) for p in ("quarter", "tenth") for a in ARMS]
    assert {(row.tier, row.part, row.project, row.story) for row in done.rows} == {("T1", "eval", "work", "s.jsonl")}
    assert {key_of(row) for row in done.rows} == {file_job(session).key}


def test_a_row_is_the_same_whoever_else_was_played_beside_it(session):
    arms, prices = ("rules", "mask", "summary", "none"), ("quarter", "tenth-written")
    job = replace(file_job(session), arms=arms, prices=prices, window=3_000)
    together = {(row.arm, row.regime): row for row in played(job).rows}
    alone = {
        (arm, price): row
        for price in reversed(prices)
        for arm in reversed(arms)
        for row in played(replace(job, arms=(arm,), prices=(price,))).rows
    }
    assert len(alone) == len(arms) * len(prices)
    assert {key: untimed(row) for key, row in together.items()} == {key: untimed(row) for key, row in alone.items()}


def test_the_texts_of_a_recording_are_counted_once_for_all_prices(session, monkeypatch):
    counted: list[str] = []
    count = Counter._count
    monkeypatch.setattr(Counter, "_count", lambda self, texts: counted.extend(texts) or count(self, texts))
    played(replace(file_job(session), prices=("quarter", "tenth", "uncached")))
    assert counted
    assert len(counted) == len(set(counted))


def test_of_each_project_the_same_few_sessions_are_taken_in_whatever_order_they_come(tmp_path):
    names = [f"{project}/{number}.jsonl" for project in ("b", "a") for number in (3, 1, 2, 10)]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(CLAUDE_CODE)
    orders = (names, names[::-1])
    taken = [named([str(tmp_path / name) for name in order], 2) for order in orders]
    assert [place.name.removeprefix(f"{tmp_path}/") for _, place in taken[0]] == [
        f"{project}/{number}.jsonl" for project in ("a", "b") for number in (1, 10)
    ]
    assert taken[1] == taken[0]


def test_what_is_there_is_not_played_again(session):
    tasks = [TaskJob("train", "tool-chain", 3, 1, ARMS), TaskJob("train", "tool-chain", 3, 0, ARMS)]
    rows = [row for row in played(tasks[0]).rows if row.arm == "none"]
    assert [job.arms for job in lacking(tasks, rows)] == [("truncate",), ARMS]
    assert lacking(tasks[:1], played(tasks[0]).rows) == []
    whole = played(file_job(session)).rows
    (left,) = lacking([file_job(session)], whole[1:])
    assert [(row.regime, row.arm) for row in played(left).rows] == [("quarter", "none")]


def test_another_window_of_the_same_recording_is_another_job(session):
    rows = played(file_job(session)).rows
    (narrow,) = lacking([replace(file_job(session), window=50_000)], rows)
    assert {row.window for row in played(narrow).rows} == {50_000}
    assert asked_for([narrow], rows) == []


def test_of_the_rows_in_a_folder_only_those_count_that_are_asked_for(session):
    rows = [*played(file_job(session)).rows, *played(TaskJob("train", "tool-chain", 3, 1, ("none",))).rows]
    assert asked_for([replace(file_job(session), prices=("tenth",))], rows) == list(rows[2:4])


def test_a_recording_that_cannot_be_read_is_told_and_the_others_go_on(session, tmp_path):
    bad = tmp_path / "bad.jsonl"
    bad.write_text("nothing of any agent")
    jobs = [replace(file_job(bad), place=Place(name="bad.jsonl")), file_job(session)]
    first, second = Here().map(played, jobs)
    assert [(one.name, bool(one.why), bool(one.hint)) for one in first.failed] == [("bad.jsonl", True, True)]
    assert (first.rows, len(second.rows), second.failed) == ((), 4, ())


def test_a_recording_in_which_nothing_was_answered_is_told(tmp_path):
    empty = tmp_path / "s.json"
    empty.write_text('[{"role": "user", "content": "hello"}]')
    done = played(file_job(empty))
    assert (done.rows, [one.name for one in done.failed]) == ((), ["s.jsonl"])


def test_sessions_of_a_split_come_from_the_index_with_their_project(tmp_path):
    folder = tmp_path / "sessions"
    folder.mkdir()
    line = '{{"file": "{0}/{1}.jsonl", "source": "{0}", "split": "{2}", "family": {3}}}\n'
    rows = [("one", "b", "eval", 1), ("one", "a", "eval", 2), ("two", "c", "eval", 3), ("two", "d", "train", 4)]
    (folder / "index.jsonl").write_text("".join(line.format(*row) for row in rows))
    found = indexed(str(tmp_path), "eval", 1)
    assert [(path, place.project) for path, place in found] == [
        (folder / "one" / "a.jsonl", "one"),
        (folder / "two" / "c.jsonl", "two"),
    ]
    assert len(indexed(str(tmp_path), "eval")) == 3
    with pytest.raises(UsageError, match="no split 'test'") as problem:
        indexed(str(tmp_path), "test")
    assert problem.value.hint == "Splits: eval, train."


@pytest.mark.parametrize(("data", "said"), [("", "nothing says where"), ("/nowhere", "is no index")])
def test_without_an_index_it_is_said_what_to_set(data, said):
    with pytest.raises(UsageError, match=said) as problem:
        indexed(data, "eval")
    assert "TRIMTAB_DATA" in problem.value.hint


def test_a_folder_that_is_named_is_a_project(session):
    (by_folder,) = named([str(session.parent)])
    (by_file,) = named([str(session)])
    assert by_folder == by_file
    assert (by_file[1].project, by_file[1].split) == ("work", "recordings")


def test_a_folder_without_a_session_is_said(tmp_path):
    with pytest.raises(UsageError, match="no session of a known agent"):
        named([str(tmp_path)])


def test_prices_are_named_and_unknown_ones_refused():
    assert prices_named(" tenth, uncached,tenth") == ("tenth", "uncached")
    for wrong in ("tenth,free", ","):
        with pytest.raises(UsageError, match="--prices"):
            prices_named(wrong)


def test_files_become_jobs_with_prices_and_window(session):
    (job,) = file_jobs(named([str(session)]), ARMS, window=9_000, prices=("tenth",))
    assert (job.path, job.window, job.prices, job.arms, job.name) == (session, 9_000, ("tenth",), ARMS, str(session))
    assert TaskJob("train", "sales", 3, 1, ()).name == "sales 3, seed 1"
