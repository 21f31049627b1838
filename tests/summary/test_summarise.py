"""The way from a run to its summary: who is asked, what is believed, and what comes if nobody answers well."""

from dataclasses import replace

import pytest

from support.talk import answer, call, result, said, words
from trimtab.context.asks import Failed, Summarize, Summary
from trimtab.context.summary.cache import SummaryCache
from trimtab.context.summary.facts import Fact
from trimtab.context.summary.job import InPlace, Job, Summariser
from trimtab.context.summary.summarise import output_limit, summarise, ways
from trimtab.types.messages import Text, User
from trimtab.types.models import ModelInfo, ModelRequest
from trimtab.types.usage import Usage

TALK = (
    said("Fix rounding in src/pay.py. Never touch schema.sql."),
    answer("I'll look.", call("c1", "bash", '{"command": "pytest src/pay.py"}')),
    result("c1", "FAILED E4711 " + "noise " * 400, tool="bash", error=True, handle="r1"),
)
IDS = ("e1", "e2", "r1")
GOOD = "<analysis>notes</analysis><summary>Rounding in src/pay.py is being fixed. Never touch schema.sql.</summary>"
SMALL = Summariser("small", window=8_000, max_output=2_000)
REQUEST = ModelRequest(ModelInfo("p", "big", "anthropic", context_window=50_000), TALK)
PLACE = InPlace(REQUEST, tokens=500, window=50_000, max_output=4_000)
JOB = Job(TALK, IDS, words, replaces_tokens=480, summariser=SMALL, wanted=200)


def drive(job, *answers):
    """The outcome when the asks are answered in turn, and the asks."""
    asks = []
    plan = summarise(job)
    queue = list(answers)
    try:
        ask = next(plan)
        while True:
            asks.append(ask)
            ask = plan.send(queue.pop(0))
    except StopIteration as end:
        assert queue == []
        return end.value, asks


def test_a_good_answer_becomes_the_summary_with_all_that_is_known_of_it():
    usage = Usage(input=900, output=40)
    outcome, (ask,) = drive(JOB, Summary(GOOD, usage=usage, model="small-2", ms=12, meta={"id": "x"}))
    assert outcome.text == "Rounding in src/pay.py is being fixed. Never touch schema.sql."
    assert (outcome.mode, outcome.model, outcome.usage, outcome.rejected) == ("serialised", "small-2", usage, ())
    assert outcome.meta["analysis"] == "notes"
    assert (outcome.meta["ms"], outcome.meta["calls"], outcome.meta["provider"]) == (12, 1, {"id": "x"})
    assert ask.mode == "serialised"
    assert "<conversation>" in ask.messages[0].parts[0].text
    assert ask.request is None


def test_facts_that_the_summary_lost_are_appended_with_their_sources():
    outcome, _ = drive(JOB, Summary("Work on rounding goes on, as the user asked."))
    assert "- rule: Never touch schema.sql. [e1, user]" in outcome.text
    assert "src/pay.py [e1, user]" in outcome.text
    assert outcome.meta["audit"]["added"] >= 2
    assert words(outcome.text) < JOB.replaces_tokens


def test_a_rule_from_before_an_earlier_compaction_is_still_audited():
    rule = Fact("rule", "Always answer in French.", "m0", by_user=True)
    outcome, _ = drive(replace(JOB, facts=(rule,), previous="Earlier work."), Summary(GOOD))
    assert "Always answer in French. [m0, user]" in outcome.text


def test_the_earlier_summary_and_the_users_words_reach_the_prompt():
    talk = (User((Text("Earlier: the port is 4711."),), origin="summary"), *TALK)
    job = replace(JOB, messages=talk, ids=("s0", *IDS), instructions="keep the port number")
    outcome, (ask,) = drive(job, Summary(GOOD))
    text = ask.messages[0].parts[0].text
    assert "<previous-summary>\nEarlier: the port is 4711.\n</previous-summary>" in text
    assert text.count("Earlier: the port") == 1
    assert "<user-words>\nkeep the port number\n</user-words>" in text
    assert outcome.mode == "serialised"


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (Failed("the server said 500"), "the server said 500"),
        (Summary(""), "empty"),
        (Summary(GOOD, finished=False), "unfinished"),
        (Summary(GOOD, calls=1), "tool_call"),
        (Summary("<summary>cut"), "malformed"),
        (Summary("word " * 480), "not_smaller"),
        (Summary("I'm sorry, but I can't do that."), "refusal"),
        (Summary("502 Bad Gateway"), "error_page"),
        (Summary("不要修改数据库。测试通过了。"), "other_language"),
    ],
)
def test_a_bad_answer_is_refused_with_its_reason_and_the_digest_stands_in(bad, why):
    job = replace(JOB, messages=(said("Please fix what is wrong with the rounding of it in the file."), *TALK[1:]))
    before = job.messages
    outcome, asks = drive(job, bad)
    assert len(asks) == 1
    assert outcome.mode == "digest"
    assert outcome.model is None
    assert [why in reason and reason.startswith("serialised: ") for reason in outcome.rejected] == [True]
    assert "bash r1 (error): FAILED E4711" in outcome.text
    assert words(outcome.text) < job.replaces_tokens
    assert job.messages is before


