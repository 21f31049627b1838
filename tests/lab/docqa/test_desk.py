"""The desk: what each tool does, how the window is edited, and when it is over."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.docqa import BUILT, FACT, RULES, call, give, new_desk, plain, shown, told
from trimtab.lab.docqa import calls, wording
from trimtab.lab.docqa.notebook import HEAD
from trimtab.lab.docqa.outcome import Terms, terminal_reward
from trimtab.types.errors import ErrorInfo
from trimtab.types.messages import Assistant, ToolResult
from trimtab.types.stream import make_call


def test_the_reader_gets_the_question_and_all_tools():
    request = new_desk().request()
    assert told(request) == ["The question: How much does the weir at Otter Ford let through?\n\nYou have 20 turns."]
    assert [tool.name for tool in request.tools] == list(calls.TOOLS)
    assert request.system == wording.SYSTEM


def test_the_schema_has_eighteen_tools_where_nothing_can_be_restored():
    request = new_desk(replace(RULES, restore=False)).request()
    assert [tool.name for tool in request.tools] == [name for name in calls.TOOLS if name != "restoreContext"]
    assert len(request.tools) == 18


@pytest.mark.parametrize("name", calls.TOOLS)
def test_each_tool_says_what_it_is_for_and_allows_nothing_else(name):
    spec = calls.spec_of(name)
    assert spec.description.endswith(".")
    assert spec.parameters["additionalProperties"] is False
    assert set(spec.parameters["required"]) <= set(spec.parameters["properties"])
    assert "$ref" not in str(spec.parameters)


def test_nothing_is_found_or_read_before_the_index_is_built():
    assert "buildIndex first" in give(new_desk(), call("searchEngine", keyword="weir"))
    assert "buildIndex first" in give(new_desk(), call("readChunk", chunk_id=1))


def test_search_read_and_scan():
    desk = new_desk()
    found = give(desk, *BUILT, call("searchEngine", keyword="weir at Otter Ford, nothing like it"))
    assert found.splitlines()[0].startswith("chunk 2 (Weirs), score ")
    assert FACT in give(desk, call("readChunk", chunk_id="m2"))
    assert "chunk 3 of" in give(desk, call("readChunk", enable_scan=True))
    several = give(desk, call("readMultiChunks", chunk_ids=[1, 2, 3, 4]))
    assert several.endswith("(not shown, 3 is the most: 4)")
    assert "there is no chunk 99" in give(desk, call("readChunk", chunk_id=99))
    assert desk.library.read == [2, 3, 1, 2, 3]


def test_a_result_shows_its_number_and_that_of_its_call():
    desk = new_desk()
    give(desk, call("analyzeText"))
    result = desk.request().messages[-1]
    assert isinstance(result, ToolResult)
    assert result.text.startswith("[m3]\n(your call: m2)\nthe document has")


def test_what_is_kept_is_listed_once_at_the_end_and_can_be_read_again():
    desk = new_desk()
    give(desk, call("memorize", key="weir", summary="what it lets through", content=FACT, entities=["weir"]))
    give(desk, call("note", key="todo", summary="look at bridges", content="bridges"))
    notes = told(desk.request())[1:]
    assert notes == [f"{HEAD}\nmemory weir: what it lets through\nnote todo: look at bridges"]
    assert FACT in give(desk, call("loadMemory", key="weir"))
    assert give(desk, call("readNote", key="todo")).endswith("bridges")
    give(desk, call("updateMemory", mode="append", key="weir", new_content="measured in spring"))
    assert "measured in spring" in give(desk, call("loadMemory", key="weir"))
    give(desk, call("updateMemory", mode="delete", key="weir"), call("updateNote", mode="delete", key="todo"))
    assert len(told(desk.request())) == 1


def test_related_memories_come_with_one():
    desk = new_desk()
    give(desk, call("memorize", key="weir", summary="a", content="one", entities=["Otter Ford"]))
    give(desk, call("memorize", key="bridge", summary="b", content="two", entities=["otter ford"]))
    give(desk, call("memorize", key="kiln", summary="c", content="three", entities=["Elm Cross"]))
    loaded = give(desk, call("loadMemory", key="weir"))
    assert "two" in loaded
    assert "three" not in loaded
    assert "two" not in give(desk, call("loadMemory", key="weir", max_related=0))


def read_two(desk):
    give(desk, *BUILT, call("readChunk", chunk_id=2))
    return len(desk.window.numbers)


def test_what_is_deleted_leaves_a_line_and_comes_back_whole():
    desk = new_desk()
    number = read_two(desk)
    assert "tokens before" in give(desk, call("deleteContext", msg_id=number))
    assert FACT not in shown(desk.request())
    assert f"[archived m{number}~" in shown(desk.request())
    assert "stands there again" in give(desk, call("restoreContext", msg_id=number))
    assert FACT in shown(desk.request())
    assert f"m{number} stands there as it was" in give(desk, call("restoreContext", msg_id=number))


def test_a_passage_stays_word_for_word():
    desk = new_desk()
    number = read_two(desk)
    give(desk, call("truncateContext", msg_id=number, start_sentence=FACT, stop_sentence=FACT))
    result = next(m for m in desk.request().messages if getattr(m, "tool_name", "") == "readChunk")
    assert FACT in result.text
    assert "minutes say so" not in result.text
    wrong = give(desk, call("truncateContext", msg_id=number, start_sentence="Never said.", stop_sentence=FACT))
    assert "is not in the text" in wrong


def test_a_summary_takes_the_place_of_a_message():
    desk = new_desk()
    number = read_two(desk)
    give(desk, call("summarizeContext", msg_id=number, summary="The weir: 412 l/s."))
    assert "The weir: 412 l/s." in shown(desk.request())
    assert "minutes say so" not in shown(desk.request())


def test_a_message_is_compressed_to_about_the_share_that_was_asked_for():
    desk = new_desk()
    number = read_two(desk)
    told_ = give(desk, call("compressContext", msg_id=number, compression_rate=30))
    before, after = (int(text.replace(",", "")) for text in told_.split() if text.replace(",", "").isdigit())
    assert after < 0.7 * before


class Broken:
    """A compressor that isn't there."""

    def compress(self, text, *, share, words=(), key=""):
        raise OSError("no endpoint")


