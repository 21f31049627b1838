"""Claude Code: pieces of a message, forks of the tree, compactions, and what the client adds."""

from support.transcripts import CLAUDE_CODE, call, cc, cc_piece, cc_result, lines, story
from trimtab.sessions.detect import read_recording
from trimtab.sessions.recorded import Answered, Came, Compacted, Recording
from trimtab.types.messages import Thinking
from trimtab.types.usage import Usage


def _answers(recording: Recording) -> list[Answered]:
    return [event for event in recording.events if isinstance(event, Answered)]


def test_pieces_of_one_api_message_are_one_answer_and_results_between_them_follow_it() -> None:
    assert story(read_recording(CLAUDE_CODE))[:4] == [
        "user: fix greet",
        'answer:  Read[t1]({"file_path":"greet.py"}) Grep[t2]({"pattern":"greet"})',
        "result t1: def greet(): pass",
        "error t2: none",
    ]


def test_usage_is_counted_once_with_the_output_of_the_last_piece() -> None:
    first = _answers(read_recording(CLAUDE_CODE))[0]
    assert first.message.usage == Usage(input=10, output=55, cache_read=1000, cache_write=200, cache_write_1h=200)
    assert (first.id, first.message.stop_reason) == ("m1", "tool_use")


def test_output_without_a_stop_reason_is_a_placeholder() -> None:
    assert [answer.output_unreliable for answer in _answers(read_recording(CLAUDE_CODE))] == [False, False, True]


def test_thinking_of_which_only_the_signature_is_kept_is_hidden() -> None:
    first, second, _ = _answers(read_recording(CLAUDE_CODE))
    assert (first.hidden_thinking, second.hidden_thinking) == (True, False)
    assert first.message.parts[0] == Thinking("", "sig")


def test_a_compaction_stands_between_messages_that_all_stay() -> None:
    recording = read_recording(CLAUDE_CODE)
    mark = next(event for event in recording.events if isinstance(event, Compacted))
    assert (mark.summary, mark.before_tokens, mark.trigger) == ("We fixed greet.", 170_000, "auto")
    assert story(recording)[-3:] == ["compacted: We fixed greet.", "user: thanks", "answer: welcome"]
    assert story(recording)[0] == "user: fix greet"


def test_a_boundary_without_a_summary_is_a_compaction_too() -> None:
    data = lines(
        cc("user", "u1", None, {"role": "user", "content": "hi"}),
        cc("system", "c1", None, subtype="compact_boundary", logicalParentUuid="u1"),
    )
    assert story(read_recording(data)) == ["user: hi", "compacted: None"]


def test_attachments_are_injected_and_those_that_a_summary_brings_back_are_left_out() -> None:
    note = {"type": "edited_text_file", "filename": "a.py", "snippet": "1 x"}
    data = lines(
        cc("user", "u1", None, {"role": "user", "content": "hi"}),
        cc("attachment", "x1", "u1", attachment=note),
        cc("attachment", "x2", "x1", attachment={"type": "hook_system_message", "content": "for people"}),
        cc("attachment", "x3", "x2", attachment={"type": "queued_command", "prompt": "and this"}),
        cc("user", "c1", "x3", {"role": "user", "content": "So far."}, isCompactSummary=True),
        cc("attachment", "x4", "c1", attachment=note),
    )
    recording = read_recording(data)
    assert story(recording) == [
        "user: hi",
        "injected: [edited_text_file]\na.py\n1 x",
        "user: and this",
        "compacted: So far.",
    ]
    assert recording.notes == (
        "left out: 1 attachment for people",
        "left out: 1 attachment that a summary brought back",
    )


def test_a_rewind_leaves_the_abandoned_branch_out() -> None:
    data = lines(
        cc("user", "u1", None, {"role": "user", "content": "one"}),
        cc_piece("a1", "u1", "m1", {"type": "text", "text": "first"}),
        cc("user", "u2", "a1", {"role": "user", "content": "wrong way"}),
        cc_piece("a2", "u2", "m2", {"type": "text", "text": "lost"}),
        cc("user", "u3", "a1", {"role": "user", "content": "right way"}),
    )
    recording = read_recording(data)
    assert story(recording) == ["user: one", "answer: first", "user: right way"]
    assert recording.notes == ("left out: 2 lines of abandoned branches",)


