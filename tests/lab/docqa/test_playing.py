"""Readers at work: scripted ones, any provider, and rollouts that go on from where others were."""

import os
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from support.docqa import BUILT, FACT, QUERY, RULES, call, give, new_desk, reader
from trimtab.lab.credit.branching import BranchRule
from trimtab.lab.docqa.branching import explore
from trimtab.lab.docqa.cleanup import Cleanup
from trimtab.lab.docqa.desk import Desk
from trimtab.lab.docqa.playing import play, resumed
from trimtab.lab.docqa.query import queries_of
from trimtab.lab.docqa.scripted_reader import MODEL, ScriptedReader
from trimtab.lab.tasks.real.registry import real_families
from trimtab.lab.tasks.registry import make_task
from trimtab.lab.tasks.task import Level
from trimtab.providers.scripted import ScriptedProvider
from trimtab.types.messages import Assistant, User

RULE = BranchRule(budget=24, rows_per_branch=4, where="both")


def explored(reading=reader, **options):
    return anyio.run(lambda: explore(new_desk, reading, **{"first": 3, "rule": RULE, **options}))


def test_a_scripted_reader_finds_what_stands_in_one_sentence():
    rollout = anyio.run(play, new_desk(), ScriptedReader())
    assert (rollout.outcome.ending, rollout.outcome.verdict, rollout.outcome.looked) == ("finished", "right", True)
    assert FACT in rollout.outcome.answer


def test_any_provider_plays_and_what_it_was_cut_off_in_is_void():
    def said(name, **arguments):
        return {"tool_calls": [{"name": name, "arguments": arguments}], "usage": {"input": 900, "output": 20}}

    script = [
        {"text": "Let me", "error": {"status": 503, "body": "busy", "retry_after_s": 0}},
        said("buildIndex"),
        {"error": {"status": 503, "body": "busy", "retry_after_s": 0}},
        said("readChunk", chunk_id=2),
        said("finish", answer="412 l/s"),
    ]
    rollout = anyio.run(play, new_desk(), ScriptedProvider(script[1:]))
    assert (rollout.outcome.verdict, rollout.outcome.usage.input, rollout.outcome.usage.output) == ("right", 2_700, 60)


def test_an_endpoint_that_fails_ends_the_query_with_its_error():
    desk = new_desk()
    rollout = anyio.run(play, desk, ScriptedProvider([{"error": {"status": 401, "body": "who are you"}}]))
    assert rollout.outcome.ending == "provider"
    assert desk.error.kind == "auth"


def test_the_same_answers_make_the_same_desk():
    rollout = anyio.run(play, new_desk(), ScriptedReader(3))
    again = resumed(new_desk, rollout.answers)
    assert (again.outcome, tuple(again.pieces)) == (rollout.outcome, rollout.pieces)


@pytest.mark.parametrize("turns", range(8))
def test_a_rollout_goes_on_from_any_of_its_turns(turns):
    rollout = anyio.run(play, new_desk(), ScriptedReader(3))
    gone_on = anyio.run(play, resumed(new_desk, rollout.answers[:turns]), ScriptedReader(3))
    assert gone_on.pieces == rollout.pieces


def prompts(pieces):
    return [piece.prompt for piece in pieces]


def test_each_piece_begins_with_what_the_request_showed_and_ends_with_what_was_written():
    desk, sent = new_desk(), []
    for answer in (*BUILT, call("readChunk", chunk_id=2), call("memorize", key="w", summary="s", content=FACT), call("deleteContext", msg_id=7)):  # fmt: skip
        sent.append(desk.request().messages)
        desk.answer(answer)
    sent.append(desk.request().messages)
    desk.answer(call("finish", answer="412 l/s"))
    first, second, third, last = desk.pieces
    assert prompts(desk.pieces) == [sent[0], sent[3], sent[4], sent[5]]
    assert [len(piece.completion) for piece in desk.pieces] == [5, 1, 1, 1]
    assert [said.trained for said in first.completion] == [True, False, True, False, True]
    assert (*sent[0], *(said.message for said in first.completion[:4])) == sent[2]
    assert [piece.answers[-1].tool_calls[0].name for piece in (first, second, third, last)] == ["readChunk", "memorize", "deleteContext", "finish"]  # fmt: skip
    assert [piece.tokens_after for piece in desk.pieces] == [*(piece.tokens for piece in desk.pieces[1:]), 0]
    assert third.tokens_after < third.tokens


def test_branches_share_all_that_stands_in_front_of_them():
    found = explored()
    tree = found.tree
    assert [leaf.rollout for leaf in tree.leaves] == [rollout.name for rollout in found.rollouts]
    branched = [rollout for rollout in found.rollouts if rollout.name.startswith("b")]
    assert branched
    assert {leaf.reward for leaf in tree.leaves} == {0.0, 1.0}
    for rollout in branched:
        path = [tree.row_to(node) for node in tree.prefix(tree.leaf_of(rollout.name).node)[1:]]
        assert tuple(row.action for row in path) == rollout.pieces
        assert any(row.rollout != rollout.name for row in path) or path[0].before == tree.root


