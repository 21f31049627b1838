"""The digest: no model, no chance, no more than its limit."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from support.talk import answer, call, conversations, result, said, words
from trimtab.context.summary.digest import digest
from trimtab.types.messages import User


def test_roles_tools_errors_and_arguments_are_kept():
    talk = [
        said("Fix the parser."),
        answer("I'll look.", call("c1", "read", '{"path": "parse.py"}')),
        result("c1", "parse.py: no such file", error=True, handle="r7"),
    ]
    assert digest(talk, count=words) == (
        "user m1: Fix the parser.\nassistant m2: I'll look.\n→ read: path=parse.py\nread r7 (error): parse.py: no such file"
    )


@settings(max_examples=50)
@given(conversations, st.integers(0, 100), st.integers(1, 60))
def test_it_is_bounded_and_the_same_every_time(messages, max_tokens, per_message):
    made = digest(messages, count=words, max_tokens=max_tokens, per_message=per_message)
    assert words(made) <= max_tokens
    assert made == digest(messages, count=words, max_tokens=max_tokens, per_message=per_message)


def test_a_long_result_keeps_its_ends_and_the_names_and_codes_between():
    body = "first line\n" + "noise noise\n" * 300 + "E4711 in src/core/pay.py\n" + "noise noise\n" * 300 + "last line"
    made = digest([result("c1", body, tool="bash", handle="r3")], count=words)
    assert made.startswith("bash r3: first line")
    assert made.endswith("last line")
    assert "E4711" in made
    assert "src/core/pay.py" in made
    assert words(made) < 200


def test_a_rule_in_the_middle_of_a_long_message_of_the_user_stays_word_for_word():
    talk = [
        said(
            "Look at this.\n" + "some words here\n" * 400 + "Never run the deploy script.\n" + "some words here\n" * 400
        )
    ]
    assert "Never run the deploy script." in digest(talk, count=words)


def test_the_task_outlives_long_work_with_tools():
    talk = [said("Migrate billing to cents."), *(result(f"c{n}", "output " * 200) for n in range(200))]
    made = digest(talk, count=words, max_tokens=300)
    assert "Migrate billing to cents." in made
    assert "c199" in made


def test_a_single_line_of_ten_megabytes_is_read_at_its_ends_only():
    counted = 0

    def count(text: str) -> int:
        nonlocal counted
        counted += len(text)
        return len(text) // 4

    made = digest([result("c1", "x" * 10_000_000)], count=count, max_tokens=500)
    assert count(made) <= 500
    assert counted < 500_000


def test_an_earlier_summary_is_named_as_one():
    assert digest([User(said("So far: nothing.").parts, origin="summary")], count=words).startswith(
        "earlier summary m1:"
    )


def test_what_was_said_outlives_what_tools_printed():
    talk = [said("Make the importer faster.")]
    for n in range(60):
        talk += [
            answer(f"Step {n}: the cache is cold.", call(f"c{n}", "bash", '{"command": "make bench"}')),
            result(f"c{n}", f"run {n}\n" + "12:00:01 INFO tick\n" * 100, tool="bash"),
        ]
    talk += [answer("It is the index: 42 s without it, 3 s with it."), said("Good. Keep the index.")]
    made = digest(talk, count=words, max_tokens=600)
    assert "It is the index: 42 s without it, 3 s with it." in made
    assert "Good. Keep the index." in made
    assert "Step 59: the cache is cold." in made
    assert "INFO tick" not in made


def test_what_is_missing_is_said_by_kind():
    talk = [
        said("Go."),
        *(part for n in range(40) for part in (answer("", call(f"c{n}", "ls")), result(f"c{n}", "a " * 40))),
    ]
    assert "[… 40 calls, 40 results]" in digest(talk, count=words, max_tokens=24)


def test_a_failure_outlives_output_that_came_after_it():
    talk = [result("c0", "exit status 2: no rule", error=True), *(result(f"c{n}", "fine " * 30) for n in range(1, 30))]
    assert "exit status 2: no rule" in digest(talk, count=words, max_tokens=60)


def test_a_digest_of_fifty_thousand_messages_reads_only_those_that_it_may_keep():
    counted = 0

    def count(text: str) -> int:
        nonlocal counted
        counted += len(text)
        return len(text) // 4

    talk = [result(f"c{n}", "some words " * 50) for n in range(50_000)]
    made = digest(talk, count=count, max_tokens=4_000)
    assert count(made) <= 4_000
    assert counted < 2_000_000


def test_an_answer_keeps_whole_sentences_the_cause_among_them():
    text = (
        "Let me look at this again. " * 12
        + "The cause is that `findBranches` reads 4711 commits of src/list/data.go twice. "
        + "There is more to say here. " * 12
        + "Now it is fixed."
    )
    made = digest([answer(text)], count=words, max_tokens=60)
    assert "The cause is that `findBranches` reads 4711 commits of src/list/data.go twice." in made
    assert made.endswith("Now it is fixed.")
    assert made.count("Let me look at this again.") == 1


def test_a_call_tells_what_it_was_about_before_what_it_carried():
    raw = json.dumps({"replace_all": False, "new_string": "x = 1\n" * 500, "file_path": "src/a.py"})
    assert digest([answer("", call("c1", "edit", raw))], count=words) == (
        "→ edit: file_path=src/a.py replace_all=false new_string=(3,000 characters: x = 1 x = 1 x = 1 x = 1 x = 1 x = 1 x = …)"
    )


def test_that_a_call_had_a_result_needs_no_words():
    talk = [
        said("Go."),
        *(part for n in range(9) for part in (answer(f"Look {n}.", call(f"c{n}", "ls")), result(f"c{n}", "a " * 99))),
    ]
    made = [digest(talk, count=words, max_tokens=size) for size in range(20, 200, 7)]
    assert any("Look 8.\n→ ls: \nassistant" in text or text.endswith("Look 8.\n→ ls: ") for text in made)
    assert not any("[… 1 result]" in text for text in made)


def test_a_result_does_not_name_itself_twice():
    assert digest([result("c1", "[r7]\nthree lines", tool="read", handle="r7")], count=words) == "read r7: three lines"