def test_with_no_model_nobody_is_asked_and_the_digest_keeps_the_rules():
    outcome, asks = drive(replace(JOB, summariser=None))
    assert asks == []
    assert outcome.mode == "digest"
    assert "Never touch schema.sql." in outcome.text


def test_without_a_digest_a_failure_gives_no_text_and_says_why():
    outcome, _ = drive(replace(JOB, digest_allowed=False), Failed("unreachable"))
    assert (outcome.text, outcome.mode, outcome.rejected) == ("", "none", ("serialised: unreachable",))


def test_nothing_comes_of_a_run_that_is_too_short_to_be_shortened():
    outcome, _ = drive(Job((said("hi"),), ("e1",), words, replaces_tokens=1))
    assert (outcome.text, outcome.mode) == ("", "none")


@pytest.mark.parametrize(
    ("in_place", "serialised", "order"),
    [
        (0.01, 0.05, ("in_place", "serialised")),
        (0.05, 0.01, ("serialised", "in_place")),
        (None, 0.05, ("serialised", "in_place")),
        (None, None, ("in_place", "serialised")),
    ],
)
def test_the_cheaper_way_is_tried_first(in_place, serialised, order):
    assert ways(replace(JOB, in_place=PLACE, cost_in_place=in_place, cost_serialised=serialised)) == order


def test_in_place_sends_the_request_as_it_was_with_one_message_behind():
    outcome, (ask,) = drive(replace(JOB, in_place=PLACE, summariser=None), Summary(GOOD, model="big"))
    assert ask.mode == "in_place"
    assert ask.request is REQUEST
    (message,) = ask.messages
    assert "Call no tool" in message.parts[0].text
    assert ask.system == ""
    assert (outcome.mode, outcome.model) == ("in_place", "big")


def test_a_tool_call_in_place_is_refused_and_the_other_way_is_tried():
    job = replace(JOB, in_place=PLACE, cost_in_place=0.0)
    outcome, asks = drive(job, Summary("", calls=1, usage=Usage(input=10)), Summary(GOOD, usage=Usage(input=5)))
    assert [ask.mode for ask in asks] == ["in_place", "serialised"]
    assert outcome.mode == "serialised"
    assert outcome.rejected[0].startswith("in_place: tool_call")
    assert outcome.usage == Usage(input=15)


def test_no_more_ways_are_tried_than_allowed():
    outcome, asks = drive(replace(JOB, in_place=PLACE, cost_in_place=0.0, attempts=1), Failed("no"))
    assert [ask.mode for ask in asks] == ["in_place"]
    assert outcome.mode == "digest"


def test_in_place_is_closed_when_the_answer_would_not_fit_the_window():
    assert ways(replace(JOB, in_place=replace(PLACE, tokens=49_000))) == ("serialised",)


def test_the_output_limit_keeps_to_the_cap_of_the_model_and_leaves_room_for_thoughts():
    assert output_limit(4_000, most=128_000, window=1_000_000) == 12_000
    assert output_limit(4_000, most=2_048, window=200_000) == 2_048
    assert output_limit(4_000, most=128_000, window=9_000) == 3_000
    assert output_limit(1_000, most=8_000, window=200_000, thinks=True) == 5_000


def test_a_run_larger_than_the_summarisers_window_takes_passes_that_build_on_each_other():
    talk = tuple(m for n in range(8) for m in (said(f"Task {n}."), result(f"c{n}", "words " * 300)))
    small = Summariser("small", window=3_500, max_output=500)
    job = Job(talk, tuple(f"e{n}" for n in range(16)), words, 2_500, summariser=small, wanted=150)
    first, last = drive(
        job, Summary("Tasks so far: one.", usage=Usage(input=1)), Summary("Tasks so far: two.", usage=Usage(input=2))
    )[1]
    assert "part 1 of 2" in first.messages[0].parts[0].text
    assert "<previous-summary>\nTasks so far: one.\n</previous-summary>" in last.messages[0].parts[0].text
    for ask in (first, last):
        size = words(ask.system) + sum(words(m.parts[0].text) for m in ask.messages)
        assert size + ask.max_output <= small.window


