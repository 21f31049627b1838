"""What mending does to a history, in so many words."""

from typing import Any

from support.conversations import MAKERS
from trimtab.context.validate import plain, rules_for, validate
from trimtab.context.validate.mend import Mended, mend
from trimtab.types.messages import Assistant, Message, Opaque, Text, ToolCall, ToolResult, User, user

CLAUDE = rules_for(MAKERS["anthropic"])
BARE = plain(CLAUDE)


def answer(*ids: str, text: str = "") -> Assistant:
    said = (Text(text),) if text else ()
    return Assistant((*said, *(ToolCall(i, "read", {}, "{}") for i in ids)), "tool_use")


def result(call_id: str, text: str = "ok", *, error: bool = False) -> ToolResult:
    return ToolResult(call_id, "read", (Text(text),), is_error=error)


def mended(*messages: Message, **given: Any) -> tuple[Message, ...]:
    return mend(messages, **{"rules": CLAUDE, **given}).messages


def test_results_move_behind_their_calls_in_call_order() -> None:
    q, asked, wait = user("q"), answer("a", "b"), user("wait", origin="steering")
    done = mend((q, asked, result("b"), wait, result("a")), rules=CLAUDE)
    assert done.messages == (q, asked, result("a"), result("b"), wait)
    assert done.sources == (0, 1, 4, 2, 3)
    assert done.notes == (Mended("misplaced_result", None, "results are put behind their calls, in call order"),)


def test_a_call_without_a_result_is_answered_as_interrupted() -> None:
    done = mend((user("q"), answer("a")), rules=CLAUDE)
    assert done.messages[2:] == (result("a", "interrupted", error=True),)
    assert done.sources == (0, 1, None)
    assert done.notes == (Mended("missing_result", None, "call 'a' is answered as interrupted"),)


def test_a_stand_in_that_is_there_already_is_not_told_again() -> None:
    standing = result("a", "interrupted", error=True)
    done = mend((user("q"), answer("a"), standing, result("z")), rules=CLAUDE)
    assert done.messages == (user("q"), answer("a"), standing)
    assert done.notes == (Mended("orphan_result", 3, "a message is left out"),)


def test_a_history_that_begins_with_a_result_loses_it_and_nothing_else() -> None:
    done = mend((result("a"), user("q")), rules=CLAUDE)
    assert done.messages == (user("q"),)
    assert done.notes == (Mended("orphan_result", 0, "a message is left out"),)


def test_a_second_answer_to_one_call_is_left_out() -> None:
    done = mend((user("q"), answer("a"), result("a", "1"), result("a", "2")), rules=CLAUDE)
    assert done.messages == (user("q"), answer("a"), result("a", "1"))
    assert done.notes == (Mended("extra_result", 3, "a message is left out"),)


def test_a_superseded_answer_goes_with_its_results() -> None:
    cut = Assistant(answer("a").parts, "error", superseded=True)
    done = mend((user("q"), cut, result("a")), rules=CLAUDE)
    assert done.messages == (user("q"),)
    assert [(n.kind, n.message) for n in done.notes] == [("superseded", 1), ("orphan_result", 2)]


def test_blank_messages_are_left_out() -> None:
    assert mended(user("q"), Assistant((Text(" "),), "stop"), User(()), user("r")) == (user("q"), user("r"))


def test_what_an_edit_emptied_is_shown_as_it_was_recorded() -> None:
    log = (user("q"), answer("a"), result("a", "the file"))
    emptied = (log[0], log[1], ToolResult("a", "read", (), is_error=False))
    assert mended(*emptied, original=lambda i: log[i]) == log


def test_an_emptied_request_of_the_user_comes_back() -> None:
    log = (user("q"), answer(text="yes"), user("now this"))
    assert mended(*log[:2], User(()), original=lambda i: log[i]) == log


def test_without_a_wire_of_ours_turns_alternate_from_the_user_on() -> None:
    done = mend((answer(text="hi"), answer(text="again"), user("a"), user("b")), rules=BARE)
    assert done.messages == (
        user("(The conversation began before this point.)", origin="steering"),
        answer(text="hi"),
        user("(Nothing was said in between.)", origin="steering"),
        answer(text="again"),
        User((Text("a"), Text("b"))),
    )
    assert validate(done.messages, rules=BARE) == ()


def test_a_prompt_joined_to_a_summary_still_opens_a_loop() -> None:
    assert mended(user("was done", origin="summary"), user("q"), rules=BARE) == (User((Text("was done"), Text("q"))),)


def test_without_a_wire_of_ours_ids_are_made_legal_and_unique_on_both_sides_of_a_pair() -> None:
    history = (user("q"), answer("x|1"), result("x|1", "1"), answer("x|1", "ok"), result("x|1", "2"), result("ok", "3"))
    done = mend(history, rules=BARE)
    ids = [c.id for m in done.messages if isinstance(m, Assistant) for c in m.tool_calls]
    assert ids == [m.call_id for m in done.messages if isinstance(m, ToolResult)]
    assert len(set(ids)) == 3
    assert ids[2] == "ok"
    assert validate(done.messages, rules=BARE) == ()
    assert mend(done.messages, rules=BARE).messages == done.messages


def test_ids_made_legal_stay_the_same_in_a_longer_history() -> None:
    first = mend((user("q"), answer("x|1"), result("x|1")), rules=BARE).messages
    longer = mend((user("q"), answer("x|1"), result("x|1"), user("r")), rules=BARE).messages
    assert longer[:3] == first


def test_without_a_wire_of_ours_an_empty_result_gets_words() -> None:
    done = mended(user("q"), answer("a"), ToolResult("a", "read", (), is_error=False), rules=BARE)
    assert done[2] == result("a", "(no output)")


def test_a_verbatim_reasoning_item_at_the_end_of_an_answer_is_left_out() -> None:
    item = Opaque("openai", {"type": "reasoning", "id": "rs"})
    rules = rules_for(MAKERS["openai-responses"])
    said = Assistant((Text("so"), item), "stop")
    done = mend((user("q"), said, user("r")), rules=rules, original=lambda i: (user("q"), said, user("r"))[i])
    assert done.messages[1] == Assistant((Text("so"),), "stop")


def test_lookups_follow_the_messages_to_their_new_places() -> None:
    log = (result("z"), user("q"), answer("a"))
    done = mend(log, rules=CLAUDE)
    original, reachable = done.original(lambda i: log[i]), done.reachable(lambda i: i == 2)
    assert [original(i) for i in range(3)] == [user("q"), answer("a"), None]
    assert [reachable(i) for i in range(3)] == [False, True, True]