def test_a_branch_answers_the_very_prompt_that_another_answered():
    tree = explored().tree
    for node in {row.before for row in tree.rows}:
        first, *others = tree.leaving(node)
        assert all(row.action.prompt == first.action.prompt for row in others)


def test_exploring_is_the_same_every_time():
    one, other = explored(), explored()
    assert one.rollouts == other.rollouts
    assert [(row.before, row.after) for row in one.tree.rows] == [(row.before, row.after) for row in other.tree.rows]


def test_rollouts_at_the_same_time_are_those_one_after_the_other():
    assert explored(at_once=5).rollouts == explored().rollouts


def test_a_rollout_whose_endpoint_failed_has_no_end_and_gives_no_credit():
    refused = ScriptedProvider([{"tool_calls": [{"name": "buildIndex"}]}, {"error": {"status": 401, "body": "no"}}])
    found = explored(lambda name: refused if name == "r0" else reader(name), rule=replace(RULE, budget=0))
    assert [leaf.rollout for leaf in found.tree.leaves] == ["r1", "r2"]
    assert found.tree.unfinished == ("r0",)
    assert found.tree.value("r0.1") is None


@pytest.mark.parametrize("by_itself", [True, False])
def test_a_script_around_the_reader_leads_it_through_its_states(by_itself):
    harness = Cleanup(by_itself=by_itself)
    desk = new_desk(harness=harness)
    offered = []
    rollout = anyio.run(play, desk, Watched(ScriptedReader(), offered))
    assert rollout.outcome.verdict == "right"
    assert offered[:5] == [["analyzeText"], ["plan"], ["buildIndex"], ["searchEngine"], ["plan"]]
    assert "finish" in offered[-1]
    assert (rollout.outcome.forced_edits > 0) == by_itself
    assert (rollout.outcome.edits > 0) == (not by_itself)


class Watched:
    """A provider that notes what it is offered."""

    def __init__(self, inner, offered):
        self.inner, self.offered = inner, offered

    async def stream(self, request):
        self.offered.append([tool.name for tool in request.tools])
        async for event in self.inner.stream(request):
            yield event


def test_what_the_script_leaves_no_choice_in_is_marked_as_forced():
    desk = new_desk(harness=Cleanup())
    anyio.run(play, desk, ScriptedReader())
    assert [piece.forced for piece in desk.pieces][:3] == [True, True, True]
    assert not desk.pieces[-1].forced
    assert sum(piece.forced_edits for piece in desk.pieces) == desk.outcome.forced_edits


def test_without_a_script_nothing_is_forced():
    assert not any(piece.forced for piece in anyio.run(play, new_desk(), ScriptedReader()).pieces)


def test_six_empty_searches_lead_to_the_review():
    harness = Cleanup()
    desk = new_desk(replace(RULES, patience=9), harness=harness)
    give(desk, call("analyzeText"), call("plan", strategy="x"), call("buildIndex"))
    for _ in range(6):
        assert harness.state == "search"
        give(desk, call("searchEngine", keyword="unheard"))
    assert harness.state == "review"


LEVEL = Level(steps=10, lag=3, distractors=1, tokens=250)


def test_a_generated_task_gives_a_query_for_each_of_its_questions():
    task = make_task("document-qa", 4, LEVEL)
    made = list(queries_of(task))
    assert [query.question for query in made] == list(task.questions)
    assert len({query.name for query in made}) == len(made)
    for query in made:
        assert all(text in query.document for text in query.evidence)
        assert query.judge(query.question.answers[0]) == "right"
        assert "[chunk " not in query.document


def test_a_task_that_reads_nothing_gives_no_query():
    assert list(queries_of(make_task("misleading-turn", 1, LEVEL))) == []


@pytest.mark.skipif(not os.environ.get("TRIMTAB_DATA"), reason="TRIMTAB_DATA names no folder with real questions")
def test_questions_about_real_documents_are_asked():
    family = real_families(Path(os.environ["TRIMTAB_DATA"]))["loogle"]
    query = next(queries_of(family(0, Level(steps=10, lag=3, distractors=1, tokens=600))))
    rollout = anyio.run(play, Desk(query, RULES, MODEL), ScriptedReader())
    assert rollout.outcome.ending == "finished"


def test_a_reader_reads_only_the_request():
    desk = new_desk()
    give(desk, *BUILT)
    request = desk.request()
    assert ScriptedReader()._next(request) == ScriptedReader()._next(request)
    assert isinstance(request.messages[0], User)
    assert isinstance(request.messages[1], Assistant)
    assert QUERY.question.answers[0] not in str(request)