def test_results_of_parallel_calls_belong_to_the_chain_wherever_it_goes_on() -> None:
    data = lines(
        cc("user", "u1", None, {"role": "user", "content": "go"}),
        cc_piece("a1", "u1", "m1", call("Read", "t1", file_path="a")),
        cc_piece("a2", "a1", "m1", call("Read", "t2", file_path="b")),
        cc_result("r1", "a1", "t1", "A"),
        cc_result("r2", "a2", "t2", "B"),
        cc_piece("a3", "r1", "m2", {"type": "text", "text": "done"}),
    )
    assert story(read_recording(data))[2:] == ["result t1: A", "result t2: B", "answer: done"]


def test_a_missing_parent_is_the_line_before() -> None:
    data = lines(
        cc("user", "u1", None, {"role": "user", "content": "go"}),
        cc_piece("a1", "stripped", "m1", {"type": "text", "text": "done"}),
    )
    assert story(read_recording(data)) == ["user: go", "answer: done"]


def test_a_resumed_file_repeats_nothing() -> None:
    once = read_recording(CLAUDE_CODE)
    twice = read_recording(CLAUDE_CODE + CLAUDE_CODE)
    assert twice.events == once.events
    assert any("repeated lines" in note for note in twice.notes)


def test_lines_of_subagents_are_left_out_unless_the_file_is_one() -> None:
    own = cc("user", "u1", None, {"role": "user", "content": "go"})
    side = cc("user", "s1", None, {"role": "user", "content": "explore"}, isSidechain=True)
    both = read_recording(lines(side, own))
    assert (story(both), both.notes) == (["user: go"], ("left out: 1 line of subagents",))
    assert story(read_recording(lines(side))) == ["user: explore"]


def test_a_failed_request_that_the_client_reports_is_kept_but_never_shown() -> None:
    error = {"role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 529"}]}
    data = lines(
        cc("user", "u1", None, {"role": "user", "content": "go"}),
        cc("assistant", "a1", "u1", {**error, "usage": {"input_tokens": 0}}, isApiErrorMessage=True),
    )
    (answer,) = _answers(read_recording(data))
    assert (answer.message.superseded, answer.message.stop_reason, answer.message.usage) == (True, "error", None)


def test_what_the_client_wrote_is_told_from_what_a_person_wrote() -> None:
    data = lines(
        cc("user", "u1", None, {"role": "user", "content": "<command-name>/init</command-name>"}),
        cc("user", "u2", "u1", {"role": "user", "content": "<local-command-stdout>x</local-command-stdout>"}),
        cc("user", "u3", "u2", {"role": "user", "content": "Caveat"}, isMeta=True),
        cc("user", "u4", "u3", {"role": "user", "content": "please"}),
    )
    events = read_recording(data).events
    assert [event.injected for event in events if isinstance(event, Came)] == [False, True, True, False]


def test_old_lines_that_hold_a_call_or_a_result_alone_are_read() -> None:
    data = lines(
        {"type": "user", "sessionId": "s", "uuid": "1", "message": {"role": "user", "content": "Open README"}},
        {"type": "tool_use", "sessionId": "s", "uuid": "2", "name": "bash", "input": {"command": "cat README"}},
        {"type": "tool_result", "sessionId": "s", "uuid": "3", "name": "bash", "output": "# Title"},
        {"type": "assistant", "sessionId": "s", "uuid": "4", "message": {"role": "assistant", "content": "Read it."}},
        {"type": "mode", "mode": "normal", "sessionId": "s"},
    )
    assert story(read_recording(data)) == [
        "user: Open README",
        'answer:  bash[call_1]({"command":"cat README"})',
        "result call_1: # Title",
        "answer: Read it.",
    ]
