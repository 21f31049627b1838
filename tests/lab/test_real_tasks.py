"""Tasks of published benchmarks: small files in the same shapes, and the real ones where `TRIMTAB_DATA` names a folder that has them."""

import gzip
import json
import os
from pathlib import Path

import pytest

from trimtab.lab.tasks.real.files import rows_of
from trimtab.lab.tasks.real.haystack import Gold, Haystack, Piece, window
from trimtab.lab.tasks.real.registry import REAL, real_families
from trimtab.lab.tasks.score import needs_in, own_answers, verdict_of
from trimtab.lab.tasks.task import Level, chain
from trimtab.sessions.recorded import Answered
from trimtab.sessions.replay.needs import texts_of
from trimtab.sessions.replay.run import prepare
from trimtab.types.messages import Assistant, User

SMALL = Level(steps=12, lag=4, distractors=2, tokens=120)
WORDS = "Rivers bend where the ground is soft, and mills were built at the bends. "


def packed(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


def lines(path, *rows):
    packed(path, "".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def folder(tmp_path):
    """Files in the shapes of all benchmarks, a few rows each."""
    documents = [
        {
            "id": f"doc_{n}",
            "title": f"Card {n}",
            "content": f"## Fees\n\nCard number {n} costs {n}5 crowns.\n\n{WORDS * 3}{n}",
        }
        for n in range(9)
    ]
    lines(tmp_path / "tau2-banking/documents.jsonl.gz", *documents)
    case = {
        "user_scenario": {"instructions": "You are Lena and want a cheap card."},
        "evaluation_criteria": {"actions": [{"name": "apply", "arguments": {"card": "costs crowns number"}}]},
        "required_documents": ["doc_3", "doc_5", "doc_nowhere"],
    }
    packed(tmp_path / "tau2-banking/tasks.json.gz", json.dumps([case]))
    pairs = [[[f"key-{r}-{n}", f"value-{r}{n}-{'x' * 20}", 2] for n in range(20)] for r in range(8)]
    lines(
        tmp_path / "lost-in-the-middle/kv-retrieval-75_keys.jsonl.gz",
        *({"ordered_kv_records": row, "key": row[9][0], "value": row[9][1]} for row in pairs),
    )
    lines(
        tmp_path / "lost-in-the-middle/nq-open-oracle.jsonl.gz",
        *(
            {
                "question": f"who built mill {n}",
                "answers": [f"Miller {n}", f"M. {n}"],
                "ctxs": [
                    {
                        "title": f"Mill {n}",
                        "text": f"{WORDS}The mill was built by Miller {n} in 17{n}0. {WORDS}",
                        "isgold": True,
                    }
                ],
            }
            for n in range(10, 20)
        ),
    )
    text = (
        WORDS * 5
        + "The lock keeper was called Anselm\nTorrey. "
        + WORDS * 5
        + "It closed in the year 1931 for good. "
        + WORDS * 5
    )
    asked = [
        {"Q": "Who kept the lock?", "A": "Anselm Torrey", "S": "The lock keeper was called Anselm Torrey."},
        {
            "Q": "When did it close?",
            "A": "1931",
            "S": ["It never stood anywhere.", "It closed in the year 1931 for good."],
        },
        {"Q": "What is missing?", "A": "all", "S": "No such sentence stands in it."},
    ]
    lines(
        tmp_path / "loogle/shortdep_qa.jsonl.gz",
        {"input": text, "title": "The lock", "qa_pairs": repr(asked), "output": "none"},
    )
    with (tmp_path / "loogle/shortdep_qa.jsonl.gz").open("ab") as out:
        out.write(gzip.compress(b'{"input": "broken \\c line"\n'))
    told = [
        f"My {thing} is kept at number {n} of the lane."
        for n, thing in enumerate(("boat", "cart", "goat", "plough", "sail"), 11)
    ]
    lines(
        tmp_path / "bfcl/memory_prereq_conversation/memory_customer.json",
        {"id": "p-0", "topic": "t", "question": [[{"role": "user", "content": text}] for text in told]},
    )
    lines(
        tmp_path / "bfcl/BFCL_v4_memory.json",
        {"id": "m-0", "question": [[{"role": "user", "content": "Where is my boat?"}]], "scenario": "customer"},
        {"id": "m-1", "question": [[{"role": "user", "content": "Where is my goat?"}]], "scenario": "customer"},
    )
    lines(
        tmp_path / "bfcl/possible_answer/BFCL_v4_memory.json",
        {"id": "m-0", "ground_truth": ["11", "eleven"], "source": "...My boat is kept at number 11..."},
        {"id": "m-1", "ground_truth": ["13"], "source": "a quote that stands nowhere"},
    )
    return tmp_path


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


def test_lines_that_are_no_json_are_left_out(tmp_path):
    packed(tmp_path / "a.jsonl", '{"a": 1}\n{"b": \\c}\n[1]\n\n{"c": 3}\n')
    assert list(rows_of(tmp_path / "a.jsonl")) == [{"a": 1}, {"c": 3}]


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