def test_a_pass_that_fails_ends_the_way_and_the_digest_stands_in_for_all_of_it():
    talk = tuple(m for n in range(8) for m in (said(f"Task {n}."), result(f"c{n}", "words " * 300)))
    small = Summariser("small", window=3_500, max_output=500)
    job = Job(talk, tuple(f"e{n}" for n in range(16)), words, 2_500, summariser=small, wanted=150)
    outcome, asks = drive(job, Summary("Tasks so far: one."), Failed("gone"))
    assert len(asks) == 2
    assert outcome.mode == "digest"
    assert "Task 0." in outcome.text


def test_one_result_of_twice_the_window_still_gets_its_summary():
    talk = (*TALK[:2], result("c1", "word " * 20_000, tool="bash", handle="r1"))
    job = replace(JOB, messages=talk, replaces_tokens=20_000, wanted=400)
    outcome, asks = drive(job, *[Summary("The log is full of words. " * 40)] * 2)
    assert outcome.mode == "serialised"
    for ask in asks:
        assert words(ask.system) + words(ask.messages[0].parts[0].text) + ask.max_output <= SMALL.window
    assert outcome.meta["cut"]


def test_a_summariser_with_no_room_is_not_asked():
    assert ways(replace(JOB, summariser=Summariser("tiny", window=600, max_output=100))) == ()


def test_the_same_job_is_never_paid_twice():
    cache = SummaryCache()
    first, _ = drive(replace(JOB, cache=cache), Summary(GOOD))
    again, asks = drive(replace(JOB, cache=cache))
    assert asks == []
    assert (again.text, again.mode, again.usage) == (first.text, "serialised", None)
    assert again.meta["cached"]
    _, asks = drive(replace(JOB, cache=cache, instructions="keep the port"), Summary(GOOD))
    assert len(asks) == 1


def test_a_digest_is_not_kept_as_if_a_model_had_written_it():
    cache = SummaryCache()
    drive(replace(JOB, cache=cache), Failed("no"))
    assert len(cache) == 0


def test_a_secret_that_the_model_repeats_is_taken_out():
    outcome, _ = drive(JOB, Summary("Rounding in src/pay.py: the password is hunter22x. Never touch schema.sql."))
    assert "hunter22x" not in outcome.text


def test_nothing_runs_before_it_is_driven():
    assert isinstance(next(summarise(JOB)), Summarize)


def test_what_had_no_room_in_the_facts_block_is_named_for_a_person():
    talk = (said("\n".join(f"Never touch table number {n} of the big one." for n in range(40))), *TALK[1:])
    outcome, _ = drive(replace(JOB, messages=talk), Summary("Work on rounding goes on, as the user asked."))
    told = outcome.meta["audit"]
    assert len(told["lost"]) == told["left_out"] > 0
    assert told["lost"][-1].startswith("rule: Never touch table")


def test_a_run_without_a_word_of_the_user_keeps_the_language_of_the_earlier_summary():
    job = replace(JOB, messages=TALK[1:], ids=IDS[1:], previous="ユーザーは丸め処理の修正を求めている。")
    outcome, (ask,) = drive(job, Summary("The rounding is being fixed and the tests of it are still red."))
    assert "Language: Japanese." in ask.system
    assert "other_language" in outcome.rejected[0]


RICH = (
    said("Read the ports and keep them."),
    answer("I'll look.", call("c1", "bash", '{"command": "cat conf/ports.ini"}')),
    result("c1", "\n".join(f"/srv/svc_{n}/run.conf listens on port {7000 + n}" for n in range(12)), handle="r1"),
)


@pytest.mark.parametrize("text", ["OK, I will do that for you.", "asdf asdf asdf", "After the third log."])
def test_a_summary_that_holds_nothing_of_what_it_replaces_is_rejected_with_the_reason(text):
    outcome, _ = drive(replace(JOB, messages=RICH), Summary(f"<summary>{text}</summary>"))
    assert outcome.mode == "digest"
    assert "nothing_of_it" in outcome.rejected[0]


def test_one_fact_of_many_is_enough():
    outcome, _ = drive(
        replace(JOB, messages=RICH), Summary("<summary>svc_3 is configured in /srv/svc_3/run.conf.</summary>")
    )
    assert (outcome.mode, outcome.rejected) == ("serialised", ())


def test_the_function_of_a_program_is_taken_at_its_word():
    job = replace(JOB, messages=RICH, summariser=replace(SMALL, strict=False))
    outcome, _ = drive(job, Summary("<summary>All is well with the ports.</summary>"))
    assert outcome.mode == "serialised"