def test_a_compressor_that_fails_is_stood_in_for_and_that_is_told():
    desk = new_desk(compressor=Broken())
    number = read_two(desk)
    assert "the compressor failed" in give(desk, call("compressContext", msg_id=number, compression_rate=30))


def test_the_question_and_what_isnt_there_cant_be_edited():
    desk = new_desk()
    assert "m1 is what you were asked" in give(desk, call("deleteContext", msg_id=1))
    assert "there is no message m99" in give(desk, call("summarizeContext", msg_id=99, summary="x"))


def test_the_long_arguments_of_a_call_go_and_its_result_stays():
    desk = new_desk()
    give(desk, call("plan", strategy="Look at the weirs first. " * 120))
    give(desk, call("deleteContext", msg_id=2))
    assert "Look at the weirs first" not in shown(desk.request())
    assert "noted; it stands in your call" in shown(desk.request())


def test_a_stub_is_never_kept_for_its_text():
    desk = new_desk()
    number = read_two(desk)
    give(desk, call("deleteContext", msg_id=number))
    stub = next(m.text for m in desk.request().messages if getattr(m, "tool_name", "") == "readChunk")
    refused = give(desk, call("memorize", key="weir", summary="s", content=stub))
    assert "archived" in refused
    assert desk.notebook.listed == ""


def test_budget_is_told():
    desk = new_desk()
    assert "turns: 1 used, 19 left; tokens: about" in give(desk, call("checkBudget"))


def test_one_call_is_run_a_turn_and_the_others_are_answered():
    desk = new_desk()
    twice = Assistant((make_call("a", "analyzeText", "{}"), make_call("a", "buildIndex", "{}")), "tool_use")
    give(desk, twice)
    results = [m.text for m in desk.request().messages if isinstance(m, ToolResult)]
    assert [wording.ONLY_ONE in text for text in results] == [False, True]
    assert desk.outcome.calls == {"analyzeText": 1}


def test_the_same_tool_three_times_is_remarked():
    desk = new_desk()
    assert wording.THREE_TIMES not in give(desk, *[call("checkBudget")] * 2)
    assert wording.THREE_TIMES in give(desk, call("checkBudget"))


def test_searches_run_out():
    desk = new_desk(replace(RULES, searches=1))
    give(desk, *BUILT, call("searchEngine", keyword="weir"))
    assert "no searches are left" in give(desk, call("searchEngine", keyword="weir"))


