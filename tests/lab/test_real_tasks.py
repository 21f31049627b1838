"""Tasks of published benchmarks: small files in the same shapes, and the real ones where `TRIMTAB_DATA` names a folder that has them."""

import os
from pathlib import Path

import pytest

from support.published import WORDS, lines, packed, write_published
from trimtab.lab.suite import drawn_real
from trimtab.lab.tasks.real.files import rows_of
from trimtab.lab.tasks.real.haystack import Gold, Haystack, Piece, window
from trimtab.lab.tasks.real.registry import REAL, files_of, missing, real_families
from trimtab.lab.tasks.score import needs_in, own_answers, verdict_of
from trimtab.lab.tasks.task import Level, chain
from trimtab.sessions.recorded import Answered
from trimtab.sessions.replay.needs import texts_of
from trimtab.sessions.replay.run import prepare
from trimtab.types.errors import UsageError
from trimtab.types.messages import Assistant, User

SMALL = Level(steps=12, lag=4, distractors=2, tokens=120)


@pytest.fixture
def folder(tmp_path):
    return write_published(tmp_path)


def check(task):
    """What every task keeps, also one of real texts."""
    told = ["\n".join(texts_of(message)) for message in chain(task.recording)]
    places = [i for i, message in enumerate(chain(task.recording)) if isinstance(message, Assistant)]
    assert len(places) == task.level.steps == len(prepare(task.recording).steps)
    for point in task.points:
        end = places[point.needed[0] - 1]
        assert [i for i, text in enumerate(told[:end]) if point.text in text] == [point.message]
    assert all(task.points[number].text in told[places[step - 1]] for number, step in needs_in(task))
    own = own_answers(task)
    assert task.questions
    assert [q.text for q in task.questions if verdict_of(q, own[q.text]) != "right"] == []


@pytest.mark.parametrize("name", REAL)
def test_a_task_of_every_benchmark_has_its_evidence_as_key_points(folder, name):
    family = real_families(folder)[name]
    check(family(1, SMALL))
    assert family(1, SMALL) == family(1, SMALL)


def points(folder, name):
    return {point.text for seed in range(6) for point in real_families(folder)[name](seed, SMALL).points}


def test_the_line_of_a_document_that_names_what_is_to_be_done_is_the_evidence(folder):
    assert points(folder, "tau2-banking") <= {"Card number 3 costs 35 crowns.", "Card number 5 costs 55 crowns."}


def test_evidence_is_found_across_line_ends_and_what_is_not_found_is_left_out(folder):
    assert points(folder, "loogle") <= {
        "The lock keeper was called Anselm Torrey.",
        "It closed in the year 1931 for good.",
    }


def test_a_question_of_memory_rests_on_what_the_user_said(folder):
    task = real_families(folder)["bfcl-memory"](0, SMALL)
    assert [(p.text, q.answers) for p, q in zip(task.points, task.questions, strict=True)] == [
        ("My boat is kept at number 11", ("11", "eleven"))
    ]
    assert isinstance(list(chain(task.recording))[task.points[0].message], User)
    assert all(not event.message.tool_calls for event in task.recording.events if isinstance(event, Answered))


def test_only_benchmarks_whose_files_are_there_are_offered(folder, tmp_path):
    (folder / "loogle/shortdep_qa.jsonl.gz").unlink()
    assert "loogle" not in real_families(folder)
    assert real_families(tmp_path / "nothing") == {}


def test_what_a_family_is_made_of_and_what_is_missing_of_it_is_known(folder):
    (folder / "tau2-banking/tasks.json.gz").unlink()
    (folder / "bfcl/memory_prereq_conversation/memory_customer.json").unlink()
    assert missing(folder, "tau2-banking") == ("tau2-banking/tasks.json.gz",)
    assert missing(folder, "bfcl-memory") == ("bfcl/memory_prereq_conversation/memory_*.json",)
    assert not {"tau2-banking", "bfcl-memory"} & real_families(folder).keys()
    lines(folder / "loogle/longdep_qa.jsonl.gz")
    assert [path.name for path in files_of(folder, "loogle")] == ["longdep_qa.jsonl.gz", "shortdep_qa.jsonl.gz"]


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("tau2-banking", "tau2-banking/tasks.json.gz"),
        ("tau2-banking", "tau2-banking/documents.jsonl.gz"),
        ("lost-in-the-middle-pairs", "lost-in-the-middle/kv-retrieval-75_keys.jsonl.gz"),
        ("lost-in-the-middle-passages", "lost-in-the-middle/nq-open-oracle.jsonl.gz"),
        ("loogle", "loogle/shortdep_qa.jsonl.gz"),
    ],
)
def test_a_file_that_was_cut_off_or_is_another_one_is_told_with_its_folder(folder, name, file):
    whole = (folder / file).read_bytes()
    (folder / file).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UsageError, match=f"{file}' can't be read") as problem:
        real_families(folder)[name](1, SMALL)
    assert problem.value.hint
    packed(folder / file, '[{"something": "else"}]' if file.endswith("tasks.json.gz") else '{"something": "else"}\n')
    with pytest.raises(UsageError, match=f"{folder}' aren't in their published shape"):
        real_families(folder)[name](1, SMALL)


@pytest.mark.parametrize(
    ("name", "file"), [("loogle", "loogle/shortdep_qa.jsonl.gz"), ("bfcl-memory", "bfcl/BFCL_v4_memory.json")]
)
def test_files_without_a_question_give_no_task(folder, name, file):
    packed(folder / file, "")
    with pytest.raises(ValueError, match=f"{name}: nothing to ask about"):
        real_families(folder)[name](1, SMALL)


def test_evidence_that_an_earlier_answer_gives_away_is_no_task():
    tells = Gold(Piece("one", "the first answer is 41"), "answer is 41", "What?", ("41, and that is 7",))
    gold = Gold(Piece("two", "we know that is 7"), "that is 7", "And?", ("7",))
    with pytest.raises(ValueError, match="tiny: 'that is 7' stands 1 times"):
        Haystack("tiny", "Go.", [tells, gold], [Piece("x", WORDS)]).task(1, SMALL)


def test_lines_that_are_no_json_are_left_out(tmp_path):
    packed(tmp_path / "a.jsonl", '{"a": 1}\n{"b": \\c}\n[1]\n\n{"c": 3}\n')
    assert list(rows_of(tmp_path / "a.jsonl")) == [{"a": 1}, {"c": 3}]


def test_lines_that_nest_without_end_are_left_out(tmp_path):
    packed(tmp_path / "a.jsonl", '{"a": 1}\n' + "[" * 100_000 + "\n")
    assert list(rows_of(tmp_path / "a.jsonl")) == [{"a": 1}]


def test_a_document_that_nests_without_end_is_told_with_its_folder(folder):
    packed(folder / "tau2-banking/tasks.json.gz", "[" * 100_000)
    with pytest.raises(UsageError, match=f"{folder}' aren't in their published shape"):
        real_families(folder)["tau2-banking"](1, SMALL)


def test_a_packed_file_that_holds_more_than_any_is_not_unpacked_to_its_end(folder, monkeypatch):
    monkeypatch.setattr("trimtab.lab.tasks.real.files._MOST", 10)
    with pytest.raises(UsageError, match="it holds more than 10 bytes"):
        real_families(folder)["tau2-banking"](1, SMALL)


def test_a_long_piece_is_cut_to_a_window_that_holds_the_evidence():
    text = "a" * 500 + "needle" + "b" * 500
    assert window(text, 100, "needle").count("needle") == 1
    assert len(window(text, 100, "needle")) == 100
    assert window(text, 2_000, "needle") == text


def test_evidence_that_another_question_gives_away_is_not_used():
    gold = Gold(Piece("one", "the answer is 41 today"), "answer is 41", "What?", ("41",))
    tells = Gold(Piece("two", "we know: answer is 41; and that is 7"), "that is 7", "And?", ("7",))
    task = Haystack("tiny", "Go.", [gold, tells], [Piece("x", WORDS)]).task(1, SMALL)
    assert [point.text for point in task.points] == ["answer is 41"]


def test_a_haystack_without_a_question_says_so():
    with pytest.raises(ValueError, match="tiny: nothing to ask about"):
        Haystack("tiny", "Go.", [], [Piece("x", WORDS)]).task(1, SMALL)


@pytest.mark.parametrize("name", REAL)
def test_the_published_files_give_tasks(name):
    data = os.environ.get("TRIMTAB_DATA", "")
    family = real_families(Path(data)).get(name) if data else None
    if family is None:
        pytest.skip(f"NOT RUN: TRIMTAB_DATA names no folder with the files of {name}")
    for seed in range(4):
        check(family(seed, Level(steps=30, lag=10)))
        check(drawn_real(Path(data), name, seed, seed=1).task)