def test_an_answer_is_judged():
    desk = new_desk()
    give(desk, *BUILT, call("readChunk", chunk_id=2))
    desk.request()
    desk.answer(call("finish", answer="It is 412 l/s."))
    outcome = desk.outcome
    assert (outcome.ending, outcome.verdict, outcome.looked, outcome.turns) == ("finished", "right", True, 4)
    assert terminal_reward(outcome) == 1.0
    with pytest.raises(RuntimeError):
        desk.request()


def test_a_right_answer_of_one_who_didnt_look_is_known_as_that():
    desk = new_desk()
    desk.request()
    desk.answer(call("finish", answer="412 l/s"))
    assert (desk.outcome.verdict, desk.outcome.looked) == ("right", False)


def test_after_the_last_turn_only_finish_is_offered_and_then_it_is_over():
    desk = new_desk(replace(RULES, turns=2, grace=1, patience=9))
    give(desk, call("analyzeText"), call("analyzeText"))
    assert [tool.name for tool in desk.request().tools] == ["finish"]
    desk.answer(call("analyzeText"))
    assert desk.outcome.ending == "turns"
    assert terminal_reward(desk.outcome) == -0.5


def test_replies_without_a_call_end_it():
    desk = new_desk(replace(RULES, patience=2))
    desk.request()
    desk.answer(plain("Hm."))
    assert told(desk.request())[-1] == wording.CALL_SOMETHING
    desk.answer(plain("Hm."))
    assert desk.outcome.ending == "format"
    assert terminal_reward(desk.outcome) == -0.5


def test_failed_calls_in_a_row_end_it():
    desk = new_desk()
    give(desk, call("readNote", key="x"), call("nonsense"))
    desk.request()
    desk.answer(Assistant((make_call("a", "plan", "{not json"),), "tool_use"))
    assert (desk.outcome.ending, desk.outcome.failed_calls) == ("errors", 3)


def test_a_model_that_cant_be_asked_ends_it():
    desk = new_desk()
    desk.request()
    desk.fail(ErrorInfo("auth", "no key"))
    assert desk.outcome.ending == "provider"


def test_the_ladder_makes_room_where_the_reader_hasnt_and_that_is_counted():
    desk = new_desk(replace(RULES, window=6_500, max_output=512, patience=9))
    give(desk, *BUILT)
    for number in (1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4):
        give(desk, call("readChunk", chunk_id=number))
    assert desk.request() is not None
    assert desk.outcome.forced_edits > 0
    assert desk.outcome.edits == 0
    assert sum(piece.forced_edits for piece in desk.pieces) > 0


def test_a_window_that_holds_nothing_ends_it():
    desk = new_desk(replace(RULES, window=1_500, max_output=256))
    assert desk.request() is None
    assert desk.outcome.ending == "window"


def test_errors_may_count_by_their_share():
    desk = new_desk()
    give(desk, call("readNote", key="x"), call("analyzeText"), call("analyzeText"))
    desk.request()
    desk.answer(call("finish", answer="412 l/s"))
    assert terminal_reward(desk.outcome) == 0.5
    assert terminal_reward(desk.outcome, Terms(per_turn=True)) == 1.0 - 0.5 / 4


_WORDS = st.sampled_from(["", "weir", FACT, "412 l/s", "m3", "x" * 900])
_VALUES = st.one_of(st.none(), st.booleans(), st.integers(-2, 40), _WORDS, st.lists(st.one_of(st.integers(0, 9), _WORDS), max_size=3))  # fmt: skip
_FIELDS = sorted({field for kind in calls.TOOLS.values() for field in kind.__struct_fields__})


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([*calls.TOOLS, "other"]), st.dictionaries(st.sampled_from(_FIELDS), _VALUES, max_size=4)
        ),
        max_size=14,
    )
)
def test_whatever_is_called_every_request_is_whole_and_the_same_again(made):
    def play():
        desk = new_desk(replace(RULES, patience=99, window=9_000, max_output=512))
        sent = []
        for name, arguments in made:
            request = None if desk.done else desk.request()
            if request is None:
                break
            sent.append(shown(request))
            desk.answer(call(name, **arguments))
        return sent, desk.outcome

    first = play()
    assert first == play()
